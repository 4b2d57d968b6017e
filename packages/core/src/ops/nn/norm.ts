// Normalisations.
import { InvalidArgumentError, isHalf, type NumericDType } from '@eagre/backend';
import type { AxisLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute, type GradContext, type Op, pair } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { maxDims, productOf } from '../../shapes/dim.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { type Axis, normalizeAxes, sameShape, showShape } from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { ones, zeros, zerosLike } from '../array/creation.ts';
import { identity, reshape } from '../array/shaping.ts';
import { layerNormRows, rmsNormRows } from './row-norm.ts';

/**
 * (x − mean) / √(variance + epsilon) · scale + offset, where the statistics, scale and offset broadcast against x; `null` leaves scale or
 * offset out.
 */
export const batchNormalization: NamedFunction<
  [
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | null,
    scale: TensorLike | null,
    varianceEpsilon: number,
  ],
  ['x', 'mean', 'variance', 'offset', 'scale', 'varianceEpsilon']
> = /* @__PURE__ */ defineFunction(
  'nn.batchNormalization',
  {
    x: kind.tensor,
    mean: kind.tensor,
    variance: kind.tensor,
    offset: kind.tensor,
    scale: kind.tensor,
    varianceEpsilon: kind.asIs,
  },
  {},
  (x, mean, variance, offset, scale, varianceEpsilon) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'floating', 'x', 'batchNormalization');
    let factor = toTensor(variance, t.dtype).add(varianceEpsilon).rsqrt();
    if (scale !== null) factor = factor.mul(toTensor(scale, t.dtype));
    const shift = toTensor(mean, t.dtype).mul(factor);
    return t.mul(factor).add(offset === null ? shift.neg() : toTensor(offset, t.dtype).sub(shift));
  },
);

// ---- batch normalisation in training

const others = (x: Tensor): number[] => Array.from({ length: x.rank - 1 }, (_, i) => i);
const countOf = (x: Tensor): number | Tensor =>
  sizeValue(maxDims(1, sizeOfDims(dims(x).slice(0, -1))), x.dtype);

/** The same numbers in the dtype of another tensor. */
const like = (t: Tensor, { dtype }: Tensor): Tensor =>
  t.dtype === dtype ? t : t.cast(dtype as NumericDType);

/** Statistics of a batch; 0 of one without examples, which has none: their NaN would be in the gradient of the scale. */
function ofAny(x: Tensor, statistics: Tensor): Tensor {
  const examples = sizeOfDims(dims(x).slice(0, -1));
  if (typeof examples === 'number') return examples === 0 ? zerosLike(statistics) : statistics;
  return toTensor(sizeValue(examples, 'int32'), 'int32').equal(0).where(0, statistics);
}

/** Normalises each channel of a batch by its own mean and variance, which have the dtype of the scale: x may have fewer bits. */
const fusedBatchNormOp: Op = defineOp({
  name: 'FusedBatchNormV3',
  kernel: 'FusedBatchNorm',
  infer: ([x, scale]) => [
    { dtype: x.dtype, shape: x.shape },
    { dtype: scale.dtype, shape: scale.shape },
    { dtype: scale.dtype, shape: scale.shape },
  ],
  grad: (g, dy, ...more) => {
    const [x, scale] = g.inputs;
    const [mean, variance] = g.outputs.slice(1).map((t) => ofAny(x, t));
    const [dMean, dVariance] = more;
    const [dx, dScale, dOffset] = execute(fusedBatchNormGradOp, [dy, x, scale, mean, variance], {
      epsilon: g.attrs.epsilon,
    });
    if (!dMean && !dVariance) return [dx, dScale, dOffset];
    const wide = like(x, scale);
    let total = like(dx, scale);
    if (dMean) total = total.add(dMean.div(countOf(wide)));
    if (dVariance) total = total.add(wide.sub(mean).mul(dVariance.mul(2).div(countOf(wide))));
    return [like(total, x), dScale, dOffset];
  },
  // Values near the mean are differences of large terms.
  ulp: 128,
  samples: () => [
    { inputs: [uniform([2, 3, 2, 3]), uniform([3], 0.5, 2), uniform([3])], attrs: { epsilon: 1e-3 } },
    { inputs: [uniform([5, 2]), uniform([2], 0.5, 2), uniform([2])], attrs: { epsilon: 1e-3 } },
  ],
});

/**
 * With x̂ = (x − mean) · r, r = 1/√(variance + ε), n values in a channel, and Σ over a channel:
 * doffset = Σ dy, dscale = Σ dy·x̂, dx = scale · r · (dy − doffset/n − x̂ · dscale/n).
 * Its own gradient takes these five inputs as independent; that mean and variance are x's is the forward op's matter.
 */
const fusedBatchNormGradOp: Op = defineOp({
  name: 'FusedBatchNormGradV3',
  kernel: 'FusedBatchNormGrad',
  infer: ([dy, , scale]) => [
    { dtype: dy.dtype, shape: dy.shape },
    { dtype: scale.dtype, shape: scale.shape },
    { dtype: scale.dtype, shape: scale.shape },
  ],
  grad: (g, ddx, ...more) => batchNormGradGrad(g, ddx, more[0] ?? null, more[1] ?? null),
  ulp: 64,
  samples: () => [
    {
      inputs: [
        uniform([3, 2, 2]),
        uniform([3, 2, 2]),
        uniform([2], 0.5, 2),
        values([0.25, -0.5]),
        values([0.75, 1.5]),
      ],
      attrs: { epsilon: 1e-3 },
    },
  ],
});

function batchNormGradGrad(
  g: GradContext,
  narrow: Tensor,
  ddScale: Tensor | null,
  ddOffset: Tensor | null,
): Tensor[] {
  const [, , scale, mean, variance] = g.inputs;
  const [dy, x, ddx] = [g.inputs[0], g.inputs[1], narrow].map((t) => like(t, scale)) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const axes = others(x);
  const n = countOf(x);
  const total = (t: Tensor): Tensor => t.sum(axes);
  const r = variance.add(g.attrs.epsilon as number).rsqrt();
  const centred = x.sub(mean);
  const xhat = centred.mul(r);
  const sumG = total(ddx);
  const sumGx = total(ddx.mul(xhat));
  const sumD = total(dy);
  const sumDx = total(dy.mul(xhat));
  // Σ ddx·dx = scale · r · inner
  const inner = total(ddx.mul(dy)).sub(sumD.mul(sumG).add(sumGx.mul(sumDx)).div(n));
  const factor = scale.mul(r);

  let toDy = ddx
    .sub(sumG.div(n))
    .sub(xhat.mul(sumGx.div(n)))
    .mul(factor);
  let toXhat = ddx.mul(sumDx).add(dy.mul(sumGx)).mul(factor.neg().div(n));
  if (ddScale !== null) {
    toDy = toDy.add(xhat.mul(ddScale));
    toXhat = toXhat.add(dy.mul(ddScale));
  }
  if (ddOffset !== null) toDy = toDy.add(ddOffset);
  const toX = toXhat.mul(r);
  const toR = scale.mul(inner).add(total(toXhat.mul(centred)));
  const toMean = total(toX).neg();
  const toVariance = toR.mul(r.mul(r).mul(r)).mul(-0.5);
  return [like(toDy, narrow), like(toX, narrow), r.mul(inner), toMean, toVariance];
}

/**
 * Batch normalisation over the last axis, each channel by its own statistics; all of `y` in one pass.
 * @param scale, offset [channels], or `null` for 1 and 0. Both may be float32 where x has 16 bits: so are mean and variance then.
 * @param options.epsilon 0.001 by default.
 * @param options.isTraining false normalises by the given `mean` and `variance` instead, which are returned.
 * @returns y and the batch's mean and (biased) variance.
 */
export const fusedBatchNorm: NamedFunction<
  [x: TensorLike, scale: TensorLike | null, offset: TensorLike | null],
  ['x', 'scale', 'offset'],
  {
    /** The mean of each channel, where the batch's is not used. */
    mean?: TensorLike;
    /** The variance of each channel, where the batch's is not used. */
    variance?: TensorLike;
    /** Added to the variance; 0.001 by default. */
    epsilon?: number;
    /** Whether the mean and variance of the batch are used; true by default. False: those that are given. */
    isTraining?: boolean;
  },
  { y: Tensor; mean: Tensor; variance: Tensor }
> = /* @__PURE__ */ defineFunction(
  'nn.fusedBatchNorm',
  { x: kind.tensor, scale: kind.tensor, offset: kind.tensor },
  { mean: kind.asIs, variance: kind.asIs, epsilon: kind.asIs, isTraining: kind.asIs },
  (x, scale, offset, options) => {
    const op = 'FusedBatchNormV3';
    const t = toTensor(x);
    checkDType(t.dtype, 'floating', 'x', op);
    if (t.rank < 2)
      throw new InvalidArgumentError(`x has shape ${showShape(t.shape)}, expected rank 2 or more`, op);
    const epsilon = options.epsilon ?? 1e-3;
    const channels = toShape([dims(t)[t.rank - 1]]);
    const isTraining = options.isTraining ?? true;
    const isWide = (v: TensorLike | null): boolean => v instanceof Tensor && v.dtype === 'float32';
    const dtype = isTraining && isHalf(t.dtype) && (isWide(scale) || isWide(offset)) ? 'float32' : t.dtype;
    const vector = (value: TensorLike, what: string): Tensor => {
      const v = toTensor(value, dtype);
      if (v.dtype !== dtype || !sameShape(v.shape, channels)) {
        throw new InvalidArgumentError(
          `${what} is ${v.dtype} ${showShape(v.shape)}, expected ${dtype} ${showShape(channels)}`,
          op,
        );
      }
      return v;
    };
    const s = scale === null ? ones(channels, dtype) : vector(scale, 'scale');
    const o = offset === null ? zeros(channels, dtype) : vector(offset, 'offset');
    if (isTraining) {
      const [y, mean, variance] = execute(fusedBatchNormOp, [t, s, o], { epsilon });
      return { y, mean, variance };
    }
    if (options.mean === undefined || options.variance === undefined) {
      throw new InvalidArgumentError('without training, mean and variance must be given', op);
    }
    const mean = vector(options.mean, 'mean');
    const variance = vector(options.variance, 'variance');
    const y = batchNormalization(t, mean, variance, o, s, epsilon);
    return { y, mean: identity(mean), variance: identity(variance) };
  },
);

// ---- within one example

/** Normalises over axes of each example, then scales and shifts. */
const layerNormOp: Op = defineOp({
  name: 'LayerNormalization',
  compose: ([x, ...rest], attrs) => {
    const axes = attrs.axes as number[];
    const centred = x.sub(x.mean(axes, { keepdims: true }));
    const variance = centred.square().mean(axes, { keepdims: true });
    const along = (v: Tensor): Tensor =>
      reshape(v, toShape(dims(x).map((d, i) => (axes.includes(i) ? d : 1))));
    let y = centred.mul(variance.add(attrs.epsilon as number).rsqrt());
    if (attrs.scaled === true) y = y.mul(along(rest[0]));
    if (attrs.shifted === true) y = y.add(along(rest[rest.length - 1]));
    return y;
  },
  ulp: 32,
  samples: () => [
    {
      inputs: [uniform([3, 4]), uniform([4]), uniform([4])],
      attrs: { axes: [1], epsilon: 1e-3, scaled: true, shifted: true },
    },
    {
      inputs: [uniform([2, 3, 2]), uniform([2, 3])],
      attrs: { axes: [0, 1], epsilon: 1e-3, scaled: false, shifted: true },
    },
    { inputs: [uniform([2, 5])], attrs: { axes: [1], epsilon: 1e-3, scaled: false, shifted: false } },
  ],
});

/**
 * Normalises each example over `axis` (the last by default) to mean 0 and variance 1, then scales and shifts with tensors of
 * those axes' shape.
 */
export const layerNormalization: NamedFunction<
  [x: TensorLike],
  ['x'],
  {
    /** By which is multiplied afterwards, of the shape of these axes; 1 by default. */
    scale?: TensorLike | null;
    /** What is added afterwards, of the shape of these axes; nothing by default. */
    offset?: TensorLike | null;
    /** One axis or several that are normalised together; the last by default. */
    axis?: AxisLike;
    /** Added to the variance; 0.001 by default. */
    epsilon?: number;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.layerNormalization',
  { x: kind.tensor },
  { scale: kind.asIs, offset: kind.asIs, axis: kind.axes, epsilon: kind.asIs },
  (x, options) => {
    const op = 'LayerNormalization';
    const epsilon = options.epsilon ?? 1e-3;
    const { t, axes, vectors } = prepare(op, x, options.axis as Axis | undefined, epsilon, {
      scale: options.scale,
      offset: options.offset,
    });
    const [scale, offset] = vectors as [Tensor | null, Tensor | null];
    if (trailing(axes, t.rank))
      return alongRows(t, axes, (rows, flat) => layerNormRows(rows, flat(scale), flat(offset), epsilon));
    const inputs = [t, scale, offset].filter((v) => v !== null);
    return execute(layerNormOp, inputs, {
      axes,
      epsilon,
      scaled: scale !== null,
      shifted: offset !== null,
    })[0];
  },
);

/**
 * Divides each example by its root mean square over `axis` (the last by default), then multiplies by `scale`, which has those
 * axes' shape: x · scale / √(mean(x²) + epsilon).
 * @param options.epsilon 1e-6 by default.
 */
export const rmsNormalization: NamedFunction<
  [x: TensorLike],
  ['x'],
  {
    /** By which is multiplied afterwards, of the shape of these axes; 1 by default. */
    scale?: TensorLike | null;
    /** One axis or several that are normalised together; the last by default. */
    axis?: AxisLike;
    /** Added to the mean square, so that nothing is divided by 0; 1e-6 by default. */
    epsilon?: number;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.rmsNormalization',
  { x: kind.tensor },
  { scale: kind.asIs, axis: kind.axes, epsilon: kind.asIs },
  (x, options) => {
    const epsilon = options.epsilon ?? 1e-6;
    const { t, axes, vectors } = prepare('RMSNormalization', x, options.axis as Axis | undefined, epsilon, {
      scale: options.scale,
    });
    const [scale] = vectors as [Tensor | null];
    if (trailing(axes, t.rank))
      return alongRows(t, axes, (rows, flat) => rmsNormRows(rows, flat(scale), epsilon));
    const y = t.mul(t.square().mean(axes, { keepdims: true }).add(epsilon).rsqrt());
    return scale === null
      ? y
      : y.mul(reshape(scale, toShape(dims(t).map((d, i) => (axes.includes(i) ? d : 1)))));
  },
);

/** Checks what the normalisations of one example take. */
function prepare(
  op: string,
  x: TensorLike,
  axis: Axis | undefined,
  epsilon: number,
  given: Readonly<Record<string, TensorLike | null | undefined>>,
): { t: Tensor; axes: number[]; vectors: (Tensor | null)[] } {
  const t = toTensor(x);
  checkDType(t.dtype, 'floating', 'x', op);
  if (typeof epsilon !== 'number' || !(epsilon >= 0))
    throw new InvalidArgumentError(`epsilon is ${String(epsilon)}, expected a number of at least 0`, op);
  const axes = normalizeAxes(axis === undefined ? -1 : axis, t.rank, op);
  const shape = toShape(axes.map((a) => dims(t)[a]));
  const vectors = Object.entries(given).map(([what, value]) => {
    if (value === undefined || value === null) return null;
    const [, v] = pair(t, value, op);
    if (!sameShape(v.shape, shape)) {
      throw new InvalidArgumentError(
        `${what} has shape ${showShape(v.shape)}, expected ${showShape(shape)}`,
        op,
      );
    }
    if (v.dtype !== t.dtype)
      throw new InvalidArgumentError(`${what} is ${v.dtype}, expected ${t.dtype} as x is`, op);
    return v;
  });
  return { t, axes, vectors };
}

/** Whether the axes are the last ones, so that they make rows. */
function trailing(axes: readonly number[], rank: number): boolean {
  return axes.length > 0 && axes[0] === rank - axes.length;
}

/** Runs what works along the last axis over all of the last axes. */
function alongRows(
  t: Tensor,
  axes: readonly number[],
  run: (rows: Tensor, flat: (v: Tensor | null) => Tensor | null) => Tensor,
): Tensor {
  if (axes.length === 1) return run(t, (v) => v);
  const n = productOf(axes.map((a) => dims(t)[a]));
  const y = run(reshape(t, toShape([...dims(t).slice(0, axes[0]), n])), (v) =>
    v === null ? null : reshape(v, toShape([n])),
  );
  return reshape(y, t.shape);
}
