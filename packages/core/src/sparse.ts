/** `tf.sparse`: tensors most of which is 0. */
export * from './sparse/functions.ts';
export { SparseTensor } from './sparse/sparse-tensor.ts';
