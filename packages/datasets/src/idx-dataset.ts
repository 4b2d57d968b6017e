import { defineFunction, type NamedFunction } from '@eagre/core/internal';
import { decodeIdx, FormatError, gunzip, isGzip, type NDArrayOf } from '@eagre/formats';
import type { Checksum } from './checksum.ts';
import { DatasetError } from './errors.ts';
import * as kind from './kinds.ts';
import { loadFile, type RemoteFiles } from './load-file.ts';
import { defineLoader, type LoadOptions, loadOptions } from './options.ts';

/** Images, uint8 [count, height, width] with 0 for the background, and their labels, uint8 [count]. */
export type Split = readonly [images: NDArrayOf<'uint8'>, labels: NDArrayOf<'uint8'>];

/** A gzipped IDX file of a data set. */
export interface IdxFile {
  name: string;
  checksum: Checksum;
  /** Its size; by default the most that it can be. */
  bytes?: number;
}

/** One split's files, and how many images they hold. */
export interface IdxSplit {
  count: number;
  images: IdxFile;
  labels: IdxFile;
}

/** What a data set of images in IDX files consists of. */
export interface IdxDatasetSpec {
  /** The name of its folders. */
  name: string;
  /** Height and width of the images. */
  imageShape: readonly [number, number];
  /** What each label stands for; labels beyond are refused. */
  classNames: readonly string[];
  train: IdxSplit;
  test: IdxSplit;
  /** URLs of folders that hold the files. */
  mirrors: readonly string[];
}

/** A data set of images in IDX files. */
export interface IdxDataset {
  readonly name: string;
  readonly classNames: readonly string[];
  /** Loads both splits: `const [[xTrain, yTrain], [xTest, yTest]] = await mnist.loadData()`. */
  loadData(options?: LoadOptions | null): Promise<readonly [train: Split, test: Split]>;
  /** Loads the training split alone. */
  loadTrain(options?: LoadOptions | null): Promise<Split>;
  /** Loads the test split alone, which needs only its own, smaller files. */
  loadTest(options?: LoadOptions | null): Promise<Split>;
}

/**
 * Defines a data set in the files and layout of MNIST. What it loads is verified: checksums, sizes, counts, labels.
 * Every loader throws a {@link DatasetError} that names the file when one is missing, corrupt or not to be had.
 */
export const defineIdxDataset: (spec: IdxDatasetSpec) => IdxDataset = defineFunction<IdxDefinition>(
  'tf.keras.datasets.defineIdxDataset',
  {
    name: kind.text,
    imageShape: kind.listOf(kind.count(1)),
    classNames: kind.listOf(kind.text),
    train: kind.splitFiles,
    test: kind.splitFiles,
    mirrors: kind.listOf(kind.text),
  },
  {},
  (name, imageShape, classNames, train, test, mirrors) =>
    idxDataset({ name, imageShape, classNames, train, test, mirrors }),
);

type IdxDefinition = NamedFunction<
  [
    name: string,
    imageShape: readonly [number, number],
    classNames: readonly string[],
    train: IdxSplit,
    test: IdxSplit,
    mirrors: readonly string[],
  ],
  ['name', 'imageShape', 'classNames', 'train', 'test', 'mirrors'],
  unknown,
  IdxDataset
>;

function idxDataset(spec: IdxDatasetSpec): IdxDataset {
  const loadSplit = async ({ count, images, labels }: IdxSplit, options: LoadOptions): Promise<Split> => [
    (await loadArray(spec, images, [count, ...spec.imageShape], options)).array,
    await loadLabels(spec, labels, count, options),
  ];
  return {
    name: spec.name,
    classNames: spec.classNames,
    loadData: defineLoader(`${spec.name}.loadData`, loadOptions, async (options: LoadOptions) => [
      await loadSplit(spec.train, options),
      await loadSplit(spec.test, options),
    ]),
    loadTrain: defineLoader(`${spec.name}.loadTrain`, loadOptions, async (options: LoadOptions) =>
      loadSplit(spec.train, options),
    ),
    loadTest: defineLoader(`${spec.name}.loadTest`, loadOptions, async (options: LoadOptions) =>
      loadSplit(spec.test, options),
    ),
  };
}

/** The files of a data set, for the catalogue. */
export function idxFiles(spec: IdxDatasetSpec): RemoteFiles {
  const files = [spec.train, spec.test].flatMap(({ count, images, labels }) => [
    packed(images, idxBytes([count, ...spec.imageShape])),
    packed(labels, idxBytes([count])),
  ]);
  return { name: spec.name, mirrors: spec.mirrors, files };
}

function idxBytes(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1) + 4 + 4 * shape.length;
}

/** gzip adds little to what it cannot compress. */
function packed(file: IdxFile, unpackedBytes: number): RemoteFiles['files'][number] {
  return { ...file, bytes: file.bytes ?? Math.ceil(unpackedBytes * 1.001) + 1024 };
}

/** The names that an unpacked file is commonly given: without `.gz`, or with a dot before `idx`. */
function unpackedNames(name: string): string[] {
  const bare = name.replace(/\.gz$/, '');
  const dotted = bare.replace('-idx', '.idx');
  return [bare, `${dotted}.gz`, dotted];
}

async function loadLabels(
  spec: IdxDatasetSpec,
  file: IdxFile,
  count: number,
  options: LoadOptions,
): Promise<NDArrayOf<'uint8'>> {
  const { array: labels, path } = await loadArray(spec, file, [count], options);
  const wrong = labels.data.findIndex((label) => label >= spec.classNames.length);
  if (wrong < 0) return labels;
  throw new DatasetError({
    code: 'corrupt',
    dataset: spec.name,
    file: path,
    what: `label ${wrong}`,
    expected: `below ${spec.classNames.length}`,
    got: String(labels.data[wrong]),
  });
}

async function loadArray(
  spec: IdxDatasetSpec,
  file: IdxFile,
  shape: readonly number[],
  options: LoadOptions,
): Promise<{ array: NDArrayOf<'uint8'>; path: string }> {
  const maxBytes = idxBytes(shape);
  const { path, bytes } = await loadFile(spec, packed(file, maxBytes), options, unpackedNames(file.name));
  const corrupt = { code: 'corrupt', dataset: spec.name, file: path } as const;
  try {
    const array = decodeIdx(isGzip(bytes) ? await gunzip(bytes, { maxBytes }) : bytes);
    const expected = `uint8 [${shape.join(', ')}]`;
    const got = `${array.dtype} [${array.shape.join(', ')}]`;
    if (array.dtype === 'uint8' && got === expected) return { array, path };
    throw new DatasetError({ ...corrupt, what: 'wrong content', expected, got });
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DatasetError({ ...corrupt, what: cause.what, expected: cause.expected, got: cause.got, cause });
  }
}
