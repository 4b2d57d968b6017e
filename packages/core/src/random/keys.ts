// Seeds made of others, and stateless draws of more distributions: TensorFlow's numbers.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { execute1 } from '../dispatch/op.ts';
import { stack } from '../ops/array/join.ts';
import { where } from '../ops/elementwise/select.ts';
import { ndtri } from '../ops/elementwise/special-functions.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../shapes/dims.ts';
import { checkShape, type Shape, showShape } from '../shapes/shape.ts';
import { differs, sizeValue } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType, isInteger } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { wordsOfCall } from './call-stream.ts';
import { attempts, broadcastAll, drawShape } from './parameters.ts';
import type { SeedSource, StatelessSeed } from './random.ts';
import { type AlgorithmOptions, seedTensor, statelessUniform } from './stateless.ts';
import { binomialOp, categoricalOp, drawn, gammaOp, keyAndCounter, poissonOp } from './stateless-ops.ts';

/** Integers of all bits of a dtype. */
const wordsFor = (shape: readonly Dim[], seed: Tensor, dtype: DType, options: AlgorithmOptions): Tensor =>
  statelessUniform(toShape(shape), seed, { minval: null, maxval: null, dtype, alg: options.alg ?? null });

/** A seed made of another one and a number, [2], of the number's dtype: for each number another. */
export const foldIn: NamedFunction<
  [seed: StatelessSeed, data: TensorLike],
  ['seed', 'data'],
  AlgorithmOptions
> = /* @__PURE__ */ defineFunction(
  'random.foldIn',
  { seed: kind.asIs, data: kind.tensor },
  { alg: kind.asIs },
  (seed, data, options) => {
    const op = 'random.foldIn';
    const n = toTensor(data, 'int32');
    if (!isInteger(n.dtype) || n.rank !== 0)
      throw new InvalidArgumentError(`data must be an integer, got ${n.dtype} ${showShape(n.shape)}`, op);
    const dtype = n.dtype.endsWith('32') || n.dtype.endsWith('64') ? n.dtype : 'int32';
    return stack([wordsFor([], seedTensor(seed, op), dtype, options), n.cast(dtype)]);
  },
);

/** So many seeds made of one, [num, 2] of the seed's dtype, which are independent of each other. */
export const split: NamedFunction<
  [seed: StatelessSeed, num?: IntegerLike],
  ['seed', 'num'],
  AlgorithmOptions
> = /* @__PURE__ */ defineFunction(
  'random.split',
  { seed: kind.asIs, num: kind.size },
  { alg: kind.asIs },
  (seed, num: IntegerLike = 2, options) => {
    const op = 'random.split';
    checkShape([num as number], op);
    const own = seedTensor(seed, op);
    return wordsFor([num as Dim, 2], own, own.dtype, options);
  },
);

/** Draws `numSamples` classes for each row of unnormalised log-probabilities [batch, classes]: [batch, numSamples]. */
export const statelessCategorical: NamedFunction<
  [logits: TensorLike, numSamples: IntegerLike, seed: StatelessSeed],
  ['logits', 'numSamples', 'seed'],
  {
    /** Of the classes; int64 by default. */
    readonly dtype?: 'int32' | 'int64';
  }
> = /* @__PURE__ */ defineFunction(
  'random.statelessCategorical',
  { logits: kind.tensor, numSamples: kind.size, seed: kind.asIs },
  { dtype: kind.asIs },
  (logits, numSamples, seed, { dtype = 'int64' }) => {
    const op = 'random.statelessCategorical';
    const x = toTensor(logits);
    checkDType(x.dtype, 'floating', 'logits', op);
    checkDType(dtype, 'index', 'dtype', op);
    checkShape([numSamples as number], op);
    if (x.rank !== 2 || !differs(dims(x)[1], 0))
      throw new InvalidArgumentError(
        `logits have shape ${showShape(x.shape)}, expected [batch, classes] with at least one class`,
        op,
      );
    const count = toTensor(sizeValue(numSamples as Dim, 'int32'), 'int32');
    return execute1(categoricalOp, [x, count, seedTensor(seed, op)], {
      dtype,
      samples: numSamples as number,
    });
  },
);

/** Numbers of gamma distributions of a shape, which ends in that of alpha and beta. No gradient reaches alpha. */
export const statelessGamma: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed, alpha: TensorLike],
  ['shape', 'seed', 'alpha'],
  {
    /** The inverse scale; 1 by default. */
    readonly beta?: TensorLike | null;
    /** Of the numbers; float32 by default. */
    readonly dtype?: DType;
  }
> = /* @__PURE__ */ defineFunction(
  'random.statelessGamma',
  { shape: kind.shape, seed: kind.asIs, alpha: kind.tensor },
  { beta: kind.tensor, dtype: kind.asIs },
  (shape, seed, alpha, { beta = null, dtype = 'float32' }) => {
    const op = 'random.statelessGamma';
    checkDType(dtype, 'floating', 'dtype', op);
    const form = toTensor(alpha, dtype).cast(dtype).stopGradient();
    const rate = toTensor(beta ?? 1, dtype).cast(dtype);
    const to = checkShape(shape as Shape, op);
    const [each] = broadcastAll(to, op, form, rate.stopGradient()) as [Tensor];
    const found = drawn(gammaOp, to, keyAndCounter(seedTensor(seed, op)), dtype, each);
    const least =
      dtype === 'float64' ? 2.2250738585072014e-308 : dtype === 'float16' ? 6.104e-5 : 1.1754943508222875e-38;
    return found.div(rate).maximum(least);
  },
);

/** Counts of Poisson distributions of a shape, which ends in that of the means. */
export const statelessPoisson: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed, lam: TensorLike],
  ['shape', 'seed', 'lam'],
  {
    /** Of the numbers; int32 by default. */
    readonly dtype?: DType;
  }
> = /* @__PURE__ */ defineFunction(
  'random.statelessPoisson',
  { shape: kind.shape, seed: kind.asIs, lam: kind.tensor },
  { dtype: kind.asIs },
  (shape, seed, lam, { dtype = 'int32' }) => {
    const op = 'random.statelessPoisson';
    checkDType(dtype, 'numeric', 'dtype', op);
    const given = toTensor(lam, 'float32');
    const mean = given.dtype === 'float64' ? given : given.cast('float32');
    const to = checkShape(shape as Shape, op);
    const [each] = broadcastAll(to, op, mean.stopGradient()) as [Tensor];
    return drawn(poissonOp, to, [seedTensor(seed, op)], dtype, each);
  },
);

/** How many of `counts` attempts succeed, each with a probability: of a shape, which ends in that of both. */
export const statelessBinomial: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed, counts: TensorLike, probs: TensorLike],
  ['shape', 'seed', 'counts', 'probs'],
  {
    /** Of the numbers; int32 by default. */
    readonly outputDtype?: DType;
  }
> = /* @__PURE__ */ defineFunction(
  'random.statelessBinomial',
  { shape: kind.shape, seed: kind.asIs, counts: kind.tensor, probs: kind.tensor },
  { outputDtype: kind.asIs },
  (shape, seed, counts, probs, { outputDtype = 'int32' }) => {
    const op = 'random.statelessBinomial';
    checkDType(outputDtype, 'numeric', 'outputDtype', op);
    const to = checkShape(shape as Shape, op);
    return drawn(binomialOp, to, [seedTensor(seed, op)], outputDtype, ...attempts(counts, probs, to, op));
  },
);

/** Numbers of normal distributions of a shape, cut at two bounds: by quantiles, where parameters broadcast to the shape. */
export const statelessParameterizedTruncatedNormal: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed],
  ['shape', 'seed'],
  {
    /** The means; 0 by default. */
    readonly means?: TensorLike;
    /** The standard deviations; 1 by default. */
    readonly stddevs?: TensorLike;
    /** Numbers are not below; -2 by default. */
    readonly minvals?: TensorLike;
    /** Numbers are not above; 2 by default. */
    readonly maxvals?: TensorLike;
  }
> = /* @__PURE__ */ defineFunction(
  'random.statelessParameterizedTruncatedNormal',
  { shape: kind.shape, seed: kind.asIs },
  { means: kind.tensor, stddevs: kind.tensor, minvals: kind.tensor, maxvals: kind.tensor },
  (shape, seed, { means = 0, stddevs = 1, minvals = -2, maxvals = 2 }) => {
    const op = 'random.statelessParameterizedTruncatedNormal';
    const given = [means, stddevs, minvals, maxvals].map((v) => toTensor(v, 'float32'));
    const dtype = given.some((t) => t.dtype === 'float64') ? 'float64' : 'float32';
    const [mean, deviation, low, high] = given.map((t) => t.cast('float64')) as [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ];
    const to = drawShape(shape as Shape, op, mean, deviation, low, high);
    const at = (bound: Tensor): Tensor => bound.sub(mean).div(deviation);
    const below = (z: Tensor): Tensor => z.mul(-Math.SQRT1_2).erfc().mul(0.5);
    // The lower tail is exact: what lies above the mean is turned around.
    const [a, b] = [at(low), at(high)];
    const turned = a.greater(0);
    const [from, until] = [below(where(turned, b.neg(), a)), below(where(turned, a.neg(), b))];
    const u = statelessUniform(to, seed, { dtype: 'float64' });
    const z = ndtri(from.add(until.sub(from).mul(u)));
    const found = where(turned, z.neg(), z).mul(deviation).add(mean);
    return found.maximum(low).minimum(high).cast(dtype);
  },
);

/** Counts of Poisson distributions, for each mean so many as `shape` says: the result has `shape`, then that of the means. */
export const poisson: NamedFunction<
  [shape: ShapeLike, lam: TensorLike],
  ['shape', 'lam'],
  {
    /** Of the numbers; float32 by default. */
    readonly dtype?: DType;
    /** Makes the numbers the same in each run of the program; drawn anew unless given. */
    readonly seed?: number | SeedSource;
  }
> = /* @__PURE__ */ defineFunction(
  'random.poisson',
  { shape: kind.shape, lam: kind.tensor },
  { dtype: kind.asIs, seed: kind.asIs },
  (shape, lam, { dtype = 'float32', seed }) => {
    const mean = toTensor(lam, 'float32');
    const to = toShape([...dimsOf(checkShape(shape as Shape, 'random.poisson')), ...dims(mean)]);
    return statelessPoisson(to, wordsOfCall(seed), mean, { dtype });
  },
);
