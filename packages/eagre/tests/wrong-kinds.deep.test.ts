// Each argument of each public function, replaced by something of another kind: there is a value, or an error of Eagre's own.
import { type Declared, declared } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { type AnyFunction, isClass, valuesFor } from './testing/arguments.ts';

const ragged = tf.ragged.constant([[1, 2], [3]]);
const sparse = new tf.SparseTensor([[0, 1]], [2], [2, 2]);

const kinds: Readonly<Record<string, unknown>> = {
  'a ragged tensor': ragged,
  'a sparse tensor': sparse,
  'ragged tensors': [ragged, ragged],
  'sparse tensors': [sparse, sparse],
  'a ragged tensor among others': [ragged, 1],
  'a number': 3,
  null: null,
  'a function': (x: unknown): unknown => x,
  'a huge number': 2 ** 50,
  'huge numbers': [2 ** 50, 2 ** 50],
  'a huge tensor': tf.constant(2n ** 50n, 'int64'),
  'a text with NUL': 'a\0b',
  texts: ['a', 'b\0'],
  'an object': {},
  'nothing in a list': [null, undefined],
  'an empty list': [],
  'a layer': new tf.layers.Dense(2),
  'a dataset': tf.data.Dataset.range(2),
};

/** They do something to the process or its files, wait, or take anything. */
const skipped =
  /^(?:applications|keras\.(?!ops|activations|losses|metrics|utils\.(?:toCategorical|normalize|padSequences|pad))|config|compat|summary|distribute|profiler|train|savedModel|autograph|onnx|serving|data|datasets|debugging\.experimental|io\.(?:gfile|write|read|matching|TF)|queue|register|function|print|isTensor|hub|test|experimental\.(?!numpy|hostFunction)|types|version|device|threads|setLogDevicePlacement|load|save)/;

const isSpace = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(Object.getOwnPropertyDescriptors(value)).some(({ get }) => get !== undefined);

function allFunctions(): Map<AnyFunction, { name: string; takes: Declared }> {
  const found = new Map<AnyFunction, { name: string; takes: Declared }>();
  const seen = new Set<unknown>();
  const walk = (space: Record<string, unknown>, prefix: string, depth: number): void => {
    if (seen.has(space) || depth > 4) return;
    seen.add(space);
    for (const key of Object.keys(space)) {
      const name = `${prefix}${key}`;
      if (skipped.test(name)) continue;
      const value = space[key];
      if (typeof value === 'function' && !isClass(value)) {
        const takes = declared(value);
        if (takes !== undefined && !found.has(value as AnyFunction))
          found.set(value as AnyFunction, { name, takes });
      } else if (isSpace(value) || Object.prototype.toString.call(value) === '[object Module]')
        walk(value as Record<string, unknown>, `${name}.`, depth + 1);
    }
  };
  walk(tf as unknown as Record<string, unknown>, '', 0);
  return found;
}

const functions = [...allFunctions()].map(([fn, { name, takes }]) => ({ fn, name, takes }));

/** Whether an error comes from code that the library was given, which may throw what it likes. */
const isOfUser = ({ stack = '' }: Error): boolean =>
  /^ *at .*(?:testing\/(?:more-)?arguments|wrong-kinds\.deep\.test)\.ts/.test(
    stack.split('\n').find((line) => /^ *at /.test(line)) ?? '',
  );

test.each(functions)('$name', async ({ fn, name, takes }) => {
  const wrong: string[] = [];
  const values = valuesFor(name, takes);
  const rest = takes.rest === undefined ? [] : [takes.rest];
  for (const key of [...takes.positional, ...rest, ...Object.keys(takes.options)])
    for (const [kind, value] of Object.entries(kinds)) {
      const args = Object.fromEntries(takes.positional.map((n) => [n, n in values ? values[n] : [1, 2]]));
      try {
        await fn({ ...values, ...args, [key]: value });
      } catch (error) {
        if (!(error instanceof tf.errors.EagreError) && !isOfUser(error as Error))
          wrong.push(`${key} is ${kind}: ${String(error)}`);
      }
    }
  expect(wrong).toEqual([]);
});
