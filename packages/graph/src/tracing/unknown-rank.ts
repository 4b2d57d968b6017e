// Values of which not even the rank is known. While a graph is written they pass as scalars whose shape nobody may ask for.
import { UnimplementedError } from '@eagre/backend';
import type { Shape, Tensor } from '@eagre/core';
import {
  type Attrs,
  ambient,
  type Op,
  sameShape,
  showInConsole,
  symbolically,
  symbolicTensor,
  within,
} from '@eagre/core/internal';
import type { GraphValue } from '../ir/graph.ts';

const values = new WeakSet<GraphValue>();
const tensors = new WeakSet<Tensor>();
const shapes = ambient({ permitted: false });

const NO_RANK =
  'the rank of this value is not known while the graph is written, so only element-wise ops can take it: give its placeholder a shape, with null for sizes that may be any';

/** Whether the rank of a value is not known. */
export function isUnknownRank(value: object): boolean {
  return values.has(value as GraphValue);
}

/** Whether a tensor stands for such a value. */
export function isUnknownRankTensor(tensor: Tensor): boolean {
  return tensors.has(tensor);
}

/** Says that the rank of a value is not known. */
export function markUnknownRank(value: GraphValue): void {
  values.add(value);
}

/** Hides the shape of a tensor that stands for such a value. */
export function hideRank(tensor: Tensor): void {
  if (tensors.has(tensor)) return;
  tensors.add(tensor);
  const { shape } = tensor;
  Object.defineProperty(tensor, 'shape', {
    get: (): Shape => {
      if (!shapes.permitted) throw new UnimplementedError(NO_RANK);
      return shape;
    },
    enumerable: true,
  });
  showInConsole(tensor, () => `tf.Tensor(<traced>, shape=<unknown>, dtype=${tensor.dtype})`);
}

/** Runs `fn`, which may ask for hidden shapes. */
export function permittingRanks<T>(fn: () => T): T {
  return within(shapes, { permitted: true }, fn);
}

// Of other sizes than anything that an op could do with it, such as a sum, would leave.
const PROBE: Shape = [2, 3, 5];

/** @throws UnimplementedError unless the op does the same to each element of its inputs, whatever their rank. */
export function requireElementwise(op: Op, inputs: readonly Tensor[], attrs: Attrs): void {
  let programs = 0;
  let others = 0;
  const sink = {
    call: (kernel: unknown): void => {
      if (typeof kernel === 'string') others++;
      else programs++;
    },
    capture: (x: Tensor): Tensor => symbolicTensor(x.dtype, x.shape),
  };
  const probes = inputs.map((x) => symbolicTensor(x.dtype, tensors.has(x) ? PROBE : []));
  let fits: boolean;
  try {
    const outputs = symbolically(sink, () => op.evaluate(probes, attrs));
    fits = programs > 0 && others === 0 && outputs.every((y) => sameShape(y.shape, PROBE));
  } catch {
    fits = false;
  }
  if (!fits) throw new UnimplementedError(NO_RANK, op.name);
}
