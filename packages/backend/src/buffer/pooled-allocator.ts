import { EagreError, ResourceExhaustedError, UnimplementedError } from '../errors.ts';
import { collectAll, collectsYoung, collectYoung } from './minor-gc.ts';
import { type Allocator, type MemoryInfo, Storage } from './storage.ts';

/** Memory that an allocator keeps for good and lends out. */
export class Block {
  free = false;
  /** Whether it was last lent out as a slab of full size. */
  isSlab = false;
  /** Whether it was last lent out for what lives long. */
  isAlone = false;
  readonly buffer: object;
  readonly byteOffset: number;
  readonly capacity: number;
  readonly address: number;
  /** Its number with the watcher. */
  readonly slot: number;

  /** Whether it is all of its buffer. */
  readonly isWhole: boolean;

  constructor(
    buffer: object,
    byteOffset: number,
    capacity: number,
    address: number,
    slot: number,
    isWhole: boolean,
  ) {
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.capacity = capacity;
    this.address = address;
    this.slot = slot;
    this.isWhole = isWhole;
  }
}

/** A block that small tensors are cut from; lent out until none of them is left. */
class Slab {
  next = 0;
  readonly block: Block;

  get room(): number {
    return this.block.capacity - this.next;
  }

  constructor(block: Block) {
    this.block = block;
  }
}

/**
 * Tells which of some objects V8 has collected, also young ones, and also while JavaScript runs without a pause: weak handles of
 * Node-API do. (WeakRef and FinalizationRegistry do not: V8 keeps what they watch until a full collection.)
 */
export interface Watcher {
  /** Watches an object under a number, instead of the one that had it. */
  watch(object: object, slot: number): void;
  /** Writes the numbers of collected objects into `slots`, each once, until it is full; returns how many. */
  collected(slots: Uint32Array): number;
}

const ALIGN = 64;
// Up to here tensors are cut from slabs: watching each would cost more than a buffer's share.
const SMALL = 4 * 1024;
// A slab lives as long as any tensor in it, so larger ones, which are no faster, would let one kept tensor hold more.
const SLAB = 128 * 1024;
// A program that keeps a scalar of each step would hold a slab for each. Once more slabs than these outlive a collection of all objects,
// small tensors are cut from slabs of a few of their size, until half of them have come back: it costs each about 30 ns, since every
// slab is watched.
const SLABS_KEPT = 64;
const FEW = 8;
// Nobody tells when a slab comes back without a watcher: V8 frees it with its last tensor.
const UNWATCHED_SLAB = 8 * 1024;
const MOST_PATIENCE = 4;
// Slabs lent out between two collections at most, and always where each is one of all objects (Bun, Deno): this much holds a million tensors, whose objects weigh 300 MB.
const COLLECT_SLABS_AFTER = 64 * 1024 * 1024;
const MIB = 1024 * 1024;

/** When memory that was dropped is looked for, and how much is kept: all in bytes. */
export interface MemoryPolicy {
  /** Lent out and not given back between two collections of young objects (50 µs each). */
  readonly collectAfter: number;
  /** A larger block asks for a collection itself, and after vain ones only every second, then every fourth, unless that is so much. */
  readonly collectAfterMost: number;
  /** As `collectAfter`, of what lives long. */
  readonly collectAloneAfter: number;
  /**
   * Collections of young objects leave those that became old before they were dropped, and V8 by itself looks for these when its own heap
   * has grown. So all objects are collected (tens of milliseconds) when this much is lent out, and then at twice what was in use.
   */
  readonly collectAllAfter: number;
  /** Kept to be lent out again. */
  readonly poolLimit: number;
}

/**
 * Of the host. What comes back soon is still in the cache, and writing to fresh pages costs more than a collection: a cache may hold one large block and
 * what it is made from, but not several.
 */
const hostPolicy: MemoryPolicy = {
  collectAfter: 8 * MIB,
  collectAfterMost: 256 * MIB,
  collectAloneAfter: 80 * MIB,
  collectAllAfter: 512 * MIB,
  poolLimit: 512 * MIB,
};

/**
 * Memory in buffers that are taken from somewhere. What is given back explicitly, and with a watcher also what was merely dropped and
 * collected, is kept in lists by size and lent out again: no fresh pages, no work for V8, and often still in the cache. Small tensors
 * are cut from slabs.
 */
export abstract class PooledAllocator<Buffer extends object> implements Allocator {
  abstract readonly isHost: boolean;
  readonly alignment: number;
  readonly #watcher: Watcher | undefined;
  readonly #policy: MemoryPolicy;
  /** By size in multiples of ALIGN. */
  readonly #small: readonly Storage[][] = Array.from({ length: SMALL / ALIGN + 1 }, () => []);
  readonly #blocks = new Map<number, Block[]>();
  /** By slot, as long as they are watched: memory, or what is called when something of a user's is gone. */
  readonly #watched: (Block | (() => void) | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  readonly #found = new Uint32Array(4096);
  #slab: Slab | undefined;
  /** Slabs of a few tensors, by the power of two that holds a tensor. */
  readonly #fine: (Slab | undefined)[] = new Array(1 + Math.log2(SMALL)).fill(undefined);
  /** What the smallest slabs are cut from. */
  #sheet: Slab | undefined;
  /** Slabs of full size that are lent out, and whether too many were left after the last collection. */
  #slabs = 0;
  #crowded = false;
  #pooled = 0;
  #taken = 0;
  #lent = 0;
  /** The same of what lives long: variables and the memory of plans. It is garbage seldom, so it asks for few collections. */
  #lentAlone = 0;
  /** Bytes in blocks that are lent out, and from how many on old objects are collected too. */
  #out = 0;
  #outLimit: number;
  /** How many bytes may be lent out. */
  #limit = Number.POSITIVE_INFINITY;
  /** The most that was lent out at once. */
  #peak = 0;
  /** How many blocks of more than the policy's `collectAfter` are lent between two collections. */
  #patience = 1;

  /**
   * @param watcher without one, V8 collects the buffers of dropped tensors.
   * @param alignment of every piece, a power of two from 64 on.
   * @param policy the host's unless given.
   */
  constructor(watcher: Watcher | undefined, alignment: number = ALIGN, policy: MemoryPolicy = hostPolicy) {
    this.alignment = alignment;
    this.#policy = policy;
    this.#outLimit = policy.collectAllAfter;
    this.#watcher = watcher;
  }

  abstract read(from: Storage, bytes: number): Uint8Array;
  abstract readAsync(from: Storage, bytes: number): Promise<Uint8Array>;
  abstract write(to: Storage, bytes: Uint8Array): void;
  abstract copy(from: Storage, to: Storage, bytes: number): void;
  abstract synchronize(): void;
  abstract synchronizeAsync(): Promise<void>;
  /** Bytes that are held, the pool's too. */
  protected abstract allocated(): number;
  /** A new buffer. @throws EagreError where there never will be one; any other error where there is none now. */
  protected abstract take(bytes: number): Buffer;
  /** The machine address of a buffer, 0 where nobody needs it. */
  protected abstract addressOf(buffer: Buffer): number;
  /** Of a new block of so many bytes. */
  protected alignmentOf(_size: number): number {
    return ALIGN;
  }
  /** What tells that there is no memory now. */
  protected fullMessage(bytes: number): string {
    return `no memory for ${bytes} bytes`;
  }
  /** Ends a buffer that nothing uses any more; without it, V8's collection of the object does. */
  protected give?(buffer: Buffer): void;

  get limit(): number {
    return this.#limit;
  }
  /** @throws UnimplementedError without a watcher, as nobody tells then which memory is in use. */
  set limit(bytes: number) {
    if (bytes < Number.POSITIVE_INFINITY && this.#watcher === undefined)
      throw new UnimplementedError(
        'memory can be limited only where the native addon tells which memory is in use',
      );
    this.#limit = bytes;
  }

  allocate(bytes: number): Storage {
    const size = sizeClass(bytes, this.alignment);
    if (size > SMALL) return this.#whole(size, false);
    const old = this.#small[size / ALIGN].pop();
    if (old === undefined) return this.#cut(size);
    this.#pooled -= size;
    // A new object, so that a stale tensor of the old one still sees that its memory is gone.
    return new Storage(this, old.buffer, old.byteOffset, size, old.address, old.owner);
  }

  // What lives long would keep a whole slab alive.
  allocateAlone(bytes: number): Storage {
    const size = sizeClass(bytes, this.alignment);
    if (size > SMALL) return this.#whole(size, true);
    if (this.#limit < Number.POSITIVE_INFINITY) return this.allocate(bytes);
    const { buffer, byteOffset, address } = this.#fresh(size, false);
    return new Storage(this, buffer, byteOffset, size, address, undefined);
  }

  recycle(storage: Storage): void {
    const { capacity: size, owner } = storage;
    if (owner instanceof Block) {
      if (owner.isAlone) this.#lentAlone = Math.max(0, this.#lentAlone - size);
      else this.#lent = Math.max(0, this.#lent - size);
      this.#keep(owner);
    } else if (size > 0 && this.#pooled + size <= this.#policy.poolLimit) {
      this.#small[size / ALIGN].push(storage);
      this.#pooled += size;
    }
  }

  watch(object: object, dropped: () => void): (() => void) | undefined {
    const watcher = this.#watcher;
    if (watcher === undefined) return undefined;
    const slot = this.#slot();
    this.#watched[slot] = dropped;
    watcher.watch(object, slot);
    return () => {
      if (this.#watched[slot] === dropped) this.#free(slot);
    };
  }

  findDropped(): void {
    if (this.#watcher === undefined) return;
    collectYoung();
    this.#reap();
    if (this.#crowded || this.#slabs <= SLABS_KEPT) return;
    // Those that became old before they were dropped come back only so: V8 may not look for them while its own heap grows slowly.
    if (collectsYoung) this.#findOld();
    this.#crowded = this.#slabs > SLABS_KEPT;
  }

  trim(): void {
    this.#reap();
    for (const list of this.#small) list.length = 0;
    for (const blocks of this.#blocks.values()) for (const block of blocks) this.#forget(block);
    this.#blocks.clear();
    this.#pooled = 0;
  }

  info(): MemoryInfo {
    return {
      bytesAllocated: this.allocated(),
      bytesPooled: this.#pooled,
      bytesTaken: this.#taken,
      bytesInUse: this.#out,
      bytesPeak: this.#peak,
    };
  }

  resetPeak(): void {
    this.#reap();
    this.#peak = this.#out;
  }

  #whole(size: number, isAlone: boolean): Storage {
    const after = isAlone ? this.#policy.collectAloneAfter : this.#collectAfter(size);
    const block = this.#lend(size, after, isAlone);
    const storage = new Storage(this, block.buffer, block.byteOffset, size, block.address, block);
    this.#watcher?.watch(storage, block.slot);
    return storage;
  }

  #cut(size: number): Storage {
    let slab = this.#slab;
    if (slab === undefined || slab.room < size) slab = this.#crowded ? this.#fineSlab(size) : this.#newSlab();
    const { block, next } = slab;
    slab.next = next + size;
    return new Storage(
      this,
      block.buffer,
      block.byteOffset + next,
      size,
      block.address === 0 ? 0 : block.address + next,
      slab,
    );
  }

  #newSlab(): Slab {
    const slab = this.#watchedSlab(this.#watcher === undefined ? UNWATCHED_SLAB : SLAB);
    slab.block.isSlab = true;
    this.#slabs++;
    this.#slab = slab;
    return slab;
  }

  #fineSlab(size: number): Slab {
    const exponent = 32 - Math.clz32(size - 1);
    const slab = this.#fine[exponent];
    if (slab !== undefined && slab.room >= size) return slab;
    const fresh = this.#watchedSlab(FEW << exponent);
    this.#fine[exponent] = fresh;
    return fresh;
  }

  #watchedSlab(size: number): Slab {
    const block = this.#lend(
      size,
      collectsYoung ? Math.min(this.#policy.collectAfter, COLLECT_SLABS_AFTER) : COLLECT_SLABS_AFTER,
      false,
    );
    const slab = new Slab(block);
    this.#watcher?.watch(slab, block.slot);
    return slab;
  }

  /** Bytes lent since the last collection after which the need of such a block asks for one. */
  #collectAfter(size: number): number {
    const { collectAfter, collectAfterMost } = this.#policy;
    if (!collectsYoung) return collectAfterMost;
    return size < collectAfter ? collectAfter : Math.min(this.#patience * size, collectAfterMost);
  }

  /** @param after the bytes lent since the last collection from which on there is another before fresh memory is taken. */
  #lend(size: number, after: number, isAlone: boolean): Block {
    if (this.#out + size > this.#limit) this.#makeRoom(size);
    const list = listOf(this.#blocks, size);
    let block = list.pop();
    if (block === undefined && (isAlone ? this.#lentAlone : this.#lent) >= after) {
      this.#lent = this.#lentAlone = 0;
      this.findDropped();
      block = list.pop();
      if (block === undefined && this.#out + size > this.#outLimit) {
        this.#findOld();
        block = list.pop();
      }
      this.#patience = block === undefined ? Math.min(2 * this.#patience, MOST_PATIENCE) : 1;
    }
    if (block === undefined) block = this.#freshWatched(size);
    else {
      this.#pooled -= size;
      block.free = false;
      block.isSlab = false;
    }
    block.isAlone = isAlone;
    // Only now, since there may be no memory for a fresh one.
    if (isAlone) this.#lentAlone += size;
    else this.#lent += size;
    this.#out += size;
    if (this.#out > this.#peak) this.#peak = this.#out;
    return block;
  }

  /** Looks for memory that is in use no more. @throws ResourceExhaustedError where the limit leaves no room for so many bytes all the same */
  #makeRoom(size: number): void {
    this.findDropped();
    if (this.#out + size > this.#limit) this.#findOld();
    if (this.#out + size > this.#limit)
      throw new ResourceExhaustedError(
        `no memory for ${size} bytes: the device is limited to ${this.#limit} bytes, of which ${this.#out} are in use`,
      );
  }

  /** Has all objects collected, and takes back what is gone. */
  #findOld(): void {
    if (this.#watcher === undefined) return;
    collectAll();
    // What something of a user's held is gone with the next collection only.
    if (this.#reap()) {
      collectAll();
      this.#reap();
    }
    this.#outLimit = Math.max(this.#policy.collectAllAfter, 2 * this.#out);
  }

  /** Finds the blocks whose objects were collected. @returns whether others than memory were among these. */
  #reap(): boolean {
    if (this.#watcher === undefined) return false;
    let others = false;
    const found = this.#found;
    let n: number;
    do {
      n = this.#watcher.collected(found);
      for (let i = 0; i < n; i++) {
        const slot = found[i];
        const block = this.#watched[slot];
        if (typeof block === 'function') {
          this.#free(slot);
          block();
          others = true;
          continue;
        }
        // What was given back before belongs to the pool already.
        if (block === undefined || block.free) continue;
        if (block.isSlab) this.#slabs--;
        this.#keep(block);
      }
    } while (n === found.length);
    if (this.#slabs <= SLABS_KEPT / 2) this.#crowded = false;
    return others;
  }

  #keep(block: Block): void {
    const size = block.capacity;
    this.#out -= size;
    block.free = this.#pooled + size <= this.#policy.poolLimit;
    if (block.free) {
      listOf(this.#blocks, size).push(block);
      this.#pooled += size;
    } else this.#forget(block);
  }

  /** Ends a block, or leaves it to V8. */
  #forget(block: Block): void {
    if (block.slot >= 0) this.#free(block.slot);
    if (block.isWhole) this.give?.(block.buffer as Buffer);
  }

  #free(slot: number): void {
    this.#watched[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  #slot(): number {
    return this.#freeSlots.pop() ?? this.#watched.push(undefined) - 1;
  }

  #fresh(size: number, isWatched: boolean): Block {
    const alignment = this.alignmentOf(size);
    const buffer = this.#buffer(size + alignment);
    this.#taken += size;
    const address = this.addressOf(buffer);
    const skip = (alignment - (address % alignment)) % alignment;
    return this.#block(buffer, skip, size, address === 0 ? 0 : address + skip, isWatched, true);
  }

  /** A block that is watched as long as it is lent out: the smallest are parts of a larger buffer. */
  #freshWatched(size: number): Block {
    if (size > SMALL) return this.#fresh(size, true);
    let sheet = this.#sheet;
    if (sheet === undefined || sheet.room < size) this.#sheet = sheet = new Slab(this.#fresh(SLAB, false));
    const { block, next } = sheet;
    sheet.next = next + size;
    const address = block.address === 0 ? 0 : block.address + next;
    return this.#block(block.buffer, block.byteOffset + next, size, address, true, false);
  }

  #block(
    buffer: object,
    byteOffset: number,
    size: number,
    address: number,
    isWatched: boolean,
    isWhole: boolean,
  ): Block {
    const slot = isWatched && this.#watcher !== undefined ? this.#slot() : -1;
    const block = new Block(buffer, byteOffset, size, address, slot, isWhole);
    if (slot >= 0) this.#watched[slot] = block;
    return block;
  }

  /** A buffer, for which all that can be given back is given back. */
  #buffer(bytes: number): Buffer {
    try {
      return this.take(bytes);
    } catch (cause) {
      if (cause instanceof EagreError) throw cause;
      this.findDropped();
      this.#findOld();
      this.trim();
    }
    try {
      return this.take(bytes);
    } catch (cause) {
      throw new ResourceExhaustedError(this.fullMessage(bytes), undefined, { cause });
    }
  }
}

function listOf<T>(lists: Map<number, T[]>, size: number): T[] {
  let list = lists.get(size);
  if (list === undefined) lists.set(size, (list = []));
  return list;
}

/** Sizes are rounded up so that freed memory fits again: to 64 bytes, then to an eighth of a power of two. */
function sizeClass(bytes: number, align: number): number {
  if (bytes <= 1024) return (bytes + (align - 1)) & ~(align - 1) || align;
  const step = Math.max(align, 2 ** (Math.floor(Math.log2(bytes)) - 3));
  return Math.ceil(bytes / step) * step;
}
