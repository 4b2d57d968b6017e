// Where ops run that nobody places: on a GPU, where there is one. Here that is a device for tests, which works later and lacks a kernel.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerBackend, unregisterBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend, openWatcher } from '@eagre/backend-native';
import { RemoteBackend } from '@eagre/testing';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const before = tf.ones([2]);
const gpu = new RemoteBackend(nativeBackend ?? jsBackend, {
  type: 'GPU',
  watcher: openWatcher(),
  lacks: ['Svd'],
});
registerBackend(gpu, -1);
const GPU = '/device:GPU:0';
const CPU = '/device:CPU:0';

const folder = mkdtempSync(join(tmpdir(), 'eagre-default-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  tf.config.setVisibleDevices(tf.config.listPhysicalDevices());
  tf.config.setSoftDevicePlacement(true);
  vi.restoreAllMocks();
});

test('ops, variables and functions are on the GPU, whatever was made before it was there', () => {
  const traced = tf.function((x: tf.Tensor) => x.mul(2).sum());
  expect(traced(before).device).toBe(GPU);
  expect([before, tf.ones([2]), before.add(1), new tf.Variable(before)].map((x) => x.device)).toEqual([
    CPU,
    GPU,
    GPU,
    GPU,
  ]);
  expect(before.add(1).array()).toEqual([2, 2]);
  expect(tf.device('/cpu:0', () => [traced(before).device, tf.ones([2]).device])).toEqual([CPU, CPU]);
  expect(tf.experimental.withBackend('js', () => tf.ones([2])).backend).toBe(jsBackend);
  // A function runs where it is called, and what it is told runs elsewhere there.
  const mixed = tf.function((x: tf.Tensor) => [x.add(1), tf.device('/cpu:0', () => x.add(2))]);
  expect(mixed(before).map((y) => [y.device, y.array()])).toEqual([
    [GPU, [2, 2]],
    [CPU, [3, 3]],
  ]);
});

test('nothing is read of the GPU to give a constant its shape', () => {
  const { waits } = gpu;
  const x = tf.constant(new Float32Array(6).fill(2), 'float32', { shape: [2, 3] });
  const more: tf.Tensor[] = [
    tf.constant([1, 2, 3, 4], 'int32', { shape: [2, 2] }),
    tf.constant(7, 'float32', { shape: [2, 2] }),
    tf.fill([2, 2], 3),
  ];
  expect(gpu.waits).toBe(waits);
  expect(x.array()).toEqual([
    [2, 2, 2],
    [2, 2, 2],
  ]);
  expect(more.map((y) => (y.array() as number[][]).flat())).toEqual([
    [1, 2, 3, 4],
    [7, 7, 7, 7],
    [3, 3, 3, 3],
  ]);
  // It is a tensor of its own.
  const flat = tf.constant([1, 2, 3, 4]);
  const square = tf.constant(flat, 'float32', { shape: [2, 2] });
  const v = new tf.Variable(square);
  flat.dispose();
  v.assignAdd(square);
  square.dispose();
  expect(v.array()).toEqual([
    [2, 4],
    [6, 8],
  ]);
});

test('the CPU stays the first in lists, and the threads are its', () => {
  const types = [...new Set(tf.config.listLogicalDevices().map((d) => d.deviceType))];
  expect(types[0]).toBe('CPU');
  expect(types).toContain('GPU');
  const { getIntraOpParallelismThreads, setIntraOpParallelismThreads } = tf.config.threading;
  const before = getIntraOpParallelismThreads();
  setIntraOpParallelismThreads(1);
  expect((nativeBackend ?? jsBackend).threads()).toBe(1);
  setIntraOpParallelismThreads(before);
  expect(getIntraOpParallelismThreads()).toBe(before);
});

test('it is not where the program hides it, and not where it was given back', () => {
  tf.config.setVisibleDevices([], 'GPU');
  expect(tf.ones([2]).device).toBe(CPU);
  tf.config.setVisibleDevices(tf.config.listPhysicalDevices());
  expect(tf.ones([2]).device).toBe(GPU);
  unregisterBackend(gpu);
  expect(tf.ones([2]).device).toBe(CPU);
  expect(() => tf.device('/gpu:0', () => 1)).toThrow(tf.errors.NotFoundError);
  registerBackend(gpu, -1);
  expect(tf.ones([2]).device).toBe(GPU);
});

test('what it cannot compute runs on the CPU, unless the program has chosen it and wants no other', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  tf.config.setSoftDevicePlacement(false);
  const x = tf.constant([
    [3, 0],
    [0, 4],
  ]);
  const values = (): tf.Tensor => tf.linalg.svd(x, { computeUV: false }) as tf.Tensor;
  expect(values().array()).toEqual([4, 3]);
  expect(values().device).toBe(GPU);
  expect(warn.mock.calls).toEqual([
    ['gpu has no kernel for Svd of (float32): it runs on the host, between copies there and back'],
  ]);
  expect(() => tf.device('/gpu:0', values)).toThrow(tf.errors.UnimplementedError);
  expect(tf.function(values)().array()).toEqual([4, 3]);
  expect(() => tf.device('/gpu:0', () => tf.function(values)())).toThrow(tf.errors.UnimplementedError);
  expect(values().array()).toEqual([4, 3]);
  tf.config.setSoftDevicePlacement(true);
  expect(tf.device('/gpu:0', values).array()).toEqual([4, 3]);
  expect(warn).toHaveBeenCalledTimes(1);
});

test('a model trains there, and its data comes from the CPU', async () => {
  const where: string[] = [];
  const data = tf.data.Dataset.fromTensorSlices([tf.random.normal([32, 4]), tf.zeros([32], 'int32')])
    .map((x, y) => {
      where.push(x.add(1).device);
      return [x, y];
    })
    .batch(8);
  for (const [x] of data) expect(x.device).toBe(CPU);
  const made = (): tf.Sequential => {
    const model = new tf.Sequential([new tf.layers.Dense(3, { inputShape: [4] })]);
    const loss = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
    model.compile({ optimizer: new tf.optimizers.Adam(0.01), loss, metrics: ['accuracy'] });
    return model;
  };
  const model = made();
  const { history } = await model.fit(data, { epochs: 3, verbose: 0 });
  expect(history.loss[2]).toBeLessThan(history.loss[0]);
  expect(new Set(where)).toEqual(new Set([CPU]));
  const optimizer = model.optimizer as tf.optimizers.Adam;
  expect(new Set([...model.variables, ...optimizer.variables].map((v) => v.device))).toEqual(new Set([GPU]));
  expect((model.predictOnBatch(tf.ones([2, 4])) as tf.Tensor).device).toBe(GPU);
  // A checkpoint knows no device.
  const path = new tf.train.Checkpoint({ model }).write(join(folder, 'model'));
  const restored = tf.device('/cpu:0', made);
  new tf.train.Checkpoint({ model: restored }).read(path).assertExistingObjectsMatched();
  expect(restored.variables.map((v) => v.device)).toEqual(restored.variables.map(() => CPU));
  expect(restored.getWeights().map((w) => w.array())).toEqual(model.getWeights().map((w) => w.array()));
});
