import {
  hostView,
  InvalidArgumentError,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  philox,
  type TensorRef,
  UnimplementedError,
} from '@eagre/backend';
import { bigints, numbers, view } from './view.ts';

// The same numbers to the last bit on every backend: only IEEE additions, subtractions, multiplications, divisions and square
// roots of float64, in a fixed order. native/cpu/random_math.h is the same text in vectors; change both or neither.

const bits = new Float64Array(1);
const halves = new Int32Array(bits.buffer);
const upper = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

/** ln x for x in (0, 1]: x = 2^k · m with m between about √½ and √2, ln m = 2 artanh((m - 1) / (m + 1)). */
function naturalLog(x: number): number {
  bits[0] = x;
  const e = (halves[upper] - 0x3fe6a09e) >> 20;
  halves[upper] -= e << 20;
  const m = bits[0];
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let p = z * (2 / 21) + 2 / 19;
  p = z * p + 2 / 17;
  p = z * p + 2 / 15;
  p = z * p + 2 / 13;
  p = z * p + 2 / 11;
  p = z * p + 2 / 9;
  p = z * p + 2 / 7;
  p = z * p + 2 / 5;
  p = z * p + 2 / 3;
  // ln 2 in two parts, the first short enough that e · part is exact.
  return e * LN2_HIGH + (e * LN2_LOW + (s * z * p + (s + s)));
}
const LN2_HIGH = 0x162e42fe / 2 ** 29;
const LN2_LOW = 1.8206359985041462e-9;

/** cos and sin of 2πb for b in [0, 1): Taylor series within an eighth of a turn, then the quarter. */
function circle(b: number): [number, number] {
  const turns = b * 4;
  const quarter = turns + 6755399441055744 - 6755399441055744; // 1.5 · 2^52: the nearest integer, half to even
  const t = (turns - quarter) * 1.5707963267948966;
  const z = t * t;
  let s = z * (1 / 355687428096000) - 1 / 1307674368000;
  s = z * s + 1 / 6227020800;
  s = z * s - 1 / 39916800;
  s = z * s + 1 / 362880;
  s = z * s - 1 / 5040;
  s = z * s + 1 / 120;
  s = z * s - 1 / 6;
  s = t + t * z * s;
  let c = 1 / 20922789888000 - z * (1 / 6402373705728000);
  c = z * c - 1 / 87178291200;
  c = z * c + 1 / 479001600;
  c = z * c - 1 / 3628800;
  c = z * c + 1 / 40320;
  c = z * c - 1 / 720;
  c = z * c + 1 / 24;
  c = z * c - 0.5;
  c = z * c + 1;
  switch (quarter) {
    case 1:
      return [-s, c];
    case 2:
      return [-c, -s];
    case 3:
      return [s, -c];
    default:
      return [c, s];
  }
}

/**
 * The quantile z of the normal distribution at 0.5 + q, for |q| ≤ erf(√2) / 2, where |z| ≤ 2. Wichura: Algorithm AS 241, The
 * percentage points of the normal distribution (PPND16). Applied Statistics 37, 1988.
 */
function quantile(q: number): number {
  const size = q < 0 ? -q : q;
  if (!(size > 0.425)) {
    const r = 0.180625 - q * q;
    let n = r * 2509.0809287301227 + 33430.57558358813;
    n = n * r + 67265.7709270087;
    n = n * r + 45921.95393154987;
    n = n * r + 13731.69376550946;
    n = n * r + 1971.5909503065513;
    n = n * r + 133.14166789178438;
    n = n * r + 3.3871328727963665;
    let d = r * 5226.495278852854 + 28729.085735721943;
    d = d * r + 39307.89580009271;
    d = d * r + 21213.794301586597;
    d = d * r + 5394.196021424751;
    d = d * r + 687.1870074920579;
    d = d * r + 42.31333070160091;
    d = d * r + 1;
    return (q * n) / d;
  }
  const r = Math.sqrt(-naturalLog(0.5 - size)) - 1.6;
  let n = r * 0.0007745450142783414 + 0.022723844989269184;
  n = n * r + 0.2417807251774506;
  n = n * r + 1.2704582524523684;
  n = n * r + 3.6478483247632045;
  n = n * r + 5.769497221460691;
  n = n * r + 4.630337846156546;
  n = n * r + 1.4234371107496835;
  let d = r * 1.0507500716444169e-9 + 0.0005475938084995345;
  d = d * r + 0.015198666563616457;
  d = d * r + 0.14810397642748008;
  d = d * r + 0.6897673349851;
  d = d * r + 1.6763848301838038;
  d = d * r + 2.053191626637759;
  d = d * r + 1;
  const tail = Math.min(n / d, 2);
  return q < 0 ? -tail : tail;
}

/** [0, 1) of two words. */
function uniform53(high: number, low: number): number {
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) * 2 ** -53;
}

/** The words that blocks are made of beside their number: the two of the counter, then those of the key. */
type Words = readonly [c0: number, c1: number, k0: number, k1: number];

/** Those of a draw, and what its attributes add. */
function wordsOf(inputs: readonly TensorRef[], attrs: KernelAttrs): Words {
  const add = [attrs.counter0, attrs.counter1, attrs.k0, attrs.k1].map((word) => (word as number) >>> 0);
  const [given] = inputs;
  if (given === undefined) return add as unknown as Words;
  const words = hostView(given.storage, 'uint32', 4) as Uint32Array;
  const sum = (at: number): [low: number, high: number] => {
    const low = words[at] + add[at];
    return [low >>> 0, (words[at + 1] + add[at + 1] + (low >= 2 ** 32 ? 1 : 0)) >>> 0];
  };
  return [...sum(0), ...sum(2)];
}

/** Visits the blocks for `size` numbers of which each block makes `perBlock`; `i` is the first one's index. */
function forEachBlock(
  size: number,
  perBlock: number,
  [c0, c1, k0, k1]: Words,
  visit: (words: Uint32Array, i: number) => void,
): void {
  const words = new Uint32Array(4);
  for (let i = 0, block = 0; i < size; i += perBlock, block++) {
    words[0] = block;
    words[1] = block / 2 ** 32;
    words[2] = c0;
    words[3] = c1;
    philox(words, k0, k1);
    visit(words, i);
  }
}

function unsupported(y: TensorRef, op: string): UnimplementedError {
  return new UnimplementedError(`random numbers of ${y.dtype}`, op);
}

function randomUniform(y: TensorRef, attrs: KernelAttrs, from: Words): void {
  const out = numbers(y);
  if (y.dtype === 'float32') {
    const low = Math.fround(attrs.low as number);
    const high = Math.fround(attrs.high as number);
    const range = Math.fround(high - low);
    forEachBlock(y.size, 4, from, (words, i) => {
      for (let k = 0; k < 4 && i + k < y.size; k++) {
        const u = (words[k] >>> 8) * 2 ** -24;
        const value = Math.fround(Math.fround(u * range) + low);
        out[i + k] = value === high ? low : value;
      }
    });
  } else if (y.dtype === 'float64') {
    const low = attrs.low as number;
    const high = attrs.high as number;
    const range = high - low;
    forEachBlock(y.size, 2, from, (words, i) => {
      for (let k = 0; k < 2 && i + k < y.size; k++) {
        const value = uniform53(words[2 * k], words[2 * k + 1]) * range + low;
        out[i + k] = value === high ? low : value;
      }
    });
  } else {
    throw unsupported(y, 'RandomUniform');
  }
}

function randomNormal(y: TensorRef, attrs: KernelAttrs, from: Words): void {
  const out = numbers(y);
  const mean = attrs.mean as number;
  const stddev = attrs.stddev as number;
  const pair = (a: number, b: number, i: number): void => {
    const [cos, sin] = circle(b);
    const r = Math.sqrt(naturalLog(a) * -2) * stddev;
    out[i] = r * cos + mean;
    if (i + 1 < y.size) out[i + 1] = r * sin + mean;
  };
  if (y.dtype === 'float32') {
    forEachBlock(y.size, 4, from, (words, i) => {
      for (let k = 0; k < 4 && i + k < y.size; k += 2) {
        pair((words[k] + 1) * 2 ** -32, words[k + 1] * 2 ** -32, i + k);
      }
    });
  } else if (y.dtype === 'float64') {
    forEachBlock(y.size, 2, from, (words, i) => {
      pair(1 - uniform53(words[0], words[1]), uniform53(words[2], words[3]), i);
    });
  } else {
    throw unsupported(y, 'RandomNormal');
  }
}

/** Φ(2) − Φ(−2) */
const INSIDE = 0.9544997361036416;

function truncatedNormal(y: TensorRef, attrs: KernelAttrs, from: Words): void {
  const out = numbers(y);
  const mean = attrs.mean as number;
  const stddev = attrs.stddev as number;
  const number = (u: number): number => quantile((u - 0.5) * INSIDE) * stddev + mean;
  if (y.dtype === 'float32') {
    forEachBlock(y.size, 4, from, (words, i) => {
      for (let k = 0; k < 4 && i + k < y.size; k++) out[i + k] = number((words[k] + 0.5) * 2 ** -32);
    });
  } else if (y.dtype === 'float64') {
    forEachBlock(y.size, 2, from, (words, i) => {
      for (let k = 0; k < 2 && i + k < y.size; k++)
        out[i + k] = number(uniform53(words[2 * k], words[2 * k + 1]));
    });
  } else {
    throw unsupported(y, 'TruncatedNormal');
  }
}

function randomUniformInt(y: TensorRef, attrs: KernelAttrs, from: Words): void {
  const low = BigInt(attrs.low as number);
  const range = BigInt(attrs.high as number) - low;
  if (range <= 0n) {
    throw new InvalidArgumentError(`no integer in [${attrs.low}, ${attrs.high})`, 'RandomUniformInt');
  }
  const small = Number(range);
  const start = Number(low);
  // Of 2^32 · a + b; up to 2^21 every step is exact in float64.
  const fits = small <= 2 ** 21;
  const draw = (a: number, b: number): number => ((a % small) * 2 ** 32 + b) % small;
  const drawBig = (a: number, b: number): bigint => ((BigInt(a) << 32n) | BigInt(b)) % range;
  const out = view(y);
  forEachBlock(y.size, 2, from, (words, i) => {
    for (let k = 0; k < 2 && i + k < y.size; k++) {
      const a = words[2 * k];
      const b = words[2 * k + 1];
      if (out instanceof BigInt64Array) out[i + k] = low + (fits ? BigInt(draw(a, b)) : drawBig(a, b));
      else out[i + k] = start + (fits ? draw(a, b) : Number(drawBig(a, b)));
    }
  });
}

/** The kernels of random numbers. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  RandomUniform: (inputs, [y], attrs) => randomUniform(y, attrs, wordsOf(inputs, attrs)),
  RandomNormal: (inputs, [y], attrs) => randomNormal(y, attrs, wordsOf(inputs, attrs)),
  TruncatedNormal: (inputs, [y], attrs) => truncatedNormal(y, attrs, wordsOf(inputs, attrs)),
  NextDraw: ([state], [draw]) => {
    const [from, to] = [bigints(state), bigints(draw)];
    // Native code on other threads may draw from it too.
    to[0] = Atomics.add(from as BigUint64Array<ArrayBuffer>, 0, 1n);
    to[1] = from[1];
  },
  RandomUniformInt: (inputs, [y], attrs) => {
    if (y.dtype !== 'int32' && y.dtype !== 'int64' && y.dtype !== 'uint8')
      throw unsupported(y, 'RandomUniformInt');
    randomUniformInt(y, attrs, wordsOf(inputs, attrs));
  },
};
