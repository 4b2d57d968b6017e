import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Checkpoint } from '@eagre/checkpoint';
import * as tf from '@eagre/core';
import { tensorflow } from '@eagre/formats';
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

test('models of rarer kinds are saved again as functions of their files, for generations', async () => {
  for (const model of goldenFile<Golden>('more-models').models) await checkAgain(model, 2);
});

test('handles of variables keep their dtypes and shapes, which TensorFlow infers others from', async () => {
  const model = goldenFile<Golden>('more-models').models.find(
    ({ name }) => name === 'updates',
  ) as StoredModel;
  const path = join(folder.path, 'updates-handles');
  await save(await load(unpack(model, folder.path)), path);
  const { meta_graphs = [] } = tensorflow.SavedModel.decode(readFileSync(join(path, 'saved_model.pb')));
  const functions = meta_graphs[0]?.graph_def?.library?.function ?? [];
  const update = functions.find(({ node_def }) =>
    node_def?.some(({ op }) => op === 'ResourceApplyAdagradV2'),
  );
  const [, handle] = update?.signature?.input_arg ?? [];
  expect(handle?.handle_data).toEqual([{ dtype: 1, shape: { dim: [{ size: 4 }, { size: 2 }] } }]);
});

test('a part of a graph of TensorFlow 1 is saved as an attribute, with the model that it is of', async () => {
  const model = goldenFile<Golden>('version1').models.find(({ name }) => name === 'v1-text') as StoredModel;
  const loaded = await load(unpack(model, folder.path, 'parts'));
  const ids = loaded['prune']('words:0', [
    'hash_table_Lookup/LookupTableFindV2:0',
    'words:0',
    'layer/weights:0',
    'rows:0',
  ]);
  const variables = ['layer/weights', 'rows'].map((name) => loaded['graphVariables'][name].array());
  const path = join(folder.path, 'parts-again');
  await expect(save({ ids: loaded['prune']('words:0', 'MatMul:0') }, path)).rejects.toThrow(
    /uses the variable .*, which is not part of what is saved/,
  );
  await save({ ids, loaded }, path, { signatures: { ids } });
  const again = await load(path);
  const words = tf.constant(['red', 'blue']);
  for (const call of [() => again['ids'](words), () => again['ids']({ words })])
    expect(call().map((x: tf.Tensor) => x.array())).toEqual([[0n, 2n], ['red', 'blue'], ...variables]);
  expect(Object.keys(again.signatures['ids']?.({ words }) as object)).toEqual([
    'output_0',
    'output_1',
    'output_2',
    'output_3',
  ]);
  expect(again['loaded'].signatures.serving_default({ words }).ids.array()).toEqual([0n, 2n]);
  await expect(save({ run: loaded['prune']([], ['init_all_tables']), loaded }, path)).rejects.toThrow(
    /runs the operation 'init_all_tables'/,
  );
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
