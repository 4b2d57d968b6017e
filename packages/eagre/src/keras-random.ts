/** `tf.keras.random`. */
import {
  add,
  argsort,
  type DType,
  type IntegerLike,
  InvalidArgumentError,
  nn,
  random,
  type ShapeLike,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import {
  checkDType,
  defineFunction,
  dims,
  kerasDefaults,
  kind,
  type NamedFunction,
  normalizeAxis,
  shown,
  sizeValue,
  toTensor,
} from '@eagre/core/internal';
import { SeedGenerator } from '@eagre/layers';

export { SeedGenerator, type SeedGeneratorOptions } from '@eagre/layers';

type Random = typeof random;
/** An integer, with which each call draws the same numbers, or a generator of seeds; other numbers at each call unless given. */
type Seed = number | SeedGenerator | null;
interface Drawn {
  /** Of the numbers; `tf.keras.config.floatx()` by default. */
  readonly dtype?: DType;
  /** An integer, with which each call draws the same numbers, or a generator of seeds; other numbers at each call by default. */
  readonly seed?: Seed;
}

/** The seeds of one call. An integer gives the same at each call: what draws several times goes on from the first. */
function seeded(seed: Seed | undefined): { readonly seed?: random.SeedSource } {
  if (seed === undefined || seed === null) return {};
  if (typeof seed !== 'number') {
    if (seed instanceof SeedGenerator) return { seed };
    throw new InvalidArgumentError(
      `seed must be an integer or a SeedGenerator, got ${shown(seed)}`,
      'keras.random',
    );
  }
  let given = 0;
  return { seed: { next: () => [seed, given++] } };
}

/** The seed of TensorFlow's functions of a seed that Keras makes of an integer; null for others. */
const kerasSeed = (seed: Seed | undefined): [number, number] | null =>
  typeof seed === 'number' ? [seed % (2 ** 31 - 2), 0] : null;

/** Numbers of beta distributions. @param shape of the result, to which alpha and beta, both above 0, broadcast */
export const beta: NamedFunction<
  [shape: ShapeLike, alpha: TensorLike, beta: TensorLike],
  ['shape', 'alpha', 'beta'],
  Drawn
> = /* @__PURE__ */ defineFunction(
  'keras.random.beta',
  { shape: kind.shape, alpha: kind.tensor, beta: kind.tensor },
  { dtype: kind.asIs, seed: kind.asIs },
  (shape, alpha, other, { dtype, seed }) =>
    random.beta(shape, alpha, other, { dtype: dtype ?? floatOf(), ...seeded(seed) }),
);

/** Draws `numSamples` classes for each row of unnormalised log-probabilities [batch, classes]: [batch, numSamples], int32 by default. */
export const categorical: NamedFunction<
  [logits: TensorLike, numSamples: IntegerLike],
  ['logits', 'numSamples'],
  {
    /** Of the classes; int32 by default. */
    readonly dtype?: 'int32' | 'int64';
    /** An integer, with which each call draws the same numbers, or a generator of seeds; other numbers at each call by default. */
    readonly seed?: Seed;
  }
> = /* @__PURE__ */ defineFunction(
  'keras.random.categorical',
  { logits: kind.tensor, numSamples: kind.size },
  { dtype: kind.asIs, seed: kind.asIs },
  (logits, numSamples, { dtype = 'int32', seed }) => {
    const own = kerasSeed(seed);
    return own === null
      ? random.categorical(logits, numSamples, { dtype, ...seeded(seed) })
      : random.statelessCategorical(logits, numSamples, own, { dtype });
  },
);

/** Numbers of gamma distributions. @param shape of the result, to which alpha, above 0, broadcasts */
export const gamma: NamedFunction<[shape: ShapeLike, alpha: TensorLike], ['shape', 'alpha'], Drawn> =
  /* @__PURE__ */ defineFunction(
    'keras.random.gamma',
    { shape: kind.shape, alpha: kind.tensor },
    { dtype: kind.asIs, seed: kind.asIs },
    (shape, alpha, { dtype, seed }) => {
      const own = dtype ?? floatOf();
      const form = toTensor(alpha, own as 'float32').broadcastTo(shape as number[]);
      return random.gamma([], form, { dtype: own, ...seeded(seed) });
    },
  );

/** The slices of x along an axis, the first unless given, in random order. */
export const shuffle: NamedFunction<
  [x: TensorLike, axis?: IntegerLike],
  ['x', 'axis'],
  {
    /** An integer, with which each call makes the same order, or a generator of seeds; another order at each call by default. */
    readonly seed?: Seed;
  }
> = /* @__PURE__ */ defineFunction(
  'keras.random.shuffle',
  { x: kind.tensor, axis: kind.axis },
  { seed: kind.asIs },
  (x, axis: IntegerLike = 0, { seed }) => {
    const t = toTensor(x);
    const own = kerasSeed(seed);
    if (own !== null) {
      const size = sizeValue(dims(t)[normalizeAxis(axis as number, t.rank)], 'int32');
      return t.gather(argsort(random.statelessUniform([size], own)), axis);
    }
    if (axis === 0) return random.shuffle(t, seeded(seed));
    return random.shuffle(t.moveAxis(axis as number, 0), seeded(seed)).moveAxis(0, axis as number);
  },
);

interface Normal extends Drawn {
  /** The mean of the numbers; 0 by default. */
  readonly mean?: TensorLike;
  /** The standard deviation; 1 by default. */
  readonly stddev?: TensorLike;
}
interface Uniform extends Drawn {
  /** The least number; 0 by default. */
  readonly minval?: TensorLike;
  /** All numbers are below; 1 by default. */
  readonly maxval?: TensorLike;
}
/** A function of `tf.random` whose numbers are of the dtype `tf.keras.config.floatx()` unless they are given another one. */
const usual = <O extends Drawn>(
  name: string,
  options: Readonly<Record<string, true>>,
  of: () => Random['normal'] | Random['uniform'],
  ofSeed: () => Random['statelessNormal'] | Random['statelessUniform'],
): NamedFunction<[shape: ShapeLike], ['shape'], O> =>
  defineFunction<NamedFunction<[shape: ShapeLike], ['shape'], Drawn>>(
    `keras.random.${name}`,
    { shape: true },
    { ...options, dtype: true, seed: true },
    (shape, { seed, ...given }) => {
      const own = kerasSeed(seed);
      const dtype = given.dtype ?? floatOf();
      return own === null
        ? (of() as Random['normal'])(shape, { ...given, dtype, ...seeded(seed) })
        : (ofSeed() as Random['statelessNormal'])(shape, own, { ...given, dtype });
    },
  ) as unknown as NamedFunction<[shape: ShapeLike], ['shape'], O>;
const floatOf = (): 'float32' => kerasDefaults.floatx as 'float32';

/** Normally distributed numbers; of `tf.keras.config.floatx()` by default. */
export const normal: NamedFunction<[shape: ShapeLike], ['shape'], Normal> = /* @__PURE__ */ usual(
  'normal',
  { mean: true, stddev: true },
  () => random.normal,
  () => random.statelessNormal,
);
/** Normally distributed numbers within two standard deviations of the mean; of `tf.keras.config.floatx()` by default. */
export const truncatedNormal: NamedFunction<[shape: ShapeLike], ['shape'], Normal> = /* @__PURE__ */ usual(
  'truncatedNormal',
  { mean: true, stddev: true },
  () => random.truncatedNormal,
  () => random.statelessTruncatedNormal,
);
/** Evenly distributed numbers from minval up to maxval; of `tf.keras.config.floatx()` by default. */
export const uniform: NamedFunction<[shape: ShapeLike], ['shape'], Uniform> = /* @__PURE__ */ usual(
  'uniform',
  { minval: true, maxval: true },
  () => random.uniform,
  () => random.statelessUniform,
);

/** Integers from minval up to maxval, which is not among them; int32 by default. */
export const randint: NamedFunction<
  [shape: ShapeLike, minval: number, maxval: number],
  ['shape', 'minval', 'maxval'],
  Drawn
> = /* @__PURE__ */ defineFunction(
  'keras.random.randint',
  { shape: true, minval: true, maxval: true },
  { dtype: true, seed: true },
  (shape, minval, maxval, { dtype = 'int32', seed }) => {
    const own = kerasSeed(seed);
    return own === null
      ? random.uniform(shape, { dtype, minval, maxval, ...seeded(seed) })
      : random.statelessUniform(shape, own, { dtype, minval, maxval });
  },
);

/** x with a share `rate` of its elements at 0 and the others scaled up. */
export const dropout: NamedFunction<
  [inputs: TensorLike, rate: number],
  ['inputs', 'rate'],
  {
    /** Dimensions of 1 are dropped or kept as a whole; the input's shape by default. */
    readonly noiseShape?: readonly number[] | null;
    /** An integer, with which each call drops the same, or a generator of seeds; something else at each call by default. */
    readonly seed?: Seed;
  },
  Tensor
> = /* @__PURE__ */ defineFunction(
  'keras.random.dropout',
  { inputs: true, rate: true },
  { noiseShape: true, seed: true },
  (inputs, rate, { noiseShape, seed }) => {
    const own = kerasSeed(seed);
    const shape = noiseShape ? { noiseShape } : {};
    return own === null || rate === 0 || rate === 1
      ? nn.dropout(inputs, rate, { ...shape, ...seeded(seed) })
      : nn.experimental.statelessDropout(inputs, rate, own, shape);
  },
);

// A step halves what is left of the counts, of which there are fewer than 2^31.
const HALVINGS = 31;

/**
 * How many of `counts` trials succeed, each with a probability: whole numbers as floats, of `tf.keras.config.floatx()` by default. No
 * gradient reaches the arguments.
 * @param shape of the result, to which counts and probabilities broadcast
 * @param counts from 0 up to 2^31, rounded down; other ones give NaN
 * @param probabilities from 0 to 1; other ones give NaN
 * @throws InvalidArgumentError for a dtype that is not floating.
 */
export const binomial: NamedFunction<
  [shape: ShapeLike, counts: TensorLike, probabilities: TensorLike],
  ['shape', 'counts', 'probabilities'],
  Drawn
> = /* @__PURE__ */ defineFunction(
  'keras.random.binomial',
  { shape: kind.shape, counts: kind.tensor, probabilities: kind.tensor },
  { dtype: kind.asIs, seed: kind.asIs },
  (shape, counts, probabilities, options) => {
    const dtype = options.dtype ?? floatOf();
    checkDType(dtype, 'floating', 'dtype', 'keras.random.binomial');
    const wide = (x: TensorLike): Tensor =>
      toTensor(x as Tensor)
        .cast('float64')
        .stopGradient()
        .broadcastTo(shape as number[]);
    const given = wide(counts).floor();
    const chance = wide(probabilities);
    const valid = given
      .greaterEqual(0)
      .logicalAnd(given.less(2 ** 31))
      .logicalAnd(chance.greaterEqual(0))
      .logicalAnd(chance.lessEqual(1));
    let left = where(valid, given, 0);
    let p = where(valid, chance, 0);
    let successes = left.mul(0);
    // Trials succeed where uniform numbers are below p. The middle one of these, in order, is beta-distributed, and tells about half of them.
    const seed = seeded(options.seed);
    for (let step = 0; step < HALVINGS; step++) {
      const some = left.greater(0);
      const middle = where(some, add(left, 1).div(2).floor(), 1);
      const rest = where(some, left.sub(middle), 0);
      const x = random.beta(shape, middle, rest.add(1), { dtype: 'float64', ...seed });
      const below = x.lessEqual(p);
      successes = successes.add(where(some.logicalAnd(below), middle, 0));
      left = where(some, where(below, rest, middle.sub(1)), 0);
      p = where(below, p.sub(x).div(where(below, x.neg().add(1), 1)), p.div(where(below, 1, x)));
      p = p.clipByValue(0, 1);
    }
    return where(valid, successes, Number.NaN).cast(dtype);
  },
);
