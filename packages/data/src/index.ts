/** `tf.data`: pipelines of elements. */
export { Dataset } from './dataset.ts';
export { DatasetIterator } from './dataset-iterator.ts';
export { DatasetSpec, type ElementSpec } from './elements/element-spec.ts';
export type { Element, ElementOf } from './elements/structure.ts';
export type { State } from './iterator.ts';
export { AUTOTUNE, type DatasetOptions, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from './options.ts';
