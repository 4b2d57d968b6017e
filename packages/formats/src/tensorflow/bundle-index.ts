// What a `.index` file says: how many data files there are, and where in them each tensor lies.

import { elementCount } from '../arrays/ndarray.ts';
import { compareBytes } from '../bytes.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { BundleEntryProto, BundleHeaderProto } from './bundle-messages.ts';
import { byteText, placesOfParts } from './bundle-parts.ts';
import { type DataTypeInfo, dataTypeInfo, dataTypeNumber } from './data-types.ts';
import { readTable, writeTable } from './table.ts';
import { decodeShape, encodeShape } from './tensor-proto.ts';

// The version of the format, `kTensorBundleVersion`.
const VERSION = 1;
const MOST_SHARDS = 99_999;

/** A tensor in a checkpoint. */
export interface BundleEntry {
  /** TensorFlow's name, such as `float32`, `float16` or `string`. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** In the file; for strings with their lengths. */
  readonly bytes: number;
  readonly shard: number;
  readonly offset: number;
  /** Masked. */
  readonly crc32c: number;
  /** Of a variable that TensorFlow 1 kept in parts: these, in their order, instead of bytes of its own. */
  readonly parts: readonly BundlePart[];
}

/** A part of a tensor: where it begins along each axis, and its own entry. */
export interface BundlePart {
  readonly start: readonly number[];
  readonly entry: BundleEntry;
}

/** The name of a data file. */
export function shardPath(prefix: string, shard: number, shards: number): string {
  const digits = (number: number): string => String(number).padStart(5, '0');
  return `${prefix}.data-${digits(shard)}-of-${digits(shards)}`;
}

/** The name of the index. */
export function indexPath(prefix: string): string {
  return `${prefix}.index`;
}

/** What is in an index, checked as far as it can be without the data. */
export function decodeIndex(
  bytes: Uint8Array,
  file: string,
): { shards: number; entries: Map<string, BundleEntry> } {
  const error = errorsFor('checkpoint', file);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const entries = new Map<string, BundleEntry>();
  const inParts = new Map<string, BundleEntryProto>();
  const parts = new Map<string, Uint8Array>();
  let shards = 0;
  for (const [key, value] of readTable(bytes, { file })) {
    if (key.length === 0) shards = shardsIn(BundleHeaderProto.decode(value, { file }), error);
    // The parts of variables have keys that are no text.
    else if (key[0] === 0) parts.set(byteText(key), value);
    else {
      const name = nameOf(key, decoder, error);
      const proto = BundleEntryProto.decode(value, { file });
      if ((proto.slices ?? []).length > 0) inParts.set(name, proto);
      entries.set(name, entryOf(name, proto, shards, error));
    }
  }
  for (const [name, proto] of inParts) {
    const entry = entries.get(name) as BundleEntry;
    const where = (): string => `tensor ${quote(name)}`;
    const places = placesOfParts(name, proto.slices ?? [], entry.shape, where, error);
    const found = places.map(({ key, start, shape }): BundlePart => {
      const value = parts.get(key);
      if (value === undefined) throw error(`${where()}: no part at [${start}]`);
      const part = entryOf(name, BundleEntryProto.decode(value, { file }), shards, error);
      if (part.dtype !== entry.dtype || part.shape.join() !== shape.join())
        throw error(`${where()}: a part`, `${entry.dtype} [${shape}]`, `${part.dtype} [${part.shape}]`);
      return { start, entry: part };
    });
    const bytes = found.reduce((sum, part) => sum + part.entry.bytes, 0);
    entries.set(name, { ...entry, bytes, parts: found });
  }
  if (shards === 0) throw error('no header');
  return { shards, entries };
}

/** The bytes of an index. */
export function encodeIndex(shards: number, entries: ReadonlyMap<string, BundleEntry>): Uint8Array {
  const encoder = new TextEncoder();
  const list = Array.from(entries, ([name, entry]): [Uint8Array, Uint8Array] => [
    encoder.encode(name),
    encodeEntry(entry),
  ]);
  list.sort(([a], [b]) => compareBytes(a, b));
  const header = BundleHeaderProto.encode({ num_shards: shards, version: { producer: VERSION } });
  return writeTable([[new Uint8Array(0), header], ...list]);
}

/** What is known of the entry's dtype. */
export function infoOf(entry: BundleEntry): DataTypeInfo {
  return dataTypeInfo(dataTypeNumber(entry.dtype) as number) as DataTypeInfo;
}

function nameOf(key: Uint8Array, decoder: InstanceType<typeof TextDecoder>, error: ErrorMaker): string {
  try {
    return decoder.decode(key);
  } catch (cause) {
    throw error('key', 'text in UTF-8', undefined, cause);
  }
}

function shardsIn(header: BundleHeaderProto, error: ErrorMaker): number {
  const { num_shards: shards = 0, endianness = 0, version = {} } = header;
  if (endianness !== 0)
    throw error.unsupported(
      'byte order',
      'little-endian',
      'big-endian; save it again on a little-endian machine',
    );
  const { min_consumer: needed = 0, bad_consumers: bad = [] } = version;
  if (needed > VERSION || bad.includes(VERSION))
    throw error.unsupported('version', `a file for readers of version ${VERSION}`, `one for ${needed}`);
  if (shards < 1 || shards > MOST_SHARDS) throw error('number of data files', `1 to ${MOST_SHARDS}`, shards);
  return shards;
}

function entryOf(name: string, proto: BundleEntryProto, shards: number, error: ErrorMaker): BundleEntry {
  const where = (): string => `tensor ${quote(name)}`;
  const number = proto.dtype ?? 0;
  const info = dataTypeInfo(number);
  if (info === undefined) throw error(`${where()}: dtype`, 'a number of types.proto', number);
  const shape = decodeShape(proto.shape, where, error);
  const entry: BundleEntry = {
    dtype: info.name,
    shape,
    bytes: Number(proto.size ?? 0),
    shard: proto.shard_id ?? 0,
    offset: Number(proto.offset ?? 0),
    crc32c: proto.crc32c ?? 0,
    parts: [],
  };
  const { bytes, shard, offset } = entry;
  if (!Number.isSafeInteger(bytes) || bytes < 0 || !Number.isSafeInteger(offset) || offset < 0)
    throw error(`${where()}: place`, 'an offset and a size', `${offset} and ${bytes}`);
  if (shard < 0 || shard >= shards) throw error(`${where()}: data file`, `0 to ${shards - 1}`, shard);
  const wanted = (elementCount(shape) as number) * info.bytes;
  const isInParts = (proto.slices?.length ?? 0) > 0;
  if (!isInParts && info.bytes > 0 && bytes !== wanted)
    throw error(`${where()}: size`, `${wanted} bytes for ${info.name} of shape [${shape.join(', ')}]`, bytes);
  return entry;
}

function encodeEntry(entry: BundleEntry): Uint8Array {
  // Like TensorFlow, which leaves zeros out.
  return BundleEntryProto.encode({
    dtype: dataTypeNumber(entry.dtype) as number,
    shape: encodeShape(entry.shape),
    ...(entry.shard > 0 && { shard_id: entry.shard }),
    ...(entry.offset > 0 && { offset: entry.offset }),
    ...(entry.bytes > 0 && { size: entry.bytes }),
    ...(entry.crc32c > 0 && { crc32c: entry.crc32c }),
  });
}
