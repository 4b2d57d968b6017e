// Sizes that are computed from sizes again and again: each is an expression that shares the parts of the one before.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

afterEach(() => vi.restoreAllMocks());

const open = (...shape: (number | null)[]) => ({ inputSignature: [new tf.TensorSpec(shape, 'float32')] });
const graphOf = (fn: unknown) => (fn as { getConcreteFunction(): { graph: tf.Graph } }).getConcreteFunction();

test('fifty turns of the least of the greatest', () => {
  const fn = tf.function((x: tf.Tensor) => {
    let n: tf.Tensor = tf.shape(x).gather(0);
    for (let i = 0; i < 50; i++) n = tf.minimum(tf.maximum(n.sub(1), n.floorDiv(2)), n);
    return tf.zeros([n as never]).add(tf.reduceSum(x));
  }, open(null));
  expect([1000, 60, 7].map((size) => fn(tf.ones([size])).shape[0])).toEqual([950, 10, 0]);
  expect(fn.experimentalGetTracingCount()).toBe(1);
});

// Three quarters of its sizes depend on the one before twice or more, thirty layers deep.
test('EfficientNetV2B0 of any height and width', () => {
  const { EfficientNetV2B0 } = tf.keras.applications;
  const model = EfficientNetV2B0({ weights: null, inputShape: [null, null, 3], includeTop: false });
  const fn = tf.function((x: tf.Tensor) => model.call(x), open(null, null, null, 3));
  expect(graphOf(fn)).toBeDefined();
});

test('a model of many strides is saved for any height and width', async () => {
  const model = new tf.Sequential([new tf.layers.InputLayer({ shape: [null, null, 1] })]);
  for (let i = 0; i < 6; i++) {
    model.add(new tf.layers.Conv2D(1, 3, { strides: 2, padding: 'same', kernelInitializer: 'ones' }));
    model.add(new tf.layers.MaxPooling2D(2, { strides: 1, padding: 'same' }));
  }
  const folder = mkdtempSync(join(tmpdir(), 'eagre-deep-sizes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await tf.onnx.save(model, join(folder, 'model.onnx'));
  const loaded = await tf.onnx.load(join(folder, 'model.onnx'));
  expect(Math.max(...loaded.outputs.map(({ shape }) => String(shape).length))).toBeLessThan(1000);
  for (const [height, width] of [
    [64, 129],
    [5, 300],
  ] as const) {
    const image = tf.random.uniform([1, height, width, 1], { seed: 1 });
    const [found, wanted] = [loaded(image) as tf.Tensor, (await model.predict(image)) as tf.Tensor];
    tf.debugging.assertNear(found, wanted);
  }
});

test('sizes that are too much to follow have a trace for each size, and a warning says so once', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const fn = tf.function((x: tf.Tensor) => {
    let n: tf.Tensor = tf.constant(1, 'int32');
    // Coefficients that no double holds.
    for (let i = 0; i < 80; i++) n = n.mul(tf.shape(x).gather(0).add(1));
    return tf.zeros([n as never]);
  }, open(null));
  expect([0, 1, 0].map((size) => fn(tf.ones([size])).shape)).toEqual([[1], [0], [1]]);
  expect(warn.mock.calls).toHaveLength(1);
  expect(String(warn.mock.calls[0])).toContain('for each size of its arguments');
});
