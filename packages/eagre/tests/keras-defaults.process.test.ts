// What tf.keras.config sets holds for everything that says nothing else.
import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const { backend, config } = tf.keras;
afterEach(() => {
  config.setEpsilon(1e-7);
  config.setFloatx('float32');
  config.setImageDataFormat('channelsLast');
  config.setMaxEpochs(null);
  config.setMaxStepsPerEpoch(null);
  vi.restoreAllMocks();
});

test('the backend has a name', () => {
  expect(backend.backend()).toBe('eagre');
  expect(config.backend()).toBe('eagre');
});

test('floatx is the dtype of layers, inputs, initializers, random numbers and metrics', () => {
  config.setFloatx('float64');
  expect(config.floatx()).toBe('float64');
  expect(backend.standardizeDtype(null)).toBe('float64');
  const layer = new tf.layers.Dense(2);
  expect(layer(tf.ones([1, 3])).dtype).toBe('float64');
  expect(layer.kernel.dtype).toBe('float64');
  expect(config.dtypePolicy().name).toBe('float64');
  expect(tf.Input([3]).dtype).toBe('float64');
  expect(tf.initializers.glorotUniform()([2, 2]).dtype).toBe('float64');
  expect(tf.keras.random.normal([2]).dtype).toBe('float64');
  expect(tf.keras.random.uniform([2], { dtype: 'float16' }).dtype).toBe('float16');
  expect(tf.keras.random.randint([2], 0, 4).dtype).toBe('int32');
  expect(new tf.metrics.Mean().dtype).toBe('float64');
  expect(tf.keras.ops.zeros([2]).dtype).toBe('float64');
  config.setFloatx('bfloat16');
  expect(new tf.layers.Dense(2)(tf.ones([1, 3])).dtype).toBe('bfloat16');
  expect(new tf.metrics.Mean().dtype).toBe('float32');
  expect(() => config.setFloatx('int32' as never)).toThrow(tf.errors.InvalidArgumentError);
});

test('a policy that is set comes before floatx', () => {
  config.setDtypePolicy('mixed_bfloat16');
  config.setFloatx('float64');
  expect(new tf.layers.Dense(2).variableDtype).toBe('float32');
  config.setDtypePolicy('float32');
});

test('the format of images is that of layers, ops and pictures', () => {
  config.setImageDataFormat('channelsFirst');
  expect(config.imageDataFormat()).toBe('channelsFirst');
  const x = tf.ones([1, 3, 8, 6]);
  expect(new tf.layers.Conv2D(5, 3)(x).shape).toEqual([1, 5, 6, 4]);
  expect(new tf.layers.GlobalAveragePooling2D()(x).shape).toEqual([1, 3]);
  expect(new tf.layers.Conv2D(5, 3, { dataFormat: 'channelsLast' })(x).shape).toEqual([1, 1, 6, 5]);
  expect(tf.keras.ops.nn.maxPool(x, 2).shape).toEqual([1, 3, 4, 3]);
  expect(tf.keras.ops.image.resize(x, [4, 4]).shape).toEqual([1, 3, 4, 4]);
  const picture = tf.keras.utils.arrayToImg(tf.ones([3, 8, 6]));
  expect([picture.width, picture.height]).toEqual([6, 8]);
  expect(tf.keras.utils.imgToArray(picture).shape).toEqual([3, 8, 6]);
  expect(() => tf.keras.applications.MobileNet({ weights: null })).toThrow(/setImageDataFormat/);
  config.setImageDataFormat('channelsLast');
  expect(new tf.layers.Conv2D(5, 3)(tf.ones([1, 8, 6, 3])).shape).toEqual([1, 6, 4, 5]);
});

test('epsilon is what losses and constraints add', () => {
  const loss = (): number => tf.losses.meanAbsolutePercentageError([[0]], [[1]]).data()[0] as number;
  expect(loss()).toBeCloseTo(1e9, -3);
  config.setEpsilon(0.5);
  expect(backend.epsilon()).toBe(0.5);
  expect(loss()).toBeCloseTo(200, 4);
  expect(
    tf.keras.constraints
      .unitNorm()(tf.constant([[2], [0]]))
      .data()[0],
  ).toBeCloseTo(2 / 2.5, 6);
  for (const wrong of [0, -1, Number.NaN, '1'])
    expect(() => config.setEpsilon(wrong as never)).toThrow(tf.errors.InvalidArgumentError);
});

test('the limits of epochs and steps hold for fit, evaluate and predict', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const model = new tf.Sequential([tf.Input([1]), new tf.layers.Dense(1)]);
  model.compile({ loss: 'mse', optimizer: 'sgd' });
  config.setMaxEpochs(2);
  config.setMaxStepsPerEpoch(3);
  expect([config.maxEpochs(), config.maxStepsPerEpoch()]).toEqual([2, 3]);
  const [x, y] = [tf.ones([20, 1]), tf.ones([20, 1])];
  const history = await model.fit(x, y, { epochs: 5, batchSize: 2, verbose: 0 });
  expect(history.epoch).toEqual([0, 1]);
  expect(model.optimizer.iterations.item()).toBe(6);
  expect(warn.mock.calls.flat().join('\n')).toMatch(/epochs to 2[\s\S]*stepsPerEpoch to 3/);
  expect((await model.predict(x, { batchSize: 2, verbose: 0 })).shape).toEqual([6, 1]);
  expect(() => config.setMaxEpochs(0)).toThrow(tf.errors.InvalidArgumentError);
});

test('dtypes meet as in Keras', () => {
  const table = JSON.parse(readFileSync(new URL('../golden/result-types.json', import.meta.url), 'utf8')) as {
    readonly pairs: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  for (const [a, row] of Object.entries(table.pairs))
    for (const [b, wanted] of Object.entries(row))
      expect([a, b, backend.resultType(a as 'int', b as 'int')]).toEqual([a, b, wanted]);
  expect(backend.resultType()).toBe('float32');
  expect(() => backend.resultType('float99' as 'int')).toThrow(tf.errors.InvalidArgumentError);
  expect([backend.isFloatDtype('bfloat16'), backend.isFloatDtype('int8')]).toEqual([true, false]);
  expect([backend.isIntDtype('uint8'), backend.isIntDtype('bool')]).toEqual([true, false]);
});

test('getUid counts by prefix', () => {
  backend.clearSession();
  expect([backend.getUid('a'), backend.getUid('a'), backend.getUid('b')]).toEqual([1, 2, 1]);
});
