// Repeated numbers that are read into typed arrays, not into lists of numbers.
import type { PbfReader, PbfWriter } from 'pbf';
import { FormatError } from '../errors.ts';
import type { Field } from './protobuf.ts';

const VARINT = 0;
const DELIMITED = 2;
const FIXED32 = 5;

/** `repeated float`. */
export const floatArray = (number: number): Field<Float32Array> => ({
  number,
  write(writer, values) {
    if (values.length === 0) return;
    const start = openList(writer, number, values.length * 4);
    const view = new DataView(writer.buf.buffer, writer.buf.byteOffset);
    for (let i = 0; i < values.length; i++) view.setFloat32(start + i * 4, values[i], true);
    writer.pos = start + values.length * 4;
  },
  read(reader, before) {
    if (reader.type === FIXED32) {
      const list = grown(Float32Array, before, 1);
      list[list.length - 1] = reader.readFloat();
      return list;
    }
    if (reader.type !== DELIMITED) return undefined;
    const end = endOfList(reader);
    const count = (end - reader.pos) / 4;
    if (!Number.isInteger(count)) throw broken('a list of floats', 'a multiple of 4 bytes');
    const list = grown(Float32Array, before, count);
    const view = new DataView(reader.buf.buffer, reader.buf.byteOffset);
    for (let i = list.length - count; i < list.length; i++, reader.pos += 4)
      list[i] = view.getFloat32(reader.pos, true);
    return list;
  },
});

/** `repeated int64`. */
export const int64Array = (number: number): Field<BigInt64Array> => ({
  number,
  write(writer, values) {
    if (values.length === 0) return;
    const words = wordsOf(values);
    let size = 0;
    for (let i = 0; i < words.length; i += 2) size += varintBytes(words[i], words[i + 1]);
    let at = openList(writer, number, size);
    for (let i = 0; i < words.length; i += 2) at = writeVarint(writer.buf, at, words[i], words[i + 1]);
    writer.pos = at;
  },
  read(reader, before) {
    const packed = reader.type === DELIMITED;
    if (!packed && reader.type !== VARINT) return undefined;
    const end = packed ? endOfList(reader) : reader.length;
    const count = packed ? varintsIn(reader.buf, reader.pos, end) : 1;
    const list = grown(BigInt64Array, before, count);
    const words = wordsOf(list);
    for (let i = words.length - 2 * count; i < words.length; i += 2) readVarint(reader, end, words, i);
    if (packed && reader.pos !== end) throw broken('a list of integers', 'whole ones');
    return list;
  },
});

/** Writes the beginning of a packed list of `size` bytes, for which there is room; returns where they go. */
function openList(writer: PbfWriter, number: number, size: number): number {
  writer.writeTag(number, DELIMITED);
  writer.writeVarint(size);
  writer.realloc(size);
  return writer.pos;
}

function endOfList(reader: PbfReader): number {
  const length = reader.readVarint();
  if (!(length >= 0 && length <= reader.length - reader.pos))
    throw broken('length', `at most ${reader.length - reader.pos}`, length);
  return reader.pos + length;
}

/** The list with room for `count` more. Lists that come in many parts keep spare room, so that this costs no more than reading. */
function grown<T extends Float32Array | BigInt64Array>(
  make: { new (length: number): T; new (buffer: ArrayBufferLike, offset: number, length: number): T },
  list: T | undefined,
  count: number,
): T {
  if (list === undefined || list.length === 0) return new make(count);
  const length = list.length + count;
  if (length * list.BYTES_PER_ELEMENT <= list.buffer.byteLength) return new make(list.buffer, 0, length);
  const larger = new make(Math.max(length, list.length * 2));
  larger.set(list as never);
  return new make(larger.buffer, 0, length);
}

/** The halves of each number: at even places the lower one, on hosts where numbers are little-endian. */
function wordsOf(values: BigInt64Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
}

function varintsIn(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (bytes[at] < 128) count++;
  return count;
}

function varintBytes(low: number, high: number): number {
  const bits = high !== 0 ? 64 - Math.clz32(high) : 32 - Math.clz32(low);
  return Math.max(1, Math.ceil(bits / 7));
}

function writeVarint(target: Uint8Array, start: number, low: number, high: number): number {
  let at = start;
  let l = low;
  let h = high;
  while (h !== 0 || l >= 128) {
    target[at++] = (l & 127) | 128;
    l = ((l >>> 7) | (h << 25)) >>> 0;
    h >>>= 7;
  }
  target[at++] = l;
  return at;
}

function readVarint(reader: PbfReader, end: number, words: Uint32Array, at: number): void {
  const { buf } = reader;
  let low = 0;
  let high = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (reader.pos >= end) break;
    const byte = buf[reader.pos++];
    const bits = byte & 127;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high = bits >>> 4;
    } else if (shift < 63) high |= bits << (shift - 32);
    else high |= bits << 31;
    if (byte < 128) {
      words[at] = low;
      words[at + 1] = high;
      return;
    }
  }
  throw broken('an integer', 'at most 10 bytes');
}

function broken(what: string, expected: string, got?: number): FormatError {
  return new FormatError({
    format: 'protobuf',
    what,
    expected,
    got: got === undefined ? undefined : String(got),
  });
}
