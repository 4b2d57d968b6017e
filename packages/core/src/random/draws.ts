// Where random draws get their keys and counters.
import { type Backend, hostView, readStorage, type Storage } from '@eagre/backend';
import { ambient } from '../dispatch/ambient.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Key and counter of one draw. A type and not an interface, so that it can be attributes of an op. */
export type Draw = {
  readonly k0: number;
  readonly k1: number;
  readonly counter0: number;
  readonly counter1: number;
};

/** Hands out keys and counters, never the same twice. */
export interface DrawSource {
  draw(): Draw;
  /** What `draw` will give. */
  peek(): Draw;
  /** Makes that many draws at once: they have one key, and counters that follow the first draw's, which is returned. */
  take(count: number): Draw;
  /** A counter and a key (uint64 [2]) where kernels of the backend can advance them; whatever draws from the source does so there from now on. */
  memory(backend: Backend): Storage;
}

/** A key from words, by rounds of multiplication and shifts as in MurmurHash's finaliser; each word changes all bits. */
export function keyOf(words: readonly number[]): [k0: number, k1: number] {
  let a = 0x9e3779b9;
  let b = 0x7f4a7c15;
  const stir = (h: number): number => {
    let x = h ^ (h >>> 16);
    x = Math.imul(x, 0x85ebca6b);
    x ^= x >>> 13;
    x = Math.imul(x, 0xc2b2ae35);
    return x ^ (x >>> 16);
  };
  for (const word of words) {
    // Seeds may have 53 bits.
    for (const half of [(word % 2 ** 32) | 0, Math.floor(word / 2 ** 32) | 0]) {
      a = stir((a ^ half) + Math.imul(b, 5));
      b = stir((b + half) ^ Math.imul(a, 0x27d4eb2f));
    }
  }
  return [a >>> 0, b >>> 0];
}

/** The words of 32 bits that `writeDraw` fills: those of the memory itself where it is the host's. */
export function drawWords(memory: Storage): Uint32Array<ArrayBuffer> {
  return memory.allocator.isHost
    ? (hostView(memory, 'uint32', 4) as Uint32Array<ArrayBuffer>)
    : new Uint32Array(4);
}

/**
 * Writes counter and key as kernels read them.
 * @param words what `drawWords` gives, for who writes again and again.
 */
export function writeDraw(
  { k0, k1, counter0, counter1 }: Draw,
  to: Storage,
  words: Uint32Array<ArrayBuffer> = drawWords(to),
): void {
  const { allocator } = to;
  words[0] = counter0;
  words[1] = counter1;
  words[2] = k0;
  words[3] = k1;
  if (!allocator.isHost) allocator.write(to, new Uint8Array(words.buffer));
}

/** A stream with a key of its own and a counter of draws. */
export class Stream implements DrawSource {
  readonly #begin: () => readonly number[];
  /** What the key is made of; null until the first draw after a start. */
  #words: readonly number[] | null = null;
  #k0 = 0;
  #k1 = 0;
  /** How many draws there were, unless memory says so. */
  #count = 0;
  #memory: Storage | null = null;
  /** The counter in that memory, where it is the host's. */
  #counter: BigUint64Array | null = null;

  /** @param begin tells what the key is made of, at the first draw. */
  constructor(begin: () => readonly number[]) {
    this.#begin = begin;
  }

  get words(): readonly number[] {
    return this.#words ?? this.#start(this.#begin(), 0);
  }

  get count(): number {
    if (this.#counter !== null) return Number(Atomics.load(this.#counter, 0));
    return this.#memory === null ? this.#count : Number(readStorage(this.#memory, 'uint64', 1)[0]);
  }

  /** Goes on from another place, for whoever holds this stream; from its start by default. */
  set(words: readonly number[] | null = null, count = 0): void {
    this.#words = null;
    this.#count = 0;
    if (words !== null || this.#memory !== null) this.#start(words ?? this.#begin(), count);
  }

  draw(): Draw {
    return this.take(1);
  }

  take(count: number): Draw {
    if (this.#words === null) this.#start(this.#begin(), 0);
    if (this.#counter !== null) return this.#drawAt(Number(Atomics.add(this.#counter, 0, BigInt(count))));
    const before = this.count;
    this.#count = before + count;
    if (this.#memory !== null) writeDraw(this.#drawAt(this.#count), this.#memory);
    return this.#drawAt(before);
  }

  peek(): Draw {
    if (this.#words === null) this.#start(this.#begin(), 0);
    return this.#drawAt(this.count);
  }

  memory({ allocator }: Backend): Storage {
    if (this.#memory?.allocator === allocator) return this.#memory;
    const draw = this.peek();
    const count = this.count;
    const memory = allocator.allocateAlone(16);
    writeDraw(draw, memory);
    this.#memory?.release();
    this.#memory = memory;
    this.#counter = allocator.isHost ? (hostView(memory, 'uint64', 1) as BigUint64Array) : null;
    this.#count = count;
    return memory;
  }

  #drawAt(n: number): Draw {
    return { k0: this.#k0, k1: this.#k1, counter0: n >>> 0, counter1: Math.floor(n / 2 ** 32) };
  }

  #start(words: readonly number[], count: number): readonly number[] {
    [this.#k0, this.#k1] = keyOf(words);
    this.#words = words;
    this.#count = count;
    if (this.#memory !== null) writeDraw(this.#drawAt(count), this.#memory);
    return words;
  }
}

/** Whether something, such as an op's attribute `source`, hands out draws. */
export function isDrawSource(source: unknown): source is DrawSource {
  return typeof (source as Partial<DrawSource> | undefined)?.take === 'function';
}

/** What a call draws: where from, or the numbers themselves while a function is traced. */
export type Drawn = Draw | Tensor;

/** Takes part in each draw, for a function that runs a second time with the same numbers; `make` draws. */
export const drawing: { next: ((make: () => Drawn) => Drawn) | null } = ambient<{
  next: ((make: () => Drawn) => Drawn) | null;
}>({ next: null });
