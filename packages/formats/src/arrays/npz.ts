import { mostUnpacked } from '../archives/limits.ts';
import { readZipDirectory, unpackZipMember } from '../archives/zip.ts';
import { zip } from '../archives/zip-writer.ts';
import { errorsFor, quote } from '../errors.ts';
import { entriesOf, type NamedArrays, type NDArray } from './ndarray.ts';
import {
  decodeNpy,
  decodeNpyLists,
  decodeNpyOrTexts,
  encodeNpy,
  holdsObjects,
  type TextArray,
} from './npy.ts';

const SUFFIX = '.npy';

/** Options of the `.npz` writer. */
export interface EncodeNpzOptions {
  /** Deflate the arrays, as `numpy.savez_compressed` does. Default: false, as `numpy.savez`. */
  compress?: boolean | undefined;
}

/** Options of the `.npz` reader. */
export interface DecodeNpzOptions {
  /** The file's name, for error messages. */
  file?: string | undefined;
  /** Decode only the arrays whose name this accepts. */
  filter?: ((name: string) => boolean) | undefined;
  /** The most bytes that deflated members may unpack to in all; protects from bombs. Default: 256 MiB, or a hundred times the file. */
  maxBytes?: number | undefined;
}

/**
 * Encodes named arrays as a `.npz` file. The bytes depend on the arrays alone, not on the time.
 *
 * @throws FormatError when an array is inconsistent, a name too long, or when the file would pass 4 GiB, which needs zip64.
 */
export function encodeNpz(arrays: NamedArrays, options: EncodeNpzOptions = {}): Uint8Array {
  const members: [string, Uint8Array][] = [];
  let total = 0;
  const entries = entriesOf(arrays);
  for (const [name, array] of entries) {
    const npy = encodeNpy(array);
    // Twice the name for its two headers, and then some.
    total += npy.length + 6 * name.length + 128;
    members.push([`${name}${SUFFIX}`, npy]);
  }
  const error = errorsFor('npz', undefined);
  if (total >= 2 ** 32) throw error('arrays too large', 'less than 4 GiB in all', `${total} bytes`);
  if (entries.length >= 0xffff) throw error('too many arrays', 'less than 65535', entries.length);
  return zip(members, options.compress ?? false);
}

/**
 * Decodes a `.npz` file, zip64 included; its arrays are read as {@link decodeNpy} reads them.
 *
 * @throws FormatError when the file or one of its members is corrupt, or when it unpacks to more than `maxBytes`.
 * @throws UnsupportedFormatError for encrypted members, other packing methods, members that are not arrays, and
 * arrays of a dtype that Eagre lacks.
 */
export function decodeNpz(bytes: Uint8Array, options: DecodeNpzOptions = {}): Map<string, NDArray> {
  const arrays = new Map<string, NDArray>();
  for (const { name, npy, file } of members(bytes, options)) arrays.set(name, decodeNpy(npy, { file }));
  return arrays;
}

/**
 * {@link decodeNpz} for files that also hold ragged sequences, as those of Keras's text data sets do: arrays of lists
 * of 32-bit integers, which NumPy pickles. They become one `Int32Array` per list; the pickles are read without running
 * anything.
 *
 * @throws as {@link decodeNpz}; UnsupportedFormatError for pickles of anything else.
 */
export function decodeNpzRagged(
  bytes: Uint8Array,
  options: DecodeNpzOptions = {},
): Map<string, NDArray | Int32Array[]> {
  const arrays = new Map<string, NDArray | Int32Array[]>();
  for (const { name, npy, file } of members(bytes, options))
    arrays.set(name, holdsObjects(npy, { file }) ? decodeNpyLists(npy, { file }) : decodeNpy(npy, { file }));
  return arrays;
}

/**
 * {@link decodeNpz} for files that may also hold texts, as {@link decodeNpyOrTexts} reads them.
 *
 * @throws as {@link decodeNpz}.
 */
export function decodeNpzOrTexts(
  bytes: Uint8Array,
  options: DecodeNpzOptions = {},
): Map<string, NDArray | TextArray> {
  const arrays = new Map<string, NDArray | TextArray>();
  for (const { name, npy, file } of members(bytes, options))
    arrays.set(name, decodeNpyOrTexts(npy, { file }));
  return arrays;
}

/** The `.npy` files of an archive, unpacked one after the other. */
function* members(
  bytes: Uint8Array,
  options: DecodeNpzOptions,
): Iterable<{ name: string; npy: Uint8Array; file: string }> {
  const error = errorsFor('npz', options.file);
  const seen = new Set<string>();
  for (const member of readZipDirectory(bytes, options.maxBytes ?? mostUnpacked(bytes.length), error)) {
    if (!member.name.endsWith(SUFFIX))
      throw error.unsupported('member', 'names that end in .npy', quote(member.name));
    const name = member.name.slice(0, -SUFFIX.length);
    if (seen.has(name)) throw error('members', 'distinct names', `${quote(member.name)} twice`);
    seen.add(name);
    if (options.filter && !options.filter(name)) continue;
    yield { name, npy: unpackZipMember(member, error), file: `${options.file ?? 'npz data'}/${member.name}` };
  }
}
