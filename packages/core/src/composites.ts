/** Values made of several tensors, in a module of their own: programs without them leave it out of their bundles. */
export { IndexedSlices } from './composite/indexed-slices.ts';
export { isRagged, makeRagged, toRaggedOrDense } from './ragged/ragged-base.ts';
export { RaggedTensor } from './ragged/ragged-tensor.ts';
export * as ragged from './ragged.ts';
