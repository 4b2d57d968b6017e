import { type DType, InvalidArgumentError, isComplex, UnimplementedError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf, shown } from '../../arguments/checks.ts';
import { defineOp, execute, type GradFn, type Op, type OpSpec } from '../../dispatch/op.ts';
import { distinct, integers, values } from '../../dispatch/samples.ts';
import type { Dim } from '../../shapes/dim.ts';
import { dims } from '../../shapes/dims.ts';
import { normalizeAxis, showShape } from '../../shapes/shape.ts';
import { isSize, lessThan } from '../../shapes/shape-env.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { equalElements } from './equal-elements.ts';
import { scatterLast } from './gathering.ts';
import { moveAxis } from './shaping.ts';

/** Gradient of both ops: each value goes back to where it was taken. */
const backToPlace: GradFn = ({ x, outputs }, dy) => scatterLast(dy, outputs[1], x.shape);

const ordered = (x: Tensor, k: Dim): ReturnType<Extract<OpSpec, { kernel: unknown }>['infer']> => {
  const shape = [...dims(x).slice(0, -1), k];
  return [
    { dtype: x.dtype, shape },
    { dtype: 'int32', shape },
  ];
};

/** The largest values of the last axis, and where they are. */
const topKOp: Op = defineOp({
  name: 'TopKV2',
  kernel: 'TopK',
  kernelAttrs: () => ({ descending: true }),
  infer: ([x], { k }) => ordered(x, k as Dim),
  grad: backToPlace,
  samples: () => [
    { inputs: [distinct([7])], attrs: { k: 3 } },
    { inputs: [distinct([2, 3, 5])], attrs: { k: 2 } },
    { inputs: [integers([3, 6], 0, 4)], attrs: { k: 6 } },
  ],
});
/** The values of the last axis in order, and where they were. */
const sortOp: Op = defineOp({
  name: 'Sort',
  kernel: 'TopK',
  infer: ([x]) => ordered(x, dims(x)[x.rank - 1]),
  grad: backToPlace,
  samples: () => [
    { inputs: [distinct([8])], attrs: { descending: false } },
    { inputs: [distinct([2, 2, 5])], attrs: { descending: true } },
    { inputs: [integers([3, 6], 0, 4, 'int64')], attrs: { descending: false } },
  ],
});

/** Without an op in a graph where the dtype is the same. */
const asDType = (x: Tensor, dtype: DType): Tensor => (x.dtype === dtype ? x : x.cast(dtype));

/**
 * The `k` largest values along the last axis, in falling order, and their indices (int32); of equal ones the first comes
 * first, and NaN counts as the largest.
 * @param options.sorted accepted for TensorFlow's sake; the values are always sorted.
 * @param options.indexType the indices' dtype: int16, int32 (if left out) or int64.
 */
export const topK: <I extends 'int16' | 'int32' | 'int64' = 'int32'>(
  ...args: Arguments<
    [x: TensorLike, k?: IntegerLike],
    ['x|input', 'k'],
    {
      /** Whether the largest come first; true by default. */
      sorted?: boolean;
      /** The dtype of the indices; int32 by default. */
      indexType?: I;
    }
  >
) => { values: Tensor; indices: Tensor<I> } = defineFunction<
  NamedFunction<
    [x: TensorLike, k?: IntegerLike],
    ['x|input', 'k'],
    { sorted?: boolean; indexType?: 'int16' | 'int32' | 'int64' },
    { values: Tensor; indices: Tensor }
  >
>(
  'topK',
  { 'x|input': kind.tensor, k: kind.size },
  { sorted: kind.asIs, indexType: kind.asIs },
  (x, k: number = 1, options) => {
    const { indexType = 'int32' } = options;
    checkOneOf(indexType, ['int16', 'int32', 'int64'], 'indexType', 'TopKV2');
    const t = toTensor(x);
    checkDType(t.dtype, 'numeric', 'x', 'TopKV2');
    const n = dims(t)[t.rank - 1];
    if (n === undefined || !isSize(k) || lessThan(n, k)) {
      throw new InvalidArgumentError(
        `k is ${k}, expected an integer of at most the last dimension of x ${showShape(t.shape)}`,
        'TopKV2',
      );
    }
    const [sorted, indices] = execute(topKOp, [t], { k });
    return { values: sorted, indices: asDType(indices, indexType) };
  },
);

/** Which way `sort` and `argSort` go. */
export type SortDirection = 'ASCENDING' | 'DESCENDING';

function sorted(
  x: TensorLike,
  axis: number,
  direction: SortDirection,
  op: string,
): [values: Tensor, indices: Tensor] {
  const t = toTensor(x);
  checkDType(t.dtype, 'numeric', 'x', op);
  const a = normalizeAxis(axis, t.rank, op);
  if (direction !== 'ASCENDING' && direction !== 'DESCENDING') {
    throw new InvalidArgumentError(`direction ${shown(direction)} is neither ASCENDING nor DESCENDING`, op);
  }
  const last = t.rank - 1;
  const [values, indices] = execute(sortOp, [a === last ? t : moveAxis(t, a, last)], {
    descending: direction === 'DESCENDING',
  });
  return a === last ? [values, indices] : [moveAxis(values, last, a), moveAxis(indices, last, a)];
}

/** The values along an axis in order. Equal ones keep theirs; NaN counts as the largest. */
export const sort: NamedFunction<
  [x: TensorLike, axis?: IntegerLike],
  ['x|values|a', 'axis'],
  {
    /** `ASCENDING` by default, or `DESCENDING`. */
    direction?: SortDirection;
  }
> = defineFunction(
  'sort',
  { 'x|values|a': kind.tensor, axis: kind.axis },
  { direction: kind.asIs },
  (x, axis: number = -1, options) => sorted(x, axis, options.direction ?? 'ASCENDING', 'sort')[0],
);

/** The indices (int32) that would sort an axis: `x.gather(x.argSort())` is sorted for a vector. Stable. */
export const argSort: NamedFunction<
  [x: TensorLike, axis?: IntegerLike],
  ['x|values', 'axis'],
  {
    /** `ASCENDING` by default, or `DESCENDING`. */
    direction?: SortDirection;
  },
  Tensor<'int32'>
> = defineFunction(
  'argSort',
  { 'x|values': kind.tensor, axis: kind.axis },
  { direction: kind.asIs },
  (x, axis: number = -1, options) => sorted(x, axis, options.direction ?? 'ASCENDING', 'argSort')[1],
);

/** The different values of a vector, in the order in which they first occur. */
const uniqueOp: Op = defineOp({
  name: 'UniqueWithCounts',
  run: ([x]) => equalElements(x),
  valueSized: ([x], _, size) => {
    const n = size();
    return [
      { dtype: x.dtype, shape: [n] },
      { dtype: 'int32', shape: dims(x) },
      { dtype: 'int32', shape: [n] },
    ];
  },
  notDifferentiable: 'which values are equal jumps',
  samples: () => [
    { inputs: [values([3, 1, 3, 3, 2, 1], [6], 'int32')] },
    { inputs: [values([0.5, -1, 0.5])] },
  ],
});

/**
 * The different values of a vector in the order in which they first occur, for each element the index of its value in that
 * list, and how often each value occurs (both int32, or `outIdx`: int64). Zeros are equal, whatever their sign, and a NaN equals nothing, not even itself.
 * Computed on the host.
 */
export const unique: <I extends 'int32' | 'int64' = 'int32'>(
  ...args: Arguments<
    [x: TensorLike],
    ['x'],
    {
      /** The dtype of the indices and counts; int32 by default. */
      outIdx?: I;
    }
  >
) => { values: Tensor; indices: Tensor<I>; counts: Tensor<I> } = defineFunction<
  NamedFunction<
    [x: TensorLike],
    ['x'],
    { outIdx?: 'int32' | 'int64' },
    { values: Tensor; indices: Tensor; counts: Tensor }
  >
>('unique', { x: kind.tensor }, { outIdx: kind.asIs }, (x, { outIdx = 'int32' }) => {
  checkOneOf(outIdx, ['int32', 'int64'], 'outIdx', 'Unique');
  const t = toTensor(x);
  if (t.rank !== 1)
    throw new InvalidArgumentError(`x has shape ${showShape(t.shape)}, expected rank 1`, 'Unique');
  if (isComplex(t.dtype))
    throw new UnimplementedError(`there is no unique of ${t.dtype}; take its parts before`, 'Unique');
  const [y, indices, counts] = execute(uniqueOp, [t]);
  return { values: y, indices: asDType(indices, outIdx), counts: asDType(counts, outIdx) };
});
