import { constant, type Tensor } from '@eagre/core';
import { type Arguments, defineFunction, type NamedFunction } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import {
  type BothSubsets,
  type FolderArguments,
  type FolderOptions,
  folderNames,
} from '../images/folder-files.ts';
import { type FolderDataset, folderDataset } from '../images/folder-node.ts';
import { checkCount } from '../pipeline/options.ts';
import { decodeText } from './readers.ts';

/** Options of {@link textDatasetFromDirectory}; names and defaults are Keras's. */
export interface TextDatasetOptions extends FolderOptions {
  /** Longer texts are cut to so many bytes of UTF-8, at the last whole character. Default: none are. */
  readonly maxLength?: number | undefined;
}

/**
 * Text files in folders that name their classes, as batches: texts, string [batch], and labels (with `labels: null` or
 * `labelMode: null` the texts alone). The same as Keras's `text_dataset_from_directory`.
 *
 * @throws NotFoundError when there is no such folder, or no `.txt` in it.
 * @throws InvalidArgumentError for wrong options; iterating throws DataLossError, with the file, for what is not UTF-8.
 */
export const textDatasetFromDirectory: {
  (
    ...args: FolderArguments<
      BothSubsets<TextDatasetOptions> & ({ readonly labels: null } | { readonly labelMode: null })
    >
  ): [training: FolderDataset<Tensor>, validation: FolderDataset<Tensor>];
  (
    ...args: FolderArguments<BothSubsets<TextDatasetOptions>>
  ): [training: FolderDataset<[Tensor, Tensor]>, validation: FolderDataset<[Tensor, Tensor]>];
  (
    ...args: FolderArguments<TextDatasetOptions & ({ readonly labels: null } | { readonly labelMode: null })>
  ): FolderDataset<Tensor>;
  (
    ...args: Arguments<[directory: string], ['directory'], TextDatasetOptions>
  ): FolderDataset<[texts: Tensor, labels: Tensor]>;
} = defineFunction<
  NamedFunction<
    [directory: string],
    ['directory'],
    TextDatasetOptions | BothSubsets<TextDatasetOptions>,
    unknown
  >
>(
  'tf.keras.utils.textDatasetFromDirectory',
  { directory: true },
  { ...folderNames, maxLength: true },
  textsOf,
) as never;

function textsOf(
  directory: string,
  options: TextDatasetOptions | BothSubsets<TextDatasetOptions>,
): FolderDataset<Tensor | [Tensor, Tensor]> | FolderDataset<Tensor | [Tensor, Tensor]>[] {
  const what = 'textDatasetFromDirectory';
  const { maxLength } = options;
  if (maxLength !== undefined) checkCount(maxLength, 'maxLength', what);
  const decode = (bytes: Uint8Array, path: string): Tensor =>
    constant(decodeText(cut(bytes, maxLength), path, what));
  return folderDataset(directory, ['.txt'], { spec: new TensorSpec([], 'string'), decode }, options, what);
}

function cut(bytes: Uint8Array, length: number = bytes.length): Uint8Array {
  let end = Math.min(length, bytes.length);
  // Bytes that go on with a character begin with the bits 10.
  if (end < bytes.length) while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}
