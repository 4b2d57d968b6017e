/** Reads HDF5 by the reference library, compiled to WebAssembly, which is loaded when the first file is read. */
import type { Metadata } from 'h5wasm';
import { decodeElements, type ElementKind, elementBytes } from '../arrays/elements.ts';
import { type DTypeName, elementCount, type NDArray } from '../arrays/ndarray.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { isUrl, readFileBytes } from '../files/files.ts';
import { nodeBuiltin } from '../files/node.ts';
import { openRegular } from '../files/open-files.ts';
import type { Hdf5Attribute, Hdf5Dataset, Hdf5Group } from './hdf5.ts';
import { checkHeap } from './hdf5-heap.ts';
import { type Library, library } from './hdf5-library.ts';

/** Bytes of a file that is not in memory. */
export interface Hdf5Source {
  readonly size: number;
  /** Fills `into` with the bytes from `position` on. @returns how many there were */
  read(into: Uint8Array, position: number): number;
}

/** What `readHdf5` takes. */
export interface ReadHdf5Options {
  /** The file's name, for error messages. */
  file?: string | undefined;
}

// Arrays come through the library's memory in pieces of about this size.
const PIECE_BYTES = 2 ** 26;
// Lists of names take some kilobytes; configurations of large models some megabytes.
const MOST_ATTRIBUTE_BYTES = 2 ** 26;
const MOST_TEXTS = 2 ** 20;
// The library takes a few pieces at a time, and a row of an array, which is no larger than the file.
const MOST_BYTES = 2 ** 28;

let files = 0;

/**
 * Opens an HDF5 file, and closes it when `run` has returned: what is to be kept has to be read before.
 *
 * Links to other files and to other places of the file are refused: files of weights have none, and they may form cycles.
 *
 * @throws FormatError when the file is not an HDF5 file or damaged, from within `run` too.
 */
export async function readHdf5<T>(
  source: Uint8Array | Hdf5Source,
  run: (root: Hdf5Group) => T,
  options: ReadHdf5Options = {},
): Promise<T> {
  const error = errorsFor('HDF5', options.file);
  const loaded = await library();
  const { module, reset } = loaded;
  loaded.room = MOST_BYTES + (source instanceof Uint8Array ? source.length : source.size);
  const { FS } = module;
  const name = `/${++files}-${Math.random().toString(36).slice(2)}.h5`;
  place(module, name, source instanceof Uint8Array ? inMemory(source) : source, error);
  let clean = false;
  try {
    module.activate_throwing_error_handler();
    const file = guarded(error, 'not an HDF5 file, or a truncated one', () =>
      module.open(name, module.H5F_ACC_RDONLY, false, -1, -1),
    );
    const result = run(new OpenGroup(module, file, '/', error));
    guarded(error, 'the file', () => module.close_file(file));
    module.deactivate_throwing_error_handler();
    clean = true;
    return result;
  } finally {
    if (!clean) reset();
    FS.unlink(name);
  }
}

/**
 * `readHdf5` of a file on the disk, of which only the parts are read that are asked for. Node only.
 * @throws FormatError for what is no regular file, Node's system error; otherwise as `readHdf5`.
 */
export async function readHdf5File<T>(path: string, run: (root: Hdf5Group) => T): Promise<T> {
  if (isUrl(path)) return readHdf5(await readFileBytes(path), run, { file: path });
  const fs = nodeBuiltin('node:fs');
  const descriptor = openRegular(path, 'HDF5');
  try {
    const { size } = fs.fstatSync(descriptor);
    const read = (into: Uint8Array, position: number): number =>
      fs.readSync(descriptor, into, 0, into.length, position);
    return await readHdf5({ size, read }, run, { file: path });
  } finally {
    fs.closeSync(descriptor);
  }
}

const inMemory = (bytes: Uint8Array): Hdf5Source => ({
  size: bytes.length,
  read: (into, position) => {
    into.set(bytes.subarray(position, position + into.length));
    return Math.max(0, Math.min(into.length, bytes.length - position));
  },
});

/** Makes the bytes a file of the library, without a copy. */
function place({ FS }: Library, name: string, source: Hdf5Source, error: ErrorMaker): void {
  FS.writeFile(name, new Uint8Array(0));
  const { node } = FS.lookupPath(name, {}) as unknown as { node: MemoryFile };
  node.usedBytes = source.size;
  const bytesAt = (position: number, count: number): Uint8Array => {
    const bytes = new Uint8Array(count);
    return bytes.subarray(0, source.read(bytes, position));
  };
  node.stream_ops = {
    ...node.stream_ops,
    read: (_: unknown, heap: Uint8Array, offset: number, length: number, position: number): number => {
      const count = Math.max(0, Math.min(length, source.size - position));
      const into = new Uint8Array(heap.buffer, heap.byteOffset + offset, count);
      const found = source.read(into, position);
      checkHeap(into.subarray(0, found), position, source.size, bytesAt, error);
      return found;
    },
  };
}
/** A file of the library's in memory. */
interface MemoryFile {
  usedBytes: number;
  stream_ops: Readonly<Record<string, unknown>>;
}

/** What `run` gives; errors of the library become those of formats. */
function guarded<T>(error: ErrorMaker, what: string, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw error(what, undefined, reasonOf(cause), cause);
  }
}
/** The last line of what the library says, which is the innermost. */
function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  const lines = text.split('\n').filter((line) => /\(\):/.test(line));
  return (lines.at(-1) ?? text).replace(/^.*\(\):\s*/, '').trim();
}

abstract class OpenObject {
  protected readonly module: Library;
  protected readonly file: bigint;
  protected readonly path: string;
  protected readonly error: ErrorMaker;
  #attributes: ReadonlyMap<string, Hdf5Attribute> | undefined;

  constructor(module: Library, file: bigint, path: string, error: ErrorMaker) {
    this.module = module;
    this.file = file;
    this.path = path;
    this.error = error;
  }

  /** Those with texts and numbers; others are left out. */
  get attributes(): ReadonlyMap<string, Hdf5Attribute> {
    if (this.#attributes === undefined) {
      const { module, file, path, error } = this;
      const found = new Map<string, Hdf5Attribute>();
      const names = guarded(error, `${quote(path)}: attributes`, () =>
        module.get_attribute_names(file, path),
      );
      for (const name of names) {
        const value = this.#attribute(name);
        if (value !== undefined) found.set(name, value);
      }
      this.#attributes = found;
    }
    return this.#attributes;
  }

  #attribute(name: string): Hdf5Attribute | undefined {
    const { module, file, path, error } = this;
    const what = `${quote(path)}: attribute ${quote(name)}`;
    const data = guarded(error, what, () => module.get_attribute_metadata(file, path, name));
    const { size, total_size: count, shape } = data;
    if (shape === null) return undefined;
    if (count > MOST_TEXTS || size * count > MOST_ATTRIBUTE_BYTES)
      throw error(what, `at most ${MOST_ATTRIBUTE_BYTES} bytes`, size * count);
    const value: unknown = guarded(error, what, () =>
      new module.h5wasm.Group(file, path).get_attribute(name, false),
    );
    return plainValue(value);
  }
}

/** Texts and numbers, one or a list; undefined for anything else. */
function plainValue(value: unknown): Hdf5Attribute | undefined {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, Number);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value as string[];
  return undefined;
}

class OpenGroup extends OpenObject implements Hdf5Group {
  #children: ReadonlyMap<string, Hdf5Group | Hdf5Dataset> | undefined;

  /** They are looked for when somebody asks, so that a group inside itself does no harm. */
  get children(): ReadonlyMap<string, Hdf5Group | Hdf5Dataset> {
    if (this.#children === undefined) {
      const { module, file, path, error } = this;
      const names = guarded(error, `group ${quote(path)}`, () => module.get_names(file, path, false));
      const found = new Map<string, Hdf5Group | Hdf5Dataset>();
      for (const name of names) {
        const child = this.#child(name);
        if (child !== undefined) found.set(name, child);
      }
      this.#children = found;
    }
    return this.#children;
  }

  #child(name: string): Hdf5Group | Hdf5Dataset | undefined {
    const { module, file, path, error } = this;
    const full = path === '/' ? `/${name}` : `${path}/${name}`;
    if (full.length > MOST_PATH) throw error('a path', `at most ${MOST_PATH} characters`, full);
    const what = `object ${quote(full)}`;
    const isLink = guarded(error, what, () => {
      const link: unknown = module.get_symbolic_link(file, full);
      return link !== null || module.get_external_link(file, full).filename !== undefined;
    });
    if (isLink) throw error(what, 'a group or an array', 'a link to another place');
    const type = guarded(error, what, () => module.get_type(file, full));
    if (type === module.H5G_GROUP) return new OpenGroup(module, file, full, error);
    if (type === module.H5G_DATASET) return new OpenDataset(module, file, full, error);
    // Types with names are no data.
    if (type === module.H5G_TYPE) return undefined;
    throw error(what, 'a group or an array', `kind ${type}`);
  }
}
const MOST_PATH = 4096;

class OpenDataset extends OpenObject implements Hdf5Dataset {
  #known: (Metadata & { readonly dtypeName: DTypeName | null }) | undefined;

  get #metadata(): Metadata & { readonly dtypeName: DTypeName | null } {
    if (this.#known !== undefined) return this.#known;
    const { module, file, path, error } = this;
    const data = guarded(error, `array ${quote(path)}`, () => module.get_dataset_metadata(file, path));
    const known = { ...data, dtypeName: this.#dtypeOf(data) };
    this.#known = known;
    return known;
  }
  get shape(): readonly number[] {
    // Without a shape there are no elements.
    return this.#metadata.shape ?? [0];
  }
  get dtype(): DTypeName | null {
    return this.#metadata.dtypeName;
  }
  get elementBytes(): number {
    return this.#metadata.size;
  }
  get type(): string {
    const { dtypeName, type, size, vlen } = this.#metadata;
    if (type === STRING) return vlen ? 'text' : 'bytes';
    return dtypeName ?? KINDS[type] ?? `${size} bytes`;
  }

  #dtypeOf({ type, size, signed, enum_type: names, vlen }: Metadata): DTypeName | null {
    if (vlen) return null;
    if (type === FLOAT)
      return ({ 2: 'float16', 4: 'float32', 8: 'float64' } as Record<number, DTypeName>)[size] ?? null;
    if (type === INTEGER) {
      const name = `${signed ? '' : 'u'}int${size * 8}`;
      return [1, 2, 4, 8].includes(size) ? (name as DTypeName) : null;
    }
    if (type === ENUM && size === 1 && names?.members['FALSE'] === 0 && names.members['TRUE'] === 1)
      return 'bool';
    if (type === OPAQUE && size === 2 && this.attributes.get('dtype') === 'bfloat16') return 'bfloat16';
    return null;
  }

  read(): NDArray {
    const { module, file, path, error, shape } = this;
    const { dtypeName: dtype, virtual_sources: sources } = this.#metadata;
    const what = `array ${quote(path)}`;
    if (dtype === null) throw error.unsupported(`${what}: type`, 'numbers or bool', this.type);
    if (sources !== undefined && sources.length > 0)
      throw error(what, 'elements in this file', 'a view of others');
    const count = elementCount(shape);
    if (count === undefined) throw error(`${what}: shape`, 'sizes', shape.join(', '));
    const each = elementBytes(dtype as ElementKind);
    const bytes = guarded(error, `${what}: ${count * each} bytes`, () => new Uint8Array(count * each));
    // Rows of the first axis, some at a time.
    const rows = shape[0] ?? 1;
    const rowBytes = rows === 0 ? 0 : bytes.length / rows;
    const some = Math.max(1, Math.floor(PIECE_BYTES / Math.max(1, rowBytes)));
    for (let row = 0; row < rows && bytes.length > 0; row += some) {
      const now = Math.min(some, rows - row);
      const into = bytes.subarray(row * rowBytes, (row + now) * rowBytes);
      guarded(error, what, () => {
        if (now === rows) readRows(module, file, path, into, null);
        else readRows(module, file, path, into, { shape, row, rows: now });
      });
    }
    return decodeElements(dtype as ElementKind, bytes, shape);
  }
}

/** Reads rows of an array, or all of it, into `into`. */
function readRows(
  module: Library,
  file: bigint,
  path: string,
  into: Uint8Array,
  part: { readonly shape: readonly number[]; readonly row: number; readonly rows: number } | null,
): void {
  const pointer = module._malloc(into.length);
  if (pointer === 0) throw new Error(`no memory for ${into.length} bytes`);
  try {
    const count = part?.shape.map((size, axis) => BigInt(axis === 0 ? part.rows : size)) ?? null;
    const offset = part?.shape.map((_, axis) => BigInt(axis === 0 ? part.row : 0)) ?? null;
    const strides = part?.shape.map(() => 1n) ?? null;
    module.get_dataset_data(file, path, count, offset, strides, BigInt(pointer));
    into.set(module.HEAPU8.subarray(pointer, pointer + into.length));
  } finally {
    module._free(pointer);
  }
}

// HDF5's classes of types.
const INTEGER = 0;
const FLOAT = 1;
const STRING = 3;
const OPAQUE = 5;
const ENUM = 8;
const KINDS: Readonly<Record<number, string>> = {
  0: 'integer',
  1: 'float',
  2: 'time',
  4: 'bits',
  5: 'opaque',
  6: 'record',
  7: 'reference',
  8: 'enumeration',
  9: 'list',
  10: 'array',
};
