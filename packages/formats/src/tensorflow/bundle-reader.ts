import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { elementCount } from '../arrays/ndarray.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { nativeFiles } from '../files/native-files.ts';
import { nodeBuiltin } from '../files/node.ts';
import { OpenFiles, openRegular } from '../files/open-files.ts';
import { type BundleEntry, decodeIndex, indexPath, infoOf, shardPath } from './bundle-index.ts';
import { openIndex, readIndex } from './bundle-open.ts';
import { BundleReading, onlyBools, type Part, placesOf, targetsOf } from './bundle-reading.ts';
import { decodeBundleStrings } from './bundle-strings.ts';
import { decodeDataType, type TensorValue } from './data-types.ts';

// What is read at once: enough for the system to read ahead at the disk's rate.
const CHUNK_BYTES = 2 ** 22;

/**
 * Reads a checkpoint of TensorFlow (`prefix.index` and `prefix.data-?????-of-?????`). Nothing has to be closed. Node only.
 *
 * Whatever reads data throws FormatError for a missing tensor, a wrong checksum and anything else that is wrong, and Node's system error, with
 * code `ENOENT` when a file is missing. What reads a dtype without an array throws UnsupportedFormatError.
 */
export class BundleReader {
  readonly prefix: string;
  readonly #shards: number;
  readonly #entries: ReadonlyMap<string, BundleEntry>;
  readonly #error: ErrorMaker;
  readonly #files: OpenFiles = new OpenFiles();

  private constructor(prefix: string, index: Uint8Array) {
    const { shards, entries } = decodeIndex(index, indexPath(prefix));
    this.prefix = prefix;
    this.#shards = shards;
    this.#entries = entries;
    this.#error = errorsFor('checkpoint', prefix);
  }

  /** Reads the index. */
  static async open(prefix: string): Promise<BundleReader> {
    const fs = nodeBuiltin('node:fs');
    const file = openIndex(prefix);
    try {
      return new BundleReader(prefix, await nodeBuiltin('node:util').promisify(fs.readFile)(file));
    } finally {
      fs.closeSync(file);
    }
  }

  /** Reads the index. */
  static openSync(prefix: string): BundleReader {
    return new BundleReader(prefix, readIndex(prefix));
  }

  /** What the checkpoint holds, by key, in the order of the keys' bytes. */
  entries(): ReadonlyMap<string, BundleEntry> {
    return this.#entries;
  }

  /** Whether there is a tensor under the key. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** The tensor under a key. The values of float16 and bfloat16 come as float32. */
  read(key: string): TensorValue {
    const entry = this.#find(key);
    return this.#decode(key, entry, this.#readAll(key, entry));
  }

  /** {@link read}, without blocking. */
  async readAsync(key: string): Promise<TensorValue> {
    const entry = this.#find(key);
    if (entry.parts.length > 0) return this.read(key);
    return this.#files.useAsync(this.#pathOf(entry), async (file) => {
      const bytes = this.#roomFor(key, entry, file);
      await this.#fill(key, entry, bytes, file);
      return this.#decode(key, entry, bytes);
    });
  }

  /** The bytes of the tensor under a key, of any dtype but string, row-major and little-endian. */
  readBytes(key: string): Uint8Array {
    const entry = this.#find(key);
    this.#refuseStrings(key, entry);
    return this.#readAll(key, entry);
  }

  /** Reads the bytes of the tensor under a key, of any dtype but string, into `target`, which has just that size. */
  readInto(key: string, target: Uint8Array): void {
    this.readAllInto([[key, target]]);
  }

  /**
   * The same for many tensors, which takes less time than one by one; no two targets may have memory in common. Bools are 0 or 1 there. After
   * an error all targets may have any bytes.
   */
  readAllInto(values: Iterable<readonly [key: string, target: Uint8Array]>): void {
    const parts = Array.from(values, ([key, target]) => ({
      key,
      target,
      entry: this.#checkTarget(key, target),
    }));
    this.#passAll(parts.filter(({ entry }) => entry.parts.length === 0));
    for (const { key, entry, target } of parts) if (entry.parts.length > 0) this.#join(key, entry, target);
    for (const { entry, target } of parts) if (entry.dtype === 'bool') onlyBools(target);
  }

  /**
   * Begins to read tensors of fixed size into memory of their sizes, on another thread, while the caller does something else. Nobody may use the
   * targets before that is finished or stopped.
   * @returns undefined where no native code reads files
   */
  begin(values: Iterable<readonly [key: string, target: Uint8Array]>): BundleReading | undefined {
    const native = nativeFiles();
    if (native === undefined) return undefined;
    const parts = Array.from(values, ([key, target]) => ({
      key,
      target,
      entry: this.#checkTarget(key, target),
    })).filter(({ entry }) => entry.parts.length === 0 && entry.bytes > 0);
    const reading = new BundleReading(native);
    try {
      for (const [path, inFile] of this.#byFile(parts)) reading.add(openRegular(path), inFile);
    } catch (error) {
      reading.stop();
      throw error;
    }
    return reading;
  }

  /** Checks that the data files are as long as the tensors under these keys need: before memory is taken for them. */
  checkSizes(keys: Iterable<string>): void {
    const sizes = new Map<string, number>();
    for (const [key, entry] of this.#pieces(keys)) {
      const path = this.#pathOf(entry);
      const size =
        sizes.get(path) ?? this.#files.use(path, (file) => nodeBuiltin('node:fs').fstatSync(file).size);
      sizes.set(path, size);
      this.#checkEnd(key, entry, size);
    }
  }

  /**
   * Reads the bytes of the tensors under these keys, of any dtype but string, only to see that they are there and unchanged. Of several that are
   * not, the error names the first in its data file.
   */
  verify(keys: Iterable<string>): void {
    this.#passAll(
      Array.from(this.#pieces(keys), ([key, entry]) => {
        this.#refuseStrings(key, entry);
        return { key, target: undefined, entry };
      }),
    );
  }
  #scratch: Uint8Array | undefined;

  /** {@link readInto}, without blocking; `target` must be left alone meanwhile. */
  async readIntoAsync(key: string, target: Uint8Array): Promise<void> {
    const entry = this.#checkTarget(key, target);
    if (entry.parts.length > 0) return this.readInto(key, target);
    await this.#files.useAsync(this.#pathOf(entry), (file) => this.#fill(key, entry, target, file));
  }

  #find(key: string): BundleEntry {
    const entry = this.#entries.get(key);
    if (entry === undefined) throw this.#error(`no tensor ${quote(key)}`);
    return entry;
  }

  /** The entries with bytes of their own: of a tensor in parts, those of its parts. */
  *#pieces(keys: Iterable<string>): Generator<readonly [key: string, entry: BundleEntry]> {
    for (const key of keys) {
      const entry = this.#find(key);
      if (entry.parts.length === 0) yield [key, entry];
      for (const part of entry.parts) yield [key, part.entry];
    }
  }

  #checkTarget(key: string, target: Uint8Array): BundleEntry {
    const entry = this.#find(key);
    this.#refuseStrings(key, entry);
    if (target.length !== entry.bytes)
      throw this.#error(`room for tensor ${quote(key)}`, `${entry.bytes} bytes`, target.length);
    return entry;
  }

  #refuseStrings(key: string, entry: BundleEntry): void {
    if (infoOf(entry).bytes === 0)
      throw this.#error.unsupported(`tensor ${quote(key)}`, 'a dtype of fixed size', entry.dtype);
  }

  #decode(key: string, entry: BundleEntry, bytes: Uint8Array): TensorValue {
    const where = `tensor ${quote(key)}`;
    const { dtype, shape } = entry;
    if (dtype !== 'string') return decodeDataType(infoOf(entry), bytes, shape, where, this.#error);
    const count = elementCount(shape) as number;
    return { dtype, shape, data: decodeBundleStrings(bytes, count, entry.crc32c, where, this.#error) };
  }

  #readAll(key: string, entry: BundleEntry): Uint8Array {
    if (entry.parts.length > 0) {
      this.#refuseStrings(key, entry);
      this.checkSizes([key]);
      const target = new Uint8Array(entry.bytes);
      this.#join(key, entry, target);
      return target;
    }
    return this.#files.use(this.#pathOf(entry), (file) => {
      const target = this.#roomFor(key, entry, file);
      this.#pass([{ key, entry, target }], file);
      return target;
    });
  }

  /** Reads the parts of a tensor to their places in `target`: they differ along one axis. */
  #join(key: string, { shape, parts, bytes }: BundleEntry, target: Uint8Array): void {
    const axis = Math.max(
      0,
      shape.findIndex((size, i) => parts.some((p) => p.entry.shape[i] !== size)),
    );
    const outer = shape.slice(0, axis).reduce((n, size) => n * size, 1);
    let at = 0;
    for (const { entry } of parts) {
      const piece = this.#readAll(key, entry);
      const run = piece.length / outer;
      for (let i = 0; i < outer; i++)
        target.set(piece.subarray(i * run, (i + 1) * run), (i * bytes) / outer + at);
      at += run;
    }
  }

  /** Nothing is allocated for bytes that are not there. */
  #roomFor(key: string, entry: BundleEntry, file: number): Uint8Array {
    this.#checkEnd(key, entry, nodeBuiltin('node:fs').fstatSync(file).size);
    return new Uint8Array(entry.bytes);
  }

  #checkEnd(key: string, { offset, bytes }: BundleEntry, size: number): void {
    if (offset + bytes > size)
      throw this.#error(`tensor ${quote(key)}: truncated data`, `${offset + bytes} bytes`, size);
  }

  /** Reads all bytes of each tensor and checks them, one data file after the other. */
  #passAll(parts: readonly Part[]): void {
    for (const [path, inFile] of this.#byFile(parts))
      this.#files.use(path, (file) => this.#pass(inFile, file));
  }

  /** The parts of each data file, in the order of their bytes. */
  #byFile<P extends Part>(parts: readonly P[]): (readonly [path: string, parts: readonly P[]])[] {
    const byShard = new Map<number, P[]>();
    for (const part of parts) {
      const others = byShard.get(part.entry.shard);
      if (others === undefined) byShard.set(part.entry.shard, [part]);
      else others.push(part);
    }
    return [...byShard]
      .sort(([a], [b]) => a - b)
      .map(([shard, inFile]) => [
        shardPath(this.prefix, shard, this.#shards),
        inFile.sort((x, y) => x.entry.offset - y.entry.offset),
      ]);
  }

  /** The same in one file, all of them into their targets, or all nowhere. */
  #pass(parts: readonly Part[], file: number): void {
    const crcs = nativeFiles()?.readRanges(file, placesOf(parts), targetsOf(parts));
    parts.forEach((part, i) => {
      const crc = crcs?.[i] ?? -1;
      // What native code cannot read is read again here, which tells why.
      this.#checkCrc(part.key, part.entry, crc >= 0 ? crc : this.#passPortable(part, file));
    });
  }

  #passPortable({ key, entry, target }: Part, file: number): number {
    const fs = nodeBuiltin('node:fs');
    let crc = 0;
    for (let at = 0; at < entry.bytes; ) {
      const part = target?.subarray(at) ?? (this.#scratch ??= new Uint8Array(CHUNK_BYTES));
      const length = Math.min(CHUNK_BYTES, entry.bytes - at);
      const count = fs.readSync(file, part, 0, length, entry.offset + at);
      if (count === 0) this.#checkEnd(key, entry, entry.offset + at);
      crc = crc32c(part.subarray(0, count), crc);
      at += count;
    }
    return crc;
  }

  async #fill(key: string, entry: BundleEntry, target: Uint8Array, file: number): Promise<void> {
    const fs = nodeBuiltin('node:fs');
    const read = (at: number): Promise<number> =>
      new Promise((resolve, reject) => {
        const length = Math.min(CHUNK_BYTES, target.length - at);
        fs.read(file, target, at, length, entry.offset + at, (error, count) =>
          error ? reject(error) : resolve(count),
        );
      });
    let crc = 0;
    let coming = target.length > 0 ? read(0) : undefined;
    for (let at = 0; coming !== undefined; ) {
      const count = await coming;
      if (count === 0) this.#checkEnd(key, entry, entry.offset + at);
      // The next part comes while this one is checked.
      coming = at + count < target.length ? read(at + count) : undefined;
      crc = crc32c(target.subarray(at, at + count), crc);
      at += count;
    }
    this.#checkCrc(key, entry, crc);
  }

  #checkCrc(key: string, entry: BundleEntry, crc: number): void {
    // Strings have a checksum of another kind, see there.
    if (entry.dtype !== 'string' && maskCrc(crc) !== entry.crc32c)
      throw this.#error(`tensor ${quote(key)}: checksum`, String(entry.crc32c), maskCrc(crc));
  }

  #pathOf(entry: BundleEntry): string {
    return shardPath(this.prefix, entry.shard, this.#shards);
  }
}
