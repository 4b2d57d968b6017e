// Philox4x32-10 as TensorFlow runs it on CPUs, and what its distributions make of the words: the same numbers to the last bit. Logarithms, sines and
// powers are JavaScript's, rounded to the dtype: there the last bit may differ, as it does between C libraries.
import type { DType } from './dtype.ts';
import { logGamma } from './log-gamma.ts';
import { philox } from './philox.ts';

/** Σ of two words with a carry, as [low 32 bits, carry]. */
const CARRY = 2 ** 32;

/** A stream of blocks of four words: a function of a key of 64 bits and a counter of 128 bits (Salmon and others, SC 2011). */
export class Philox {
  readonly #key: readonly [number, number];
  readonly #counter: Uint32Array;
  /** The block that `next` has made. */
  readonly words: Uint32Array = new Uint32Array(4);
  /** How many words of the block `word` has given. */
  #used = 4;

  constructor(key: readonly [number, number], counter: ArrayLike<number>) {
    this.#key = key;
    this.#counter = Uint32Array.from(counter);
  }

  /** Moves the counter forward by a number of blocks, at least 0 and below 2^53. */
  skip(blocks: number): void {
    const c = this.#counter;
    const low = c[0] + (blocks % CARRY);
    c[0] = low;
    const high = c[1] + Math.floor(blocks / CARRY) + (low >= CARRY ? 1 : 0);
    c[1] = high;
    if (high < CARRY) return;
    c[2] += 1;
    if (c[2] === 0) c[3] += 1;
  }

  /** The stream as it is that many blocks further on. */
  after(blocks: number): Philox {
    const copy = new Philox(this.#key, this.#counter);
    copy.skip(blocks);
    return copy;
  }

  /** Makes the next block. */
  next(): Uint32Array {
    const { words } = this;
    const [k0, k1] = this.#key;
    words.set(this.#counter);
    philox(words, k0, k1);
    this.skip(1);
    return words;
  }

  /** The words one by one. */
  word(): number {
    if (this.#used === 4) {
      this.next();
      this.#used = 0;
    }
    return this.words[this.#used++] as number;
  }

  /** From 0 to 1, of two words. */
  double(): number {
    const x = this.word();
    return uniformDouble(x, this.word());
  }

  /** An integer below n, which is at most 2^31. Words that would make some likelier are left out. */
  below(n: number): number {
    if ((n & (n - 1)) === 0) return (this.word() & (n - 1)) >>> 0;
    const least = ((2 ** 32 - 1) % n) + 1;
    let x = this.word();
    while (x < least) x = this.word();
    return x % n;
  }
  /** The same of pairs of words. */
  below64(n: bigint): bigint {
    const pair = (): bigint => {
      const low = BigInt(this.word());
      return low | (BigInt(this.word()) << 32n);
    };
    if ((n & (n - 1n)) === 0n) return pair() & (n - 1n);
    const least = ((2n ** 64n - 1n) % n) + 1n;
    let x = pair();
    while (x < least) x = pair();
    return x % n;
  }
}

/** Puts the items of a list into a random order, in place (Fisher and Yates), by remainders of words. */
export function shuffleBy<L extends number[] | Int32Array>(stream: Philox, list: L): L {
  for (let i = 0; i < list.length - 1; i++) {
    const j = i + (stream.word() % (list.length - i));
    const kept = list[i] as number;
    list[i] = list[j] as number;
    list[j] = kept;
  }
  return list;
}

// ---- numbers of words

/** How many bits of a word are the fraction of a uniform number. */
const FRACTION: Readonly<Record<string, number>> = { float32: 23, float16: 10, bfloat16: 7 };

function uniformDouble(high: number, low: number): number {
  return ((high & 0xfffff) * 2 ** 32 + low) * 2 ** -52;
}

const LEAST = Math.fround(1e-7);
const fround = Math.fround;

/** Two normally distributed floats (Box and Muller, 1958), to out[at] and out[at + 1]. */
function normalFloats(x0: number, x1: number, out: Float64Array, at: number): void {
  const u = Math.max((x0 & 0x7fffff) * 2 ** -23, LEAST);
  const v = fround(2 * Math.PI * ((x1 & 0x7fffff) * 2 ** -23));
  const r = fround(Math.sqrt(fround(-2 * fround(Math.log(u)))));
  out[at] = fround(fround(Math.sin(v)) * r);
  out[at + 1] = fround(fround(Math.cos(v)) * r);
}

function normalDoubles(words: readonly number[], out: Float64Array, at: number): void {
  const [x0, x1, x2, x3] = words as [number, number, number, number];
  const u = Math.max(uniformDouble(x0, x1), 1e-7);
  const v = 2 * Math.PI * uniformDouble(x2, x3);
  const r = Math.sqrt(-2 * Math.log(u));
  out[at] = Math.sin(v) * r;
  out[at + 1] = Math.cos(v) * r;
}

/** Where floats go: those of 16 bits as float64. */
type Floats = Float32Array | Float64Array;

/** Uniform numbers from 0 to 1 of a floating dtype. */
export function fillUniform(stream: Philox, out: Floats, dtype: DType): void {
  if (dtype === 'float64') {
    for (let i = 0; i < out.length; i += 2) {
      const [a, b, c, d] = stream.next() as unknown as [number, number, number, number];
      out[i] = uniformDouble(a, b);
      if (i + 1 < out.length) out[i + 1] = uniformDouble(c, d);
    }
    return;
  }
  const bits = FRACTION[dtype] as number;
  const mask = 2 ** bits - 1;
  const unit = 2 ** -bits;
  for (let i = 0; i < out.length; i += 4) {
    const words = stream.next();
    const end = Math.min(4, out.length - i);
    for (let k = 0; k < end; k++) out[i + k] = ((words[k] as number) & mask) * unit;
  }
}

/** Normally distributed numbers of a floating dtype. */
export function fillNormal(stream: Philox, out: Floats, dtype: DType): void {
  const group = new Float64Array(4);
  const step = dtype === 'float64' ? 2 : 4;
  for (let i = 0; i < out.length; i += step) {
    const words = stream.next();
    if (dtype === 'float64') normalDoubles([...words], group, 0);
    else {
      normalFloats(words[0], words[1], group, 0);
      normalFloats(words[2], words[3], group, 2);
    }
    const end = Math.min(step, out.length - i);
    for (let k = 0; k < end; k++) out[i + k] = group[k];
  }
}

// How many words TensorFlow sets aside for each number of a distribution that rejects some.
const RESERVED = 256;

/** Normally distributed numbers of a floating dtype that are within two deviations. */
export function fillTruncated(stream: Philox, out: Floats, dtype: DType): void {
  const double = dtype === 'float64';
  const step = double ? 2 : 4;
  const pair = new Float64Array(2);
  for (let i = 0, group = 0; i < out.length; i += step, group++) {
    const own = stream.after((group * step * RESERVED) / 4);
    const end = Math.min(step, out.length - i);
    for (let k = 0; k < end; ) {
      if (double) normalDoubles([own.word(), own.word(), own.word(), own.word()], pair, 0);
      else {
        const x = own.word();
        normalFloats(x, own.word(), pair, 0);
      }
      for (let half = 0; half < 2 && k < end; half++) if (Math.abs(pair[half]) < 2) out[i + k++] = pair[half];
    }
  }
}

/** For each number of `batches` parameters the numbers of a stream: sample s of parameter b is drawn as number b · samples + s. */
export function forEachSample(
  size: number,
  batches: number,
  visit: (batch: number, place: number, at: number) => void,
): void {
  const samples = batches === 0 ? 0 : size / batches;
  for (let b = 0; b < batches; b++)
    for (let s = 0; s < samples; s++) visit(b, b * samples + s, s * batches + b);
}

/** Whole words, or pairs of them, visited in order. */
export function forEachWord(stream: Philox, count: number, visit: (word: number, i: number) => void): void {
  for (let i = 0; i < count; i += 4) {
    const words = stream.next();
    const end = Math.min(4, count - i);
    for (let k = 0; k < end; k++) visit(words[k] as number, i + k);
  }
}
/** Calls a function with so many integers of 64 bits, each with its number. */
export function forEachLong(stream: Philox, count: number, visit: (pair: bigint, i: number) => void): void {
  for (let i = 0; i < count; i += 2) {
    const words = stream.next();
    const end = Math.min(2, count - i);
    for (let k = 0; k < end; k++) visit(BigInt(words[2 * k]) | (BigInt(words[2 * k + 1]) << 32n), i + k);
  }
}

/** Key and counter of a seed of two integers, as TensorFlow mixes them. */
export function mixedSeed([first, second]: readonly [bigint, bigint]): {
  key: bigint;
  counter: readonly [bigint, bigint];
} {
  const words = [first, second].flatMap((s) => wordsOf(BigInt.asUintN(64, s)));
  const [a, b, c, d] = new Philox([0x3ec8f720, 0x02461e29], words).next();
  return { key: join(a, b), counter: [0n, join(c, d)] };
}
const join = (low: number, high: number): bigint => BigInt(low) | (BigInt(high) << 32n);
const wordsOf = (x: bigint): [number, number] => [Number(x & 0xffffffffn), Number(x >> 32n)];

/** The stream of a key and a counter, as TensorFlow's ops are given them. */
export function streamOf(key: bigint, counter: ArrayLike<bigint>): Philox {
  const words = [...wordsOf(counter[0] as bigint), ...wordsOf(counter[1] as bigint)];
  return new Philox(wordsOf(key), words);
}

// ---- distributions that reject some numbers: one stream for each number

/** Uniform float64s as TensorFlow's kernels take them: of a block of two, the second comes first. */
class Doubles {
  readonly #stream: Philox;
  #left = 0;
  #first = 0;

  constructor(stream: Philox) {
    this.#stream = stream;
  }
  next(): number {
    if (this.#left === 1) {
      this.#left = 0;
      return this.#first;
    }
    const [a, b, c, d] = this.#stream.next() as unknown as [number, number, number, number];
    this.#first = uniformDouble(a, b);
    this.#left = 1;
    return uniformDouble(c, d);
  }
}

/** One number of a gamma distribution with a scale of 1 (Marsaglia and Tsang, 2000). @param at the place of the number */
export function gammaNumber(base: Philox, at: number, alpha: number): number {
  if (!(alpha >= 0)) return Number.NaN;
  const stream = base.after(at * RESERVED);
  const uniform = new Doubles(stream);
  if (alpha === 1) return -Math.log1p(-uniform.next());
  const small = alpha < 1;
  const d = alpha + (small ? 1 : 0) - 1 / 3;
  const c = 1 / 3 / Math.sqrt(d);
  const normals = new Float64Array(2);
  for (let left = 0; ; ) {
    if (left === 0) {
      normalDoubles([...stream.next()], normals, 0);
      left = 2;
    }
    const x = normals[--left];
    let v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const u = uniform.next();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || Math.log(u) < 0.5 * x * x + d * (1 - v + Math.log(v)))
      return small ? d * v * uniform.next() ** (1 / alpha) : d * v;
  }
}

/** One count of a Poisson distribution (Knuth for small rates, Hörmann's transformed rejection for others). */
export function poissonNumber(base: Philox, at: number, rate: number): number {
  const uniform = new Doubles(base.after(at * RESERVED));
  if (Number.isNaN(rate) || rate < 0) return Number.NaN;
  if (rate < 10) {
    const limit = Math.exp(-rate);
    let product = 1;
    for (let x = 0; ; x++) {
      product *= uniform.next();
      if (product <= limit) return x;
    }
  }
  if (rate === Number.POSITIVE_INFINITY) return rate;
  const logRate = Math.log(rate);
  const b = 0.931 + 2.53 * Math.sqrt(rate);
  const a = -0.059 + 0.02483 * b;
  const inverseAlpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    const u = uniform.next() - 0.5;
    const v = uniform.next();
    const shifted = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / shifted + b) * u + rate + 0.43);
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const s = Math.log((v * inverseAlpha) / (a / (shifted * shifted) + b));
    if (s <= -rate + k * logRate - logGamma(k + 1)) return k;
  }
}

/** What Stirling's formula leaves out of log k!. */
const TAILS: readonly number[] = [
  0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
  0.0138761288230707, 0.0118967099458917, 0.010411265261972, 0.00925546218271273, 0.00833056343336287,
];
function stirlingTail(k: number): number {
  if (k <= 9) return TAILS[k] as number;
  const square = (k + 1) * (k + 1);
  return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1);
}

/** Successes of attempts one by one, by the waits between them; for few that are expected. */
function fewSuccesses(uniform: Doubles, count: number, p: number): number {
  let sum = 0;
  for (let found = 0; ; found++) {
    sum += Math.ceil(Math.log(uniform.next()) / Math.log1p(-p));
    if (!(sum <= count)) return found;
  }
}
/** Hörmann's BTRS ("The generation of binomial random variates", 1993). */
function manySuccesses(uniform: Doubles, count: number, p: number): number {
  const deviation = Math.sqrt(count * p * (1 - p));
  const b = 1.15 + 2.53 * deviation;
  const a = -0.0873 + 0.0248 * b + 0.01 * p;
  const c = count * p + 0.5;
  const r = p / (1 - p);
  const alpha = (2.83 + 5.1 / b) * deviation;
  const m = Math.floor((count + 1) * p);
  for (;;) {
    const u = uniform.next() - 0.5;
    const v = uniform.next();
    const shifted = 0.5 - Math.abs(u);
    const k = Math.floor(((2 * a) / shifted + b) * u + c);
    if (shifted >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > count) continue;
    const bound =
      (m + 0.5) * Math.log((m + 1) / (r * (count - m + 1))) +
      (count + 1) * Math.log((count - m + 1) / (count - k + 1)) +
      (k + 0.5) * Math.log((r * (count - k + 1)) / (k + 1)) +
      stirlingTail(m) +
      stirlingTail(count - m) -
      stirlingTail(k) -
      stirlingTail(count - k);
    if (Math.log((v * alpha) / (a / (shifted * shifted) + b)) <= bound) return k;
  }
}

/** One count of a binomial distribution: NaN for attempts or a probability that cannot be. */
export function binomialNumber(base: Philox, at: number, count: number, p: number): number {
  if (!(count >= 0) || Number.isNaN(p)) return Number.NaN;
  if (p <= 0) return 0;
  if (p >= 1) return count;
  const q = p <= 0.5 ? p : 1 - p;
  const many = count * q >= 10;
  const uniform = new Doubles(base.after(at * (many ? RESERVED : 42)));
  const found = many ? manySuccesses(uniform, count, q) : fewSuccesses(uniform, count, q);
  return p <= 0.5 ? found : count - found;
}
