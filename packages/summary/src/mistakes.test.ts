// Arguments that summaries refuse, and what they say then.
import '@eagre/backend-js';
import { EagreError } from '@eagre/backend';
import { ones } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import {
  createFileWriter,
  Discrete,
  flush,
  HParam,
  histogram,
  hparams,
  hparamsConfig,
  hparamsEnd,
  Metric,
  readEvents,
  scalar,
  summaryIterator,
} from './index.ts';

const bad = (value: unknown): never => value as never;
const writer = createFileWriter(temporaryFolder('summary'));
afterAll(() => writer.close());

const mistakes: Readonly<Record<string, readonly [() => unknown, string]>> = {
  'a folder that is none': [() => createFileWriter(bad(10n)), 'the folder must be a path, got 10'],
  'a folder with a zero byte': [() => createFileWriter('a\0b'), 'the folder must be a path'],
  'flushing what is no writer': [() => flush(bad(ones([]))), 'expected a writer, got a tensor of float32 []'],
  'a description that is no text': [
    () => scalar('a', 1, { description: bad([1]) }),
    'description must be a string, got [1]',
  ],
  'a step of more than 64 bits': [() => scalar('a', 1, { step: 2n ** 63n }), 'expected a 64-bit integer'],
  'buckets that no memory holds': [
    () => histogram('a', ones([2]), { step: 1, buckets: 2 ** 40 }),
    'buckets are too many',
  ],
  // The argument by its name, and not a hyperparameter.
  'a number as values': [() => hparams(bad({ values: 3 })), 'expected hyperparameters by name, got 3'],
  'hyperparameters in a list': [() => hparams(bad([1, 2])), 'expected hyperparameters by name, got [1, 2]'],
  'a time that is none': [
    () => hparams({}, { startTimeSecs: bad(3n) }),
    'startTimeSecs must be a number, got 3',
  ],
  'a time of the end that is none': [
    () => hparamsEnd('success', { endTimeSecs: Number.NaN }),
    'endTimeSecs must be a number, got NaN',
  ],
  'names for hyperparameters': [
    () => hparamsConfig({ hparams: bad(['units']), metrics: [] }),
    "hparams[0] is 'units', expected a tf.summary.HParam",
  ],
  'names for metrics': [
    () => hparamsConfig({ hparams: [], metrics: bad([undefined]) }),
    'metrics[0] is undefined, expected a tf.summary.Metric',
  ],
  'values that are no list': [
    () => new Discrete(bad(undefined)),
    'values must be given: write new Discrete(values)',
  ],
  'one value as a tensor': [
    () => new Discrete(bad(ones([]))),
    'expected a list of values, got a tensor of float32 []',
  ],
  'an unknown option of a hyperparameter': [
    () => new HParam('a', undefined, bad({ title: 'A' })),
    "'title' is not an option",
  ],
  'a name to show that is no text': [
    () => new HParam('a', undefined, { displayName: bad(3) }),
    'displayName must be a string, got 3',
  ],
  'a metric of other data': [
    () => new Metric('m', { datasetType: bad('test') }),
    "datasetType must be one of 'training', 'validation', got 'test'",
  ],
  'reading no path': [() => readEvents(''), "the path must be a path, got ''"],
  'reading with a signal that is none': [
    () => readEvents('a', { signal: bad(true) }),
    'signal must be an AbortSignal, got true',
  ],
  'going through no path': [() => [...summaryIterator(bad(3))], 'the path must be a path, got 3'],
};

test.each(Object.entries(mistakes))('%s', (_, [run, message]) => {
  let caught: unknown;
  try {
    writer.asDefault(0, () => void run());
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(EagreError);
  expect((caught as Error).message).toContain(message);
});
