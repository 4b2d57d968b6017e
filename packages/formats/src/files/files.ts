import { gunzip, isGzip } from '../archives/gzip.ts';
import { decodeIdx } from '../arrays/idx.ts';
import type { NamedArrays, NDArray } from '../arrays/ndarray.ts';
import { decodeNpy, encodeNpy } from '../arrays/npy.ts';
import { type DecodeNpzOptions, decodeNpz, type EncodeNpzOptions, encodeNpz } from '../arrays/npz.ts';
import {
  type DecodeSafetensorsOptions,
  decodeSafetensors,
  encodeSafetensors,
  type Safetensors,
} from '../arrays/safetensors.ts';
import { errorsFor } from '../errors.ts';
import { writeFileAtomic } from './atomic.ts';
import { hasFiles, nodeBuiltin } from './node.ts';
import { notRegular } from './open-files.ts';
import { schemeOf, urlFiles } from './schemes.ts';

/** One read of Node's file system takes at most 2 GiB; weights may be larger. */
const CHUNK_BYTES = 2 ** 30;

/**
 * Reads a whole file, of any size that fits the memory; what is behind a URL, such as `https://…`; in a page, which has no files, what `fetch` gets from the path.
 *
 * @throws FormatError for a pipe or a device, and for more bytes than there is memory for. Node's system error, e.g. with code `ENOENT`. SourceError for URLs.
 */
export async function readFileBytes(path: string): Promise<Uint8Array> {
  if (isUrl(path)) return (await urlFiles()).readUrl(path);
  const { constants, promises } = nodeBuiltin('node:fs');
  const file = await promises.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const about = await file.stat();
    // To read a folder fails by itself.
    if (!about.isFile() && !about.isDirectory()) throw notRegular(path, 'file');
    const bytes = roomFor(about.size, path);
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK_BYTES, bytes.length - at), at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  } finally {
    await file.close();
  }
}

/** Whether a path is a URL; in a page all are. */
export const isUrl = (path: string): boolean => !hasFiles() || schemeOf(path) !== undefined;

/** @throws FormatError for more than there is memory for */
function roomFor(size: number, path: string): Uint8Array {
  try {
    return new Uint8Array(size);
  } catch (cause) {
    throw errorsFor('file', path)('the size', 'what memory holds', `${size} bytes`, cause);
  }
}

/** Reads a `.npy` file; see {@link decodeNpy}. Node only. */
export async function readNpyFile(path: string): Promise<NDArray> {
  return decodeNpy(await readFileBytes(path), { file: path });
}

/** Writes a `.npy` file atomically; see {@link encodeNpy}. Node only. */
export async function writeNpyFile(path: string, array: NDArray): Promise<void> {
  await writeFileAtomic(path, encodeNpy(array));
}

/** Reads a `.npz` file; see {@link decodeNpz}. Node only. */
export async function readNpzFile(
  path: string,
  options: DecodeNpzOptions = {},
): Promise<Map<string, NDArray>> {
  return decodeNpz(await readFileBytes(path), { file: path, ...options });
}

/** Writes a `.npz` file atomically; see {@link encodeNpz}. Node only. */
export async function writeNpzFile(
  path: string,
  arrays: NamedArrays,
  options: EncodeNpzOptions = {},
): Promise<void> {
  await writeFileAtomic(path, encodeNpz(arrays, options));
}

/** Reads a safetensors file; see {@link decodeSafetensors}. Node only. */
export async function readSafetensorsFile(
  path: string,
  options: DecodeSafetensorsOptions = {},
): Promise<Safetensors> {
  return decodeSafetensors(await readFileBytes(path), { file: path, ...options });
}

/** Writes a safetensors file atomically; see {@link encodeSafetensors}. Node only. */
export async function writeSafetensorsFile(
  path: string,
  tensors: NamedArrays,
  metadata?: Readonly<Record<string, string>>,
): Promise<void> {
  await writeFileAtomic(path, encodeSafetensors(tensors, metadata));
}

/** Reads an IDX file, gzipped or not; see {@link decodeIdx}. Node only. */
export async function readIdxFile(path: string): Promise<NDArray> {
  const bytes = await readFileBytes(path);
  return decodeIdx(isGzip(bytes) ? await gunzip(bytes, { file: path }) : bytes, { file: path });
}
