import { collectYoung } from './collect.ts';
import { ResourceExhaustedError } from './errors.ts';

/**
 * The memory of one tensor or of several that share it. `refs` counts the tensors and the tapes that hold it; at zero its
 * bytes went back to the pool and may belong to another. A tensor that a user merely drops never counts down: V8 collects
 * the buffer, so nothing has to be disposed.
 */
export class Storage {
  refs = 1;
  /** The elements of a string tensor, which have no bytes. */
  strings: readonly string[] | undefined = undefined;
  readonly buffer: ArrayBuffer;
  readonly byteOffset: number;
  /** Usable bytes; at least what was asked for. */
  readonly capacity: number;
  /** Machine address of the first byte, or 0 where the backend needs none. */
  readonly address: number;
  readonly allocator: HostAllocator;

  constructor(
    allocator: HostAllocator,
    buffer: ArrayBuffer,
    byteOffset: number,
    capacity: number,
    address: number,
  ) {
    this.allocator = allocator;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.capacity = capacity;
    this.address = address;
  }

  /** One holder less; the last one gives the bytes back to the pool. */
  release(): void {
    if (--this.refs === 0) this.allocator.recycle(this);
  }
}

/** What an allocator can tell of its memory, in bytes. */
export interface MemoryInfo {
  /**
   * In array buffers that V8 has not collected yet, Eagre's and others': live tensors, garbage not yet found, and the pool. The
   * same number for every CPU backend of a thread; NaN where the platform does not tell (browsers).
   */
  readonly bytesAllocated: number;
  /** The part of it that waits in the pool. */
  readonly bytesPooled: number;
  /** Ever taken anew because the pool had nothing that fits; stands still while everything made is given back. */
  readonly bytesTaken: number;
}

const ALIGN = 64;
const SMALL = 16 * 1024;
// A slab lives as long as any tensor in it, so larger ones, which are no faster, would let one kept tensor hold more.
const SLAB = 128 * 1024;
// Fresh bytes between two collections of young objects, each a fraction of a millisecond: what is freed is still in the cache.
const COLLECT_AFTER = 16 * 1024 * 1024;
const LARGE = 1024 * 1024 * 1024;
const POOL_LIMIT = 512 * 1024 * 1024;

/**
 * Host memory in V8-owned buffers, so that garbage collection frees it even in a synchronous loop. Small tensors are cut
 * from slabs (a view on a slab costs no buffer of its own, and its address is known); what is given back explicitly is kept
 * in lists by size and handed out again while still warm in the cache.
 */
export class HostAllocator {
  readonly #addressOf: (buffer: ArrayBuffer) => number;
  readonly #free = new Map<number, Storage[]>();
  #pooled = 0;
  #taken = 0;
  #slab: ArrayBuffer | undefined;
  #slabAddress = 0;
  #slabStart = 0;
  #slabNext = 0;
  #sinceCollection = 0;

  /** @param addressOf the machine address of a buffer; a backend that needs none passes nothing. */
  constructor(addressOf: (buffer: ArrayBuffer) => number = () => 0) {
    this.#addressOf = addressOf;
  }

  /** Uninitialised memory of at least `bytes`, aligned to 64. */
  allocate(bytes: number): Storage {
    const size = sizeClass(bytes);
    const list = this.#free.get(size);
    if (list !== undefined && list.length > 0) {
      const old = list.pop() as Storage;
      this.#pooled -= size;
      // A new object, so that a stale tensor of the old one still sees that its memory is gone.
      return new Storage(this, old.buffer, old.byteOffset, size, old.address);
    }
    return size <= SMALL ? this.#fromSlab(size) : this.#fresh(size);
  }

  /** Memory of its own for something long-lived, which would keep a whole slab alive. */
  allocateAlone(bytes: number): Storage {
    return this.#fresh(sizeClass(bytes));
  }

  /** Takes bytes back; called by `Storage.release`. */
  recycle(storage: Storage): void {
    const size = storage.capacity;
    if (size === 0 || this.#pooled + size > POOL_LIMIT) return;
    let list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, (list = []));
    list.push(storage);
    this.#pooled += size;
  }

  /** Drops what the pool holds, so that V8 can free it. */
  trim(): void {
    this.#free.clear();
    this.#pooled = 0;
  }

  info(): MemoryInfo {
    return { bytesAllocated: arrayBufferBytes(), bytesPooled: this.#pooled, bytesTaken: this.#taken };
  }

  #fromSlab(size: number): Storage {
    this.#taken += size;
    let slab = this.#slab;
    if (slab === undefined || this.#slabNext + size > SLAB) {
      slab = this.#buffer(SLAB + ALIGN);
      this.#slab = slab;
      const address = this.#addressOf(slab);
      const skip = (ALIGN - (address % ALIGN)) % ALIGN;
      this.#slabAddress = address === 0 ? 0 : address + skip;
      this.#slabStart = skip;
      this.#slabNext = 0;
    }
    const at = this.#slabNext;
    this.#slabNext = at + size;
    return new Storage(
      this,
      slab,
      this.#slabStart + at,
      size,
      this.#slabAddress === 0 ? 0 : this.#slabAddress + at,
    );
  }

  #fresh(size: number): Storage {
    this.#taken += size;
    const buffer = this.#buffer(size + ALIGN);
    const address = this.#addressOf(buffer);
    const skip = (ALIGN - (address % ALIGN)) % ALIGN;
    return new Storage(this, buffer, skip, size, address === 0 ? 0 : address + skip);
  }

  #buffer(bytes: number): ArrayBuffer {
    this.#sinceCollection += bytes;
    if (this.#sinceCollection > COLLECT_AFTER) {
      this.#sinceCollection = bytes;
      collectYoung();
    }
    let buffer: ArrayBuffer;
    try {
      checkLimit(bytes);
      buffer = allocateBytes(bytes);
    } catch (cause) {
      this.trim();
      throw new ResourceExhaustedError(`no memory for ${bytes} bytes`, undefined, { cause });
    }
    return buffer;
  }
}

/** Sizes are rounded up so that freed memory fits again: to 64 bytes, then to an eighth of a power of two. */
function sizeClass(bytes: number): number {
  if (bytes <= 1024) return (bytes + (ALIGN - 1)) & ~(ALIGN - 1) || ALIGN;
  const step = 2 ** Math.max(6, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

// A container's limit shows only when the pages are touched, by the end of the process: so what can never fit is refused.
function checkLimit(bytes: number): void {
  if (bytes < LARGE || typeof process !== 'object') return;
  const limit = process.constrainedMemory?.() ?? 0;
  if (limit > 0 && bytes > limit) throw new RangeError(`the memory is limited to ${limit} bytes`);
}

// Node's Buffer skips the zeroing that `new ArrayBuffer` must do (230 µs against 9 µs for 4 MB); browsers have only the latter.
const allocateBytes: (bytes: number) => ArrayBuffer =
  typeof Buffer === 'function' && typeof Buffer.allocUnsafeSlow === 'function'
    ? (bytes) => Buffer.allocUnsafeSlow(bytes).buffer as ArrayBuffer
    : (bytes) => new ArrayBuffer(bytes);

const arrayBufferBytes = (): number =>
  typeof process === 'object' ? process.memoryUsage().arrayBuffers : Number.NaN;
