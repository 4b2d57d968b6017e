import { defineFunction, type NamedFunction } from '@eagre/core/internal';
import * as kind from './kinds.ts';
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
import { testBegin } from './test-split.ts';

export const reutersFiles: RemoteFiles = {
  name: 'reuters',
  mirrors: ['https://storage.googleapis.com/tensorflow/tf-keras-datasets/'],
  files: [
    {
      name: 'reuters.npz',
      checksum: 'sha256:d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916',
      bytes: 2_110_848,
    },
    { name: 'reuters_word_index.json', checksum: 'md5:4d44cc38712099c9e383dc6e5f11a921', bytes: 550_378 },
  ],
};

const TOPICS =
  'cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship cotton carcass ' +
  'crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock retail ipi ' +
  'iron-steel rubber heat jobs lei bop zinc orange pet-chem dlr gas silver wpi hog lead';

/** How to load Reuters. */
export interface ReutersOptions extends SequenceOptions {
  /** The part of the texts that is for tests. Default: 0.2. */
  testSplit?: number | undefined;
}

/** Newswires. */
export interface Reuters {
  readonly name: string;
  /** The 46 topics. */
  readonly classNames: readonly string[];
  /**
   * Loads both splits in the order and with the numbers of Keras: `const [[xTrain, yTrain], [xTest, yTest]] = await
   * reuters.loadData({ numWords: 10_000 })`.
   *
   * @throws InvalidArgumentError for a wrong option.
   * @throws DatasetError that names the file when it is missing, corrupt, or not to be had.
   */
  loadData(options?: ReutersOptions | null): Promise<readonly [train: SequenceSplit, test: SequenceSplit]>;
  /** The number of each word, from 1 by frequency; `loadData` adds `indexFrom` to it. */
  getWordIndex(options?: LoadOptions | null): Promise<ReadonlyMap<string, number>>;
  /** The names of the 46 topics, in the order of the labels: a new list with `classNames`. */
  readonly getLabelNames: NamedFunction<[], [], unknown, string[]>;
}

const reutersOptions = { ...sequenceOptions, testSplit: kind.part };

/** Defines a data set in the layout of Reuters's. */
export function defineReuters(files: RemoteFiles): Reuters {
  const classNames = TOPICS.split(' ');
  return {
    name: files.name,
    classNames,
    loadData: defineLoader(`${files.name}.loadData`, reutersOptions, async (options: ReutersOptions) => {
      const [raw] = await loadSequences(files, [['x', 'y']], classNames.length, options);
      const { sequences, labels } = arrange(raw, numpyShuffler(seedOf(options)), options);
      const at = testBegin(sequences.length, options.testSplit);
      const words = limitWords(sequences, options);
      return [
        sequenceSplit(words.slice(0, at), labels.slice(0, at)),
        sequenceSplit(words.slice(at), labels.slice(at)),
      ] as const;
    }),
    getWordIndex: defineLoader(`${files.name}.getWordIndex`, loadOptions, async (options: LoadOptions) =>
      loadWordIndex(files, files.files[1], options),
    ),
    getLabelNames: defineFunction(`${files.name}.getLabelNames`, {}, {}, () => [...classNames]),
  };
}

/** 11,228 newswires, as numbers of words, in 46 topics. */
export const reuters: Reuters = defineReuters(reutersFiles);
