// Keys of stateless random numbers made of others, and stateless draws of more distributions.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkOneOf } from '../arguments/checks.ts';
import { expandDims, reshape } from '../ops/array/array.ts';
import { stack } from '../ops/array/join.ts';
import { where } from '../ops/elementwise/select.ts';
import { ndtri } from '../ops/elementwise/special-functions.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../shapes/dims.ts';
import { broadcastShapes, checkShape, type Shape, showShape } from '../shapes/shape.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType, isInteger } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { logGamma } from './gamma.ts';
import { type SeedSource, type StatelessSeed, statelessNormal, statelessUniform, uniform } from './random.ts';

/** The algorithms of random numbers, by TensorFlow's numbers. Everything here is drawn by Philox. */
export const Algorithm: { readonly PHILOX: 1; readonly THREEFRY: 2; readonly AUTO_SELECT: 3 } = {
  PHILOX: 1,
  THREEFRY: 2,
  AUTO_SELECT: 3,
};

/** The state of a generator from a seed: counter and key of Philox, int64 [3]. @throws InvalidArgumentError for another algorithm */
export const createRngState: NamedFunction<
  [seed: number | readonly number[], alg: 1 | 'philox' | 'auto_select'],
  ['seed', 'alg']
> = /* @__PURE__ */ defineFunction(
  'random.createRngState',
  { seed: kind.asIs, alg: kind.asIs },
  {},
  (seed, alg) => {
    const op = 'random.createRngState';
    checkOneOf(alg, [1, 'philox', 'auto_select', 3], 'alg', op);
    const list = typeof seed === 'number' ? [seed] : [...seed];
    if (list.length === 0 || list.length > 3 || !list.every(Number.isSafeInteger))
      throw new InvalidArgumentError('seed must be an integer, or at most three', op);
    // The key comes last, as TensorFlow has it for one number.
    const state = list.length === 1 ? [0, 0, list[0] as number] : [...list, 0, 0].slice(0, 3);
    return toTensor({ data: BigInt64Array.from(state, BigInt), shape: [3] });
  },
);

const seedOf = (seed: StatelessSeed, op: string): Tensor => {
  const t = toTensor(seed as TensorLike, 'int32');
  if (!isInteger(t.dtype) || t.rank !== 1 || differs(dims(t)[0], 2))
    throw new InvalidArgumentError(`seed must be two integers, got ${t.dtype} ${showShape(t.shape)}`, op);
  return t;
};
/** Integers of all bits of int32. */
const words = (shape: readonly Dim[], seed: Tensor): Tensor =>
  statelessUniform(toShape(shape), seed, { minval: -(2 ** 31), maxval: 2 ** 31, dtype: 'int32' });

/** A seed made of another one and a number, int32 [2]: for each number another. */
export const foldIn: NamedFunction<[seed: StatelessSeed, data: TensorLike], ['seed', 'data']> =
  /* @__PURE__ */ defineFunction(
    'random.foldIn',
    { seed: kind.asIs, data: kind.tensor },
    {},
    (seed, data) => {
      const op = 'random.foldIn';
      const own = seedOf(seed, op);
      const n = toTensor(data, 'int32');
      if (!isInteger(n.dtype) || n.rank !== 0)
        throw new InvalidArgumentError(`data must be an integer, got ${n.dtype} ${showShape(n.shape)}`, op);
      const [word] = words([1], own).unstack(0) as [Tensor];
      return stack([n.cast('int32'), word]);
    },
  );

/** So many seeds made of one, int32 [num, 2], which are independent of each other. */
export const split: NamedFunction<[seed: StatelessSeed, num?: IntegerLike], ['seed', 'num']> =
  /* @__PURE__ */ defineFunction(
    'random.split',
    { seed: kind.asIs, num: kind.size },
    {},
    (seed, num: IntegerLike = 2) => {
      const op = 'random.split';
      checkShape([num as number], op);
      return words([num as number, 2], seedOf(seed, op));
    },
  );

/** Draws `numSamples` classes for each row of unnormalised log-probabilities [batch, classes]: [batch, numSamples]. */
export const statelessCategorical: NamedFunction<
  [logits: TensorLike, numSamples: IntegerLike, seed: StatelessSeed],
  ['logits', 'numSamples', 'seed'],
  { readonly dtype?: 'int32' | 'int64' }
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
    // The largest of logits + Gumbel noise is distributed as softmax says.
    const [batch, classes] = dims(x) as [Dim, Dim];
    const shape = toShape([batch, numSamples as Dim, classes]);
    const noise = statelessUniform(shape, seed, { dtype: x.dtype }).log().neg().log();
    return expandDims(x.stopGradient(), 1).sub(noise).argMax(-1, { dtype });
  },
);

/** The shape of a draw, to whose last axes parameters broadcast. @throws InvalidArgumentError where they do not */
function drawShape(shape: Shape, op: string, ...parameters: readonly Tensor[]): Shape {
  const to = checkShape(shape, op);
  for (const p of parameters) {
    const both = broadcastShapes(to, p.shape, op);
    if (both.length !== to.length || dimsOf(both).some((d, i) => differs(d, dimsOf(to)[i] as Dim)))
      throw new InvalidArgumentError(
        `parameters of shape ${showShape(p.shape)} do not broadcast to ${showShape(to)}`,
        op,
      );
  }
  return to;
}

/** Numbers of gamma distributions of a shape, to which alpha and beta broadcast. No gradient reaches alpha. */
export const statelessGamma: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed, alpha: TensorLike],
  ['shape', 'seed', 'alpha'],
  { readonly beta?: TensorLike | null; readonly dtype?: DType }
> = /* @__PURE__ */ defineFunction(
  'random.statelessGamma',
  { shape: kind.shape, seed: kind.asIs, alpha: kind.tensor },
  { beta: kind.tensor, dtype: kind.asIs },
  (shape, seed, alpha, { beta = null, dtype = 'float32' }) => {
    const op = 'random.statelessGamma';
    checkDType(dtype, 'floating', 'dtype', op);
    const form = toTensor(alpha, dtype).cast(dtype).stopGradient();
    const rate = toTensor(beta ?? 1, dtype).cast(dtype);
    const to = drawShape(shape as Shape, op, form, rate);
    const keys = split(seed, 3).unstack(0);
    let next = 0;
    const key = (): Tensor => keys[next++] as Tensor;
    const drawn = logGamma(to, form, {
      normal: (all) => statelessNormal(all, key(), { dtype }),
      uniform: (all) => statelessUniform(all, key(), { dtype }),
    });
    return drawn.exp().div(rate);
  },
);

// Up to here the largest count is found by adding up; beyond, most of the distribution is a bell.
const EXACT = 64;

/** Counts of Poisson distributions: by the products of uniform numbers where the mean is small, else by quantiles of a normal one. */
function poissonOf(shape: Shape, mean: Tensor, key: (n: number) => Tensor, dtype: DType): Tensor {
  const sizes = dimsOf(shape);
  const small = mean.less(EXACT / 4);
  // Waiting times of mean 1: as many as are over before the mean.
  const waits = statelessUniform(toShape([EXACT, ...sizes]), key(0), { dtype: 'float64' })
    .mul(-1)
    .log1p()
    .neg();
  const counted = waits.cumsum(0).less(mean).cast('float64').sum(0);
  const z = statelessNormal(shape, key(1), { dtype: 'float64' });
  const root = where(small, 1, mean).sqrt();
  // Cornish and Fisher's expansion of a quantile.
  const bell = mean
    .add(z.mul(root))
    .add(z.square().sub(1).div(6))
    .sub(z.pow(3).sub(z).div(root.mul(72)))
    .add(0.5)
    .floor()
    .maximum(0);
  return where(small, counted, bell).cast(dtype);
}

/** Counts of Poisson distributions of a shape, to which the means broadcast. */
export const statelessPoisson: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed, lam: TensorLike],
  ['shape', 'seed', 'lam'],
  { readonly dtype?: DType }
> = /* @__PURE__ */ defineFunction(
  'random.statelessPoisson',
  { shape: kind.shape, seed: kind.asIs, lam: kind.tensor },
  { dtype: kind.asIs },
  (shape, seed, lam, { dtype = 'int32' }) => {
    const op = 'random.statelessPoisson';
    checkDType(dtype, 'numeric', 'dtype', op);
    const mean = toTensor(lam, 'float64').cast('float64').stopGradient();
    const to = drawShape(shape as Shape, op, mean);
    const keys = split(seed, 2).unstack(0);
    return poissonOf(to, mean, (n) => keys[n] as Tensor, dtype);
  },
);

/** How many of `counts` attempts succeed, each with a probability: of a shape, to which both broadcast. At most 1024 attempts. */
export const statelessBinomial: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed, counts: TensorLike, probs: TensorLike],
  ['shape', 'seed', 'counts', 'probs'],
  { readonly outputDtype?: DType }
> = /* @__PURE__ */ defineFunction(
  'random.statelessBinomial',
  { shape: kind.shape, seed: kind.asIs, counts: kind.tensor, probs: kind.tensor },
  { outputDtype: kind.asIs },
  (shape, seed, counts, probs, { outputDtype = 'int32' }) => {
    const op = 'random.statelessBinomial';
    checkDType(outputDtype, 'numeric', 'outputDtype', op);
    const n = toTensor(counts, 'float32').cast('float32').stopGradient();
    const p = toTensor(probs, 'float32').cast('float32').stopGradient();
    const to = drawShape(shape as Shape, op, n, p);
    const most = Number(n.size === 0 ? 0 : n.max().item());
    if (!(most >= 0 && most <= 1024))
      throw new InvalidArgumentError(`counts must be 0 … 1024, got ${most}`, op);
    const sizes = dimsOf(to);
    const u = statelessUniform(toShape([most, ...sizes]), seed);
    const attempt = reshape(toTensor(Float32Array.from({ length: most }, (_, i) => i)), [
      most,
      ...sizes.map(() => 1),
    ]);
    return u.less(p).logicalAnd(attempt.less(n)).cast('float32').sum(0).cast(outputDtype);
  },
);

/** Numbers of normal distributions of a shape, cut at two bounds: by quantiles, where parameters broadcast to the shape. */
export const statelessParameterizedTruncatedNormal: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed],
  ['shape', 'seed'],
  {
    readonly means?: TensorLike;
    readonly stddevs?: TensorLike;
    readonly minvals?: TensorLike;
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
  { readonly dtype?: DType; readonly seed?: number | SeedSource }
> = /* @__PURE__ */ defineFunction(
  'random.poisson',
  { shape: kind.shape, lam: kind.tensor },
  { dtype: kind.asIs, seed: kind.asIs },
  (shape, lam, { dtype = 'float32', seed }) => {
    const mean = toTensor(lam, 'float32');
    const bounds = { minval: -(2 ** 31), maxval: 2 ** 31, dtype: 'int32' as const };
    const key = uniform([2], { ...bounds, ...(seed === undefined ? {} : { seed }) });
    const to = toShape([...dimsOf(checkShape(shape as Shape, 'random.poisson')), ...dims(mean)]);
    return statelessPoisson(to, key, mean, { dtype });
  },
);
