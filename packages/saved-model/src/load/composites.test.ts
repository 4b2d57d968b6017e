// Models of TensorFlow whose functions take composite tensors, hold tables that change, or are Keras layers for text.
import type { Tensor } from '@eagre/core';
import { afterAll, describe, expect, test } from 'vitest';
import {
  expectSame,
  goldenFile,
  type StoredModel,
  temporaryFolder,
  toValue,
  unpack,
} from '../testing/golden.ts';
import { load } from './load.ts';
import type { LoadedObject } from './loaded-object.ts';

const { models } = goldenFile<{ readonly models: readonly StoredModel[] }>('composites');
const folder = temporaryFolder();
afterAll(() => folder.remove());

describe.each(models.map((model) => [model.name, model] as const))('%s', async (_, model) => {
  const loaded: LoadedObject = await load(unpack(model, folder.path));
  for (const [i, { call, args, result }] of model.cases.entries())
    test(`${i}, ${call}`, () => {
      const given = args.map(toValue);
      expectSame(loaded[call](...given), result, call);
    });
});

test('a table that was changed is that of the file again when the model is loaded anew', async () => {
  const model = models.find(({ name }) => name === 'tables') as StoredModel;
  const loaded = await load(unpack(model, folder.path, 'anew'));
  const [before] = loaded['numbers'](toValue(model.cases[1]?.args[0] as never)) as [Tensor];
  expect(before.array()).toEqual([5n, 6n, -1n, -1n, -1n]);
});

test('lookups of numbers are traced for all sizes', async () => {
  for (const [name, call] of [
    ['integer-lookup', 'serve'],
    ['tables', 'numbers'],
  ] as const) {
    const loaded = await load(
      unpack(models.find((m) => m.name === name) as StoredModel, folder.path, `${name}-traced`),
    );
    expect(loaded[call].getConcreteFunction().graph.nodes.length, name).toBeGreaterThan(2);
  }
});
