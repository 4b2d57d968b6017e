/** What says what datasets hold, for programs that may have none: it comes without the datasets. */
export { DatasetSpec } from './elements/element-spec.ts';
export { IteratorSpec } from './elements/iterator-spec.ts';
export { OptionalSpec } from './elements/optional.ts';
export { isDataset, isDatasetIterator } from './elements/structure.ts';
