// Rows of a tensor at an index that may be known only at run time: what a TensorArray is made of in graphs.
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { integers, uniform, values } from '../../dispatch/samples.ts';
import { dims } from '../../shapes/dims.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from './creation.ts';

/** The row of a tensor at an index. */
const getItemOp: Op = defineOp({
  name: 'TensorListGetItem',
  kernel: 'Gather',
  kernelAttrs: () => ({ axis: 0, batchDims: 0 }),
  infer: ([list]) => ({ dtype: list.dtype, shape: dims(list).slice(1) }),
  grad: ({ inputs: [list, index] }, dy) => [
    execute1(addItemOp, [zeros(list.shape, list.dtype), index, dy]),
    null,
  ],
  samples: () => [
    { inputs: [uniform([4, 3]), values([2], [], 'int32')] },
    { inputs: [uniform([3, 2, 2]), values([0], [], 'int64')] },
    { inputs: [uniform([5]), values([4], [], 'int32')] },
    { inputs: [integers([2, 3], -9, 9), values([1], [], 'int32')] },
  ],
});
/** A tensor with the row at an index replaced. */
const setItemOp: Op = defineOp({
  name: 'TensorListSetItem',
  kernel: 'SetRow',
  kernelAttrs: () => ({ mode: 0 }),
  infer: ([list]) => ({ dtype: list.dtype, shape: list.shape }),
  grad: (g, dy) => {
    const [, index, row] = g.inputs;
    return [
      g.needs(0) ? execute1(setItemOp, [dy, index, zeros(row.shape, row.dtype)]) : null,
      null,
      g.needs(2) ? execute1(getItemOp, [dy, index]) : null,
    ];
  },
  samples: () => [
    { inputs: [uniform([4, 3]), values([2], [], 'int32'), uniform([3])] },
    { inputs: [uniform([3, 2, 2]), values([0], [], 'int64'), uniform([2, 2])] },
    { inputs: [uniform([5]), values([4], [], 'int32'), uniform([])] },
    { inputs: [integers([2, 3], -9, 9), values([1], [], 'int32'), integers([3], -9, 9)] },
  ],
});
/** A tensor with something added to the row at an index: the gradient of TensorListGetItem. */
const addItemOp: Op = defineOp({
  name: 'TensorListAddItem',
  kernel: 'SetRow',
  kernelAttrs: () => ({ mode: 1 }),
  infer: ([list]) => ({ dtype: list.dtype, shape: list.shape }),
  grad: (g, dy) => [dy, null, g.needs(2) ? execute1(getItemOp, [dy, g.inputs[1]]) : null],
  samples: () => [
    { inputs: [uniform([4, 3]), values([1], [], 'int32'), uniform([3])] },
    { inputs: [uniform([3, 2, 2]), values([2], [], 'int64'), uniform([2, 2])] },
    { inputs: [uniform([5]), values([0], [], 'int32'), uniform([])] },
    { inputs: [integers([2, 3], -9, 9), values([0], [], 'int32'), integers([3], -9, 9)] },
  ],
});

/** @internal The row [rest…] of x [n, rest…] at an index (int32 or int64 scalar). @throws OutOfRangeError outside of 0 … n - 1. */
export function getRow(x: Tensor, index: Tensor): Tensor {
  return execute1(getItemOp, [x, index]);
}

/** @internal x [n, rest…] with its row at an index replaced by `row` [rest…]. @throws OutOfRangeError outside of 0 … n - 1. */
export function setRow(x: Tensor, index: Tensor, row: Tensor): Tensor {
  return execute1(setItemOp, [x, index, row]);
}
