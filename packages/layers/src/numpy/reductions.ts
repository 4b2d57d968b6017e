// Reductions of `tf.experimental.numpy`: they take a dtype in which to compute, and sums of small integers are int64, as in NumPy.
import {
  type Axis,
  type AxisLike,
  type DType,
  type IntegerLike,
  type NamedFunction,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import { checkDTypeName, defineFunction, isInteger, kind, toTensor } from '@eagre/core/internal';
import { floating } from '../ops/define.ts';

interface Options {
  /** In which is computed. */
  readonly dtype?: DType | null;
  /** Keeps the axes as 1; false by default. */
  readonly keepdims?: boolean;
}
type Reduction = NamedFunction<[a: TensorLike, axis?: AxisLike], ['a', 'axis'], Options>;

/** Small integers and bools become int64. */
const summed = (x: Tensor): Tensor =>
  x.dtype === 'bool' || (isInteger(x.dtype) && x.dtype !== 'uint64')
    ? x.cast(x.dtype.startsWith('uint') ? 'uint64' : 'int64')
    : x;

const reduction = (
  name: string,
  read: (x: Tensor) => Tensor,
  run: (x: Tensor, axis: Axis, options: { readonly keepdims?: boolean }) => Tensor,
): Reduction =>
  defineFunction(
    `numpy.${name}`,
    { a: kind.tensor, axis: kind.axes },
    { dtype: kind.asIs, keepdims: kind.asIs },
    (a, axis: Axis = null, { dtype = null, keepdims = false }) => {
      const x = toTensor(a);
      if (dtype !== null) checkDTypeName(dtype, `numpy.${name}`);
      return run(dtype === null ? read(x) : x.cast(dtype), axis, { keepdims });
    },
  );

/** The sum over axes. */
export const sum: Reduction = /* @__PURE__ */ reduction('sum', summed, (x, axis, o) => x.sum(axis, o));
/** The product over axes. */
export const prod: Reduction = /* @__PURE__ */ reduction('prod', summed, (x, axis, o) => x.prod(axis, o));
/** The mean over axes. */
export const mean: Reduction = /* @__PURE__ */ reduction(
  'mean',
  (x) => (isInteger(x.dtype) || x.dtype === 'bool' ? x.cast('float64') : x),
  (x, axis, o) => x.mean(axis, o),
);
const zeroNans = (x: Tensor, filler: number): Tensor =>
  x.dtype.startsWith('float') || x.dtype === 'bfloat16' ? where(x.isNan(), filler, x) : x;
/** The sum over axes of what is a number. */
export const nansum: Reduction = /* @__PURE__ */ reduction('nansum', summed, (x, axis, o) =>
  zeroNans(x, 0).sum(axis, o),
);
/** The product over axes of what is a number. */
export const nanprod: Reduction = /* @__PURE__ */ reduction('nanprod', summed, (x, axis, o) =>
  zeroNans(x, 1).prod(axis, o),
);
/** The mean over axes of what is a number. */
export const nanmean: Reduction = /* @__PURE__ */ reduction('nanmean', floating, (x, axis, o) =>
  zeroNans(x, 0).sum(axis, o).div(x.isNan().logicalNot().cast(x.dtype).sum(axis, o)),
);

type Spread = NamedFunction<
  [a: TensorLike, axis?: AxisLike],
  ['a', 'axis'],
  {
    /** What is taken off the number of elements that is divided by; 0 by default. */
    readonly ddof?: number;
    /** Keeps the axes as 1; false by default. */
    readonly keepdims?: boolean;
  }
>;
const spread = (name: string, run: (v: Tensor) => Tensor): Spread =>
  defineFunction(
    `numpy.${name}`,
    { a: kind.tensor, axis: kind.axes },
    { ddof: kind.asIs, keepdims: kind.asIs },
    (a, axis: Axis = null, { ddof = 0, keepdims = false }) => {
      const given = toTensor(a);
      const x = isInteger(given.dtype) || given.dtype === 'bool' ? given.cast('float64') : given;
      const variance = x.variance(axis, { keepdims });
      if (ddof === 0) return run(variance);
      const count = x.mul(0).add(1).sum(axis, { keepdims });
      return run(variance.mul(count).div(count.sub(ddof)));
    },
  );
/** The standard deviation over axes; `ddof` is taken from the number of elements. */
export const std: Spread = /* @__PURE__ */ spread('std', (v) => v.sqrt());
/** The variance over axes; `ddof` is taken from the number of elements. */
const variance: Spread = /* @__PURE__ */ spread('var', (v) => v);

export { variance as var };

type Running = NamedFunction<
  [a: TensorLike, axis?: IntegerLike | null],
  ['a', 'axis'],
  {
    /** Of the result. */
    readonly dtype?: DType | null;
  }
>;
const running = (name: string, run: (x: Tensor, axis: number) => Tensor): Running =>
  defineFunction(
    `numpy.${name}`,
    { a: kind.tensor, axis: kind.axis },
    { dtype: kind.asIs },
    (a, axis: IntegerLike | null = null, { dtype = null }) => {
      const x = toTensor(a);
      const own = axis === null ? x.flatten() : x;
      if (dtype !== null) checkDTypeName(dtype, `numpy.${name}`);
      const y = dtype === null ? summed(own) : own.cast(dtype);
      return run(y, (axis ?? 0) as number);
    },
  );
/** The running sum along an axis; of all elements as one list by default. */
export const cumsum: Running = /* @__PURE__ */ running('cumsum', (x, axis) => x.cumsum(axis));
/** The running product along an axis; of all elements as one list by default. */
export const cumprod: Running = /* @__PURE__ */ running('cumprod', (x, axis) => x.cumprod(axis));
