// Every option of every layer, loss, metric, optimizer, initializer and schedule, with values that nobody expects: each is refused at once by an error of
// Eagre's own that names the option, or the object works, or says what it cannot do.

import { readFileSync } from 'node:fs';
import { optionsFrom } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { processorTime } from '../../testing/src/processor-time.ts';
import * as tf from '../src/index.ts';

interface Written {
  readonly class_name: string;
  readonly config: Record<string, unknown>;
}
type Json = Record<string, unknown>;
type Class = new (options: Json) => { getConfig(): Json };
const golden = JSON.parse(readFileSync(new URL('../golden/configs.json', import.meta.url), 'utf8')) as Record<
  string,
  readonly Written[]
>;
const groups = {
  layers: tf.layers,
  initializers: tf.initializers,
  regularizers: tf.keras.regularizers,
  constraints: tf.keras.constraints,
  optimizers: tf.optimizers,
  schedules: tf.optimizers.schedules,
  losses: tf.losses,
  metrics: tf.metrics,
} as unknown as Readonly<Record<string, Readonly<Record<string, Class>>>>;

const bare: unknown = Object.create(null);
const odd: readonly unknown[] = [
  1e10,
  2 ** 31,
  1e308,
  -1,
  -1e10,
  2.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  bare,
  () => 1,
  Symbol('s'),
  10n,
  'x',
  [],
  [bare],
  [1e10, 1e10],
  [Symbol('a'), Symbol('b')],
  {},
  true,
];
const inputs: readonly (() => unknown)[] = [
  () => tf.ones([2, 3]),
  () => tf.ones([2, 4, 3]),
  () => tf.ones([2, 8, 8, 3]),
  () => tf.ones([2, 4, 4, 4, 3]),
  () => tf.constant([[1n, 2n]], 'int64'),
  () => [tf.ones([2, 4, 3]), tf.ones([2, 4, 3])],
  () => tf.constant(['a b']),
];
/** What is refused by another name than the option's, or for how it fits others. */
const otherwise = /the learning rate must|the target class|needs a mean of rank|a layer's configuration/;

/** The options of what Keras wrote; without those that are objects in Keras, and are not made by constructors here. */
function optionsOf({ class_name: name, config }: Written, Class: Class): Json {
  const { vocabularySize: _, ...options } = optionsFrom(
    { ...config, vocabulary_size: undefined },
    Class,
  ) as Json;
  if (name === 'Bidirectional') return { layer: new tf.layers.LSTM(2), mergeMode: 'sum' };
  if (name === 'Adam') return { ...options, learningRate: 0.1 };
  if (name === 'MultiOptimizer' || name === 'LossScaleOptimizer')
    return { innerOptimizer: new tf.optimizers.SGD() };
  return options;
}

/** @throws what is not ours, or does not name the option. @returns whether it threw */
function refuses(call: () => unknown, option: string | null): boolean {
  try {
    call();
    return false;
  } catch (error) {
    if (!(error instanceof tf.errors.EagreError)) throw error;
    if (option !== null && !error.message.includes(option) && !otherwise.test(error.message))
      throw new Error(`${option} is not named: ${error.message}`);
    return true;
  }
}

for (const [group, classes] of Object.entries(groups))
  describe(group, () => {
    const all = new Map((golden[group] as readonly Written[]).map((w) => [w.class_name, w]));
    test.each([...all].filter(([name]) => name !== 'MultiOptimizer'))('%s', (name, written) => {
      const Class = classes[name] as Class;
      const options = optionsOf(written, Class);
      new Class(options);
      for (const option of Object.keys(options))
        for (const value of odd) {
          const make = (): unknown => new Class({ ...options, [option]: value });
          const use = (): void => {
            if (refuses(make, option)) return;
            const made = new Class({ ...options, [option]: value });
            refuses(
              () => JSON.stringify(made.getConfig(), (_, v: unknown) => (typeof v === 'bigint' ? 0 : v)),
              null,
            );
            if (group === 'layers')
              for (const input of inputs) refuses(() => (make() as tf.layers.Layer)(input() as never), null);
          };
          expect(processorTime(use), `${option}: ${String(typeof value)}`).toBeLessThan(5000);
        }
    });
  });
