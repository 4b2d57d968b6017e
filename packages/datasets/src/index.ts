export type { Checksum } from './checksum.ts';
export { DatasetError, type DatasetErrorCode, type DatasetErrorDetails } from './errors.ts';
export { fashionMnist } from './fashion-mnist.ts';
export {
  defineIdxDataset,
  type IdxDataset,
  type IdxDatasetSpec,
  type IdxFile,
  type IdxSplit,
  type Split,
} from './idx-dataset.ts';
export { mnist } from './mnist.ts';
export type { DownloadProgress, LoadOptions } from './options.ts';
export { type Part, split } from './split.ts';
