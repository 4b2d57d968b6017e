// Gather and its adjoint, which other ops build on. Nothing here becomes a method.
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { dims } from '../../shapes/dims.ts';
import type { Shape } from '../../shapes/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';

/** The slices of `params` at `indices` along an axis. */
export const gatherOp: Op = defineOp({
  name: 'GatherV2',
  kernel: 'Gather',
  infer: ([params, indices], attrs) => {
    const axis = attrs.axis as number;
    const picked = dims(indices).slice(attrs.batchDims as number);
    return {
      dtype: params.dtype,
      shape: [...dims(params).slice(0, axis), ...picked, ...dims(params).slice(axis + 1)],
    };
  },
  grad: ({ inputs, attrs }, dy) => [
    execute1(gatherGradOp, [dy, inputs[1]], {
      axis: attrs.axis,
      batchDims: attrs.batchDims,
      shape: inputs[0].shape,
    }),
    null,
  ],
  samples: () => [
    {
      inputs: [uniform([4, 3]), values([3, 0, 3, 1, 1, 2], [2, 3], 'int32')],
      attrs: { axis: 0, batchDims: 0 },
    },
    { inputs: [uniform([2, 5, 2]), values([4, 0, 0, 2], [4], 'int64')], attrs: { axis: 1, batchDims: 0 } },
    { inputs: [uniform([2, 4, 3]), values([3, 1, 0, 0], [2, 2], 'int32')], attrs: { axis: 1, batchDims: 1 } },
    { inputs: [uniform([3, 2]), values([2], [], 'int32')], attrs: { axis: 0, batchDims: 0 } },
  ],
});
/** The gradient of GatherV2: zeros, plus every slice added where it was taken. */
const gatherGradOp: Op = defineOp({
  name: 'GatherGrad',
  kernel: 'GatherGrad',
  infer: ([dy], { shape }) => ({ dtype: dy.dtype, shape: shape as Shape }),
  grad: ({ inputs, attrs }, ddx) => [
    execute1(gatherOp, [ddx, inputs[1]], { axis: attrs.axis, batchDims: attrs.batchDims }),
    null,
  ],
  samples: () => [
    {
      inputs: [uniform([2, 2, 3]), values([3, 0, 3, 1], [2, 2], 'int32')],
      attrs: { axis: 0, batchDims: 0, shape: [4, 3] },
    },
    {
      inputs: [uniform([2, 2, 3]), values([3, 1, 0, 0], [2, 2], 'int64')],
      attrs: { axis: 1, batchDims: 1, shape: [2, 4, 3] },
    },
  ],
});

/** The adjoint of `gather` with the last axis gathered and all axes before it shared. */
export function scatterLast(dy: Tensor, indices: Tensor, shape: Shape): Tensor {
  const axis = shape.length - 1;
  return execute1(gatherGradOp, [dy, indices], { axis, batchDims: axis, shape });
}

/** The adjoint of `gather` along the first axis: zeros of a shape, plus every row of `dy` added at its index. */
export function scatterRows(dy: Tensor, indices: Tensor, shape: Shape): Tensor {
  return execute1(gatherGradOp, [dy, indices], { axis: 0, batchDims: 0, shape });
}
