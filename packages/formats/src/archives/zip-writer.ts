import { ByteBuilder, joined } from '../bytes.ts';
import { errorsFor } from '../errors.ts';
import { zlib } from '../late.ts';
import { crc32 } from './crc32.ts';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END64 = 0x06064b50;
const LOCATOR64 = 0x07064b50;
const STORED = 0;
const DEFLATED = 8;
// What a reader must know: version 2.0, and 4.5 for zip64.
const VERSION = 20;
const VERSION64 = 45;
// The extra field of zip64; and what stands in a number of 32 or 16 bits whose value is there.
const ZIP64 = 1;
const ELSEWHERE = 0xffffffff;
const MANY = 0xffff;
const UTF8_NAME = 1 << 11;
// The earliest date that ZIP has, 1 January 1980, as numpy.savez uses.
const DATE = (1 << 5) | 1;

/** A file as its parts, one after the other, which may be asked for twice. */
export interface FileParts extends Iterable<Uint8Array> {
  /** Of all parts. */
  readonly length: number;
}

/** Packs files as a ZIP file. Nothing in it depends on the time. @throws FormatError for a name of more than 65535 bytes. */
export function zip(
  files: Iterable<readonly [name: string, bytes: Uint8Array]>,
  compress: boolean,
): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory = new Directory();
  for (const [name, bytes] of files) {
    const packed = compress ? zlib.deflateRaw(bytes) : bytes;
    parts.push(directory.add(name, crc32(bytes), bytes.length, packed.length, compress), packed);
  }
  return joined([...parts, directory.end()]);
}

/**
 * Packs files as they are, without a copy of their bytes.
 * @param zip64From numbers from this one on are written with 64 bits: those that 32 bits cannot hold.
 * @throws FormatError for names of more than 65535 bytes.
 */
export function zipParts(
  files: readonly (readonly [name: string, parts: FileParts | Uint8Array])[],
  zip64From: number = ELSEWHERE,
): FileParts {
  const directory = new Directory(zip64From);
  const all: (Uint8Array | FileParts)[] = [];
  for (const [name, given] of files) {
    const { length } = given;
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
  readonly #zip64From: number;
  /** Where the next file begins. */
  at = 0;
  #count = 0;

  /** @param zip64From numbers from this one on have 64 bits. */
  constructor(zip64From: number = ELSEWHERE) {
    this.#zip64From = zip64From;
  }

  #isLarge(value: number): boolean {
    return value >= this.#zip64From;
  }

  /** The header that stands before a file. */
  add(file: string, crc: number, size: number, packed: number, compress: boolean): Uint8Array {
    const name = new TextEncoder().encode(file);
    if (name.length > 0xffff) throw errorsFor('zip', undefined)('name', 'at most 65535 bytes', name.length);
    // Before a file both sizes are there, or none; in the directory those that do not fit.
    const large = [size, packed, this.at].filter((value) => this.#isLarge(value));
    const sizes = this.#isLarge(size) || this.#isLarge(packed) ? [size, packed] : [];
    const version = large.length > 0 ? VERSION64 : VERSION;
    const entry = (extra: Uint8Array, [packedSize, fullSize]: readonly number[]): Uint8Array => {
      const builder = new ByteBuilder();
      for (const value of [
        version,
        name.length === file.length ? 0 : UTF8_NAME,
        compress ? DEFLATED : STORED,
      ])
        builder.uint16(value);
      builder.uint32(DATE * 2 ** 16);
      for (const value of [crc, packedSize as number, fullSize as number]) builder.uint32(value);
      builder.uint16(name.length);
      builder.uint16(extra.length);
      return builder.view();
    };
    const small = (value: number): number => (this.#isLarge(value) ? ELSEWHERE : value);

    const local = new ByteBuilder();
    local.uint32(LOCAL);
    const extra = zip64Field(sizes);
    local.add(entry(extra, sizes.length > 0 ? [ELSEWHERE, ELSEWHERE] : [packed, size]));
    local.add(name);
    local.add(extra);

    this.#entries.uint32(CENTRAL);
    this.#entries.uint16(version);
    const listed = zip64Field(large);
    this.#entries.add(entry(listed, [small(packed), small(size)]));
    // No comment, one disk, no attributes.
    this.#entries.add(new Uint8Array(10));
    this.#entries.uint32(small(this.at));
    this.#entries.add(name);
    this.#entries.add(listed);
    this.at += local.length + packed;
    this.#count++;
    return local.view();
  }

  end(): Uint8Array {
    const end = new ByteBuilder();
    end.add(this.#entries.view());
    const [count, length, start] = [this.#count, this.#entries.length, this.at];
    const isMany = count >= MANY || this.#isLarge(count);
    if (isMany || this.#isLarge(length) || this.#isLarge(start)) {
      end.uint32(END64);
      // The bytes of the record from here on.
      end.uint64(44);
      for (const value of [VERSION64, VERSION64]) end.uint16(value);
      for (const value of [0, 0]) end.uint32(value);
      for (const value of [count, count, length, start]) end.uint64(value);
      end.uint32(LOCATOR64);
      end.uint32(0);
      end.uint64(start + length);
      end.uint32(1);
    }
    end.uint32(END);
    end.uint32(0);
    for (const value of [count, count]) end.uint16(isMany ? MANY : value);
    for (const value of [length, start]) end.uint32(this.#isLarge(value) ? ELSEWHERE : value);
    end.uint16(0);
    return end.view();
  }
}

/** The extra field with numbers of 64 bits; nothing where there are none. */
function zip64Field(values: readonly number[]): Uint8Array {
  const field = new ByteBuilder(32);
  if (values.length === 0) return field.view();
  field.uint16(ZIP64);
  field.uint16(8 * values.length);
  for (const value of values) field.uint64(value);
  return field.view();
}
