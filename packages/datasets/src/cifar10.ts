import { type CifarSpec, type CifarSplit, cifarFiles, loadCifar } from './cifar.ts';
import type { RemoteFiles } from './load-file.ts';
import { defineLoader, type LoadOptions, loadOptions } from './options.ts';

const BATCHES = [
  'data_batch_1.bin',
  'data_batch_2.bin',
  'data_batch_3.bin',
  'data_batch_4.bin',
  'data_batch_5.bin',
];

/** The files and layout of CIFAR-10; `tinyCifar` in tests has the same layout. */
export const cifar10Spec: CifarSpec = {
  name: 'cifar10',
  mirrors: ['https://www.cs.toronto.edu/~kriz/'],
  archive: {
    name: 'cifar-10-binary.tar.gz',
    checksum: 'sha256:c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd',
    bytes: 170_052_171,
  },
  root: 'cifar-10-batches-bin',
  train: { files: BATCHES, count: 50_000 },
  test: { files: ['test_batch.bin'], count: 10_000 },
  classes: [10],
};

/** CIFAR-10. */
export interface Cifar10 {
  readonly name: string;
  readonly classNames: readonly string[];
  /** Loads both splits: `const [[xTrain, yTrain], [xTest, yTest]] = await cifar10.loadData()`. */
  loadData(options?: LoadOptions | null): Promise<readonly [train: CifarSplit, test: CifarSplit]>;
  /** Loads the training split alone. */
  loadTrain(options?: LoadOptions | null): Promise<CifarSplit>;
  /** Loads the test split alone. */
  loadTest(options?: LoadOptions | null): Promise<CifarSplit>;
}

/** Defines a data set of one label per image in the layout of CIFAR-10. */
export function defineCifar10(spec: CifarSpec, classNames: readonly string[]): Cifar10 {
  return {
    name: spec.name,
    classNames,
    loadData: defineLoader(`${spec.name}.loadData`, loadOptions, async (options: LoadOptions) => {
      const [train, test] = await loadCifar(spec, 0, ['train', 'test'], options);
      return [train, test] as const;
    }),
    loadTrain: defineLoader(
      `${spec.name}.loadTrain`,
      loadOptions,
      async (options: LoadOptions) => (await loadCifar(spec, 0, ['train'], options))[0],
    ),
    loadTest: defineLoader(
      `${spec.name}.loadTest`,
      loadOptions,
      async (options: LoadOptions) => (await loadCifar(spec, 0, ['test'], options))[0],
    ),
  };
}

/** Small colour pictures in ten classes: 50,000 to train and 10,000 to test, uint8 [count, 32, 32, 3]. */
export const cifar10: Cifar10 = defineCifar10(cifar10Spec, [
  'airplane',
  'automobile',
  'bird',
  'cat',
  'deer',
  'dog',
  'frog',
  'horse',
  'ship',
  'truck',
]);

export const cifar10Files: RemoteFiles = cifarFiles(cifar10Spec);
