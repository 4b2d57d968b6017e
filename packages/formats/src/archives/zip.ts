import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { crc32 } from './crc32.ts';
import { inflateRaw } from './inflater.ts';
import { mostUnpacked } from './limits.ts';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END64 = 0x06064b50;
const LOCATOR64 = 0x07064b50;
const STORED = 0;
const DEFLATED = 8;
/** DEFLATE spends at least two bits on 258 bytes; a directory that promises more is lying. */
const MAX_DEFLATE_RATIO = 1032;

/** One member of a ZIP file, checked to lie inside it. */
export interface ZipMember {
  name: string;
  method: number;
  crc: number;
  /** Size when unpacked. */
  size: number;
  /** The packed bytes. */
  packed: Uint8Array;
}

/** A file of an unpacked ZIP archive; folders have names that end in `/`. */
export interface ZipFile {
  name: string;
  bytes: Uint8Array;
}

/**
 * Unpacks a ZIP file, zip64 included.
 *
 * @throws FormatError when it is corrupt or unpacks to more than `maxBytes`: 256 MiB unless given, or a hundred times the file.
 * @throws UnsupportedFormatError for encrypted members and other packing methods than deflate.
 */
export function unzip(
  bytes: Uint8Array,
  options: { file?: string | undefined; maxBytes?: number | undefined } = {},
): ZipFile[] {
  const error = errorsFor('zip', options.file);
  return readZipDirectory(bytes, options.maxBytes ?? mostUnpacked(bytes.length), error).map((member) => ({
    name: member.name,
    bytes: unpackZipMember(member, error),
  }));
}

/**
 * Lists a ZIP file's members after checking that they lie inside it, apart from each other, unencrypted and with
 * believable sizes; what is deflated may unpack to `maxBytes` in all. Unpacks nothing.
 */
export function readZipDirectory(bytes: Uint8Array, maxBytes: number, error: ErrorMaker): ZipMember[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, start, end } = findDirectory(view, error);
  const members: ZipMember[] = [];
  const spans: [number, number][] = [];
  let at = start;
  let total = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== CENTRAL)
      throw error('directory', `${count} members`, i);
    const { member, span, next } = readEntry(bytes, view, at, start, error);
    // A stored member costs no memory beyond the file's own.
    if (member.method === DEFLATED) total += member.size;
    if (total > maxBytes) throw error('members too large', `at most ${maxBytes} bytes unpacked`, total);
    members.push(member);
    spans.push(span);
    at = next;
  }
  spans.sort(([a], [b]) => a - b);
  for (let i = 1; i < spans.length; i++) {
    if (spans[i][0] < spans[i - 1][1]) throw error('directory', 'separate members', 'overlapping ones');
  }
  return members;
}

/** Unpacks a member and checks its size and CRC-32. A stored member shares memory with the file. */
export function unpackZipMember(member: ZipMember, error: ErrorMaker): Uint8Array {
  const where = `member ${quote(member.name)}`;
  const data = member.method === STORED ? member.packed : inflate(member, where, error);
  if (data.length !== member.size) throw error(where, `${member.size} bytes`, data.length);
  const crc = crc32(data);
  if (crc !== member.crc) throw error(`${where}: CRC-32`, member.crc.toString(16), crc.toString(16));
  return data;
}

function inflate(member: ZipMember, where: string, error: ErrorMaker): Uint8Array {
  try {
    return inflateRaw(member.packed, member.size);
  } catch (cause) {
    throw error(`${where}: corrupt deflated data`, undefined, undefined, cause);
  }
}

function findDirectory(view: DataView, error: ErrorMaker): { count: number; start: number; end: number } {
  const last = view.byteLength - 22;
  // A comment of up to 64 KiB may follow the end record, and says how long it is.
  let at = last;
  const isEnd = (): boolean =>
    view.getUint32(at, true) === END && view.getUint16(at + 20, true) === last - at;
  while (at >= 0 && at >= last - 0xffff && !isEnd()) at--;
  if (at < 0 || at < last - 0xffff)
    throw error('end record', 'a ZIP file', 'none (truncated, or another format)');

  let count = view.getUint16(at + 10, true);
  let size = view.getUint32(at + 12, true);
  let start = view.getUint32(at + 16, true);
  let limit = at;
  if (count === 0xffff || size === 0xffffffff || start === 0xffffffff) {
    const locator = at - 20;
    const end64 =
      locator >= 0 && view.getUint32(locator, true) === LOCATOR64 ? uint64(view, locator + 8) : -1;
    if (end64 < 0 || end64 + 56 > locator || view.getUint32(end64, true) !== END64) {
      throw error('zip64 end record', 'one before the locator', 'none');
    }
    count = uint64(view, end64 + 32);
    size = uint64(view, end64 + 40);
    start = uint64(view, end64 + 48);
    limit = end64;
  }
  if (start + size > limit)
    throw error('directory', `inside the first ${limit} bytes`, `${start} to ${start + size}`);
  if (count * 46 > size) throw error('directory', `${count} members`, `${size} bytes`);
  return { count, start, end: start + size };
}

function readEntry(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  dataEnd: number,
  error: ErrorMaker,
): { member: ZipMember; span: [number, number]; next: number } {
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const crc = view.getUint32(at + 16, true);
  const nameEnd = at + 46 + view.getUint16(at + 28, true);
  const extraEnd = nameEnd + view.getUint16(at + 30, true);
  const next = extraEnd + view.getUint16(at + 32, true);
  if (next > bytes.length) throw error('directory', 'whole entries', 'a truncated one');
  const name = new TextDecoder().decode(bytes.subarray(at + 46, nameEnd));
  const where = `member ${quote(name)}`;
  if (flags & 1) throw error.unsupported(`${where} is encrypted`);
  if (method !== STORED && method !== DEFLATED) throw error.unsupported(`${where}: method`, '0 or 8', method);

  const sizes = {
    size: view.getUint32(at + 24, true),
    packed: view.getUint32(at + 20, true),
    offset: view.getUint32(at + 42, true),
  };
  readZip64(view, nameEnd, extraEnd, sizes);
  const { size, packed, offset } = sizes;
  if (method === STORED && size !== packed) throw error(`${where}: stored size`, `${packed} bytes`, size);
  if (size > packed * MAX_DEFLATE_RATIO)
    throw error(`${where}: size`, `at most ${packed * MAX_DEFLATE_RATIO}`, size);
  if (offset + 30 > dataEnd || view.getUint32(offset, true) !== LOCAL) {
    throw error(`${where}: local header`, 'one before the directory', `offset ${offset}`);
  }
  const begin = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  const end = begin + packed;
  if (end > dataEnd) throw error(`${where}: data`, `end at or before ${dataEnd}`, end);
  return {
    member: { name, method, crc, size, packed: bytes.subarray(begin, end) },
    span: [offset, end],
    next,
  };
}

/** The zip64 extra field holds, in this order, those of the three numbers that 32 bits cannot. */
function readZip64(
  view: DataView,
  begin: number,
  end: number,
  sizes: { size: number; packed: number; offset: number },
): void {
  for (let at = begin; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    const fieldEnd = Math.min(end, at + 4 + view.getUint16(at + 2, true));
    let from = at + 4;
    for (const key of ['size', 'packed', 'offset'] as const) {
      if (sizes[key] !== 0xffffffff || from + 8 > fieldEnd) continue;
      sizes[key] = uint64(view, from);
      from += 8;
    }
    return;
  }
}

/** Beyond 2^53 the number is inexact, but then it is also beyond any file, which is all that it is compared with. */
function uint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}
