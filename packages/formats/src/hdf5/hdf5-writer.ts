/**
 * Writes HDF5: the small part of the format that weights need (superblock 0, object headers 1, contiguous arrays), which every reader
 * knows. The file is a list of parts, so that weights need not be in memory twice. Layout: "HDF5 File Format Specification", version 3.0.
 */
import type { FileParts } from '../archives/zip-writer.ts';
import { elementBytes, encodeElements } from '../arrays/elements.ts';
import { checkNDArray, type DTypeName, elementCount, type NDArray } from '../arrays/ndarray.ts';
import { ByteBuilder } from '../bytes.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';

/** An array to write: `read` is called when its bytes are due, which may be twice. */
export interface Hdf5ArraySource {
  readonly shape: readonly number[];
  readonly dtype: DTypeName;
  read(): NDArray;
}

/** A group to write. Names may hold `/`, which makes groups of the parts before the last. */
export class Hdf5GroupBuilder {
  readonly children: Map<string, Hdf5GroupBuilder | Hdf5ArraySource> = new Map();
  readonly attributes: Map<string, string | readonly string[]> = new Map();

  /** The group of that path, made where it is missing. @throws FormatError where an array has that name */
  group(path: string): Hdf5GroupBuilder {
    let at: Hdf5GroupBuilder = this;
    for (const name of path.split('/')) {
      if (name === '') continue;
      let next = at.children.get(name);
      if (next === undefined) {
        next = new Hdf5GroupBuilder();
        at.children.set(name, next);
      }
      if (!(next instanceof Hdf5GroupBuilder))
        throw errorsFor('HDF5', undefined)(`two objects at ${quote(path)}`);
      at = next;
    }
    return at;
  }

  /** Puts an array at a path. @throws FormatError where there is something already */
  add(path: string, source: Hdf5ArraySource): void {
    const cut = path.lastIndexOf('/');
    const inside = cut < 0 ? this : this.group(path.slice(0, cut));
    const name = path.slice(cut + 1);
    if (name === '' || inside.children.has(name))
      throw errorsFor('HDF5', undefined)(`two objects at ${quote(path)}`);
    inside.children.set(name, source);
  }
}

/** Bytes of a file, or what makes them when they are due. */
interface Part {
  readonly length: number;
  bytes(): Uint8Array;
}

// No address.
const UNDEFINED = 0xffffffffffffffffn;
// Headers of attributes and links are of at most 64 KiB.
const MOST_BYTES = 0xfff0;
const HEADER_BYTES = 16;
const TOGETHER_BYTES = 2 ** 18;
const ATTRIBUTE = 0x0c;

const MESSAGE = {
  dataspace: 0x01,
  linkInfo: 0x02,
  datatype: 0x03,
  fillValue: 0x05,
  link: 0x06,
  layout: 0x08,
  groupInfo: 0x0a,
} as const;

/**
 * Encodes a group, with all that is in it, as an HDF5 file.
 * @throws FormatError for names and attributes that are too long, UnsupportedFormatError for complex numbers.
 */
export function encodeHdf5(root: Hdf5GroupBuilder): FileParts {
  return new Writer().write(root);
}

/** Appends numbers of 8 bytes. */
function uint64(out: ByteBuilder, value: number | bigint): void {
  const big = BigInt(value);
  out.uint32(Number(big & 0xffffffffn));
  out.uint32(Number(big >> 32n));
}
function pad(out: ByteBuilder, to = 8): void {
  while (out.length % to !== 0) out.byte(0);
}
function bytesOf(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}

class Writer {
  readonly #error: ErrorMaker = errorsFor('HDF5', undefined);
  readonly #parts: Part[] = [];
  #at = 0;

  write(root: Hdf5GroupBuilder): FileParts {
    const superblock = new Uint8Array(96);
    this.#add(superblock);
    const address = this.#group(root);
    this.#superblock(superblock, address);
    const parts = this.#parts;
    return {
      length: this.#at,
      *[Symbol.iterator]() {
        // Headers are small, and are written together.
        const together = new ByteBuilder(TOGETHER_BYTES);
        for (const part of parts) {
          const bytes = part.bytes();
          if (together.length + bytes.length > TOGETHER_BYTES && together.length > 0) {
            yield together.view().slice();
            together.clear();
          }
          if (bytes.length > TOGETHER_BYTES) yield bytes;
          else together.add(bytes);
        }
        if (together.length > 0) yield together.view().slice();
      },
    };
  }

  #superblock(into: Uint8Array, root: number): void {
    const out = new ByteBuilder(96);
    out.add(bytesOf(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a));
    // Versions, all 0, then the sizes of addresses and lengths.
    out.add(bytesOf(0, 0, 0, 0, 0, 8, 8, 0));
    // How wide the trees of groups are; there are none.
    out.uint16(4);
    out.uint16(16);
    out.uint32(0);
    uint64(out, 0);
    uint64(out, UNDEFINED);
    uint64(out, this.#at);
    uint64(out, UNDEFINED);
    uint64(out, 0);
    uint64(out, root);
    into.set(out.view());
  }

  /** Appends bytes at a multiple of 8, and says where. */
  #add(bytes: Uint8Array): number {
    return this.#addPart({ length: bytes.length, bytes: () => bytes });
  }
  #addPart(part: Part): number {
    const gap = (8 - (this.#at % 8)) % 8;
    if (gap > 0) {
      const zeros = new Uint8Array(gap);
      this.#parts.push({ length: gap, bytes: () => zeros });
      this.#at += gap;
    }
    const address = this.#at;
    this.#parts.push(part);
    this.#at += part.length;
    return address;
  }

  /** Children come before the group that holds their addresses. */
  #group(group: Hdf5GroupBuilder): number {
    const links: (readonly [name: string, address: number])[] = [];
    for (const [name, child] of group.children)
      links.push([name, child instanceof Hdf5GroupBuilder ? this.#group(child) : this.#dataset(name, child)]);
    const header = new Header(this.#error);
    const noAddresses = new ByteBuilder();
    noAddresses.uint16(0);
    uint64(noAddresses, UNDEFINED);
    uint64(noAddresses, UNDEFINED);
    header.message(MESSAGE.linkInfo, noAddresses.view());
    header.message(MESSAGE.groupInfo, bytesOf(0, 0));
    for (const [name, address] of links) header.message(MESSAGE.link, this.#link(name, address));
    for (const [name, value] of group.attributes) this.#attribute(header, name, value);
    return this.#add(header.bytes());
  }

  #link(name: string, address: number): Uint8Array {
    const text = new TextEncoder().encode(name);
    if (text.length > MOST_BYTES - 64)
      throw this.#error('name', `at most ${MOST_BYTES - 64} bytes`, text.length);
    const out = new ByteBuilder();
    // Version 1; the name has a character set, UTF-8, and a length of 2 bytes.
    out.add(bytesOf(1, 0x11, 1));
    out.uint16(text.length);
    out.add(text);
    uint64(out, address);
    return out.view();
  }

  #dataset(name: string, source: Hdf5ArraySource): number {
    const { shape, dtype } = source;
    const type = datatypeOf(dtype);
    const count = elementCount(shape);
    if (count === undefined) throw this.#error(`array ${quote(name)}: shape`, 'sizes', shape.join(', '));
    if (type === null)
      throw this.#error.unsupported(`array ${quote(name)}: dtype`, 'real numbers or bool', dtype);
    const length = count * elementBytes(dtype);
    const address =
      length === 0 ? UNDEFINED : BigInt(this.#addPart({ length, bytes: () => elementsOf(source, name) }));
    const header = new Header(this.#error);
    header.message(MESSAGE.dataspace, dataspace(shape));
    header.message(MESSAGE.datatype, type);
    // Version 2: space is allocated late, elements that nobody wrote are 0.
    header.message(MESSAGE.fillValue, bytesOf(2, 2, 2, 0));
    const layout = new ByteBuilder();
    layout.add(bytesOf(3, 1));
    uint64(layout, address);
    uint64(layout, length);
    header.message(MESSAGE.layout, layout.view());
    // HDF5 has no such floats; Keras keeps their two bytes, and says so.
    if (dtype === 'bfloat16') this.#attribute(header, 'dtype', 'bfloat16');
    return this.#add(header.bytes());
  }

  /** The texts of an attribute are in a heap of its own, since they may be longer than a header. */
  #attribute(header: Header, name: string, value: string | readonly string[]): void {
    const texts = (typeof value === 'string' ? [value] : value).map((text) => new TextEncoder().encode(text));
    const label = new TextEncoder().encode(`${name}\0`);
    const space = dataspace(typeof value === 'string' ? [] : [texts.length]);
    const out = new ByteBuilder();
    out.add(bytesOf(1, 0));
    for (const size of [label.length, TEXT.length, space.length]) out.uint16(size);
    for (const bytes of [label, TEXT, space]) {
      out.add(bytes);
      pad(out);
    }
    if (out.length + texts.length * 16 > MOST_BYTES)
      throw this.#error(
        `attribute ${quote(name)}`,
        `at most ${MOST_BYTES} bytes in its header`,
        texts.length * 16,
      );
    const heap = texts.length === 0 ? 0 : this.#add(heapOf(texts));
    texts.forEach((text, i) => {
      out.uint32(text.length);
      uint64(out, heap);
      out.uint32(i + 1);
    });
    header.message(ATTRIBUTE, out.view());
  }
}

/** The elements of an array in the file's order. @throws FormatError where the source gives something else than it said */
function elementsOf(source: Hdf5ArraySource, name: string): Uint8Array {
  const array = source.read();
  checkNDArray(array, 'HDF5', name);
  const error = errorsFor('HDF5', undefined);
  if (array.dtype !== source.dtype || elementCount(array.shape) !== elementCount(source.shape))
    throw error(`array ${quote(name)}`, `${source.dtype} [${source.shape.join(', ')}]`, array.dtype);
  return encodeElements(array);
}

/** An object header of version 1: messages, each at a multiple of 8. */
class Header {
  readonly #error: ErrorMaker;
  readonly #messages = new ByteBuilder();
  #count = 0;

  constructor(error: ErrorMaker) {
    this.#error = error;
  }
  message(kind: number, data: Uint8Array): void {
    const size = Math.ceil(data.length / 8) * 8;
    if (size > MOST_BYTES) throw this.#error('message', `at most ${MOST_BYTES} bytes`, size);
    if (++this.#count > 0xffff) throw this.#error('group', 'fewer than 65536 members', this.#count);
    this.#messages.uint16(kind);
    this.#messages.uint16(size);
    this.#messages.uint32(0);
    this.#messages.add(data);
    pad(this.#messages);
  }
  bytes(): Uint8Array {
    const out = new ByteBuilder(HEADER_BYTES + this.#messages.length);
    out.add(bytesOf(1, 0));
    out.uint16(this.#count);
    out.uint32(1);
    out.uint32(this.#messages.length);
    pad(out, HEADER_BYTES);
    out.add(this.#messages.view());
    return out.view();
  }
}

/** A shape; of rank 0 a scalar. */
function dataspace(shape: readonly number[]): Uint8Array {
  const out = new ByteBuilder();
  out.add(bytesOf(1, shape.length, 0, 0, 0, 0, 0, 0));
  for (const size of shape) uint64(out, size);
  return out.view();
}

// Texts of any length in UTF-8, which are sequences of characters ending in a zero.
const TEXT: Uint8Array = bytesOf(0x19, 1, 1, 0, 16, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0);

/** A heap of texts, which count from 1. It takes at least 4096 bytes. */
function heapOf(texts: readonly Uint8Array[]): Uint8Array {
  const out = new ByteBuilder();
  const used = texts.reduce((sum, text) => sum + 16 + Math.ceil(text.length / 8) * 8, 16);
  const size = Math.max(4096, used + 16);
  out.add(bytesOf(0x47, 0x43, 0x4f, 0x4c, 1, 0, 0, 0));
  uint64(out, size);
  texts.forEach((text, i) => {
    out.uint16(i + 1);
    out.uint16(1);
    out.uint32(0);
    uint64(out, text.length);
    out.add(text);
    pad(out);
  });
  // The object 0 is what is free.
  uint64(out, 0);
  uint64(out, size - used);
  out.add(new Uint8Array(size - out.length));
  return out.view();
}

/** Bits, where the exponent is, its bits, those of the mantissa, bias. */
const FLOATS: Readonly<Partial<Record<DTypeName, readonly number[]>>> = {
  float16: [16, 10, 5, 10, 15],
  float32: [32, 23, 8, 23, 127],
  float64: [64, 52, 11, 52, 1023],
};

/** A type as the file has it; null for those that it has not. */
function datatypeOf(dtype: DTypeName): Uint8Array | null {
  const out = new ByteBuilder();
  const float = FLOATS[dtype];
  if (float !== undefined) {
    const [bits, at, exponent, mantissa, bias] = float as [number, number, number, number, number];
    out.add(bytesOf(0x11, 0x20, bits - 1, 0));
    out.uint32(bits / 8);
    out.uint16(0);
    out.uint16(bits);
    out.add(bytesOf(at, exponent, 0, mantissa));
    out.uint32(bias);
    return out.view();
  }
  if (dtype === 'bfloat16') {
    // Two bytes of which HDF5 knows nothing.
    out.add(bytesOf(0x15, 0, 0, 0));
    out.uint32(2);
    return out.view();
  }
  if (dtype === 'bool') {
    // As h5py has it: int8 with two names.
    out.add(bytesOf(0x18, 2, 0, 0));
    out.uint32(1);
    out.add(integerType(1, true));
    out.add(new TextEncoder().encode('FALSE\0\0\0TRUE\0\0\0\0'));
    out.add(bytesOf(0, 1));
    return out.view();
  }
  if (dtype === 'complex64' || dtype === 'complex128') return null;
  return integerType(elementBytes(dtype), !dtype.startsWith('u'));
}

function integerType(bytes: number, signed: boolean): Uint8Array {
  const out = new ByteBuilder();
  out.add(bytesOf(0x10, signed ? 8 : 0, 0, 0));
  out.uint32(bytes);
  out.uint16(0);
  out.uint16(bytes * 8);
  return out.view();
}
