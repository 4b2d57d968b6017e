// What kernels make of Philox's words (`kernels.ts`), in operations that TensorFlow has too: each is exact or rounds as IEEE says, so
// that the numbers are the same to the last bit.

/** Operations element by element on values of float64, float32 and int64; both operands have one dtype, numbers take the other's. */
export interface Arithmetic<V> {
  add(a: V, b: V | number): V;
  sub(a: V | number, b: V | number): V;
  mul(a: V, b: V | number): V;
  div(a: V, b: V): V;
  /** Of int64, rounded down. */
  floorDiv(a: V, b: V | number): V;
  /** Of int64, at least 0. */
  mod(a: V, b: V | number): V;
  neg(a: V): V;
  sqrt(a: V): V;
  /** The nearest integer, half to even. */
  round(a: V): V;
  min(a: V, b: number): V;
  less(a: V, b: V | number): V;
  equal(a: V, b: V | number): V;
  select(condition: V, a: V, b: V): V;
  cast(a: V, dtype: 'float32' | 'float64' | 'int64'): V;
  /** The same bytes. */
  bitcast(a: V, dtype: 'float64' | 'int64'): V;
}

/** Numbers of some words of one block, int64 from 0 to less than 2^32, and of what the distribution is given. */
export interface Transform {
  /** The numbers that a block of four words makes. */
  readonly perBlock: 2 | 4;
  readonly run: <V>(o: Arithmetic<V>, words: readonly [V, V, V, V], a: V, b: V) => readonly V[];
}

function polynomial<V>(o: Arithmetic<V>, x: V, [first, ...rest]: readonly number[]): V {
  const [second = 0, ...others] = rest;
  return others.reduce<V>((sum, c) => o.add(o.mul(sum, x), c), o.add(o.mul(x, first), second));
}

/** ln x for float64 x in (0, 1], as `naturalLog` of backend-js. */
function naturalLog<V>(o: Arithmetic<V>, x: V): V {
  const bits = o.bitcast(x, 'int64');
  const e = o.floorDiv(o.sub(o.floorDiv(bits, 2 ** 32), 0x3fe6a09e), 2 ** 20);
  const m = o.bitcast(o.sub(bits, o.mul(e, 2 ** 52)), 'float64');
  const s = o.div(o.sub(m, 1), o.add(m, 1));
  const z = o.mul(s, s);
  const p = polynomial(
    o,
    z,
    [21, 19, 17, 15, 13, 11, 9, 7, 5, 3].map((n) => 2 / n),
  );
  const exponent = o.cast(e, 'float64');
  // No sum of sums: TensorFlow adds those up in an order of its own.
  const minusRest = o.sub(o.mul(s, -2), o.mul(o.mul(s, z), p));
  const low = o.sub(o.mul(exponent, 1.8206359985041462e-9), minusRest);
  return o.add(o.mul(exponent, 0x162e42fe / 2 ** 29), low);
}

const SIN = [
  1 / 355687428096000,
  -1 / 1307674368000,
  1 / 6227020800,
  -1 / 39916800,
  1 / 362880,
  -1 / 5040,
  1 / 120,
  -1 / 6,
];
const COS = [1 / 479001600, -1 / 3628800, 1 / 40320, -1 / 720, 1 / 24, -0.5, 1];

/** cos and sin of 2πb, as `circle` of backend-js. */
function circle<V>(o: Arithmetic<V>, b: V): readonly [cos: V, sin: V] {
  const turns = o.mul(b, 4);
  const quarter = o.round(turns);
  const t = o.mul(o.sub(turns, quarter), 1.5707963267948966);
  const z = o.mul(t, t);
  const s = o.add(o.mul(o.mul(t, z), polynomial(o, z, SIN)), t);
  // The first step is a difference the other way round.
  let c = o.sub(1 / 20922789888000, o.mul(z, 1 / 6402373705728000));
  c = o.sub(o.mul(c, z), 1 / 87178291200);
  for (const k of COS) c = o.add(o.mul(c, z), k);
  const at = (n: number, x: V, y: V): V => o.select(o.equal(quarter, n), x, y);
  const [minusC, minusS] = [o.neg(c), o.neg(s)];
  return [at(1, minusS, at(2, minusC, at(3, s, c))), at(1, c, at(2, minusS, at(3, minusC, s)))];
}

const NEAR = [
  [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946,
    1971.5909503065513, 133.14166789178438, 3.3871328727963665,
  ],
  [
    5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751,
    687.1870074920579, 42.31333070160091, 1,
  ],
] as const;
const FAR = [
  [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
    5.769497221460691, 4.630337846156546, 1.4234371107496835,
  ],
  [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
    1.6763848301838038, 2.053191626637759, 1,
  ],
] as const;

/** The quantile of the normal distribution at 0.5 + q, as `quantile` of backend-js. */
function quantile<V>(o: Arithmetic<V>, q: V): V {
  const negative = o.less(q, 0);
  const size = o.select(negative, o.neg(q), q);
  const near = o.sub(0.180625, o.mul(q, q));
  const inside = o.div(o.mul(q, polynomial(o, near, NEAR[0])), polynomial(o, near, NEAR[1]));
  const far = o.sub(o.sqrt(o.neg(naturalLog(o, o.sub(0.5, size)))), 1.6);
  const tail = o.min(o.div(polynomial(o, far, FAR[0]), polynomial(o, far, FAR[1])), 2);
  return o.select(o.less(o.neg(size), -0.425), o.select(negative, o.neg(tail), tail), inside);
}

/** A float64 of 32 bits. */
const word = <V>(o: Arithmetic<V>, w: V): V => o.cast(w, 'float64');

/** [0, 1) of two words. */
function uniform53<V>(o: Arithmetic<V>, high: V, low: V): V {
  const bits = o.add(o.mul(o.floorDiv(high, 32), 2 ** 26), o.floorDiv(low, 64));
  return o.mul(o.cast(bits, 'float64'), 2 ** -53);
}

function between<V>(o: Arithmetic<V>, u: V, low: V, high: V): V {
  const value = o.add(o.mul(o.sub(high, low), u), low);
  return o.select(o.equal(value, high), low, value);
}

/** Two normal numbers of two uniform ones. */
function pair<V>(o: Arithmetic<V>, a: V, b: V, mean: V, stddev: V): readonly V[] {
  const r = o.mul(o.sqrt(o.mul(naturalLog(o, a), -2)), stddev);
  return circle(o, b).map((x) => o.add(o.mul(r, x), mean));
}

/** Φ(2) − Φ(−2) */
const INSIDE = 0.9544997361036416;

function truncated<V>(o: Arithmetic<V>, u: V, mean: V, stddev: V): V {
  return o.add(o.mul(quantile(o, o.mul(o.sub(u, 0.5), INSIDE)), stddev), mean);
}

type Floats = Readonly<Record<'float32' | 'float64', Transform>>;

/** Makes a number of two words. */
type OfTwo = <V>(o: Arithmetic<V>, first: V, second: V, a: V, b: V) => V;
const inPairs = (make: OfTwo): Transform => ({
  perBlock: 2,
  run: (o, [w0, w1, w2, w3], a, b) => [make(o, w0, w1, a, b), make(o, w2, w3, a, b)],
});
/** Makes a number of each word. */
type OfOne = <V>(o: Arithmetic<V>, word: V, a: V, b: V) => V;
const one = (make: OfOne): Transform => ({
  perBlock: 4,
  run: (o, words, a, b) => words.map((w) => make(o, w, a, b)),
});
/** Two normal numbers of two words. */
const pair32 = <V>(o: Arithmetic<V>, first: V, second: V, mean: V, stddev: V): readonly V[] => {
  const a = o.mul(o.add(word(o, first), 1), 2 ** -32);
  return pair(o, a, o.mul(word(o, second), 2 ** -32), mean, stddev).map((x) => o.cast(x, 'float32'));
};

/** By distribution and dtype. What they are given is low and high, or mean and stddev, as float64. */
export const floatTransforms: Readonly<
  Record<'RandomUniform' | 'RandomStandardNormal' | 'TruncatedNormal', Floats>
> = {
  RandomUniform: {
    float32: one((o, w, low, high) => {
      const u = o.mul(o.cast(o.floorDiv(w, 256), 'float32'), 2 ** -24);
      return between(o, u, o.cast(low, 'float32'), o.cast(high, 'float32'));
    }),
    float64: inPairs((o, w0, w1, low, high) => between(o, uniform53(o, w0, w1), low, high)),
  },
  RandomStandardNormal: {
    float32: {
      perBlock: 4,
      run: (o, [w0, w1, w2, w3], mean, stddev) => [
        ...pair32(o, w0, w1, mean, stddev),
        ...pair32(o, w2, w3, mean, stddev),
      ],
    },
    float64: {
      perBlock: 2,
      run: (o, [w0, w1, w2, w3], mean, stddev) =>
        pair(o, o.sub(1, uniform53(o, w0, w1)), uniform53(o, w2, w3), mean, stddev),
    },
  },
  TruncatedNormal: {
    float32: one((o, w, mean, stddev) =>
      o.cast(truncated(o, o.mul(o.add(word(o, w), 0.5), 2 ** -32), mean, stddev), 'float32'),
    ),
    float64: inPairs((o, w0, w1, mean, stddev) => truncated(o, uniform53(o, w0, w1), mean, stddev)),
  },
};

/** low + (w0 · 2^32 + w1) mod range, in int64: a byte of w1 at a time, so that nothing passes 2^62. It is given low and range. */
export const integerTransform: Transform = inPairs((o, w0, w1, low, range) => {
  let rest = o.mod(w0, range);
  for (const shift of [24, 16, 8, 0]) {
    const byte = o.mod(o.floorDiv(w1, 2 ** shift), 256);
    rest = o.mod(o.add(o.mul(rest, 256), byte), range);
  }
  return o.add(rest, low);
});
