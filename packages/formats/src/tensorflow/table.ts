// The sorted table of leveldb, as TensorFlow writes it into `.index` files: blocks of entries that share the beginnings of their keys,
// a block that lists them, and a footer. See leveldb's doc/table_format.md.

import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { unpackSnappy } from '../archives/snappy.ts';
import { ByteBuilder, Cursor, compareBytes, readUint32 } from '../bytes.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';

const FOOTER_BYTES = 48;
const HANDLES_BYTES = 40;
const MAGIC = Uint8Array.of(0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb);
const TRAILER_BYTES = 5;
const BLOCK_BYTES = 256 * 1024;
const RESTART_INTERVAL = 16;
// Keys share beginnings, so that a small file could spell out endless ones.
const MOST_KEY_GROWTH = 64;
const FREE_KEY_BYTES = 2 ** 20;

/** A key and its value. */
export type TableEntry = readonly [key: Uint8Array, value: Uint8Array];

/** Options of {@link readTable}. */
export interface ReadTableOptions {
  /** The file's name, for error messages. */
  readonly file?: string | undefined;
}

interface Handle {
  readonly offset: number;
  readonly size: number;
}

/**
 * The entries of a table in the order of their keys, which is that of unsigned bytes. Values share memory with `bytes` where their
 * block is not packed (by snappy).
 *
 * @throws FormatError at a wrong checksum, keys out of order and anything else that is wrong.
 */
export function* readTable(
  bytes: Uint8Array,
  options: ReadTableOptions = {},
): Generator<TableEntry, void, undefined> {
  const error = errorsFor('table', options.file);
  const footer = bytes.subarray(Math.max(0, bytes.length - FOOTER_BYTES));
  if (footer.length < FOOTER_BYTES) throw error('length', `at least ${FOOTER_BYTES} bytes`, bytes.length);
  if (compareBytes(footer.subarray(HANDLES_BYTES), MAGIC) !== 0)
    throw error('footer', 'the magic number of a table', 'something else');
  const handles = new Cursor(footer, 0, HANDLES_BYTES);
  readHandle(handles, 'metaindex block', error);
  const index = readHandle(handles, 'index block', error);
  const last = bytes.length - FOOTER_BYTES;
  const budget = { keys: bytes.length * MOST_KEY_GROWTH + FREE_KEY_BYTES };
  let from = 0;
  let before: Uint8Array | undefined;
  for (const [, value] of entriesOf(blockAt(bytes, index, last, error), budget, error)) {
    const handle = readHandle(new Cursor(value), 'data block', error);
    if (handle.offset < from) throw error('data block', `an offset from ${from} on`, handle.offset);
    from = handle.offset + handle.size;
    for (const entry of entriesOf(blockAt(bytes, handle, last, error), budget, error)) {
      if (before !== undefined && compareBytes(before, entry[0]) >= 0)
        throw error(`key ${show(entry[0])}`, `one behind ${show(before)}`);
      before = entry[0];
      yield entry;
    }
  }
}

function readHandle(cursor: Cursor, what: string, error: ErrorMaker): Handle {
  const offset = cursor.varint();
  const size = cursor.varint();
  if (offset === undefined || size === undefined) throw error(`${what}: broken handle`);
  return { offset, size };
}

/** The contents of a block, checked and unpacked. */
function blockAt(bytes: Uint8Array, { offset, size }: Handle, end: number, error: ErrorMaker): Uint8Array {
  const what = `block at byte ${offset}`;
  if (offset + size + TRAILER_BYTES > end) throw error(what, `an end before byte ${end}`, `${size} bytes`);
  const contents = bytes.subarray(offset, offset + size);
  const stored = readUint32(bytes, offset + size + 1);
  const computed = maskCrc(crc32c(bytes.subarray(offset, offset + size + 1)));
  if (stored !== computed) throw error(`${what}: checksum`, String(computed), stored);
  const type = bytes[offset + size];
  if (type === 0) return contents;
  if (type !== 1) throw error.unsupported(`${what}: compression`, '0 (none) or 1 (snappy)', type);
  const unpacked = unpackSnappy(contents);
  if (unpacked === undefined) throw error(`${what}: broken snappy compression`);
  return unpacked;
}

function* entriesOf(
  block: Uint8Array,
  budget: { keys: number },
  error: ErrorMaker,
): Generator<TableEntry, void, undefined> {
  const restarts = block.length < 4 ? Infinity : readUint32(block, block.length - 4);
  const end = block.length - 4 - 4 * restarts;
  if (!(end >= 0)) throw error('block', 'room for its restart points', `${block.length} bytes`);
  const cursor = new Cursor(block, 0, end);
  let before = new Uint8Array(0);
  while (cursor.at < end) {
    const shared = cursor.varint();
    const rest = cursor.varint();
    const size = cursor.varint();
    const own = rest === undefined ? undefined : cursor.take(rest);
    const value = size === undefined ? undefined : cursor.take(size);
    if (shared === undefined || shared > before.length || own === undefined || value === undefined)
      throw error(`entry behind key ${show(before)}`, 'one that lies in its block');
    budget.keys -= shared + own.length;
    if (budget.keys < 0) throw error('keys', 'shorter ones for a file of this size');
    const key = new Uint8Array(shared + own.length);
    key.set(before.subarray(0, shared));
    key.set(own, shared);
    before = key;
    yield [key, value];
  }
}

/** Options of {@link writeTable}. */
export interface WriteTableOptions {
  /** How large blocks become. Default: 256 KiB, which is TensorFlow's. */
  readonly blockBytes?: number | undefined;
}

/**
 * The table of the entries, not packed; in the bytes that TensorFlow would write.
 *
 * @throws FormatError when the keys are not in the order of unsigned bytes, each once.
 */
export function writeTable(entries: Iterable<TableEntry>, options: WriteTableOptions = {}): Uint8Array {
  const blockBytes = options.blockBytes ?? BLOCK_BYTES;
  const file = new ByteBuilder(4096);
  const block = new BlockBuilder(RESTART_INTERVAL);
  const index = new BlockBuilder(1);
  let before: Uint8Array | undefined;
  let pending: Handle | undefined;
  const flush = (): void => {
    if (block.isEmpty) return;
    pending = append(file, block);
  };
  for (const [key, value] of entries) {
    if (before !== undefined && compareBytes(before, key) >= 0)
      throw errorsFor('table', undefined)(`key ${show(key)}`, `one behind ${show(before)}`);
    if (key.length + value.length >= 2 * blockBytes) flush();
    if (pending !== undefined && before !== undefined) {
      index.add(separator(before, key), encodeHandle(pending));
      pending = undefined;
    }
    block.add(key, value);
    before = key;
    if (block.bytes >= blockBytes) flush();
  }
  flush();
  if (pending !== undefined && before !== undefined) index.add(successor(before), encodeHandle(pending));
  const metaindex = append(file, new BlockBuilder(RESTART_INTERVAL));
  const handles = new ByteBuilder(FOOTER_BYTES);
  handles.add(encodeHandle(metaindex));
  handles.add(encodeHandle(append(file, index)));
  while (handles.length < HANDLES_BYTES) handles.byte(0);
  file.add(handles.view());
  file.add(MAGIC);
  return file.view();
}

/** A block as it grows. */
class BlockBuilder {
  readonly #interval: number;
  readonly #entries = new ByteBuilder();
  #restarts: number[] = [0];
  #since = 0;
  #before: Uint8Array = new Uint8Array(0);

  constructor(interval: number) {
    this.#interval = interval;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** How long the block would be now. */
  get bytes(): number {
    return this.#entries.length + 4 * this.#restarts.length + 4;
  }

  add(key: Uint8Array, value: Uint8Array): void {
    let shared = 0;
    if (this.#since < this.#interval) {
      const most = Math.min(this.#before.length, key.length);
      while (shared < most && this.#before[shared] === key[shared]) shared++;
    } else {
      this.#restarts.push(this.#entries.length);
      this.#since = 0;
    }
    this.#entries.varint(shared);
    this.#entries.varint(key.length - shared);
    this.#entries.varint(value.length);
    this.#entries.add(key.subarray(shared));
    this.#entries.add(value);
    this.#before = key;
    this.#since++;
  }

  /** The contents; the builder is empty then. */
  finish(): Uint8Array {
    for (const restart of this.#restarts) this.#entries.uint32(restart);
    this.#entries.uint32(this.#restarts.length);
    const contents = this.#entries.view().slice();
    this.#entries.clear();
    this.#restarts = [0];
    this.#since = 0;
    this.#before = new Uint8Array(0);
    return contents;
  }
}

function append(file: ByteBuilder, block: BlockBuilder): Handle {
  const contents = block.finish();
  const offset = file.length;
  file.add(contents);
  file.byte(0);
  file.uint32(maskCrc(crc32c(file.view().subarray(offset))));
  return { offset, size: contents.length };
}

function encodeHandle({ offset, size }: Handle): Uint8Array {
  const out = new ByteBuilder(20);
  out.varint(offset);
  out.varint(size);
  return out.view();
}

/** A short key from `before` on, but less than `key`. */
function separator(before: Uint8Array, key: Uint8Array): Uint8Array {
  const most = Math.min(before.length, key.length);
  let at = 0;
  while (at < most && before[at] === key[at]) at++;
  if (at === most || before[at] >= 255 || before[at] + 1 >= key[at]) return before;
  const short = before.slice(0, at + 1);
  short[at]++;
  return short;
}

/** A short key from `key` on. */
function successor(key: Uint8Array): Uint8Array {
  const at = key.findIndex((byte) => byte !== 255);
  if (at < 0) return key;
  const short = key.slice(0, at + 1);
  short[at]++;
  return short;
}

function show(key: Uint8Array): string {
  return quote(new TextDecoder().decode(key.subarray(0, 200)));
}
