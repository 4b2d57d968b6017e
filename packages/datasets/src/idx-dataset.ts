import { decodeIdx, FormatError, gunzip, isGzip, type NDArrayOf, nodeBuiltin } from '@eagre/formats';
import { type Checksum, checksumLike } from './checksum.ts';
import { download } from './download.ts';
import { DatasetError } from './errors.ts';
import { cacheFolder, type FoundFile, findFile, sharedFolder } from './locate.ts';
import type { LoadOptions } from './options.ts';

/** Images, uint8 [count, height, width] with 0 for the background, and their labels, uint8 [count]. */
export type Split = readonly [images: NDArrayOf<'uint8'>, labels: NDArrayOf<'uint8'>];

/** A gzipped IDX file of a data set. */
export interface IdxFile {
  name: string;
  checksum: Checksum;
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
  loadData(options?: LoadOptions): Promise<readonly [train: Split, test: Split]>;
  /** Loads the training split alone. */
  loadTrain(options?: LoadOptions): Promise<Split>;
  /** Loads the test split alone, which needs only its own, smaller files. */
  loadTest(options?: LoadOptions): Promise<Split>;
}

/**
 * Defines a data set in the files and layout of MNIST. What it loads is verified: checksums, sizes, counts, labels.
 * Every loader throws a {@link DatasetError} that names the file when one is missing, corrupt or not to be had.
 */
export function defineIdxDataset(spec: IdxDatasetSpec): IdxDataset {
  const loadSplit = async ({ count, images, labels }: IdxSplit, options: LoadOptions): Promise<Split> => [
    (await loadArray(spec, images, [count, ...spec.imageShape], options)).array,
    await loadLabels(spec, labels, count, options),
  ];
  return {
    name: spec.name,
    classNames: spec.classNames,
    loadData: async (options = {}) => [
      await loadSplit(spec.train, options),
      await loadSplit(spec.test, options),
    ],
    loadTrain: (options = {}) => loadSplit(spec.train, options),
    loadTest: (options = {}) => loadSplit(spec.test, options),
  };
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
  const maxBytes = shape.reduce((product, size) => product * size, 1) + 4 + 4 * shape.length;
  const { path, bytes } = await loadFile(spec, file, maxBytes, options);
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

async function loadFile(
  spec: IdxDatasetSpec,
  file: IdxFile,
  unpackedBytes: number,
  options: LoadOptions,
): Promise<FoundFile> {
  const { name: dataset, mirrors } = spec;
  const { folder } = options;
  if (folder !== undefined) {
    const found = await findFile(folder, file.name);
    if (found) return verified(spec, file, found, options);
    const hint = 'Put it there (gzipped or not), or leave out `folder` to have it downloaded';
    throw missing(spec, nodeBuiltin('node:path').join(folder, file.name), 'there is no such file', hint);
  }

  const shared = sharedFolder(dataset);
  const found = shared === undefined ? undefined : await findFile(shared, file.name);
  if (found) return verified(spec, file, found, options);

  const cache = cacheFolder(dataset, options);
  const cached = await findFile(cache, file.name);
  // A cached file that is no longer what was downloaded is downloaded again.
  if (cached && (options.offline || !mismatch(file, cached, options)))
    return verified(spec, file, cached, options);

  const path = nodeBuiltin('node:path').join(cache, file.name);
  if (options.offline) {
    const what = `there is no such file${shared === undefined ? '' : `, nor in ${shared}`}`;
    throw missing(spec, path, what, 'Put it there, or allow the download by leaving out `offline`');
  }
  const request = {
    dataset,
    name: file.name,
    checksum: file.checksum,
    // gzip adds little to what it cannot compress.
    maxBytes: Math.ceil(unpackedBytes * 1.001) + 1024,
    mirrors: options.mirrors ?? mirrors,
    path,
  };
  return { path, bytes: await download(request, options) };
}

function verified(spec: IdxDatasetSpec, file: IdxFile, found: FoundFile, options: LoadOptions): FoundFile {
  const got = mismatch(file, found, options);
  if (got === undefined) return found;
  throw new DatasetError({
    code: 'corrupt',
    dataset: spec.name,
    file: found.path,
    what: 'wrong content',
    expected: file.checksum,
    got,
    hint: 'Delete it and load again; if the file is meant to differ, pass `verify: false`',
  });
}

/** The checksum of a found file if it is not the published one, which only the gzipped file has. */
function mismatch(file: IdxFile, { path, bytes }: FoundFile, options: LoadOptions): string | undefined {
  if (options.verify === false || !path.endsWith('.gz')) return undefined;
  const got = checksumLike(file.checksum, bytes);
  return got === file.checksum ? undefined : got;
}

function missing(spec: IdxDatasetSpec, file: string, what: string, hint: string): DatasetError {
  return new DatasetError({ code: 'missing', dataset: spec.name, file, what, hint });
}
