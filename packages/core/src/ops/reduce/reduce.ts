import { type DType, InvalidArgumentError, isComplex, type KernelName } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type GradContext, type GradFn, type Op, opHooks } from '../../dispatch/op.ts';
import { bools, distinct, integers, type Sample, type SampleInput, uniform } from '../../dispatch/samples.ts';
import { type Dim, productOf } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import {
  type Axis,
  checkFlag,
  normalizeAxes,
  normalizeAxis,
  reducedShape,
  type Shape,
} from '../../shapes/shape.ts';
import { atMost } from '../../shapes/shape-env.ts';
import { differs, shapesAgree, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, type DTypeGroup } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { axesOf, keepsDims, kept, type ReduceOptions, reduceBy, reductionSamples } from '../array/axes.ts';
import { defineReduced, type Reduction } from './define.ts';
import { complexCumprod } from './doubling.ts';

export type { ReduceOptions } from '../array/axes.ts';
export * from './scan.ts';
export * from './statistics.ts';

interface ReductionSpec {
  readonly kernel: KernelName;
  readonly dtypes: DTypeGroup;
  readonly input: (shape: Shape) => SampleInput;
  readonly grad?: GradFn;
  readonly notDifferentiable?: string;
}
/* @__NO_SIDE_EFFECTS__ */
function defineReduction({ input, ...spec }: ReductionSpec): Op {
  return defineOp({
    ...spec,
    // TensorFlow calls them what their kernels are called.
    name: spec.kernel,
    ulp: 16,
    kernelAttrs: (attrs) => ({ axes: axesOf(attrs) }),
    infer: ([x], attrs) => {
      checkDType(x.dtype, spec.dtypes, 'x', spec.kernel);
      return { dtype: x.dtype, shape: reducedShape(x.shape, axesOf(attrs), keepsDims(attrs)) };
    },
    samples: reductionSamples(input),
  });
}

// ---- sums

/** The sum over axes. Integers wrap around; the sum of nothing is 0. */
const sumOp: Op = defineReduction({
  kernel: 'Sum',
  dtypes: 'numeric',
  input: uniform,
  grad: (g, dy) => kept(dy, g).broadcastTo(g.x.shape),
});
/**
 * The sum over one axis, several, or all (`null`).
 * @example x.sum() // a scalar
 * @example x.sum(-1, { keepdims: true })
 * @throws InvalidArgumentError for an axis out of range, and for bool: cast it, or use `countNonzero`.
 */
export const sum: Reduction = defineReduced('sum', sumOp);

opHooks.sumTo = (x, shape) => {
  if (shapesAgree(x.shape, shape)) return x;
  const added = x.rank - shape.length;
  const wanted = dimsOf(shape);
  // What was stretched was 1 long; the sum over one element changes nothing.
  const stretched = (d: Dim, from: Dim): boolean => (from === 1 ? d !== 1 : differs(d, from));
  const axes = dims(x).flatMap((d, i) => (i < added || stretched(d, wanted[i - added]) ? [i] : []));
  const total = execute1(sumOp, [x], { axes, keepdims: added === 0 });
  return shapesAgree(total.shape, shape) ? total : total.reshape(shape);
};

/** The mean over axes. That of integers is truncated toward zero, as in TensorFlow; that of no floats is NaN. */
const meanOp: Op = defineReduction({
  kernel: 'Mean',
  dtypes: 'numeric',
  input: uniform,
  grad: (g, dy) => {
    const count = productOf(axesOf(g.attrs).map((axis) => dims(g.x)[axis]));
    return kept(dy.div(sizeValue(count, dy.dtype)), g).broadcastTo(g.x.shape);
  },
});
/**
 * The mean over one axis, several, or all (`null`). The mean of integers is an integer, truncated toward zero, as in
 * TensorFlow: cast first if that is not meant.
 */
export const mean: Reduction = defineReduced('mean', meanOp);

/** The product over axes. Integers wrap around; the product of nothing is 1. */
const prodOp: Op = defineReduction({
  kernel: 'Prod',
  dtypes: 'numeric',
  input: uniform,
  grad: (g, dy) => productGrad(g, dy),
});
/** The product over one axis, several, or all (`null`). Its gradient is right where factors are 0, too. */
export const prod: Reduction = defineReduced('prod', (x, axis, options) =>
  isComplex(x.dtype) ? complexProd(x, axis, options) : reduceBy(prodOp, x, axis, options),
);

/** No kernel multiplies complex numbers of one tensor: the first of the running products from the end. */
function complexProd(x: Tensor, axis: Axis, options: ReduceOptions): Tensor {
  const axes = normalizeAxes(axis, x.rank, 'Prod');
  const keepdims = checkFlag(options.keepdims, 'keepdims', 'Prod');
  const all = axes.reduce((t, along) => {
    // The product of nothing is 1.
    if (atMost(dims(t)[along], 0)) return t.sum(along, { keepdims: true }).add(1);
    return complexCumprod(t, along, false, true).gather([0], { axis: along });
  }, x);
  return keepdims ? all : all.reshape(reducedShape(x.shape, axes, false));
}

/** Each factor gets the product of all others: those before it times those behind it, since dividing fails at 0. */
function productGrad(g: GradContext, dy: Tensor): Tensor {
  const { x } = g;
  const axes = axesOf(g.attrs);
  const others = (t: Tensor, axis: number): Tensor =>
    t.cumprod(axis, { exclusive: true }).mul(t.cumprod(axis, { exclusive: true, reverse: true }));
  if (axes.length === 0) return dy;
  if (axes.length === 1) return others(x, axes[0]).mul(kept(dy, g));
  // Several axes: moved to the end and taken as one.
  const rest = normalizeAxes(null, x.rank).filter((i) => !axes.includes(i));
  const perm = [...rest, ...axes];
  const moved = x.transpose(perm);
  const count = productOf(axes.map((i) => dims(x)[i]));
  const rows = moved.reshape(toShape([...rest.map((i) => dims(x)[i]), count]));
  const back = perm.map((_, i) => perm.indexOf(i));
  return others(rows, rest.length).reshape(moved.shape).transpose(back).mul(kept(dy, g));
}

// ---- extremes

/** Those that are the extreme share its gradient equally, as in TensorFlow. */
const extremeGrad: GradFn = (g, dy) => {
  const winners = g.x.equal(kept(g.y, g)).cast(dy.dtype);
  const share = kept(dy, g).div(winners.sum(axesOf(g.attrs), { keepdims: true }));
  return winners.mul(share);
};
/** The largest value over axes; NaN when one is. That of nothing is the lowest value of the dtype. */
const maxOp: Op = defineReduction({
  kernel: 'Max',
  dtypes: 'numeric',
  input: distinct,
  grad: extremeGrad,
});
/** The largest value over one axis, several, or all (`null`); NaN when one is. Equal ones share the gradient. */
export const max: Reduction = defineReduced('max', maxOp);
/** The smallest value over axes; NaN when one is. That of nothing is the highest value of the dtype. */
const minOp: Op = defineReduction({
  kernel: 'Min',
  dtypes: 'numeric',
  input: distinct,
  grad: extremeGrad,
});
/** The smallest value over one axis, several, or all (`null`); NaN when one is. Equal ones share the gradient. */
export const min: Reduction = defineReduced('min', minOp);

const positionSamples = (): readonly Sample[] => [
  { inputs: [distinct([3, 4])], attrs: { axis: 1, dtype: 'int64' } },
  { inputs: [distinct([2, 3, 4])], attrs: { axis: 0, dtype: 'int32' } },
  { inputs: [integers([2, 5, 3], 0, 3)], attrs: { axis: 1, dtype: 'int64' } },
];
/* @__NO_SIDE_EFFECTS__ */
function definePosition({ kernel }: { readonly kernel: 'ArgMax' | 'ArgMin' }): Op {
  return defineOp({
    name: kernel,
    kernel,
    kernelAttrs: (attrs) => ({ axis: attrs.axis as number }),
    infer: ([x], attrs) => {
      checkDType(x.dtype, 'numeric', 'x', kernel);
      const axis = attrs.axis as number;
      if (!differs(dims(x)[axis], 0))
        throw new InvalidArgumentError(`axis ${axis} of shape [${x.shape}] is empty`, kernel);
      return { dtype: attrs.dtype as DType, shape: reducedShape(x.shape, [axis], false) };
    },
    notDifferentiable: 'the result is a position',
    samples: positionSamples,
  });
}
/** The first position of the largest value along an axis; NaN is passed over. */
const argMaxOp: Op = definePosition({ kernel: 'ArgMax' });
/** The first position of the smallest value along an axis; NaN is passed over. */
const argMinOp: Op = definePosition({ kernel: 'ArgMin' });

/** Options of `argMax` and `argMin`. */
export interface PositionOptions<D extends 'int32' | 'int64' = 'int32' | 'int64'> {
  /** Of the result; int64 by default. */
  readonly dtype?: D;
  /** TensorFlow's name of `dtype`. */
  readonly outputType?: D;
}
type PositionCall = NamedFunction<[x: TensorLike, axis?: IntegerLike], ['x|input', 'axis'], PositionOptions>;
type PositionFunction = <D extends 'int32' | 'int64' = 'int64'>(
  ...args: Arguments<[x: TensorLike, axis?: IntegerLike], ['x|input', 'axis'], PositionOptions<D>>
) => Tensor<D>;
function position(op: Op, x: TensorLike, axis: number, options: PositionOptions): Tensor {
  const dtype = options.dtype ?? options.outputType ?? 'int64';
  const given = toTensor(x);
  const value = given.dtype === 'bool' ? given.cast('uint8') : given;
  checkDType(dtype, 'index', 'dtype', op.name);
  return execute1(op, [value], { axis: normalizeAxis(axis, value.rank, op.name), dtype });
}
/**
 * The first position of the largest value along one axis; NaN is passed over. True is larger than false. The result is int64 unless `dtype` says
 * otherwise, so that `array()` holds bigints: compare with `1n`, or ask for `{ dtype: 'int32' }`.
 * @param axis 0 by default, as in TensorFlow (NumPy would look at all elements).
 */
export const argMax: PositionFunction = defineFunction<PositionCall>(
  'argMax',
  { 'x|input': kind.tensor, axis: kind.axis },
  { dtype: kind.asIs, outputType: kind.asIs },
  (x, axis: number = 0, options) => position(argMaxOp, x, axis, options),
);
/** The first position of the smallest value along one axis (0 by default); NaN is passed over. The result is int64 as of `argMax`: `array()` holds bigints. */
export const argMin: PositionFunction = defineFunction<PositionCall>(
  'argMin',
  { 'x|input': kind.tensor, axis: kind.axis },
  { dtype: kind.asIs, outputType: kind.asIs },
  (x, axis: number = 0, options) => position(argMinOp, x, axis, options),
);

// ---- truth values

/** Whether all bools over axes are true; true for none. */
const allOp: Op = defineReduction({
  kernel: 'All',
  dtypes: 'bool',
  input: bools,
  notDifferentiable: 'the result is bool',
});
/** Whether all bools over one axis, several, or all (`null`) are true. */
export const all: Reduction<Tensor<'bool'>> = defineReduced('all', allOp);
/** Whether any bool over axes is true; false for none. */
const anyOp: Op = defineReduction({
  kernel: 'Any',
  dtypes: 'bool',
  input: bools,
  notDifferentiable: 'the result is bool',
});
/** Whether any bool over one axis, several, or all (`null`) is true. */
export const any: Reduction<Tensor<'bool'>> = defineReduced('any', anyOp);
