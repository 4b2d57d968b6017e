// Ops whose first argument is a list of tensors.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineElementwise, defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { integers, uniform } from '../../dispatch/samples.ts';
import { addDims, type Dim } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { normalizeAxis, sameShape, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, common } from '../../tensor/dtypes.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { Variable } from '../../tensor/variable.ts';
import { checkRank, move } from './moving.ts';
import { expandDims, reshape } from './shaping.ts';

/** The tensors of a list in one dtype; bare numbers follow the first tensor. */
function tensors(list: readonly TensorLike[], op: string): Tensor[] {
  if (!Array.isArray(list) || list.length === 0) {
    throw new InvalidArgumentError('expected an array of at least one tensor', op);
  }
  const typed = (list as readonly TensorLike[]).find((v) => v instanceof Tensor || v instanceof Variable) as
    | Tensor
    | undefined;
  const all: Tensor[] = [];
  // Not `list.map`, which leaves out what an array with holes does not hold.
  for (let i = 0; i < list.length; i++) all.push(toTensor(list[i], typed?.dtype));
  let dtype: DType = all[0].dtype;
  for (const t of all) if (t.dtype !== dtype) dtype = common(dtype, t.dtype, op);
  return all.map((t) => (t.dtype === dtype ? t : t.cast(dtype)));
}

/** Joins tensors along an axis. */
const concatOp: Op = defineOp({
  name: 'ConcatV2',
  kernel: 'Concat',
  infer: (inputs, attrs) => ({
    dtype: inputs[0].dtype,
    shape: dims(inputs[0]).map((d, i) =>
      i === attrs.axis ? inputs.reduce<Dim>((sum, x) => addDims(sum, dims(x)[i]), 0) : d,
    ),
  }),
  grad: (g, dy) => {
    const axis = g.attrs.axis as number;
    const needed = g.inputs.filter((_, i) => g.needs(i)).length;
    if (needed === g.inputs.length) {
      return dy.split(toShape(g.inputs.map((x) => dims(x)[axis])), axis);
    }
    let start: Dim = 0;
    return g.inputs.map((x, i) => {
      const begin = dims(x).map((_, a) => (a === axis ? start : 0));
      start = addDims(start, dims(x)[axis]);
      return g.needs(i) ? dy.slice(toShape(begin), x.shape) : null;
    });
  },
  samples: () => [
    { inputs: [uniform([2]), uniform([3]), uniform([1])], attrs: { axis: 0 } },
    { inputs: [uniform([2, 1, 2]), uniform([2, 3, 2])], attrs: { axis: 1 } },
    { inputs: [integers([2, 0], 0, 9), integers([2, 2], 0, 9)], attrs: { axis: 1 } },
  ],
});
/** Joins tensors of one shape along a new axis. */
const packOp: Op = defineOp({
  name: 'Pack',
  run: (inputs, attrs) => {
    const axis = attrs.axis as number;
    return execute1(
      concatOp,
      inputs.map((x) => expandDims(x, axis)),
      { axis },
    );
  },
  grad: ({ attrs }, dy) => dy.unstack(attrs.axis as number),
  samples: () => [
    { inputs: [uniform([2, 3]), uniform([2, 3])], attrs: { axis: 0 } },
    { inputs: [uniform([2]), uniform([2]), uniform([2])], attrs: { axis: 1 } },
    { inputs: [uniform([]), uniform([])], attrs: { axis: 0 } },
  ],
});

/**
 * Joins tensors along an existing axis; the other dimensions must agree. `tf.concat([a, b], 0)`
 * @throws InvalidArgumentError when shapes do not fit.
 */
export const concat: NamedFunction<
  [list: readonly TensorLike[], axis?: IntegerLike],
  ['list|values', 'axis']
> = defineFunction(
  'concat',
  { 'list|values': kind.tensors, axis: kind.axis },
  {},
  (list, axis: number = 0) => {
    const all = tensors(list, 'ConcatV2');
    const first = all[0];
    if (first.rank === 0)
      throw new InvalidArgumentError('scalars have no axis to join along; use stack', 'ConcatV2');
    const a = normalizeAxis(axis, first.rank, 'ConcatV2');
    all.forEach((t, i) => {
      if (t.rank !== first.rank || dims(t).some((d, j) => j !== a && differs(d, dims(first)[j]))) {
        throw new InvalidArgumentError(
          `tensor ${i} of shape ${showShape(t.shape)} does not match ${showShape(first.shape)}: they may differ in axis ${a} only`,
          'ConcatV2',
        );
      }
    });
    return move(concatOp, all, { axis: a });
  },
);

/** Joins tensors of one shape along a new axis, number `axis` of the result. `tf.stack([a, b])` */
export const stack: NamedFunction<
  [list: readonly TensorLike[], axis?: IntegerLike],
  ['list|values', 'axis']
> = defineFunction(
  'stack',
  { 'list|values': kind.tensors, axis: kind.axis },
  {},
  (list, axis: number = 0) => {
    const all = tensors(list, 'Pack');
    const first = all[0];
    all.forEach((t, i) => {
      if (!sameShape(t.shape, first.shape)) {
        throw new InvalidArgumentError(
          `tensor ${i} has shape ${showShape(t.shape)}, the first has ${showShape(first.shape)}; all must have the same shape`,
          'Pack',
        );
      }
    });
    checkRank(first.rank + 1, 'Pack');
    return move(packOp, all, { axis: normalizeAxis(axis, first.rank + 1, 'Pack') });
  },
);

/** The sum of tensors of one shape. */
const addNOp: Op = defineElementwise({
  name: 'AddN',
  scalar:
    () =>
    (s, ...v) =>
      v.reduce((sum, x) => s.add(sum, x)),
  grad: ({ inputs }, dy) => inputs.map(() => dy),
  samples: () => [
    { inputs: [uniform([2, 3]), uniform([2, 3]), uniform([2, 3])] },
    { inputs: [integers([4], -9, 9), integers([4], -9, 9)] },
  ],
});

// What one scalar program takes at least, on every backend.
const ADD_N = 16;

/** The sum of tensors of one shape, in one pass. */
export const addN: NamedFunction<[list: readonly TensorLike[]], ['list|inputs']> = defineFunction(
  'addN',
  { 'list|inputs': kind.tensors },
  {},
  (list) => {
    const all = tensors(list, 'AddN');
    checkDType(all[0].dtype, 'numeric', 'inputs', 'AddN');
    all.forEach((t, i) => {
      if (!sameShape(t.shape, all[0].shape)) {
        throw new InvalidArgumentError(
          `tensor ${i} has shape ${showShape(t.shape)}, the first has ${showShape(all[0].shape)}; all must have the same shape`,
          'AddN',
        );
      }
    });
    let sum = all[0];
    if (all.length === 1) return reshape(sum, sum.shape);
    for (let i = 1; i < all.length; i += ADD_N - 1) {
      const inputs = [sum, ...all.slice(i, i + ADD_N - 1)];
      sum = execute1(addNOp, inputs);
    }
    return sum;
  },
);
