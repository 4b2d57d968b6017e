// Functions of `tf.nn` that are made of others.
import { type DType, dtypeTraits, FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import type { AxisLike, IntegerLike, IntegersLike, ShapeLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkNumber, checkOneOf, shown } from '../../arguments/checks.ts';
import { distribution } from '../../dispatch/distribution.ts';
import { opHooks, pair } from '../../dispatch/op.ts';
import { mulDims, productOf } from '../../shapes/dim.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import {
  type Axis,
  checkFlag,
  normalizeAxes,
  normalizeAxis,
  type Shape,
  showShape,
} from '../../shapes/shape.ts';
import { checkSize, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, isFloating } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { fill, zeros } from '../array/creation.ts';
import { concat } from '../array/join.ts';
import { windowsOf } from '../array/space.ts';
import { where } from '../elementwise/select.ts';
import { conv1d, conv2d, depthwiseConv2d } from './conv.ts';
import { avgPool, maxPool } from './pooling.ts';
import { directionsOf, type FormatOption, perDirection, withChannelsLast } from './windows.ts';
import { withSpaceToBatch } from './with-space-to-batch.ts';

const floats = (value: TensorLike, what: string, op: string): Tensor => {
  const x = toTensor(value);
  checkDType(x.dtype, 'floating', what, op);
  return x;
};

/** relu(x) and relu(−x) of floats or signed integers, joined along an axis, the last by default: twice as many channels. */
export const crelu: NamedFunction<[features: TensorLike, axis?: IntegerLike], ['features', 'axis']> =
  /* @__PURE__ */ defineFunction(
    'nn.crelu',
    { features: kind.tensor, axis: kind.axis },
    {},
    (features, axis: IntegerLike = -1) => {
      const x = toTensor(features);
      if (!/^int/.test(x.dtype)) checkDType(x.dtype, 'floating', 'features', 'nn.crelu');
      return concat([x, x.neg()], normalizeAxis(axis as number, x.rank, 'nn.crelu')).relu();
    },
  );

/**
 * The loss exp(logInput) − logInput · targets of a Poisson distribution, element-wise.
 * @param options.computeFullLoss adds Stirling's approximation of log(targets!); false by default
 */
export const logPoissonLoss: NamedFunction<
  [targets: TensorLike, logInput: TensorLike],
  ['targets', 'logInput'],
  {
    /** Whether Stirling's approximation of log(targets!) is added; false by default. */
    readonly computeFullLoss?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.logPoissonLoss',
  { targets: kind.tensor, logInput: kind.tensor },
  { computeFullLoss: kind.asIs },
  (targets, logInput, options) => {
    const [t, log] = pair(targets, logInput, 'nn.logPoissonLoss');
    const loss = log.exp().sub(log.mul(t));
    if (!checkFlag(options.computeFullLoss, 'computeFullLoss', 'nn.logPoissonLoss')) return loss;
    const stirling = t
      .mul(where(t.greater(0), t, 1).log())
      .sub(t)
      .add(
        where(t.greater(0), t, 1)
          .mul(2 * Math.PI)
          .log()
          .mul(0.5),
      );
    return loss.add(where(t.greaterEqual(0).logicalAnd(t.lessEqual(1)), 0, stirling));
  },
);

interface Keepdims {
  /** Keeps the axes as 1; false by default. */
  readonly keepdims?: boolean;
}
/** Mean and variance over axes, of elements that count as much as their weights: [mean, variance]. */
export const weightedMoments: NamedFunction<
  [x: TensorLike, axes: AxisLike, frequencyWeights: TensorLike],
  ['x', 'axes', 'frequencyWeights'],
  Keepdims,
  [mean: Tensor, variance: Tensor]
> = /* @__PURE__ */ defineFunction(
  'nn.weightedMoments',
  { x: kind.tensor, axes: kind.axes, frequencyWeights: kind.tensor },
  { keepdims: kind.asIs },
  (x, axes, frequencyWeights, { keepdims = false }) => {
    const [t, w] = pair(x, frequencyWeights, 'nn.weightedMoments');
    const axis = normalizeAxes(axes as Axis, t.rank, 'nn.weightedMoments');
    const weights = w.add(t.mul(0));
    const total = weights.sum(axis, { keepdims: true });
    const mean = weights.mul(t).sum(axis, { keepdims: true }).div(total);
    const variance = weights.mul(t.sub(mean).square()).sum(axis, { keepdims: true }).div(total);
    return keepdims ? [mean, variance] : [mean.squeeze(axis), variance.squeeze(axis)];
  },
);

/** What moments are made of: [count, sum, sum of squares, shift], the latter two of x − shift. */
export const sufficientStatistics: NamedFunction<
  [x: TensorLike, axes: AxisLike],
  ['x', 'axes'],
  {
    /** What is taken off the values first, so that sums stay small; nothing by default. */
    readonly shift?: TensorLike | null;
  } & Keepdims,
  [count: Tensor, meanSs: Tensor, varianceSs: Tensor, shift: Tensor | null]
> = /* @__PURE__ */ defineFunction(
  'nn.sufficientStatistics',
  { x: kind.tensor, axes: kind.axes },
  { shift: kind.tensor, keepdims: kind.asIs },
  (x, axes, { shift = null, keepdims = false }) => {
    const t = floats(x, 'x', 'nn.sufficientStatistics');
    const axis = normalizeAxes(axes as Axis, t.rank, 'nn.sufficientStatistics');
    const count = toTensor(sizeValue(productOf(axis.map((i) => dims(t)[i])), t.dtype), t.dtype);
    const from = shift === null ? null : toTensor(shift, t.dtype);
    const moved = from === null ? t : t.sub(from);
    return [count, moved.sum(axis, { keepdims }), moved.square().sum(axis, { keepdims }), from];
  },
);

/** Mean and variance of what `sufficientStatistics` gives: [mean, variance]. */
export const normalizeMoments: NamedFunction<
  [counts: TensorLike, meanSs: TensorLike, varianceSs: TensorLike, shift?: TensorLike | null],
  ['counts', 'meanSs', 'varianceSs', 'shift'],
  unknown,
  [mean: Tensor, variance: Tensor]
> = /* @__PURE__ */ defineFunction(
  'nn.normalizeMoments',
  { counts: kind.tensor, meanSs: kind.tensor, varianceSs: kind.tensor, shift: kind.tensor },
  {},
  (counts, meanSs, varianceSs, shift: TensorLike | null = null) => {
    const sums = floats(meanSs, 'meanSs', 'nn.normalizeMoments');
    const share = toTensor(counts, sums.dtype).reciprocal();
    const moved = sums.mul(share);
    const variance = toTensor(varianceSs, sums.dtype).mul(share).sub(moved.square());
    return [shift === null ? moved : moved.add(toTensor(shift, sums.dtype)), variance];
  },
);

/** Batch normalization of [n, h, w, c] with given moments; gamma counts where `scaleAfterNormalization` says so. */
export const batchNormWithGlobalNormalization: NamedFunction<
  [
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    varianceEpsilon: number,
    scaleAfterNormalization: boolean,
  ],
  ['input', 'mean', 'variance', 'beta', 'gamma', 'varianceEpsilon', 'scaleAfterNormalization']
> = /* @__PURE__ */ defineFunction(
  'nn.batchNormWithGlobalNormalization',
  {
    input: kind.tensor,
    mean: kind.tensor,
    variance: kind.tensor,
    beta: kind.tensor,
    gamma: kind.tensor,
    varianceEpsilon: kind.asIs,
    scaleAfterNormalization: kind.asIs,
  },
  {},
  (input, mean, variance, beta, gamma, varianceEpsilon, scaleAfterNormalization) => {
    const op = 'nn.batchNormWithGlobalNormalization';
    const x = floats(input, 'input', op);
    checkNumber(varianceEpsilon, 'varianceEpsilon', op, 0);
    const of = (v: TensorLike): Tensor => toTensor(v, x.dtype);
    const rate = of(variance).add(varianceEpsilon).rsqrt();
    const scaled = checkFlag(scaleAfterNormalization, 'scaleAfterNormalization', op)
      ? rate.mul(of(gamma))
      : rate;
    return x.sub(of(mean)).mul(scaled).add(of(beta));
  },
);

type Response = NamedFunction<
  [input: TensorLike],
  ['input'],
  {
    /** How far channels may be away; 5 by default. */
    readonly depthRadius?: IntegerLike;
    /** Added to the sum; 1 by default. */
    readonly bias?: number;
    /** By which the sum is multiplied; 1 by default. */
    readonly alpha?: number;
    /** The exponent; 0.5 by default. */
    readonly beta?: number;
  }
>;
/** x / (bias + alpha · Σ x²) ^ beta over the neighbouring channels of [n, h, w, c], at most `depthRadius` away. */
export const localResponseNormalization: Response = /* @__PURE__ */ defineFunction(
  'nn.localResponseNormalization',
  { input: kind.tensor },
  { depthRadius: kind.integer, bias: kind.asIs, alpha: kind.asIs, beta: kind.asIs },
  (input, { depthRadius = 5, bias = 1, alpha = 1, beta = 0.5 }) => {
    const op = 'nn.localResponseNormalization';
    const x = floats(input, 'input', op);
    if (x.rank !== 4)
      throw new InvalidArgumentError(`input has shape ${showShape(x.shape)}, expected rank 4`, op);
    const radius = depthRadius as number;
    if (!Number.isSafeInteger(radius) || radius < 0)
      throw new InvalidArgumentError(`depthRadius is ${radius}, expected an integer of at least 0`, op);
    for (const [name, value] of Object.entries({ bias, alpha, beta })) checkNumber(value, name, op);
    // Each window is added up by itself: a difference of running sums would lose what is small beside what came before.
    const [n, h, w, channels] = dims(x);
    if (channels === 0) return x;
    const lines = x.square().reshape(toShape([sizeOfDims([n, h, w]), channels, 1]));
    const furthest = typeof channels === 'number' ? Math.min(radius, channels) : radius;
    const ones = fill([2 * furthest + 1, 1, 1], toTensor(1, x.dtype));
    const squares = conv1d(lines, ones, { padding: 'SAME' }).reshape(toShape(dims(x)));
    const sizes = squares.mul(alpha).add(bias);
    return x.div(beta === 0.5 ? sizes.sqrt() : sizes.pow(beta));
  },
);

/**
 * The sum of losses of examples over the size of the whole batch, that of all replicas of a strategy together; 0 where that has no examples.
 * @param options.globalBatchSize the number of losses, times the number of replicas, unless given
 * @throws FailedPreconditionError in the scope of a strategy and outside of its replicas, unless the size is given
 */
export const computeAverageLoss: NamedFunction<
  [perExampleLoss: TensorLike],
  ['perExampleLoss'],
  {
    /** How much each loss counts; all alike by default. */
    readonly sampleWeight?: TensorLike | null;
    /** How many examples all replicas have together; those of this one times the replicas by default. */
    readonly globalBatchSize?: IntegerLike | null;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.computeAverageLoss',
  { perExampleLoss: kind.tensor },
  { sampleWeight: kind.tensor, globalBatchSize: kind.size },
  (perExampleLoss, { sampleWeight = null, globalBatchSize = null }) => {
    const op = 'nn.computeAverageLoss';
    if (globalBatchSize !== null) checkSize(globalBatchSize, 'globalBatchSize', op);
    const loss = floats(perExampleLoss, 'perExampleLoss', op);
    const weighted =
      sampleWeight === null ? loss : loss.mul(toTensor(sampleWeight, loss.dtype).cast(loss.dtype));
    const size = globalBatchSize ?? mulDims(loss.rank === 0 ? 1 : dims(loss)[0], replicasHere(op));
    return weighted.sum().divNoNan(sizeValue(size as number, loss.dtype));
  },
);

/**
 * A regularization loss as one replica adds it: the sum, over the number of replicas.
 * @throws FailedPreconditionError in the scope of a strategy and outside of its replicas
 */
export const scaleRegularizationLoss: NamedFunction<
  [regularizationLoss: TensorLike],
  ['regularizationLoss']
> = /* @__PURE__ */ defineFunction(
  'nn.scaleRegularizationLoss',
  { regularizationLoss: kind.tensor },
  {},
  (regularizationLoss) => {
    const op = 'nn.scaleRegularizationLoss';
    return floats(regularizationLoss, 'regularizationLoss', op).sum().div(replicasHere(op));
  },
);

/** How many replicas there are, for code of one of them. */
function replicasHere(op: string): number {
  const { strategy, replica } = distribution;
  if (strategy !== null && replica === null)
    throw new FailedPreconditionError(
      "it is a replica's share of a loss: call it in the function that strategy.run is given",
      op,
    );
  return strategy?.numReplicasInSync ?? 1;
}

// ---- convolutions

type Padding = 'SAME' | 'VALID';
/** A convolution of images [n, h, w, c] whose filter's pixels are `rate` apart. */
export const atrousConv2d: NamedFunction<
  [value: TensorLike, filters: TensorLike, rate: IntegerLike, padding: Padding],
  ['value', 'filters', 'rate', 'padding']
> = /* @__PURE__ */ defineFunction(
  'nn.atrousConv2d',
  { value: kind.tensor, filters: kind.tensor, rate: kind.integer, padding: kind.asIs },
  {},
  (value, filters, rate, padding) => conv2d(value, filters, { dilations: rate as number, padding }),
);
/** The transpose of `atrousConv2d`, with a shape for the result [n, h, w, c]. */
export const atrousConv2dTranspose: NamedFunction<
  [value: TensorLike, filters: TensorLike, outputShape: ShapeLike, rate: IntegerLike, padding: Padding],
  ['value', 'filters', 'outputShape', 'rate', 'padding']
> = /* @__PURE__ */ defineFunction(
  'nn.atrousConv2dTranspose',
  {
    value: kind.tensor,
    filters: kind.tensor,
    outputShape: kind.shape,
    rate: kind.integer,
    padding: kind.asIs,
  },
  {},
  (value, filters, outputShape, rate, padding) => {
    const [x, f] = pair(value, filters, 'nn.atrousConv2dTranspose');
    // The adjoint of the convolution, at zeros of the shape of the result.
    const at = zeros(outputShape as Shape, x.dtype);
    return adjoint((y) => conv2d(y, f, { dilations: rate as number, padding }), at, x);
  },
);

/** What comes to the argument of a function where `dy` comes to its result. */
function adjoint(fn: (x: Tensor) => Tensor, x: Tensor, dy: Tensor): Tensor {
  return opHooks.vjp(([y]) => [fn(y as Tensor)], [x], [dy])[0] ?? x.mul(0);
}

interface DepthwiseOptions {
  /** The distance of the kernel's taps; 1 by default. */
  readonly dilations?: number | readonly number[];
}
type Strides = IntegerLike | IntegersLike;
/** Strides as TensorFlow writes them, [1, h, w, 1], or a number, or [h, w]. */
const spatial = (strides: unknown): number | number[] => {
  if (typeof strides === 'number') return strides;
  if (!Array.isArray(strides))
    throw new InvalidArgumentError(
      `strides must be a number or a list, got ${shown(strides)}`,
      'depthwiseConv2d',
    );
  return strides.length === 4 ? strides.slice(1, 3) : [...strides];
};
/** The gradient of `depthwiseConv2d` for its images, of a shape [n, h, w, c]. */
export const depthwiseConv2dBackpropInput: NamedFunction<
  [inputSizes: ShapeLike, filter: TensorLike, outBackprop: TensorLike, strides: Strides, padding: Padding],
  ['inputSizes', 'filter', 'outBackprop', 'strides', 'padding'],
  DepthwiseOptions
> = /* @__PURE__ */ defineFunction(
  'nn.depthwiseConv2dBackpropInput',
  {
    inputSizes: kind.shape,
    filter: kind.tensor,
    outBackprop: kind.tensor,
    strides: kind.asIs,
    padding: kind.asIs,
  },
  { dilations: kind.asIs },
  (inputSizes, filter, outBackprop, strides, padding, { dilations = 1 }) => {
    const [f, dy] = pair(filter, outBackprop, 'nn.depthwiseConv2dBackpropInput');
    const options = { strides: spatial(strides), padding, dilations: spatial(dilations) } as never;
    return adjoint((x) => depthwiseConv2d(x, f, options), zeros(inputSizes as Shape, f.dtype), dy);
  },
);
/** The gradient of `depthwiseConv2d` for its filter, of a shape [h, w, c, multiplier]. */
export const depthwiseConv2dBackpropFilter: NamedFunction<
  [input: TensorLike, filterSizes: ShapeLike, outBackprop: TensorLike, strides: Strides, padding: Padding],
  ['input', 'filterSizes', 'outBackprop', 'strides', 'padding'],
  DepthwiseOptions
> = /* @__PURE__ */ defineFunction(
  'nn.depthwiseConv2dBackpropFilter',
  {
    input: kind.tensor,
    filterSizes: kind.shape,
    outBackprop: kind.tensor,
    strides: kind.asIs,
    padding: kind.asIs,
  },
  { dilations: kind.asIs },
  (input, filterSizes, outBackprop, strides, padding, { dilations = 1 }) => {
    const [x, dy] = pair(input, outBackprop, 'nn.depthwiseConv2dBackpropFilter');
    const options = { strides: spatial(strides), padding, dilations: spatial(dilations) } as never;
    return adjoint((f) => depthwiseConv2d(x, f, options), zeros(filterSizes as Shape, x.dtype), dy);
  },
);

// ---- morphology

interface Morphology {
  (x: Tensor, filter: Tensor, strides: readonly number[], rates: readonly number[], padding: Padding): Tensor;
}
type Dilation = NamedFunction<
  [
    input: TensorLike,
    filters: TensorLike,
    strides: IntegersLike,
    padding: Padding,
    dataFormat: 'NHWC',
    dilations: IntegersLike,
  ],
  ['input|value', 'filters', 'strides', 'padding', 'dataFormat', 'dilations']
>;
const LOWEST: Readonly<Partial<Record<DType, number>>> = {
  float16: -65504,
  bfloat16: -3.3895313892515355e38,
  float32: -3.4028234663852886e38,
  float64: -Number.MAX_VALUE,
};
const dilated: Morphology = (x, filter, strides, rates, padding) => {
  const window = dims(filter).slice(0, 2);
  const low = toTensor(LOWEST[x.dtype] ?? BigInt(dtypeTraits[x.dtype].low), x.dtype);
  const all = windowsOf(x, window, strides, rates, padding).add(filter);
  // What lies beyond the border never is the largest, nor is what is no number.
  const odd = isFloating(x.dtype) ? [all.isNan()] : [];
  if (padding === 'SAME')
    odd.push(windowsOf(x.mul(0).stopGradient().add(1), window, strides, rates, padding).equal(0));
  const left = odd.length > 0 ? odd.reduce((a, b) => a.logicalOr(b)) : null;
  return (left === null ? all : where(left, low, all)).max([3, 4]);
};
const morphology = (name: string, run: Morphology): Dilation =>
  defineFunction(
    `nn.${name}`,
    {
      'input|value': kind.tensor,
      filters: kind.tensor,
      strides: kind.integers,
      padding: kind.asIs,
      dataFormat: kind.asIs,
      dilations: kind.integers,
    },
    {},
    (input, filters, strides, padding, dataFormat, dilations) => {
      const op = `nn.${name}`;
      const [x, f] = pair(input, filters, op);
      if (!isFloating(x.dtype)) checkDType(x.dtype, 'integer', 'input', op);
      if (name === 'erosion2d' && x.dtype.startsWith('uint'))
        throw new InvalidArgumentError(`input is ${x.dtype}, which has no negative numbers`, op);
      checkOneOf(padding, ['SAME', 'VALID'], 'padding', op);
      checkOneOf(dataFormat, ['NHWC'], 'dataFormat', op);
      if (x.rank !== 4 || f.rank !== 3)
        throw new InvalidArgumentError(
          `input ${showShape(x.shape)} and filters ${showShape(f.shape)} must be [n, h, w, c] and [h, w, c]`,
          op,
        );
      const of = (list: unknown, what: string): readonly number[] =>
        perDirection(list as number[], 2, what, op);
      return run(x, f, of(strides, 'strides'), of(dilations, 'dilations'), padding);
    },
  );
/** The largest of the pixels under a filter, to which the filter's are added: images [n, h, w, c], filters [h, w, c]. */
export const dilation2d: Dilation = /* @__PURE__ */ morphology('dilation2d', dilated);
/** The smallest of the pixels under a filter, from which the filter's are subtracted: images [n, h, w, c], filters [h, w, c]. */
export const erosion2d: Dilation = /* @__PURE__ */ morphology('erosion2d', (x, filter, ...rest) =>
  dilated(x.neg(), filter.reverse([0, 1]), ...rest).neg(),
);

interface NamedPoolOptions extends FormatOption {
  /** 1 by default. */
  readonly strides?: Strides | null;
  /** `VALID`, the default: windows lie inside of the input. `SAME`: they may reach beyond its borders. */
  readonly padding?: Padding;
  /** Distances of a window's pixels, 1 by default. Others need padding `VALID` and strides of 1. */
  readonly dilations?: Strides | null;
}

/** The largest values or the means of windows: `maxPool` or `avgPool`, by name. */
export const pool: NamedFunction<
  [input: TensorLike, windowShape: Strides, poolingType: 'MAX' | 'AVG'],
  ['input', 'windowShape', 'poolingType'],
  NamedPoolOptions
> = /* @__PURE__ */ defineFunction(
  'nn.pool',
  { input: kind.tensor, windowShape: kind.asIs, poolingType: kind.asIs },
  { strides: kind.asIs, padding: kind.asIs, dilations: kind.asIs, dataFormat: kind.asIs },
  (input, windowShape, poolingType, options) => {
    const op = 'nn.pool';
    checkOneOf(poolingType, ['MAX', 'AVG'], 'poolingType', op);
    const run = poolingType === 'MAX' ? maxPool : avgPool;
    return withChannelsLast(
      input,
      options,
      undefined,
      op,
      (given, { strides, padding = 'VALID', dilations }) => {
        const x = toTensor(given);
        const rank = directionsOf(x, op);
        const apart = perDirection((dilations ?? 1) as number, rank, 'dilations', op);
        const steps = perDirection((strides ?? 1) as number, rank, 'strides', op);
        const window = perDirection(windowShape as number[], rank, 'windowShape', op);
        if (apart.every((n) => n === 1)) return run(x, window, { strides: steps, padding });
        if (padding !== 'VALID' || steps.some((n) => n !== 1))
          throw new InvalidArgumentError(`dilations [${apart}] need padding 'VALID' and strides of 1`, op);
        const pooled = (part: Tensor): Tensor => run(part, window, { strides: 1 });
        return withSpaceToBatch(x, apart, 'VALID', pooled, { filterShape: window });
      },
    );
  },
);

// ---- labels

/** Each label of sequences [n, t] of lengths once where it repeats: [labels [n, longest], lengths]. */
export const collapseRepeated: NamedFunction<
  [labels: TensorLike, seqLength: TensorLike],
  ['labels', 'seqLength'],
  unknown,
  [labels: Tensor, lengths: Tensor]
> = /* @__PURE__ */ defineFunction(
  'nn.collapseRepeated',
  { labels: kind.tensor, seqLength: kind.tensor },
  {},
  (labels, seqLength) => {
    const op = 'nn.collapseRepeated';
    const x = toTensor(labels, 'int32');
    const n = toTensor(seqLength, 'int32').cast('int32');
    if (x.rank !== 2 || n.rank !== 1)
      throw new InvalidArgumentError(
        `labels ${showShape(x.shape)} and seqLength ${showShape(n.shape)} must be [n, t] and [n]`,
        op,
      );
    const time = dims(x)[1];
    const first = x.at(':', ':1').equal(x.at(':', ':1'));
    const changes = concat([first, x.at(':', '1:').notEqual(x.at(':', ':-1'))], 1);
    const kept = changes.logicalAnd(n.sequenceMask(time as number));
    const lengths = kept.cast('int32').sum(1);
    // Stable: those that are kept come first, in their order.
    const order = kept.logicalNot().cast('int32').argSort(1);
    const moved = x.gather(order, 1, { batchDims: 1 });
    const filled = where(lengths.sequenceMask(time as number), moved, 0);
    const longest = lengths.max();
    return [filled.slice([0, 0], [-1, longest] as never), lengths];
  },
);
