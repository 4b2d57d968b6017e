/** Values made of several tensors, in a module of their own: programs without them leave it out of their bundles. */
export { IndexedSlices } from './composite/indexed-slices.ts';
export { isRagged, makeRagged, raggedFromTensor, toRaggedOrDense } from './ragged/ragged-base.ts';
export { RaggedTensor } from './ragged/ragged-tensor.ts';
export { lengthsOf, splitsOfLengths } from './ragged/row-partition.ts';
export * as ragged from './ragged.ts';
export { SparseTensor } from './sparse/sparse-tensor.ts';
export * as sparse from './sparse.ts';

import { SparseTensor } from './sparse/sparse-tensor.ts';
import type { Tensor } from './tensor/tensor.ts';

/** @internal A sparse tensor of parts that are not looked at. */
export function makeSparse(indices: Tensor, values: Tensor, denseShape: Tensor): SparseTensor {
  return SparseTensor.unchecked(indices, values, denseShape);
}
