import { InvalidArgumentError } from '@eagre/backend';
import type { RemoteFiles } from './load-file.ts';
import { numpyShuffler } from './numpy-random.ts';
import { defineLoader, type LoadOptions, loadOptions } from './options.ts';
import {
  arrange,
  limitWords,
  loadSequences,
  loadWordIndex,
  type SequenceOptions,
  type SequenceSplit,
  seedOf,
  sequenceOptions,
  sequenceSplit,
} from './sequences.ts';

export const imdbFiles: RemoteFiles = {
  name: 'imdb',
  mirrors: ['https://storage.googleapis.com/tensorflow/tf-keras-datasets/'],
  files: [
    {
      name: 'imdb.npz',
      checksum: 'sha256:69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f',
      bytes: 17_464_789,
    },
    { name: 'imdb_word_index.json', checksum: 'md5:bfafd718b763782e994055a2d397834f', bytes: 1_641_221 },
  ],
};

/** Film reviews. */
export interface Imdb {
  readonly name: string;
  readonly classNames: readonly string[];
  /**
   * Loads both splits in the order and with the numbers of Keras: `const [[xTrain, yTrain], [xTest, yTest]] = await
   * imdb.loadData({ numWords: 10_000 })`. Label 1 is praise.
   *
   * @throws InvalidArgumentError for a wrong option, and when `maxlen` leaves no text of a split.
   * @throws DatasetError that names the file when it is missing, corrupt, or not to be had.
   */
  loadData(options?: SequenceOptions | null): Promise<readonly [train: SequenceSplit, test: SequenceSplit]>;
  /** The number of each word, from 1 by frequency; `loadData` adds `indexFrom` to it. */
  getWordIndex(options?: LoadOptions | null): Promise<ReadonlyMap<string, number>>;
}

/** Defines a data set in the layout of IMDB's. */
export function defineImdb(files: RemoteFiles): Imdb {
  const loadData = `${files.name}.loadData`;
  return {
    name: files.name,
    classNames: ['negative', 'positive'],
    loadData: defineLoader(loadData, sequenceOptions, async (options: SequenceOptions) => {
      const pairs = [
        ['x_train', 'y_train'],
        ['x_test', 'y_test'],
      ] as const;
      const raw = await loadSequences(files, pairs, 2, options);
      const shuffle = numpyShuffler(seedOf(options));
      const train = arrange(raw[0], shuffle, options);
      const test = arrange(raw[1], shuffle, options);
      if (train.sequences.length === 0 || test.sequences.length === 0)
        throw new InvalidArgumentError(
          `maxlen ${options.maxlen} leaves no text in a split; give a larger one`,
          loadData,
        );
      const all = [...train.sequences, ...test.sequences];
      return [
        sequenceSplit(limitWords(train.sequences, options, all), train.labels),
        sequenceSplit(limitWords(test.sequences, options, all), test.labels),
      ] as const;
    }),
    getWordIndex: defineLoader(`${files.name}.getWordIndex`, loadOptions, async (options: LoadOptions) =>
      loadWordIndex(files, files.files[1], options),
    ),
  };
}

/** 25,000 film reviews to train and 25,000 to test, as numbers of words; praise or not. */
export const imdb: Imdb = defineImdb(imdbFiles);
