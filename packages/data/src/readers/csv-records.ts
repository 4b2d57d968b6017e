// The fields of CSV files, by TensorFlow's rules.
import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import type { FileBytes } from './file-bytes.ts';
import { decodeText } from './readers.ts';

const MAX_RECORD = 2 ** 26;
const [NEWLINE, RETURN, QUOTE] = [0x0a, 0x0d, 0x22];

/** How fields are told apart. */
export interface CsvFormat {
  /** One character of ASCII. Default: a comma. */
  readonly fieldDelim?: string | undefined;
  /** Whether `"` encloses fields that hold delimiters, line ends, or quotes (written twice). Default: true. */
  readonly useQuoteDelim?: boolean | undefined;
}

/** @throws InvalidArgumentError for a delimiter that is none. */
export function checkCsvFormat(format: CsvFormat, what: string): { delimiter: number; quotes: boolean } {
  const { fieldDelim = ',', useQuoteDelim = true } = format;
  const delimiter = typeof fieldDelim === 'string' ? fieldDelim.charCodeAt(0) : Number.NaN;
  if (
    Number.isNaN(delimiter) ||
    fieldDelim.length !== 1 ||
    delimiter > 0x7f ||
    [NEWLINE, RETURN, QUOTE].includes(delimiter)
  )
    throw new InvalidArgumentError(
      `fieldDelim must be one ASCII character other than a quote or a line end, got ${typeof fieldDelim === 'string' ? JSON.stringify(fieldDelim) : shown(fieldDelim)}`,
      what,
    );
  return { delimiter, quotes: useQuoteDelim };
}

/** Splits a file into records and these into fields. Lines are counted from 1; a record may have several. */
export class CsvRecords {
  readonly #bytes: FileBytes;
  readonly #delimiter: number;
  readonly #quotes: boolean;
  readonly #what: string;
  #chunk: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Of the field at hand. */
  #field: number[] = [];
  #size = 0;
  #last = -1;
  /** Up to which byte of the file. */
  #taken: number;
  position: number;
  /** The line that the last record began in; meaningful only for a file that is read from its start. */
  line = 0;
  #lines = 1;

  constructor(bytes: FileBytes, start: number, format: { delimiter: number; quotes: boolean }, what: string) {
    this.#bytes = bytes;
    this.position = start;
    this.#taken = start;
    this.#delimiter = format.delimiter;
    this.#quotes = format.quotes;
    this.#what = what;
  }

  /** Where the last record is, for messages. */
  where(): string {
    return `${this.#bytes.path}, line ${this.line}`;
  }

  /**
   * The fields of the next record, or null behind the last.
   *
   * @throws InvalidArgumentError for quotes in wrong places; the next call goes on behind the line.
   */
  next(): string[] | null {
    try {
      return this.#record();
    } catch (error) {
      this.#field = [];
      if (error instanceof InvalidArgumentError) this.#skipLine();
      throw error;
    }
  }

  #skipLine(): void {
    this.#size = 0;
    for (let byte = this.#last; byte >= 0 && byte !== NEWLINE; byte = this.#take()) this.#size = 0;
    this.#lines++;
    this.position = this.#taken;
  }

  #record(): string[] | null {
    this.line = this.#lines;
    this.#size = 0;
    let byte = this.#take();
    if (byte < 0) return null;
    const fields: string[] = [];
    for (;;) {
      byte = byte === QUOTE && this.#quotes ? this.#quoted() : this.#plain(byte);
      fields.push(decodeText(Uint8Array.from(this.#field), this.where(), this.#what));
      this.#field = [];
      if (byte !== this.#delimiter) break;
      byte = this.#take();
    }
    if (byte === RETURN && this.#peek() === NEWLINE) this.#take();
    this.#lines++;
    this.position = this.#taken;
    return fields;
  }

  /** Reads an unquoted field that begins with `byte`, and gives what ended it. */
  #plain(first: number): number {
    let byte = first;
    while (byte >= 0 && byte !== this.#delimiter && byte !== NEWLINE && byte !== RETURN) {
      if (byte === QUOTE && this.#quotes) throw this.#wrong('a quote inside of a field that is not quoted');
      this.#field.push(byte);
      byte = this.#take();
    }
    return byte;
  }

  #quoted(): number {
    for (;;) {
      const byte = this.#take();
      if (byte < 0) throw this.#wrong('a quoted field without its end');
      if (byte === NEWLINE) this.#lines++;
      if (byte !== QUOTE) {
        this.#field.push(byte);
        continue;
      }
      const next = this.#take();
      if (next === QUOTE) this.#field.push(QUOTE);
      else if (next < 0 || next === this.#delimiter || next === NEWLINE || next === RETURN) return next;
      else throw this.#wrong('a quote inside of a quoted field; write it twice');
    }
  }

  #wrong(fault: string): InvalidArgumentError {
    return new InvalidArgumentError(`${this.where()}: ${fault}`, this.#what);
  }

  /** The next byte, or -1 at the end. */
  #take(): number {
    const byte = this.#peek();
    this.#last = byte;
    if (byte < 0) return byte;
    this.#at++;
    this.#taken++;
    if (++this.#size > MAX_RECORD)
      throw this.#wrong(`a record of more than ${MAX_RECORD} bytes; is there a quote without its end?`);
    return byte;
  }

  #peek(): number {
    while (this.#at >= this.#chunk.length) {
      const chunk = this.#bytes.read();
      if (chunk === null) return -1;
      this.#chunk = chunk;
      this.#at = 0;
    }
    return this.#chunk[this.#at];
  }

  close(): void {
    this.#bytes.close();
  }
}
