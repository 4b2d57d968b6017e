import { crc32c, crc32cOfEight, maskCrc } from '../archives/crc32c.ts';
import { readUint32 } from '../bytes.ts';
import { errorsFor } from '../errors.ts';

const HEADER_BYTES = 12;
const FOOTER_BYTES = 4;

/** Records are serialised messages as a rule, which have at most 2 GiB. */
const DEFAULT_MAX_RECORD_BYTES = 2 ** 31 - 1;

/** Options of those who read TFRecords. */
export interface RecordOptions {
  /** The file's name, for error messages. */
  readonly file?: string | undefined;
  /** Longer records are refused. Default: 2 GiB. */
  readonly maxRecordBytes?: number | undefined;
}

/** The TFRecord of a payload: length, checksum of the length, payload, checksum of the payload. */
export function encodeRecord(payload: Uint8Array): Uint8Array {
  const record = new Uint8Array(HEADER_BYTES + payload.length + FOOTER_BYTES);
  writeRecord(payload, record, 0);
  return record;
}

/** How many bytes the record of a payload has. */
export function recordBytes(payload: Uint8Array): number {
  return HEADER_BYTES + payload.length + FOOTER_BYTES;
}

/** Writes the record of a payload into `target` at `at`, where there is room; returns where it ends. */
export function writeRecord(payload: Uint8Array, target: Uint8Array, at: number): number {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const end = at + HEADER_BYTES + payload.length;
  view.setUint32(at, payload.length, true);
  view.setUint32(at + 4, Math.floor(payload.length / 2 ** 32), true);
  view.setUint32(at + 8, maskCrc(crc32cOfEight(target, at)), true);
  target.set(payload, at + HEADER_BYTES);
  view.setUint32(end, maskCrc(crc32c(payload)), true);
  return end + FOOTER_BYTES;
}

/**
 * Finds the payloads in TFRecord bytes that come in pieces. A payload that lies within one piece shares its memory; others
 * are put together in memory of their own. Nothing is allocated for a record before its bytes are there.
 */
export class RecordParser {
  readonly #error: ReturnType<typeof errorsFor>;
  readonly #maxRecordBytes: number;
  #chunks: Uint8Array[] = [];
  /** How much of the first chunk is used up. */
  #at = 0;
  #pending = 0;
  /** How many bytes lie before what is pending, to say where a bad record is. */
  #before = 0;
  /** Of the record at hand, whose header is used up. */
  #length: number | undefined;

  constructor(options: RecordOptions = {}) {
    this.#error = errorsFor('TFRecord', options.file);
    this.#maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
  }

  /** How many bytes were pushed that belong to no record that `next` returned. 0 is a clean end. */
  get pending(): number {
    return this.#pending + (this.#length === undefined ? 0 : HEADER_BYTES);
  }

  /** Adds the bytes that follow. The parser keeps them; they must not change any more. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#pending += chunk.length;
  }

  /**
   * The next payload, or null as long as it is not there completely.
   *
   * @throws FormatError at a wrong checksum, or a record that is too long; then again at each call.
   */
  next(): Uint8Array | null {
    if (this.#length === undefined) {
      if (!this.#gather(HEADER_BYTES)) return null;
      this.#length = this.#lengthIn(this.#chunks[0], this.#at);
      this.#skip(HEADER_BYTES);
    }
    const length = this.#length;
    if (!this.#gather(length + FOOTER_BYTES)) return null;
    const payload = this.#chunks[0].subarray(this.#at, this.#at + length);
    const stored = readUint32(this.#chunks[0], this.#at + length);
    const computed = maskCrc(crc32c(payload));
    if (stored !== computed)
      throw this.#error(
        `checksum of the record at byte ${this.#before - HEADER_BYTES}`,
        String(computed),
        stored,
      );
    this.#skip(length + FOOTER_BYTES);
    this.#length = undefined;
    return payload;
  }

  /** @throws FormatError unless what was pushed ends where a record does. */
  end(): void {
    if (this.pending === 0) return;
    const expected = this.#length === undefined ? 'a header' : `${this.#length + FOOTER_BYTES} bytes`;
    const at = this.#before - (this.#length === undefined ? 0 : HEADER_BYTES);
    throw this.#error(`truncated record at byte ${at}`, expected, `${this.#pending} bytes`);
  }

  #lengthIn(header: Uint8Array, at: number): number {
    const stored = readUint32(header, at + 8);
    const computed = maskCrc(crc32cOfEight(header, at));
    if (stored !== computed)
      throw this.#error(
        `checksum of the length of the record at byte ${this.#before}`,
        String(computed),
        stored,
      );
    const length = readUint32(header, at + 4) * 2 ** 32 + readUint32(header, at);
    if (length > this.#maxRecordBytes)
      throw this.#error(
        `length of the record at byte ${this.#before}`,
        `at most ${this.#maxRecordBytes}`,
        length,
      );
    return length;
  }

  /** Whether there are `count` bytes; then they lie together in the first chunk. */
  #gather(count: number): boolean {
    if (this.#pending < count) return false;
    if (this.#chunks[0].length - this.#at >= count) return true;
    const joined = new Uint8Array(count);
    let end = 0;
    let used = 0;
    for (; end < count; used++, this.#at = 0) {
      const part = this.#chunks[used].subarray(this.#at, this.#at + count - end);
      joined.set(part, end);
      end += part.length;
      if (this.#at + part.length < this.#chunks[used].length) {
        // The rest of this chunk comes behind.
        this.#chunks[used] = this.#chunks[used].subarray(this.#at + part.length);
        break;
      }
    }
    this.#chunks.splice(0, used, joined);
    this.#at = 0;
    return true;
  }

  /** Leaves bytes behind that lie in the first chunk. */
  #skip(count: number): void {
    this.#pending -= count;
    this.#before += count;
    this.#at += count;
    if (this.#at < this.#chunks[0].length) return;
    this.#chunks.shift();
    this.#at = 0;
  }
}

/**
 * The payloads in the bytes of a whole TFRecord file; they share its memory.
 *
 * @throws FormatError at a wrong checksum, and at a record that is cut off.
 */
export function* readRecords(
  bytes: Uint8Array,
  options: RecordOptions = {},
): Generator<Uint8Array, void, undefined> {
  const parser = new RecordParser(options);
  parser.push(bytes);
  for (let record = parser.next(); record !== null; record = parser.next()) yield record;
  parser.end();
}
