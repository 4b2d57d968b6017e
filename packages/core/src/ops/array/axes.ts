// What reductions have in common; nothing here is public.

import { type Attrs, execute1, type GradContext, type Op } from '../../dispatch/op.ts';
import type { Sample, SampleInput } from '../../dispatch/samples.ts';
import { type Axis, checkFlag, normalizeAxes, reducedShape, type Shape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';

/** Options of functions that make one value of many along axes. */
export interface ReduceOptions {
  /** Keeps the reduced axes with size 1, so that the result broadcasts with x; false by default. */
  readonly keepdims?: boolean;
}

/** The axes of a reduction: sorted, not negative. */
export const axesOf = (attrs: Attrs): readonly number[] => attrs.axes as readonly number[];
export const keepsDims = (attrs: Attrs): boolean => attrs.keepdims as boolean;

/** A reduced tensor with its lost axes back as 1. */
export function kept(reduced: Tensor, g: GradContext): Tensor {
  return reduced.reshape(reducedShape(g.x.shape, axesOf(g.attrs), true));
}

/** Calls a reduction op with its axes in order. */
export function reduceBy(op: Op, x: TensorLike, axis: Axis, options: ReduceOptions): Tensor {
  const value = toTensor(x);
  const axes = normalizeAxes(axis, value.rank, op.name);
  return execute1(op, [value], { axes, keepdims: checkFlag(options.keepdims, 'keepdims', op.name) });
}

export function reductionSamples(input: (shape: Shape) => SampleInput): () => readonly Sample[] {
  return () => [
    { inputs: [input([3, 4])], attrs: { axes: [0, 1], keepdims: false } },
    { inputs: [input([2, 3, 4])], attrs: { axes: [1], keepdims: true } },
    { inputs: [input([2, 3, 4])], attrs: { axes: [0, 2], keepdims: false } },
    { inputs: [input([5])], attrs: { axes: [0], keepdims: false } },
  ];
}
