import { crc32c, maskCrc } from '../archives/crc32c.ts';
import { elementCount } from '../arrays/ndarray.ts';
import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { deleteLeftovers, ownMark, refuseSpecial, syncFolder, temporaryFor } from '../files/atomic.ts';
import { makeFolders } from '../files/make-folders.ts';
import { nativeFiles } from '../files/native-files.ts';
import { nodeBuiltin } from '../files/node.ts';
import { type BundleEntry, encodeIndex, indexPath, shardPath } from './bundle-index.ts';
import { recoverBundle } from './bundle-open.ts';
import { encodeBundleStrings } from './bundle-strings.ts';
import { dataTypeInfo, dataTypeNumber } from './data-types.ts';
import { encodeStrings } from './tensor-proto.ts';

// Small tensors are gathered, large ones cut up; the checksum of so much takes about a millisecond.
const BUFFER_BYTES = 2 ** 20;
const CHUNK_BYTES = 2 ** 22;
const MOST_SHARDS = 1000;
// After so much the disk may begin, rather than at the end.
const SYNC_BYTES = 2 ** 24;

/** Options of {@link BundleWriter}. */
export interface BundleWriterOptions {
  /** Over how many data files the tensors are spread, so that each gets about as many bytes. Default: 1. */
  readonly shards?: number | undefined;
}

/** A data file as it grows. */
interface Shard {
  readonly path: string;
  readonly temporary: string;
  readonly file: number;
  isOpen: boolean;
  /** Small tensors that wait to be written together. */
  readonly buffer: Uint8Array;
  buffered: number;
  size: number;
  /** Bytes in the file, and how many of these the disk was asked to take. */
  written: number;
  begun: number;
}

/**
 * Writes a checkpoint of TensorFlow. Tensors go to temporary files as they come; `finish` writes these to the disk and gives them their names,
 * the index last, so that there is either the whole checkpoint or none. The writer holds a megabyte for each data file, and no tensor. The
 * folder is made if need be. Where the process is killed while the files get their names, whoever reads the checkpoint next, or writes it
 * again, ends that. Node only.
 *
 * Each method has a form that does not block. It must have ended before the next call, and the bytes must be left alone meanwhile.
 * Methods throw FormatError for what no checkpoint can hold, and Node's system errors; after an error, and instead of `finish`, `abort`
 * removes what there is.
 */
export class BundleWriter {
  readonly prefix: string;
  readonly #error: ErrorMaker;
  readonly #entries = new Map<string, BundleEntry>();
  readonly #shards: readonly Shard[];
  /** The index under the name that it has first. */
  readonly #index: string;
  #state: 'open' | 'busy' | 'closed' = 'open';

  constructor(prefix: string, options: BundleWriterOptions = {}) {
    this.prefix = prefix;
    // One mark for all, so that `recoverBundle` knows which belong together.
    const mark = ownMark();
    this.#index = temporaryFor(indexPath(prefix), mark);
    this.#error = errorsFor('checkpoint', prefix);
    const count = options.shards ?? 1;
    if (!(Number.isInteger(count) && count >= 1 && count <= MOST_SHARDS))
      throw this.#error('shards', `1 to ${MOST_SHARDS}`, String(count));
    const fs = nodeBuiltin('node:fs');
    // Of the file: a prefix may end in a slash.
    makeFolders(nodeBuiltin('node:path').dirname(indexPath(prefix)));
    refuseSpecial(indexPath(prefix));
    // What follows may be killed too.
    recoverBundle(prefix);
    deleteLeftovers(nodeBuiltin('node:path').dirname(indexPath(prefix)));
    const shards: Shard[] = [];
    this.#shards = shards;
    try {
      for (let i = 0; i < count; i++) {
        const path = shardPath(prefix, i, count);
        const temporary = temporaryFor(path, mark);
        const file = fs.openSync(temporary, 'wx');
        shards.push({
          path,
          temporary,
          file,
          isOpen: true,
          buffer: new Uint8Array(BUFFER_BYTES),
          buffered: 0,
          size: 0,
          written: 0,
          begun: 0,
        });
      }
    } catch (error) {
      this.abort();
      throw error;
    }
  }

  /**
   * Adds a tensor.
   *
   * @param dtype TensorFlow's name, such as `float32`.
   * @param data for strings text or bytes, for all else the elements' bytes, row-major and little-endian.
   */
  add(
    key: string,
    dtype: string,
    shape: readonly number[],
    data: Uint8Array | readonly (string | Uint8Array)[],
  ): void {
    this.#begin();
    const { shard, bytes, crc } = this.#place(key, dtype, shape, data);
    const fs = nodeBuiltin('node:fs');
    const write = (chunk: Uint8Array): void => {
      for (let at = 0; at < chunk.length; ) at += fs.writeSync(shard.file, chunk, at, chunk.length - at);
      shard.written += chunk.length;
      const waiting = shard.written - shard.begun;
      if (waiting < SYNC_BYTES) return;
      nativeFiles()?.beginSync(shard.file, shard.begun, waiting);
      shard.begun = shard.written;
    };
    let sum = 0;
    for (const step of steps(shard, bytes)) {
      if (crc === undefined) sum = crc32c(step.of, sum);
      if (step.write !== undefined) write(step.write);
    }
    this.#record(key, dtype, shape, shard, bytes.length, crc ?? maskCrc(sum));
    this.#state = 'open';
  }

  /** {@link add}, without blocking. */
  async addAsync(
    key: string,
    dtype: string,
    shape: readonly number[],
    data: Uint8Array | readonly (string | Uint8Array)[],
  ): Promise<void> {
    this.#begin();
    const { shard, bytes, crc } = this.#place(key, dtype, shape, data);
    let sum = 0;
    for (const step of steps(shard, bytes)) {
      if (crc === undefined) sum = crc32c(step.of, sum);
      if (step.write === undefined) continue;
      await writeAll(shard.file, step.write);
      shard.written += step.write.length;
    }
    this.#record(key, dtype, shape, shard, bytes.length, crc ?? maskCrc(sum));
    this.#state = 'open';
  }

  /** Makes the checkpoint appear, all of it on the disk. */
  finish(): void {
    this.#begin();
    const fs = nodeBuiltin('node:fs');
    for (const shard of this.#shards) {
      for (let at = 0; at < shard.buffered; )
        at += fs.writeSync(shard.file, shard.buffer, at, shard.buffered - at);
      fs.fsyncSync(shard.file);
    }
    fs.writeFileSync(this.#index, encodeIndex(this.#shards.length, this.#entries), {
      flag: 'wx',
      flush: true,
    });
    this.#appear();
  }

  /** {@link finish}, without blocking. */
  async finishAsync(): Promise<void> {
    this.#begin();
    const fs = nodeBuiltin('node:fs');
    const sync = nodeBuiltin('node:util').promisify(fs.fsync);
    for (const shard of this.#shards) {
      await writeAll(shard.file, shard.buffer.subarray(0, shard.buffered));
      await sync(shard.file);
    }
    const index = await fs.promises.open(this.#index, 'wx');
    try {
      await index.writeFile(encodeIndex(this.#shards.length, this.#entries));
      await index.sync();
    } finally {
      await index.close();
    }
    this.#appear();
  }

  /** Removes what was written. After `finish` it does nothing. */
  abort(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    const fs = nodeBuiltin('node:fs');
    for (const shard of this.#shards) {
      close(shard);
      fs.rmSync(shard.temporary, { force: true });
    }
    fs.rmSync(this.#index, { force: true });
  }

  [Symbol.dispose](): void {
    this.abort();
  }

  #begin(): void {
    if (this.#state === 'closed') throw this.#error('the writer is closed');
    if (this.#state === 'busy')
      throw this.#error('the writer is still busy, or had an error', 'to be awaited');
    this.#state = 'busy';
  }

  /** Checks a tensor, and says where and how it is written. Only strings come with their checksum. */
  #place(
    key: string,
    dtype: string,
    shape: readonly number[],
    data: Uint8Array | readonly (string | Uint8Array)[],
  ): { shard: Shard; bytes: Uint8Array; crc: number | undefined } {
    try {
      const where = `tensor ${quote(key)}`;
      if (key === '' || key.startsWith('\0')) throw this.#error(where, 'a key of other characters');
      if (this.#entries.has(key)) throw this.#error(where, 'each key once');
      const count = elementCount(shape);
      if (count === undefined) throw this.#error(`${where}: shape`, 'sizes', `[${shape.join(', ')}]`);
      const shard = this.#shards.reduce((a, b) => (b.size < a.size ? b : a));
      if (dtype === 'string') {
        if (data instanceof Uint8Array || data.length !== count)
          throw this.#error(`${where}: data`, `${count} strings`, data.length);
        return { shard, ...encodeBundleStrings(encodeStrings(data)) };
      }
      const info = dataTypeInfo(dataTypeNumber(dtype) ?? 0);
      if (info === undefined || info.bytes === 0)
        throw this.#error(`${where}: dtype`, 'one of fixed size', dtype);
      if (!(data instanceof Uint8Array) || data.length !== count * info.bytes)
        throw this.#error(`${where}: data`, `${count * info.bytes} bytes`, data.length);
      return { shard, bytes: data, crc: undefined };
    } catch (error) {
      // Nothing was written yet.
      this.#state = 'open';
      throw error;
    }
  }

  #record(
    key: string,
    dtype: string,
    shape: readonly number[],
    shard: Shard,
    bytes: number,
    crc: number,
  ): void {
    this.#entries.set(key, {
      dtype,
      shape: [...shape],
      bytes,
      shard: this.#shards.indexOf(shard),
      offset: shard.size,
      crc32c: crc,
      parts: [],
    });
    shard.size += bytes;
  }

  /** Gives the files their names, at one go: no other writer of this program comes in between. */
  #appear(): void {
    const fs = nodeBuiltin('node:fs');
    const index = indexPath(this.prefix);
    // An index of before would belong to other data.
    fs.rmSync(index, { force: true });
    for (const shard of this.#shards) {
      close(shard);
      fs.renameSync(shard.temporary, shard.path);
    }
    syncFolder(index);
    fs.renameSync(this.#index, index);
    syncFolder(index);
    this.#state = 'closed';
  }
}

function close(shard: Shard): void {
  if (!shard.isOpen) return;
  shard.isOpen = false;
  nodeBuiltin('node:fs').closeSync(shard.file);
}

/** Takes a tensor apart: each part is to be summed up, and what is in `write`, if anything, to be written. */
function* steps(
  shard: Shard,
  bytes: Uint8Array,
): Generator<{ of: Uint8Array; write: Uint8Array | undefined }, void, undefined> {
  const { buffer } = shard;
  if (bytes.length > buffer.length - shard.buffered && shard.buffered > 0) {
    const write = buffer.subarray(0, shard.buffered);
    yield { of: bytes.subarray(0, 0), write };
    shard.buffered = 0;
  }
  if (bytes.length < buffer.length) {
    buffer.set(bytes, shard.buffered);
    shard.buffered += bytes.length;
    yield { of: bytes, write: undefined };
    return;
  }
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const of = bytes.subarray(at, at + CHUNK_BYTES);
    yield { of, write: of };
  }
}

function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  const fs = nodeBuiltin('node:fs');
  return new Promise((resolve, reject) => {
    const from = (at: number): void => {
      if (at === bytes.length) resolve();
      else
        fs.write(file, bytes, at, bytes.length - at, null, (error, count) =>
          error ? reject(error) : from(at + count),
        );
    };
    from(0);
  });
}
