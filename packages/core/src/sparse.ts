/** `tf.sparse`: tensors most of which is 0. */
export { cross, crossHashed } from './sparse/cross.ts';
export * from './sparse/functions.ts';
export { concat, fromDense, reorder, sparseDenseMatmul } from './sparse/ordered.ts';
export { SparseTensor } from './sparse/sparse-tensor.ts';
