// Tensors of a model of Hugging Face: one safetensors file, or several with an index that says which holds what.
import { type ErrorMaker, errorsFor, FormatError, quote, show } from '../errors.ts';
import { nodeBuiltin } from '../files/node.ts';
import { notRegular } from '../files/open-files.ts';
import { isObject } from '../plain-object.ts';
import { findDuplicateKey } from '../protobuf/json-keys.ts';
import type { NDArray } from './ndarray.ts';
import {
  decodeSafetensorsHeader,
  decodeSafetensorsTensor,
  MAX_HEADER_BYTES,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from './safetensors.ts';

/** What the index of several files is called, and the file of a model that has one. */
export const SAFETENSORS_INDEX = 'model.safetensors.index.json';
export const SAFETENSORS_FILE = 'model.safetensors';

const INDEX_ENDING = '.safetensors.index.json';
/** No index is longer: a name takes some hundred bytes, and a model has some ten thousand tensors. */
const MAX_INDEX_BYTES = 100_000_000;
/** One read of Node's file system takes at most 2 GiB. */
const CHUNK_BYTES = 2 ** 30;

/** A tensor of a model, and the file that holds it. */
export interface SafetensorsModelEntry extends SafetensorsEntry {
  /** The path of the file. */
  readonly file: string;
}

type FileHandle = Awaited<ReturnType<typeof import('node:fs').promises.open>>;

/**
 * Reads tensors of a safetensors file, or of several with an index, one by one: only the headers are read beforehand, and at most one file is
 * open. Node only.
 *
 *     const model = await SafetensorsModel.open('gpt2');
 *     for (const name of model.entries.keys()) console.log(name, await model.read(name));
 *     await model.close();
 *
 * Methods throw FormatError for damaged files and Node's system errors.
 */
export class SafetensorsModel {
  /** The file or the index that was opened. */
  readonly path: string;
  /** The tensors by name, file by file, in the order of their data. */
  readonly entries: ReadonlyMap<string, SafetensorsModelEntry>;
  /** What the files say of themselves; of an index, its `metadata`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  #open: { readonly path: string; readonly file: FileHandle } | undefined;

  private constructor(
    path: string,
    entries: ReadonlyMap<string, SafetensorsModelEntry>,
    metadata: Readonly<Record<string, unknown>>,
  ) {
    this.path = path;
    this.entries = entries;
    this.metadata = metadata;
  }

  /**
   * Reads and checks the index and the header of every file.
   *
   * @param path a `.safetensors` file, an index (`….safetensors.index.json`), or a folder that has one of both.
   * @throws FormatError when the index names a file outside of its folder, or says other than the files do.
   */
  static async open(path: string): Promise<SafetensorsModel> {
    const found = findSafetensors(path);
    if (found.endsWith(INDEX_ENDING)) return SafetensorsModel.#openIndex(found);
    const { metadata, entries } = await readHeader(found);
    return new SafetensorsModel(found, withFile(entries, found), metadata);
  }

  static async #openIndex(path: string): Promise<SafetensorsModel> {
    const error = errorsFor('safetensors index', path);
    const { files, metadata } = parseSafetensorsIndex(await readText(path, error), path);
    const { dirname, join } = nodeBuiltin('node:path');
    const listed = new Set([...files.values()].flat());
    const entries = new Map<string, SafetensorsModelEntry>();
    for (const [name, tensors] of files) {
      const file = join(dirname(path), name);
      const inFile = (await readHeader(file)).entries;
      const missing = tensors.find((tensor) => !inFile.has(tensor));
      if (missing !== undefined) throw error(`${quote(name)} lacks a tensor of the index`, quote(missing));
      const unlisted = [...inFile.keys()].find((tensor) => !listed.has(tensor));
      if (unlisted !== undefined)
        throw error(`${quote(name)} holds a tensor that the index lacks`, undefined, quote(unlisted));
      const ofFile = new Set(tensors);
      // A tensor may be in two files; the index says which one counts.
      for (const [tensor, entry] of inFile) if (ofFile.has(tensor)) entries.set(tensor, { ...entry, file });
    }
    return new SafetensorsModel(path, entries, metadata);
  }

  /**
   * The tensor of that name. The values of F16 and BF16 come as float32.
   *
   * @throws UnsupportedFormatError for a dtype that Eagre lacks.
   */
  async read(name: string): Promise<NDArray> {
    const entry = this.entries.get(name);
    if (entry === undefined) throw errorsFor('safetensors', this.path)('no tensor', undefined, quote(name));
    const { begin, end } = entry;
    const bytes = await readExactly(await this.#handle(entry.file), begin, end - begin, entry.file);
    return decodeSafetensorsTensor(name, entry, bytes, entry.file);
  }

  /** Closes the file that is open. */
  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file.close();
  }

  async #handle(path: string): Promise<FileHandle> {
    if (this.#open?.path !== path) {
      await this.close();
      this.#open = { path, file: await openRegularHandle(path) };
    }
    return this.#open.file;
  }
}

/**
 * The index or the file that a path stands for: itself, or what a folder has.
 * @throws FormatError for a folder with neither, or with several of which none has the usual name.
 */
function findSafetensors(path: string): string {
  const fs = nodeBuiltin('node:fs');
  if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return path;
  const { join } = nodeBuiltin('node:path');
  const names = fs.readdirSync(path).sort();
  const usual = [SAFETENSORS_INDEX, SAFETENSORS_FILE].find((name) => names.includes(name));
  if (usual !== undefined) return join(path, usual);
  for (const ending of [INDEX_ENDING, '.safetensors']) {
    const found = names.filter((name) => name.endsWith(ending));
    if (found.length === 1) return join(path, found[0]);
    if (found.length > 1)
      throw errorsFor('safetensors', path)(
        'several files, and no index',
        SAFETENSORS_INDEX,
        found.slice(0, 5).join(', '),
      );
  }
  throw errorsFor('safetensors', path)(
    'the folder',
    `${SAFETENSORS_INDEX} or ${SAFETENSORS_FILE}`,
    'neither',
  );
}

/** What an index says: which tensors are in which file. */
export interface SafetensorsIndex {
  /** The names of tensors by the name of the file that holds them, in the index's order. */
  files: Map<string, string[]>;
  metadata: Record<string, unknown>;
}

/**
 * Reads and checks the text of an index.
 *
 * @throws FormatError for what is no index, or names a file that is not beside it.
 */
export function parseSafetensorsIndex(text: string, file?: string): SafetensorsIndex {
  const error = errorsFor('safetensors index', file);
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch (cause) {
    throw error('the index', 'JSON', cause instanceof Error ? cause.message : 'other text', cause);
  }
  if (!isObject(index)) throw error('the index', 'a JSON object', show(index));
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw error('the index', 'distinct keys', `${quote(duplicate)} twice`);
  const { weight_map: map, metadata = {} } = index;
  if (!isObject(map)) throw error('weight_map', 'an object of file names', show(map));
  if (!isObject(metadata)) throw error('metadata', 'an object', show(metadata));
  const files = new Map<string, string[]>();
  for (const [tensor, name] of Object.entries(map)) {
    if (!isFileName(name))
      throw error(
        `weight_map: the file of ${quote(tensor)}`,
        'the name of a .safetensors file in the folder of the index',
        show(name),
      );
    const inFile = files.get(name);
    if (inFile === undefined) files.set(name, [tensor]);
    else inFile.push(tensor);
  }
  return { files, metadata };
}

/** A name without a way out of the folder, on any system: no separators, drives or streams of Windows. */
function isFileName(name: unknown): name is string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  return typeof name === 'string' && /^[^/\\:\u0000-\u001f]+\.safetensors$/.test(name);
}

function withFile(
  entries: ReadonlyMap<string, SafetensorsEntry>,
  file: string,
): Map<string, SafetensorsModelEntry> {
  return new Map([...entries].map(([name, entry]) => [name, { ...entry, file }]));
}

/** The header of a file, without its data. */
async function readHeader(path: string): Promise<SafetensorsHeader> {
  const file = await openRegularHandle(path);
  try {
    const { size } = await file.stat();
    const start = await readExactly(file, 0, Math.min(8, size), path);
    const length = start.length < 8 ? 0 : Number(new DataView(start.buffer).getBigUint64(0, true));
    const bytes =
      length > MAX_HEADER_BYTES ? start : await readExactly(file, 0, Math.min(8 + length, size), path);
    return decodeSafetensorsHeader(bytes, { file: path, fileBytes: size });
  } finally {
    await file.close();
  }
}

async function readText(path: string, error: ErrorMaker): Promise<string> {
  const file = await openRegularHandle(path);
  try {
    const { size } = await file.stat();
    if (size > MAX_INDEX_BYTES) throw error('the index', `at most ${MAX_INDEX_BYTES} bytes`, size);
    return new TextDecoder('utf-8', { fatal: true }).decode(await readExactly(file, 0, size, path));
  } catch (cause) {
    if (cause instanceof TypeError) throw error('the index', 'UTF-8 text', 'other bytes', cause);
    throw cause;
  } finally {
    await file.close();
  }
}

/** @throws FormatError for a pipe, a folder or a device: a pipe would be waited for, for ever. */
async function openRegularHandle(path: string): Promise<FileHandle> {
  const fs = nodeBuiltin('node:fs');
  const file = await fs.promises.open(path, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw notRegular(path, 'safetensors');
}

async function readExactly(
  file: FileHandle,
  begin: number,
  length: number,
  path: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, Math.min(CHUNK_BYTES, length - at), begin + at);
    if (bytesRead === 0)
      throw new FormatError({
        format: 'safetensors',
        file: path,
        what: 'the file became shorter while it was read',
        expected: `${length} bytes from ${begin} on`,
        got: String(at),
      });
    at += bytesRead;
  }
  return bytes;
}
