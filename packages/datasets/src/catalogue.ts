import { InvalidArgumentError } from '@eagre/backend';
import { defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import { californiaHousingFiles } from './california-housing.ts';
import { cifar10Files } from './cifar10.ts';
import { cifar100Files } from './cifar100.ts';
import { fashionMnistFiles } from './fashion-mnist.ts';
import { imdbFiles } from './imdb.ts';
import { loadFile, type RemoteFile, type RemoteFiles, urlsOf } from './load-file.ts';
import { mnistFiles } from './mnist.ts';
import { type LoadOptions, loadOptions } from './options.ts';
import { reutersFiles } from './reuters.ts';
import { tinyShakespeareFiles } from './tiny-shakespeare.ts';

/** A data set that can be loaded, as {@link list} tells it. */
export interface DatasetInfo {
  /** The name of its folders. */
  name: string;
  /** What it holds, in one line. */
  description: string;
  /** How it is licensed, as far as its authors say. */
  licence: string;
  homepage: string;
  /** What is downloaded, in all, in bytes. */
  bytes: number;
  files: readonly (RemoteFile & { urls: readonly string[] })[];
}

type About = readonly [files: RemoteFiles, description: string, licence: string, homepage: string];

const ABOUT: readonly About[] = [
  [mnistFiles, '70,000 handwritten digits, 28×28 grey', 'CC BY-SA 3.0', 'http://yann.lecun.com/exdb/mnist/'],
  [
    fashionMnistFiles,
    '70,000 articles of clothing, 28×28 grey, 10 classes',
    'MIT',
    'https://github.com/zalandoresearch/fashion-mnist',
  ],
  [
    cifar10Files,
    '60,000 pictures, 32×32 colour, 10 classes',
    'none stated; cite Krizhevsky (2009)',
    'https://www.cs.toronto.edu/~kriz/cifar.html',
  ],
  [
    cifar100Files,
    '60,000 pictures, 32×32 colour, 100 classes in 20 groups',
    'none stated; cite Krizhevsky (2009)',
    'https://www.cs.toronto.edu/~kriz/cifar.html',
  ],
  [
    imdbFiles,
    '50,000 film reviews as numbers of words, praise or not',
    'none stated; cite Maas et al. (2011)',
    'https://ai.stanford.edu/~amaas/data/sentiment/',
  ],
  [
    reutersFiles,
    '11,228 newswires as numbers of words, 46 topics',
    'for research only',
    'https://archive.ics.uci.edu/dataset/137/reuters+21578+text+categorization+collection',
  ],
  [
    californiaHousingFiles,
    '20,640 block groups, 8 features, median house value',
    'none stated; census of 1990, cite Pace and Barry (1997)',
    'https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.html',
  ],
  [
    tinyShakespeareFiles,
    "1.1 million characters of Shakespeare's plays",
    'public domain',
    'https://github.com/karpathy/char-rnn',
  ],
];

/** Every data set that can be loaded, with its files, their sizes and checksums, and where they come from. */
export const list: NamedFunction<[], [], unknown, DatasetInfo[]> = defineFunction(
  'tf.keras.datasets.list',
  {},
  {},
  () =>
    ABOUT.map(([{ name, files, mirrors }, description, licence, homepage]) => ({
      name,
      description,
      licence,
      homepage,
      bytes: files.reduce((total, file) => total + file.bytes, 0),
      files: files.map((file) => ({ ...file, urls: urlsOf(mirrors, file.name) })),
    })),
);

/**
 * Downloads and verifies all files of a data set, and gives their paths. What is there already stays.
 *
 * @throws InvalidArgumentError when there is no data set of that name.
 * @throws DatasetError that names the file when it is corrupt or not to be had.
 */
export const download: NamedFunction<
  [name: string],
  ['name'],
  LoadOptions,
  Promise<string[]>
> = defineFunction('tf.keras.datasets.download', { name: true }, loadOptions, async (name, options) => {
  const about = ABOUT.find(([files]) => files.name === name);
  if (about !== undefined) return await downloadFiles(about[0], options);
  const names = ABOUT.map(([files]) => files.name).join(', ');
  throw new InvalidArgumentError(
    `there is no data set ${shown(name)}; there are ${names}`,
    'tf.keras.datasets.download',
  );
});

/** {@link download}, of any files. */
export async function downloadFiles(dataset: RemoteFiles, options: LoadOptions): Promise<string[]> {
  const paths: string[] = [];
  for (const file of dataset.files) paths.push((await loadFile(dataset, file, options)).path);
  return paths;
}
