import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import {
  containsSavedModel,
  LoadOptions,
  load,
  SAVED_MODEL_FILENAME_PB,
  SaveOptions,
  save,
} from './index.ts';
import { temporaryFolder } from './testing/golden.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const spec = { inputSignature: [new TensorSpec([null], 'float32')] };
const made = (): { v: tf.Variable; f: (x: tf.Tensor) => tf.Tensor } => {
  const v = new tf.Variable([2, 3], { name: 'v' });
  return { v, f: tfFunction((x: tf.Tensor) => x.mul(v.read().sum()), spec) as never };
};

test('tags and other names of functions', async () => {
  const path = join(folder.path, 'tags');
  const model = made();
  const options = new SaveOptions({ extraTags: ['fast', 'serve'], functionAliases: { score: model.f } });
  await save(model, path, { options });
  const { meta_graphs: [meta] = [] } = tensorflow.SavedModel.decode(
    readFileSync(join(path, SAVED_MODEL_FILENAME_PB)),
  );
  expect(meta?.meta_info_def?.tags).toEqual(['serve', 'fast']);
  const [[name, alias] = []] = meta?.meta_info_def?.function_aliases ?? [];
  expect([meta?.object_graph_def?.concrete_functions?.has(name as string), alias]).toEqual([true, 'score']);
  const x = tf.constant([1, 2]);
  const loaded = await load(path, {
    tags: ['fast', 'serve'],
    options: new LoadOptions({ experimentalLoadFunctionAliases: true }),
  });
  expect(loaded['functionAliases'].score(x).array()).toEqual([5, 10]);
  expect((await load(path))['functionAliases']).toBe(undefined);
  await expect(load(path, { tags: 'serve' })).rejects.toThrow(tf.NotFoundError);
});

test('a function that is not saved has no other name, and nothing is written', async () => {
  const path = join(folder.path, 'foreign');
  const options = new SaveOptions({ functionAliases: { score: made().f } });
  await expect(save(made(), path, { options })).rejects.toThrow(/functionAliases.score/);
  expect(existsSync(path)).toBe(false);
});

test('values may be left out', async () => {
  const path = join(folder.path, 'skip');
  await save(made(), path);
  const { v } = await load(path, { options: new LoadOptions({ experimentalSkipCheckpoint: true }) });
  expect(v.array()).toEqual([0, 0]);
  const partial = new LoadOptions({ allowPartialCheckpoint: true });
  expect((await load(path, { options: partial })).v.array()).toEqual([2, 3]);
});

test('options without a meaning here are refused, and others are no options', async () => {
  expect(() => new SaveOptions({ saveDebugInfo: true })).toThrow(tf.UnimplementedError);
  expect(() => new SaveOptions({ namespaceWhitelist: ['own'] })).toThrow(tf.UnimplementedError);
  expect(() => new SaveOptions({ extraTags: [3 as never] })).toThrow(tf.InvalidArgumentError);
  expect(() => new SaveOptions({ other: 1 } as never)).toThrow(tf.InvalidArgumentError);
  expect(() => new LoadOptions({ experimentalIoDevice: '/job:worker' })).toThrow(tf.UnimplementedError);
  new SaveOptions({ saveDebugInfo: false, namespaceWhitelist: [], experimentalIoDevice: '/job:localhost' });
  const path = join(folder.path, 'wrong');
  await expect(save(made(), path, { options: {} as never })).rejects.toThrow(/new tf.savedModel.SaveOptions/);
  await expect(load(path, { options: {} as never })).rejects.toThrow(/new tf.savedModel.LoadOptions/);
});

test('whether there is a SavedModel', async () => {
  const path = join(folder.path, 'there');
  expect(containsSavedModel(path)).toBe(false);
  await save(made(), path);
  expect(containsSavedModel(path)).toBe(true);
  expect(() => containsSavedModel(3 as never)).toThrow(tf.InvalidArgumentError);
});
