// Files that real Keras made: tools/golden/keras_model_files.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hdf5GroupBuilder } from '@eagre/formats';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { applications, loadModel, type Model, saveModelToBytes } from '../index.ts';
import { flat, folder, type GoldenCase, golden, lossesOf, tensorsOf } from '../testing/keras-files.ts';
import { saveState } from './keras-state.ts';

const own = mkdtempSync(join(tmpdir(), 'eagre-keras-'));
afterAll(() => rmSync(own, { recursive: true }));

const close = (actual: readonly number[], wanted: readonly number[], digits = 4): void => {
  expect(actual.length).toBe(wanted.length);
  for (const [i, value] of actual.entries()) expect(value).toBeCloseTo(wanted[i] as number, digits);
};
function check(model: Model, one: GoldenCase): void {
  close(flat(model(tensorsOf(one.x) as never)), flat(one.outputs));
  if (one.losses !== undefined) close(lossesOf(model, one), one.losses);
}

describe('.keras files predict the same, and train on with the same losses', () => {
  test.each(Object.keys(golden.cases))('%s', async (name) => {
    const one = golden.cases[name] as GoldenCase;
    const warn = vi.spyOn(console, 'warn');
    const model = await loadModel(`${folder}${name}.keras`);
    const path = join(own, `${name}.keras`);
    await model.save(path);
    check(model, one);
    // Ours hold the same.
    check(await loadModel(path), one);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

const files = (ending: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
/** A model that was compiled like the one of a case, with other weights. */
async function fresh(name: string): Promise<Model> {
  const model = await loadModel(`${folder}${name}.keras`);
  model.setWeights(model.getWeights().map((w) => w.mul(0).add(0.5 as never)));
  model.compile({ optimizer: model.optimizer.constructor.name.toLowerCase(), loss: 'mse' } as never);
  return model;
}
const again = (model: Model): unknown[] => model.getWeights().map((w) => w.array());

describe('.weights.h5', () => {
  test.each(files('.weights.h5').filter((name) => !name.startsWith('sharded')))('%s', async (name) => {
    const one = golden.cases[name] as GoldenCase;
    const model = await loadModel(`${folder}${name}.keras`);
    const wanted = again(model);
    const zeros = model.getWeights().map((w) => w.mul(0));
    for (const way of ['file', 'own', 'shards', 'archive']) {
      const path = join(own, `${way}-${name}.weights.${way === 'shards' ? 'json' : 'h5'}`);
      if (way === 'own') await model.saveWeights(path);
      if (way === 'shards') await model.saveWeights(path, { maxShardSize: 2000 / 2 ** 30 });
      if (way === 'archive') await model.save(path.replace('.weights.h5', '.keras'));
      model.setWeights(zeros);
      const from = { file: `${folder}${name}.weights.h5`, archive: path.replace('.weights.h5', '.keras') };
      await model.loadWeights(from[way as keyof typeof from] ?? path);
      expect(again(model), way).toEqual(wanted);
    }
    check(model, one);
  });

  test('into a model that has not trained: the optimizer goes on', async () => {
    const one = golden.cases['dense'] as GoldenCase;
    const trained = await loadModel(`${folder}dense.keras`);
    const model = await loadModel(`${folder}dense.keras`, { compile: false });
    model.compileFromConfig(trained.getCompileConfig());
    await model.loadWeights(`${folder}dense.weights.h5`);
    check(model, one);
  });

  test('in several files, as Keras wrote them', async () => {
    const model = await fresh('dense');
    await model.loadWeights(`${folder}sharded.weights.json`);
    expect(again(model)).toEqual(again(await loadModel(`${folder}dense.keras`)));
    expect(files('.weights.h5').filter((name) => name.startsWith('sharded')).length).toBeGreaterThan(3);
  });
});

describe('older .h5 files', () => {
  const names = files('.h5').filter((name) => !name.endsWith('.weights'));
  test.each(names)('%s', async (name) => {
    const one = golden.cases[name] as GoldenCase;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    check(await loadModel(`${folder}${name}.h5`), one);
    expect(warn).not.toHaveBeenCalled();
    // As written here.
    const model = await loadModel(`${folder}${name}.keras`);
    const path = join(own, `${name}.h5`);
    await model.save(path);
    expect(warn).toHaveBeenCalledTimes(1);
    check(await loadModel(path), one);
    // Weights alone, by their places and by the names of layers.
    const wanted = again(await loadModel(path));
    for (const byName of [false, true]) {
      model.setWeights(model.getWeights().map((w) => w.mul(0)));
      await model.loadWeights(`${folder}${name}.h5`, { byName });
      expect(again(model)).toEqual(wanted);
    }
    warn.mockRestore();
  });
});

test('weights lie where Keras has them', async () => {
  const { MobileNetV2, EfficientNetB0 } = applications;
  const models = {
    mobilenet_v2: MobileNetV2({ inputShape: [32, 32, 3], alpha: 0.35, weights: null }),
    efficientnet_b0: EfficientNetB0({ inputShape: [32, 32, 3], weights: null }),
  };
  for (const [name, model] of Object.entries(models)) expect(pathsOf(model)).toEqual(golden.paths[name]);
});
/** The shapes of all arrays by their paths. */
function pathsOf(model: Model): Record<string, readonly number[]> {
  const found: Record<string, readonly number[]> = {};
  const visit = (group: Hdf5GroupBuilder, path: string): void => {
    for (const [name, child] of group.children) {
      if (child instanceof Hdf5GroupBuilder) visit(child, `${path}${name}/`);
      else found[`${path}${name}`] = child.shape;
    }
  };
  visit(saveState(model).weights, '');
  return found;
}

test('bytes, for where there are no files', async () => {
  const one = golden.cases['lookup'] as GoldenCase;
  const model = await loadModel(new Uint8Array(readFileSync(`${folder}lookup.keras`)));
  check(await loadModel(await saveModelToBytes(model)), one);
  check(
    await loadModel(new Uint8Array(readFileSync(`${folder}dense.h5`))),
    golden.cases['dense'] as GoldenCase,
  );
});

test('a folder instead of an archive', async () => {
  const one = golden.cases['lookup'] as GoldenCase;
  const model = await loadModel(`${folder}lookup.keras`);
  const path = join(own, 'folder');
  await model.save(path, { zipped: false });
  await model.save(path, { zipped: false });
  check(await loadModel(path), one);
  expect(readdirSync(path).sort()).toEqual(['assets', 'config.json', 'metadata.json', 'model.weights.h5']);
  expect(readdirSync(own).filter((name) => name.startsWith('.'))).toEqual([]);
});
