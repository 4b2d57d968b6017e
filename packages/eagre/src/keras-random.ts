/** `tf.keras.random`. */
import {
  add,
  type DType,
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
  kerasDefaults,
  kind,
  type NamedFunction,
  toTensor,
} from '@eagre/core/internal';

type Random = typeof random;
interface Drawn {
  readonly dtype?: DType;
  readonly seed?: number;
}

export const beta: Random['beta'] = /* @__PURE__ */ (() => random.beta)();
export const categorical: Random['categorical'] = /* @__PURE__ */ (() => random.categorical)();
export const gamma: Random['gamma'] = /* @__PURE__ */ (() => random.gamma)();
export const shuffle: Random['shuffle'] = /* @__PURE__ */ (() => random.shuffle)();

/** A function of `tf.random` whose numbers are of the dtype `tf.keras.config.floatx()` unless they are given another one. */
const usual = <F extends Random['normal'] | Random['uniform']>(
  name: string,
  options: Readonly<Record<string, true>>,
  of: () => F,
): F =>
  defineFunction<Random['normal']>(
    `keras.random.${name}`,
    { shape: true },
    { ...options, dtype: true, seed: true } as never,
    (shape, given) => (of() as Random['normal'])(shape, { ...given, dtype: given.dtype ?? floatOf() }),
  ) as unknown as F;
const floatOf = (): 'float32' => kerasDefaults.floatx as 'float32';

/** Normally distributed numbers; of `tf.keras.config.floatx()` by default. */
export const normal: Random['normal'] = /* @__PURE__ */ usual(
  'normal',
  { mean: true, stddev: true },
  () => random.normal,
);
/** Normally distributed numbers within two standard deviations of the mean; of `tf.keras.config.floatx()` by default. */
export const truncatedNormal: Random['truncatedNormal'] = /* @__PURE__ */ usual(
  'truncatedNormal',
  { mean: true, stddev: true },
  () => random.truncatedNormal,
);
/** Evenly distributed numbers from minval up to maxval; of `tf.keras.config.floatx()` by default. */
export const uniform: Random['uniform'] = /* @__PURE__ */ usual(
  'uniform',
  { minval: true, maxval: true },
  () => random.uniform,
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
  (shape, minval, maxval, options) => random.uniform(shape, { dtype: 'int32', ...options, minval, maxval }),
);

/** x with a share `rate` of its elements at 0 and the others scaled up. */
export const dropout: NamedFunction<
  [inputs: TensorLike, rate: number],
  ['inputs', 'rate'],
  { readonly noiseShape?: readonly number[]; readonly seed?: number },
  Tensor
> = /* @__PURE__ */ defineFunction(
  'keras.random.dropout',
  { inputs: true, rate: true },
  { noiseShape: true, seed: true },
  (inputs, rate, options) => nn.dropout(inputs, rate, options),
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
    const seed = options.seed === undefined ? {} : { seed: options.seed };
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
