import type { Kind } from '@eagre/core/internal';
import { decodeNpzRagged, type NDArray, type NDArrayOf } from '@eagre/formats';
import { corrupt, decoding } from './corrupt.ts';
import * as kind from './kinds.ts';
import { loadFile, type RemoteFile, type RemoteFiles } from './load-file.ts';
import { type LoadOptions, loadOptions } from './options.ts';

/** Texts as numbers of words, one array per text, and their labels, int64 [count]. */
export type SequenceSplit = readonly [sequences: readonly Int32Array[], labels: NDArrayOf<'int64'>];

/** How texts become numbers; the defaults are Keras's. */
export interface SequenceOptions extends LoadOptions {
  /** Words whose number (with `indexFrom` added) is not below this are out of vocabulary. Default: all but the last. */
  numWords?: number | undefined;
  /** Words whose number (with `indexFrom` added) is below this are out of vocabulary. Default: 0. */
  skipTop?: number | undefined;
  /** Leaves out texts that are not shorter than this. Default: none. */
  maxlen?: number | undefined;
  /** Seed of the order of the texts. Default: 113. */
  seed?: number | undefined;
  /** The number before every text, or null for none. Default: 1. */
  startChar?: number | null | undefined;
  /** The number in place of words out of vocabulary, or null to leave them out. Default: 2. */
  oovChar?: number | null | undefined;
  /** What is added to the numbers of words, which begin at 1. Default: 3. */
  indexFrom?: number | undefined;
}

/** How these are read. */
export const sequenceOptions: Readonly<Record<keyof SequenceOptions, Kind>> = {
  ...loadOptions,
  numWords: kind.count(1),
  skipTop: kind.count(0),
  maxlen: kind.count(1),
  seed: kind.seed,
  startChar: kind.countOrNull,
  oovChar: kind.countOrNull,
  indexFrom: kind.count(0),
};

/** Texts and labels in the order of a file. */
export interface RawSequences {
  sequences: readonly Int32Array[];
  labels: BigInt64Array;
}

/** Reads an `.npz` file of ragged sequences: for each pair of names, the sequences and as many labels below `classes`. */
export async function loadSequences(
  files: RemoteFiles,
  pairs: readonly (readonly [sequences: string, labels: string])[],
  classes: number,
  options: LoadOptions,
): Promise<RawSequences[]> {
  const { path, bytes } = await loadFile(files, files.files[0], options);
  const arrays = await decoding(files.name, path, () =>
    decodeNpzRagged(bytes, { file: path, maxBytes: 2 ** 29 }),
  );
  return pairs.map(([x, y]) => {
    const sequences = arrays.get(x);
    const labels = arrays.get(y);
    if (!Array.isArray(sequences))
      throw corrupt(files.name, path, x, 'lists of integers', sequences ? 'numbers' : 'nothing');
    return {
      sequences,
      labels: checkedLabels(files.name, path, labels, sequences.length, classes),
    };
  });
}

function checkedLabels(
  dataset: string,
  file: string,
  labels: NDArray | Int32Array[] | undefined,
  count: number,
  classes: number,
): BigInt64Array {
  if (labels === undefined || Array.isArray(labels) || !['int64', 'int32', 'uint8'].includes(labels.dtype))
    throw corrupt(dataset, file, 'labels', 'integers', 'something else');
  if (labels.shape.length !== 1 || labels.shape[0] !== count)
    throw corrupt(dataset, file, 'labels', `[${count}]`, `[${labels.shape.join(', ')}]`);
  const values = BigInt64Array.from(labels.data as Iterable<bigint | number>, (label) => BigInt(label));
  const wrong = values.findIndex((label) => label < 0n || label >= BigInt(classes));
  if (wrong < 0) return values;
  throw corrupt(dataset, file, `label ${wrong}`, `0 to ${classes - 1}`, `${values[wrong]}`);
}

/** The seed that the options say, or Keras's. */
export function seedOf({ seed = 113 }: SequenceOptions): number {
  return seed;
}

/** Shuffles texts with NumPy's `shuffle`, marks their start, and leaves out those that are too long. */
export function arrange(
  raw: RawSequences,
  shuffle: (count: number) => Int32Array,
  options: SequenceOptions,
): RawSequences {
  const { startChar = 1, indexFrom = 3, maxlen } = options;
  const start = startChar === null ? [] : [startChar];
  const sequences: Int32Array[] = [];
  const labels: bigint[] = [];
  for (const index of shuffle(raw.sequences.length)) {
    const words = raw.sequences[index];
    if (maxlen !== undefined && words.length + start.length >= maxlen) continue;
    const sequence = new Int32Array(words.length + start.length);
    sequence.set(start);
    for (let i = 0; i < words.length; i++) sequence[i + start.length] = words[i] + indexFrom;
    sequences.push(sequence);
    labels.push(raw.labels[index]);
  }
  return { sequences, labels: BigInt64Array.from(labels) };
}

/** Puts `oovChar` in place of rare and frequent words; the default of `numWords` looks at all texts of the data set. */
export function limitWords(
  sequences: readonly Int32Array[],
  options: SequenceOptions,
  all: readonly Int32Array[] = sequences,
): Int32Array[] {
  const { skipTop = 0, oovChar = 2 } = options;
  const numWords = options.numWords ?? largest(all);
  const known = (word: number): boolean => word >= skipTop && word < numWords;
  return sequences.map((sequence) =>
    oovChar === null ? sequence.filter(known) : sequence.map((word) => (known(word) ? word : oovChar)),
  );
}

/** The result for one split. */
export function sequenceSplit(sequences: readonly Int32Array[], labels: BigInt64Array): SequenceSplit {
  return [sequences, { dtype: 'int64', shape: [labels.length], data: labels }];
}

/** Reads a JSON file that maps words to numbers from 1. */
export async function loadWordIndex(
  dataset: RemoteFiles,
  file: RemoteFile,
  options: LoadOptions,
): Promise<ReadonlyMap<string, number>> {
  const { path, bytes } = await loadFile(dataset, file, options);
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw corrupt(dataset.name, path, 'word index', 'JSON', (cause as Error).message);
  }
  const index = new Map<string, number>();
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw corrupt(dataset.name, path, 'word index', 'an object', 'something else');
  for (const [word, number] of Object.entries(parsed)) {
    if (!Number.isInteger(number) || number < 1)
      throw corrupt(dataset.name, path, 'word index', 'numbers from 1', String(number).slice(0, 40));
    index.set(word, number);
  }
  return index;
}

function largest(sequences: readonly Int32Array[]): number {
  let most = 0;
  for (const sequence of sequences) for (const word of sequence) if (word > most) most = word;
  return most;
}
