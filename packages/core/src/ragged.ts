/** `tf.ragged`: tensors whose rows have different lengths. */
export * from './ragged/creation.ts';
export { cross, crossHashed } from './ragged/cross.ts';
export type { RaggedList, RaggedOrDense, ToTensorOptions } from './ragged/ragged-base.ts';
export type { FromTensorOptions, RaggedIndex } from './ragged/ragged-tensor.ts';
export type { SplitsDType } from './ragged/row-partition.ts';
