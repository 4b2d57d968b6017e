// What packages below that of graphs need of its loops, for sizes that a trace does not know.
import { InternalError } from '@eagre/backend';
import type { Dim } from '../shapes/dim.ts';
import type { Tensor } from '../tensor/tensor.ts';

type Tensors = readonly Tensor[];
const notLoaded = (): never => {
  throw new InternalError('the package of graphs is not loaded');
};

/** Loops of the graph that is being traced; the package of graphs puts them in. */
export const graphLoops: {
  /** Calls a function for 0, 1, … below a size (int32 scalars), and stacks what it gives. */
  rows(count: Dim, fn: (i: Tensor) => Tensors): Tensors;
  /** `tf.scan` in reverse over lists of tensors: the states of all steps. */
  scanBack(fn: (state: Tensors, at: Tensors) => Tensors, elems: Tensors, initial: Tensors): Tensors;
  /** A function that gets what it gave, a number of times (int32 []), and how often that was; of tensors whose shapes stay. */
  repeat(times: Tensor, fn: (state: Tensors, i: Tensor) => Tensors, initial: Tensors): Tensors;
} = { rows: notLoaded, scanBack: notLoaded, repeat: notLoaded };
