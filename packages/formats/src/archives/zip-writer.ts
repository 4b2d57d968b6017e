import { deflateRaw } from 'pako';
import { ByteBuilder, joined } from '../bytes.ts';
import { errorsFor } from '../errors.ts';
import { crc32 } from './crc32.ts';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const STORED = 0;
const DEFLATED = 8;
// What a reader must know: version 2.0.
const VERSION = 20;
const UTF8_NAME = 1 << 11;
// The earliest date that ZIP has, 1 January 1980, as numpy.savez uses.
const DATE = (1 << 5) | 1;

/** A file as its parts, one after the other, which may be asked for twice. */
export interface FileParts extends Iterable<Uint8Array> {
  /** Of all parts. */
  readonly length: number;
}

/**
 * Packs files as a ZIP file, which has no more than 4 GiB and 65534 files: no zip64. Nothing in it depends on the time.
 * @throws FormatError for a name of more than 65535 bytes.
 */
export function zip(
  files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  compress: boolean,
): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory = new Directory();
  for (const [name, bytes] of files) {
    const packed = compress ? deflateRaw(bytes) : bytes;
    parts.push(directory.add(name, crc32(bytes), bytes.length, packed.length, compress), packed);
  }
  return joined([...parts, directory.end()]);
}

/**
 * Packs files as they are, without a copy of their bytes.
 * @throws FormatError for names of more than 65535 bytes and for more than 4 GiB in all, which would need zip64.
 */
export function zipParts(
  files: readonly (readonly [name: string, parts: FileParts | Uint8Array])[],
): FileParts {
  const error = errorsFor('zip', undefined);
  const directory = new Directory();
  const all: (Uint8Array | FileParts)[] = [];
  for (const [name, given] of files) {
    const { length } = given;
    if (directory.at + length >= 2 ** 32 - 2 ** 24)
      throw error('files too large', 'less than 4 GiB in all', `${directory.at + length} bytes`);
    const crc = given instanceof Uint8Array ? crc32(given) : crcOf(given);
    all.push(directory.add(name, crc, length, length, false), given);
  }
  all.push(directory.end());
  return {
    length: all.reduce((sum, part) => sum + part.length, 0),
    *[Symbol.iterator]() {
      for (const part of all) {
        if (part instanceof Uint8Array) yield part;
        else yield* part;
      }
    },
  };
}
function crcOf(parts: FileParts): number {
  let crc = 0;
  for (const part of parts) crc = crc32(part, crc);
  return crc;
}

/** The headers of the files of an archive, and what lists them at its end. */
class Directory {
  readonly #entries = new ByteBuilder();
  /** Where the next file begins. */
  at = 0;
  #count = 0;

  /** The header that stands before a file. */
  add(file: string, crc: number, size: number, packed: number, compress: boolean): Uint8Array {
    const name = new TextEncoder().encode(file);
    if (name.length > 0xffff) throw errorsFor('zip', undefined)('name', 'at most 65535 bytes', name.length);
    const entry = new ByteBuilder();
    for (const value of [VERSION, name.length === file.length ? 0 : UTF8_NAME, compress ? DEFLATED : STORED])
      entry.uint16(value);
    entry.uint32(DATE * 2 ** 16);
    for (const value of [crc, packed, size]) entry.uint32(value);
    entry.uint32(name.length);

    const local = new ByteBuilder();
    local.uint32(LOCAL);
    local.add(entry.view());
    local.add(name);

    this.#entries.uint32(CENTRAL);
    this.#entries.uint16(VERSION);
    this.#entries.add(entry.view());
    // No comment, one disk, no attributes.
    this.#entries.add(new Uint8Array(10));
    this.#entries.uint32(this.at);
    this.#entries.add(name);
    this.at += local.length + packed;
    this.#count++;
    return local.view();
  }

  end(): Uint8Array {
    const end = new ByteBuilder();
    end.add(this.#entries.view());
    end.uint32(END);
    end.uint32(0);
    for (const value of [this.#count, this.#count]) end.uint16(value);
    for (const value of [this.#entries.length, this.at]) end.uint32(value);
    end.uint16(0);
    return end.view();
  }
}
