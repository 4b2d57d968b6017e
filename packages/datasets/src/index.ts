export {
  type CaliforniaHousing,
  californiaHousing,
  type HousingOptions,
  type HousingSplit,
} from './california-housing.ts';
export { type DatasetInfo, download, list } from './catalogue.ts';
export type { Checksum } from './checksum.ts';
export type { CifarSplit } from './cifar.ts';
export { type Cifar10, cifar10 } from './cifar10.ts';
export { type Cifar100, type Cifar100Options, cifar100 } from './cifar100.ts';
export { type ContactSheetOptions, contactSheet, contactSheetText } from './contact-sheet.ts';
export { DatasetError, type DatasetErrorCode, type DatasetErrorDetails } from './errors.ts';
export { fashionMnist } from './fashion-mnist.ts';
export { type GetFileOptions, getFile } from './get-file.ts';
export {
  defineIdxDataset,
  type IdxDataset,
  type IdxDatasetSpec,
  type IdxFile,
  type IdxSplit,
  type Split,
} from './idx-dataset.ts';
export { type Imdb, imdb } from './imdb.ts';
export type { RemoteFile } from './load-file.ts';
export { mnist } from './mnist.ts';
export type { DownloadProgress, LoadOptions } from './options.ts';
export {
  type PaddedDType,
  type PadSequencesOptions,
  padSequences,
  type SequenceItem,
} from './pad-sequences.ts';
export { type Reuters, type ReutersOptions, reuters } from './reuters.ts';
export type { SequenceOptions, SequenceSplit } from './sequences.ts';
export { type Part, split } from './split.ts';
export { type TextDataset, tinyShakespeare } from './tiny-shakespeare.ts';
