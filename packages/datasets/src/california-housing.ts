import { decodeNpz, type NDArray, type NDArrayOf } from '@eagre/formats';
import { corrupt, decoding } from './corrupt.ts';
import * as kind from './kinds.ts';
import { loadFile, type RemoteFiles } from './load-file.ts';
import { numpyShuffler } from './numpy-random.ts';
import { defineLoader, type LoadOptions, loadOptions } from './options.ts';
import { testBegin } from './test-split.ts';

export const californiaHousingFiles: RemoteFiles = {
  name: 'california-housing',
  mirrors: ['https://storage.googleapis.com/tensorflow/tf-keras-datasets/'],
  files: [
    {
      name: 'california_housing.npz',
      checksum: 'sha256:1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f',
      bytes: 743_530,
    },
  ],
};

const SMALL = 600;

/** Features, float32 [count, 8], and median house values in dollars, float32 [count]. */
export type HousingSplit = readonly [features: NDArrayOf<'float32'>, values: NDArrayOf<'float32'>];

/** How to load the data set. */
export interface HousingOptions extends LoadOptions {
  /** All 20,640 block groups, or the first 600. Default: `'large'`. */
  version?: 'large' | 'small' | undefined;
  /** The part that is for tests. Default: 0.2. */
  testSplit?: number | undefined;
  /** Seed of the order. Default: 113. */
  seed?: number | undefined;
}

/** House values in California. */
export interface CaliforniaHousing {
  readonly name: string;
  /** What the columns of the features are. */
  readonly featureNames: readonly string[];
  /**
   * Loads both splits in Keras's order: `const [[xTrain, yTrain], [xTest, yTest]] = await californiaHousing.loadData()`.
   *
   * @throws InvalidArgumentError for a wrong option.
   * @throws DatasetError that names the file when it is missing, corrupt, or not to be had.
   */
  loadData(options?: HousingOptions | null): Promise<readonly [train: HousingSplit, test: HousingSplit]>;
}

const housingOptions = {
  ...loadOptions,
  version: kind.oneOf('large', 'small'),
  testSplit: kind.part,
  seed: kind.seed,
};

/** Defines a data set in the layout of California Housing. */
export function defineHousing(files: RemoteFiles): CaliforniaHousing {
  const featureNames = [
    'MedInc',
    'HouseAge',
    'AveRooms',
    'AveBedrms',
    'Population',
    'AveOccup',
    'Latitude',
    'Longitude',
  ];
  return {
    name: files.name,
    featureNames,
    loadData: defineLoader(`${files.name}.loadData`, housingOptions, async (options: HousingOptions) => {
      const { version = 'large', testSplit, seed = 113 } = options;
      const { x, y } = await loadArrays(files, featureNames.length, options);
      const count = version === 'small' ? Math.min(SMALL, y.length) : y.length;
      const order = numpyShuffler(seed)(count);
      const at = testBegin(count, testSplit);
      const pick = (indices: Int32Array): HousingSplit => [
        rows(x, featureNames.length, indices),
        { dtype: 'float32', shape: [indices.length], data: Float32Array.from(indices, (i) => y[i]) },
      ];
      return [pick(order.subarray(0, at)), pick(order.subarray(at))] as const;
    }),
  };
}

async function loadArrays(
  files: RemoteFiles,
  columns: number,
  options: LoadOptions,
): Promise<{ x: Float32Array; y: Float32Array }> {
  const { path, bytes } = await loadFile(files, files.files[0], options);
  const arrays = await decoding(files.name, path, () => decodeNpz(bytes, { file: path, maxBytes: 2 ** 24 }));
  const [x, y] = [arrays.get('x'), arrays.get('y')];
  const count = y?.shape[0] ?? 0;
  const got = `[${x?.shape.join(', ') ?? ''}] and [${y?.shape.join(', ') ?? ''}]`;
  if (
    !x ||
    !y ||
    x.shape.length !== 2 ||
    y.shape.length !== 1 ||
    x.shape[0] !== count ||
    x.shape[1] !== columns
  )
    throw corrupt(files.name, path, 'arrays x and y', `[n, ${columns}] and [n]`, got);
  return { x: floats(files.name, path, x), y: floats(files.name, path, y) };
}

function floats(dataset: string, path: string, array: NDArray): Float32Array {
  if (array.dtype === 'float32') return array.data;
  if (array.dtype === 'float64') return Float32Array.from(array.data);
  throw corrupt(dataset, path, 'dtype', 'float32 or float64', array.dtype);
}

function rows(x: Float32Array, columns: number, indices: Int32Array): NDArrayOf<'float32'> {
  const data = new Float32Array(indices.length * columns);
  indices.forEach((index, row) => {
    data.set(x.subarray(index * columns, (index + 1) * columns), row * columns);
  });
  return { dtype: 'float32', shape: [indices.length, columns], data };
}

/** Median house values of 20,640 block groups, with 8 features each, from the census of 1990. */
export const californiaHousing: CaliforniaHousing = defineHousing(californiaHousingFiles);
