/** `tf.data`: pipelines of elements. */
export {
  type BucketOptions,
  Dataset,
  type ElementFn,
  type GeneratorOptions,
  type GroupByWindowOptions,
  type HostOf,
  type RangeOptions,
  type SampleOptions,
  type Windowed,
  type Zipped,
} from './dataset.ts';
export { DatasetIterator } from './dataset-iterator.ts';
export type { FunctionCallOptions } from './element-function.ts';
export { DatasetSpec, type ElementSpec } from './elements/element-spec.ts';
export type { Element, ElementOf } from './elements/structure.ts';
export type { State } from './iterator.ts';
export { AUTOTUNE, type DatasetOptions, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from './options.ts';
export type { ElementSource } from './sources/generator.ts';
export type { BatchOptions } from './transformations/batch.ts';
export type { ResampleOptions } from './transformations/checks.ts';
export type { InterleaveOptions } from './transformations/flat-map.ts';
export type { MapOptions } from './transformations/map.ts';
export type {
  PaddedBatchOptions,
  PaddedShapes,
  PaddingValues,
  Ragged,
} from './transformations/padded-batch.ts';
export type { ShuffleOptions } from './transformations/shuffle.ts';
export type { WindowOptions } from './transformations/window.ts';
