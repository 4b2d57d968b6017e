import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { InvalidArgumentError, NotFoundError, ones, type Tensor, UnimplementedError } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { load } from '@eagre/saved-model';
import { afterAll, expect, test } from 'vitest';
import { ExportArchive, Input, layers, Model, Sequential } from '../../index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-tfsm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function saved(name: string): Promise<{ model: Sequential; path: string }> {
  const model = new Sequential([
    Input([2]),
    new layers.Dense(3, { activation: 'tanh' }),
    new layers.Dense(1),
  ]);
  const path = join(folder, name);
  await model.export(path, { verbose: false });
  return { model, path };
}

test('computes what the model computed, and trains', async () => {
  const { model, path } = await saved('model');
  const layer = await layers.TFSMLayer.load(path);
  const x = ones([4, 2]);
  expect(layer(x).array()).toEqual(model(x).array());
  expect(layer.filepath).toBe(path);
  expect(layer.weights.map((w) => w.shape)).toEqual(model.weights.map((w) => w.shape));
  expect(layer.trainableVariables.length).toBe(4);
  const around = new Sequential([Input([2]), layer, new layers.Dense(1)]);
  around.compile({ optimizer: 'sgd', loss: 'mse' });
  const before = layer.getWeights().map((w) => w.array());
  const { history } = await around.fit(x, ones([4, 1]), { epochs: 5 });
  expect(history['loss']?.at(-1)).toBeLessThan(history['loss']?.[0] as number);
  expect(layer.getWeights().map((w) => w.array())).not.toEqual(before);
  const input = Input([2]);
  expect(new Model(input, layer(input)).outputs?.[0]?.shape).toEqual([null, 1]);
});

test('endpoints: of training, of signatures, by the names of inputs', async () => {
  const model = new Sequential([Input([2]), new layers.Dense(1)]);
  const archive = new ExportArchive();
  archive.track(model);
  const inputSignature = [new TensorSpec([null, 2], 'float32', 'rows')];
  archive.addEndpoint('once', (rows: Tensor) => model(rows), { inputSignature });
  archive.addEndpoint('twice', (rows: Tensor) => model(rows).mul(2), { inputSignature });
  const path = join(folder, 'endpoints');
  await archive.writeOut(path, { verbose: false });
  const layer = await layers.TFSMLayer.load(path, { callEndpoint: 'once', callTrainingEndpoint: 'twice' });
  const x = ones([1, 2]);
  const [one] = (model(x) as Tensor).array<number[][]>()[0] as [number];
  expect(layer(x).array()).toEqual([[one]]);
  expect(layer(x, { training: true }).array()).toEqual([[2 * one]]);
  const loaded = await load(path);
  const bySignature = new layers.TFSMLayer(loaded as never, { callEndpoint: 'serving_default' });
  const y = bySignature(x) as unknown as Record<string, Tensor>;
  expect(Object.values(y)[0]?.array()).toEqual([[one]]);
  const named = bySignature({ rows: x } as never) as unknown as Record<string, Tensor>;
  expect(Object.values(named)[0]?.array()).toEqual([[one]]);
  expect(bySignature.filepath).toBe(null);
});

test('refuses what is no model, unknown endpoints, and configurations', async () => {
  const { path } = await saved('refused');
  await expect(layers.TFSMLayer.load(join(folder, 'nothing'))).rejects.toThrow(NotFoundError);
  await expect(layers.TFSMLayer.load(1 as never)).rejects.toThrow(InvalidArgumentError);
  await expect(layers.TFSMLayer.load(path, { callEndpoint: 'other' })).rejects.toThrow(
    "no endpoint 'other'; its signatures are serve, serving_default",
  );
  await expect(layers.TFSMLayer.load(path, { callEndpoint: 1 as never })).rejects.toThrow(
    InvalidArgumentError,
  );
  expect(() => new layers.TFSMLayer(path as never)).toThrow('await TFSMLayer.load(');
  expect(() => new layers.TFSMLayer(ones([1]) as never)).toThrow('tf.savedModel.load');
  const layer = await layers.TFSMLayer.load(path);
  expect(layer.getConfig()).toMatchObject({ filepath: path, call_endpoint: 'serve' });
  expect(() => layers.TFSMLayer.fromConfig(layer.getConfig())).toThrow(UnimplementedError);
});
