// What the elements of one file are: records, lines, pieces of one length.
import { DataLossError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { FormatError, RecordParser, recordBytes } from '@eagre/formats';
import type { FileBytes } from './file-bytes.ts';

/** Gives the elements of one file. */
export interface FileReader {
  /** The next element, or null behind the last. @throws DataLossError for a damaged file; nothing follows then. */
  next(): Tensor | null;
  /** From where another reader of the same file would go on: a byte of what is unpacked. */
  readonly position: number;
  close(): void;
}

/** Payloads of TFRecords, uint8 vectors. */
export class RecordReader implements FileReader {
  readonly #bytes: FileBytes;
  readonly #parser: RecordParser;
  position: number;

  /** @param maxRecordBytes longer records are refused; those of more than 2 GiB unless given. */
  constructor(bytes: FileBytes, start: number, maxRecordBytes?: number) {
    this.#bytes = bytes;
    this.#parser = new RecordParser({ file: bytes.path, maxRecordBytes });
    this.position = start;
  }

  next(): Tensor | null {
    try {
      for (;;) {
        const payload = this.#parser.next();
        if (payload !== null) {
          this.position += recordBytes(payload);
          return constant(payload);
        }
        const chunk = this.#bytes.read();
        if (chunk === null) {
          this.#parser.end();
          return null;
        }
        this.#parser.push(chunk);
      }
    } catch (cause) {
      if (!(cause instanceof FormatError)) throw cause;
      throw new DataLossError(cause.message, 'TFRecordDataset', { cause });
    }
  }

  close(): void {
    this.#bytes.close();
  }
}

const MAX_LINE = 2 ** 28;
const NEWLINE = 0x0a;

/** Lines as bytes, without their ends; each with its number. */
export class LineSplitter {
  readonly #bytes: FileBytes;
  #chunk: Uint8Array = new Uint8Array(0);
  #parts: Uint8Array[] = [];
  #length = 0;
  position: number;

  constructor(bytes: FileBytes, start: number) {
    this.#bytes = bytes;
    this.position = start;
  }

  get path(): string {
    return this.#bytes.path;
  }

  next(): Uint8Array | null {
    for (;;) {
      const end = this.#chunk.indexOf(NEWLINE);
      if (end >= 0) {
        const line = this.#take(this.#chunk.subarray(0, end));
        this.#chunk = this.#chunk.subarray(end + 1);
        this.position += line.length + 1;
        return line;
      }
      this.#length += this.#chunk.length;
      if (this.#length > MAX_LINE)
        throw new DataLossError(
          `${this.path}: the line at byte ${this.position} is longer than ${MAX_LINE} bytes; is this a text file?`,
        );
      if (this.#chunk.length > 0) this.#parts.push(this.#chunk);
      const chunk = this.#bytes.read();
      if (chunk !== null) {
        this.#chunk = chunk;
        continue;
      }
      this.#chunk = new Uint8Array(0);
      if (this.#parts.length === 0) return null;
      const line = this.#take(this.#chunk);
      this.position += line.length;
      return line;
    }
  }

  #take(rest: Uint8Array): Uint8Array {
    const line = this.#parts.length === 0 ? rest : Buffer.concat([...this.#parts, rest]);
    this.#parts = [];
    this.#length = 0;
    return line;
  }

  close(): void {
    this.#bytes.close();
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text that bytes spell. @throws DataLossError for what is not UTF-8. */
export function decodeText(bytes: Uint8Array, where: string, what?: string): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new DataLossError(
      `${where} is not UTF-8, and string tensors hold text: read bytes with FixedLengthRecordDataset, or convert the file`,
      what,
      { cause },
    );
  }
}

/** Lines of text, string scalars. */
export class LineReader implements FileReader {
  readonly #lines: LineSplitter;

  constructor(bytes: FileBytes, start: number) {
    this.#lines = new LineSplitter(bytes, start);
  }

  get position(): number {
    return this.#lines.position;
  }

  next(): Tensor | null {
    const at = this.#lines.position;
    const line = this.#lines.next();
    if (line === null) return null;
    const text = decodeText(line, `${this.#lines.path}: the line at byte ${at}`, 'TextLineDataset');
    // TensorFlow leaves out every carriage return.
    return constant(text.includes('\r') ? text.replaceAll('\r', '') : text);
  }

  close(): void {
    this.#lines.close();
  }
}

/** Pieces of one length, uint8 vectors, between a header and a footer. */
export class FixedReader implements FileReader {
  readonly #bytes: FileBytes;
  readonly #length: number;
  readonly #footer: number;
  #held: Uint8Array[] = [];
  #size = 0;
  #ended = false;
  position: number;

  /** `bytes` begin at `start`, which is not before the header's end. */
  constructor(bytes: FileBytes, start: number, length: number, footer: number) {
    this.#bytes = bytes;
    this.#length = length;
    this.#footer = footer;
    this.position = start;
  }

  next(): Tensor | null {
    // A piece is one only when the footer is known to lie behind it.
    while (!this.#ended && this.#size < this.#length + this.#footer) {
      const chunk = this.#bytes.read();
      if (chunk === null) this.#ended = true;
      else {
        this.#held.push(chunk);
        this.#size += chunk.length;
      }
    }
    if (this.#size < this.#length + this.#footer) {
      if (this.#size === this.#footer) return null;
      const rest = this.#size - this.#footer;
      throw new DataLossError(
        `${this.#bytes.path}: ${rest} bytes are left, but a record has ${this.#length} bytes and the footer ${this.#footer}`,
        'FixedLengthRecordDataset',
      );
    }
    const record = new Uint8Array(this.#length);
    let at = 0;
    while (at < this.#length) {
      const first = this.#held[0];
      const part = first.subarray(0, this.#length - at);
      record.set(part, at);
      at += part.length;
      if (part.length === first.length) this.#held.shift();
      else this.#held[0] = first.subarray(part.length);
    }
    this.#size -= this.#length;
    this.position += this.#length;
    return constant(record);
  }

  close(): void {
    this.#bytes.close();
  }
}
