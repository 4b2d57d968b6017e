// Elements that are made of files with labels.
import { EagreError, InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { nodeBuiltin } from '@eagre/formats/internal';
import { TensorSpec } from '@eagre/graph';
import type { Element } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import { type Awaitable, after, type DatasetNode } from '../pipeline/iterator.ts';
import { AUTOTUNE, checkCount } from '../pipeline/options.ts';
import { type SeedWords, seedWords } from '../pipeline/random.ts';
import { ShuffledListNode } from '../sources/shuffled-list.ts';
import { BatchNode } from '../transformations/batch.ts';
import { MapNode } from '../transformations/map.ts';
import {
  type BothSubsets,
  type FolderFiles,
  type FolderOptions,
  folderFiles,
  subsetOf,
} from './folder-files.ts';
import { PicturesNode, type Recipe } from './pictures-node.ts';

/** What makes a tensor of a file. */
export interface FileDecoder {
  readonly spec: TensorSpec;
  /** Whether it has to be waited for. */
  decode(bytes: Uint8Array, path: string): Awaitable<Tensor>;
  /** What `decode` makes of pictures, if threads may do that. */
  readonly recipe?: Recipe | undefined;
  /** How batches are made of tensors that differ in size. */
  batch?(node: DatasetNode, size: number): DatasetNode;
}

/** A dataset of files in folders: [values, labels], or values alone where there are no labels. */
export class FolderDataset<T> extends Dataset<T> {
  /** What each label stands for. */
  readonly classNames: readonly string[];
  /** The files, in the order without shuffling. */
  readonly filePaths: readonly string[];

  /** @internal Use `imageDatasetFromDirectory` and the like. */
  constructor(node: DatasetNode, files: FolderFiles) {
    super(node);
    this.classNames = files.classNames;
    this.filePaths = files.paths;
  }
}

/**
 * The dataset of files that the options describe, or [training, validation] of both subsets.
 * @throws what `folderFiles` and `subsetOf` throw.
 */
export function folderDataset<T>(
  directory: string,
  extensions: readonly string[],
  decoder: FileDecoder,
  options: FolderOptions | BothSubsets<FolderOptions>,
  what: string,
): FolderDataset<T> | [training: FolderDataset<T>, validation: FolderDataset<T>] {
  if (options.subset !== 'both') {
    const all = folderFiles(directory, extensions, options, what);
    return datasetOf(subsetOf(all, options, what), decoder, options, what);
  }
  const training = { ...options, subset: 'training' } as const;
  const validation = { ...options, subset: 'validation' } as const;
  const all = folderFiles(directory, extensions, training, what);
  return [
    datasetOf(subsetOf(all, training, what), decoder, training, what),
    datasetOf(subsetOf(all, validation, what), decoder, { ...validation, shuffle: false }, what),
  ];
}

function datasetOf<T>(
  files: FolderFiles,
  decoder: FileDecoder,
  options: FolderOptions,
  what: string,
): FolderDataset<T> {
  const { batchSize = 32, shuffle = true, labelMode = 'int' } = options;
  const seed = shuffle ? seedWords(options.seed, what) : null;
  const node = folderNode(files, decoder, labelMode, seed, what);
  if (batchSize === null) return new FolderDataset<T>(node, files);
  checkCount(batchSize, 'batchSize', what);
  return new FolderDataset<T>(decoder.batch?.(node, batchSize) ?? new BatchNode(node, batchSize, {}), files);
}

/** Files by their numbers, and what is made of each; of several at once where the decoder has to be waited for. */
function folderNode(
  { paths, labels, classNames }: FolderFiles,
  decoder: FileDecoder,
  mode: FolderOptions['labelMode'],
  seed: SeedWords | null,
  what: string,
): DatasetNode {
  const element = (number: Tensor): Awaitable<Element> => {
    const index = number.item();
    const path = paths[index];
    const bytes = new Uint8Array(nodeBuiltin('node:fs').readFileSync(path));
    return after(decoded(decoder, bytes, path, what), (tensor) =>
      labels === null ? tensor : [tensor, labelsOf([labels[index]], mode, classNames.length, [])],
    );
  };
  const numbers = new ShuffledListNode('Files', paths.length, seed, new TensorSpec([], 'int32'), (i) =>
    constant(i, 'int32'),
  );
  const options = {
    runEagerly: true,
    numParallelCalls: AUTOTUNE,
    isFresh: true,
    outputSignature: labels === null ? decoder.spec : [decoder.spec, labelSpec(mode, classNames.length)],
  };
  const { recipe } = decoder;
  if (recipe === undefined) return new MapNode(numbers, element, options);
  const ofBatch = (those: readonly number[]): Tensor => {
    const found = those.map((i) => (labels as readonly number[])[i]);
    return labelsOf(found, mode, classNames.length, [found.length]);
  };
  return new PicturesNode(numbers, element, options, {
    paths,
    recipe,
    labels: labels === null ? null : ofBatch,
  });
}

function decoded(decoder: FileDecoder, bytes: Uint8Array, path: string, what: string): Awaitable<Tensor> {
  const failed = (cause: unknown): never => {
    if (cause instanceof EagreError) throw cause;
    throw new InvalidArgumentError(`${path}: ${(cause as Error).message}`, what, { cause });
  };
  try {
    const tensor = decoder.decode(bytes, path);
    return tensor instanceof Promise ? tensor.catch(failed) : tensor;
  } catch (cause) {
    return failed(cause);
  }
}

function labelSpec(mode: FolderOptions['labelMode'], classes: number): TensorSpec {
  if (mode === 'int' || mode === undefined) return new TensorSpec([], 'int32');
  return new TensorSpec([mode === 'binary' ? 1 : classes], 'float32');
}

/** @param leading the sizes that labels are listed in: none of a file, their number of a batch. */
function labelsOf(
  labels: readonly number[],
  mode: FolderOptions['labelMode'],
  classes: number,
  leading: readonly number[],
): Tensor {
  if (mode === 'int' || mode === undefined)
    return constant({ data: Int32Array.from(labels), shape: leading });
  if (mode === 'binary') return constant({ data: Float32Array.from(labels), shape: [...leading, 1] });
  const data = new Float32Array(labels.length * classes);
  for (const [row, label] of labels.entries()) data[row * classes + label] = 1;
  return constant({ data, shape: [...leading, classes] });
}
