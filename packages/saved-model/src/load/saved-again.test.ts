import { join } from 'node:path';
import { Checkpoint } from '@eagre/checkpoint';
import * as tf from '@eagre/core';
import { afterAll, describe, expect, test } from 'vitest';
import { save } from '../save/save.ts';
import {
  expectSame,
  type Golden,
  goldenFile,
  modelOf,
  type StoredModel,
  temporaryFolder,
  toValue,
  unpack,
} from '../testing/golden.ts';
import { load } from './load.ts';
import type { LoadedObject } from './loaded-object.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

type Call = (...args: unknown[]) => unknown;
const find = (loaded: LoadedObject, path: string): Call =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], loaded) as Call;

describe('models that are loaded, saved and loaded again compute the same', () => {
  for (const name of [
    'activations',
    'dense',
    'conv',
    'conv1d',
    'lstm',
    'gru',
    'any_length',
    'embedding',
    'attention',
    'named',
    'images',
    'flow',
    'training',
    'words',
    'categories',
    'texts',
    'tables',
  ])
    test(name, () => checkAgain(modelOf(name)));
});

/** Loads a model, saves it and loads that, as often as told. */
async function checkAgain(model: StoredModel, generations = 1): Promise<void> {
  const { name } = model;
  const first = await load(unpack(model, folder.path));
  let again = first;
  for (let i = 0; i < generations; i++) {
    const path = join(folder.path, `${name}-again-${i}`);
    await save(again, path, { signatures: again.signatures });
    again = await load(path);
  }
  expect(again.variables.map((v) => v.name).sort()).toEqual(first.variables.map((v) => v.name).sort());
  for (const [i, { call, args, kwargs, result }] of model.cases.entries()) {
    const named = Object.fromEntries(Object.entries(kwargs).map(([key, item]) => [key, toValue(item)]));
    const given = [...args.map(toValue), ...(Object.keys(named).length > 0 ? [named] : [])];
    expectSame(find(again, call)(...given), result, `${name}: ${i}, ${call}`);
  }
}

test('models of TensorFlow 1 are saved again as functions of their files, for generations', async () => {
  for (const model of [modelOf('v1'), ...goldenFile<Golden>('version1').models]) await checkAgain(model, 2);
});

test('concrete functions are attributes of what is saved again, for generations', async () => {
  for (const model of goldenFile<Golden>('concrete-functions').models) await checkAgain(model, 2);
});

describe('models of tables, texts and composite tensors, too', () => {
  for (const model of goldenFile<Golden>('composites').models)
    test(model.name, async () => {
      const first = await load(unpack(model, folder.path, `composite-${model.name}`));
      const path = join(folder.path, `composite-${model.name}-again`);
      await save(first, path, { signatures: first.signatures });
      const again = await load(path);
      for (const [i, { call, args, result }] of model.cases.entries())
        expectSame(find(again, call)(...args.map(toValue)), result, `${model.name}: ${i}, ${call}`);
    });
});

test('checkpoints hold the variables of a loaded model', async () => {
  const [a, b] = [
    await load(unpack(modelOf('flow'), folder.path)),
    await load(unpack(modelOf('flow'), folder.path)),
  ];
  a['step']();
  a['weights'][0].assign(tf.ones([2, 2]));
  const path = new Checkpoint({ model: a }).write(join(folder.path, 'checkpoint'));
  new Checkpoint({ model: b }).read(path).assertConsumed();
  expect(b['count'].item()).toBe(1);
  expect(b['weights'][0].array()).toEqual([
    [1, 1],
    [1, 1],
  ]);
});
