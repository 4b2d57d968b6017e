import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, InvalidArgumentError, linalg, ones, random, type Tensor, zeros } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { Model } from '../../models/model.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import {
  BatchNormalization,
  Conv2D,
  Dense,
  Flatten,
  LayerNormalization,
  SpectralNormalization,
  Wrapper,
} from '../index.ts';

describe('BatchNormalization', () => {
  test.each([
    [[], [4, 3], [4, 3], 2],
    [[{ momentum: 0.5, epsilon: 0.01 }], [2, 3, 3, 2], [2, 3, 3, 2], 2],
    [[{ center: false }], [2, 3, 4], [2, 3, 4], 1],
    [[{ scale: false, center: false }], [5, 4], [5, 4], 0],
    [[{ axis: 1 }], [3, 2, 4], [3, 2, 4], 2],
  ] as const)('%j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(BatchNormalization, {
      args: args as unknown as [],
      inputShape,
      outputShape,
      trainable,
      nonTrainable: 2,
    });
  });

  const x = constant([
    [1, 10],
    [3, 30],
  ]);

  test('weights are named as in Keras', () => {
    const layer = new BatchNormalization();
    layer(x);
    expect(layer.namedWeights.map((w) => [w.path, w.trainable])).toEqual([
      ['gamma', true],
      ['beta', true],
      ['moving_mean', false],
      ['moving_variance', false],
    ]);
  });

  test('moving statistics follow batches in training only', () => {
    const layer = new BatchNormalization({ momentum: 0.5 });
    layer(x);
    expect(layer.movingMean.array()).toEqual([0, 0]);
    layer(x, { training: true });
    expect(layer.movingMean.array()).toEqual([1, 10]);
    expect(layer.movingVariance.array()).toEqual([1, 50.5]);
    layer(zeros([0, 2]), { training: true });
    expect(layer.movingMean.array()).toEqual([1, 10]);
  });

  test('does not train while it, or a model around it, is frozen', () => {
    class Frozen extends Model {
      readonly norm = new BatchNormalization();
      override call(inputs: Tensor): Tensor {
        return this.norm(inputs);
      }
    }
    const model = new Frozen();
    model.trainable = false;
    expect(model.norm.trainable).toBe(false);
    const y = model(x, { training: true });
    expect(model.norm.movingMean.array()).toEqual([0, 0]);
    expect((y.array() as number[][])[0]?.[0]).toBeCloseTo(1 / Math.sqrt(1.001), 5);
    expect(model.trainableWeights).toHaveLength(0);
    model.trainable = true;
    model(x, { training: true });
    expect(model.norm.movingMean.data()[0]).toBeCloseTo(0.02, 6);
  });

  test('the tape sees neither the moving statistics nor their update', () => {
    const layer = new BatchNormalization();
    layer(x);
    const tape = new GradientTape();
    const y = layer(x, { training: true });
    const gradients = tape.gradient(y.square().sum(), [
      layer.gamma as never,
      layer.beta as never,
      layer.movingMean,
    ]);
    expect(gradients.map((g) => g === null)).toEqual([false, false, true]);
  });

  test('says what does not fit', () => {
    const layer = new BatchNormalization({ name: 'bn' });
    layer(x);
    expect(() => layer(ones([2, 3]))).toThrow(
      "BatchNormalization 'bn' was built for [2] on axis -1, got input [2, 3]",
    );
    expect(() => new BatchNormalization()(ones([2]))).toThrow('rank 2 or more');
    expect(() => new BatchNormalization({ axis: 3 })(x)).toThrow('axis 3, which input [2, 2] does not have');
    expect(() => new BatchNormalization({ momentum: 2 })).toThrow(InvalidArgumentError);
    expect(() => new BatchNormalization({ axis: [1] as unknown as number })).toThrow('one integer as axis');
  });
});

describe('LayerNormalization', () => {
  test.each([
    [[], [3, 4], [3, 4], 2],
    [[{ axis: [1, 2], epsilon: 1e-5 }], [2, 3, 4], [2, 3, 4], 2],
    [[{ axis: 1, center: false }], [2, 3, 4], [2, 3, 4], 1],
    [[{ scale: false, center: false }], [2, 3, 4], [2, 3, 4], 0],
  ] as const)('%j of %j', (args, inputShape, outputShape, trainable) => {
    runLayerTest(LayerNormalization, { args: args as unknown as [], inputShape, outputShape, trainable });
  });

  test('says what does not fit', () => {
    const layer = new LayerNormalization({ name: 'ln' });
    layer(ones([2, 3]));
    expect(() => layer(ones([2, 4]))).toThrow(
      "LayerNormalization 'ln' was built for [3] on axis -1, got input [2, 4]",
    );
    expect(() => new LayerNormalization({ axis: [] })).toThrow(InvalidArgumentError);
  });
});

test('SpectralNormalization makes the largest singular value 1', () => {
  const inner = new Conv2D(4, 2);
  const layer = new SpectralNormalization(inner, { powerIterations: 3 });
  const x = random.normal([2, 5, 5, 3]);
  const largest = (): number =>
    linalg
      .svd(inner.kernel.reshape([-1, 4]), { computeUV: false })
      .max()
      .item();
  layer(x);
  const before = inner.kernel.array();
  layer(x);
  expect(inner.kernel.array()).toEqual(before);
  const step = tfFunction((given: Tensor) => layer(given, { training: true }) as Tensor);
  for (let i = 0; i < 20; i++) {
    layer(x, { training: true });
    step(x);
  }
  expect(largest()).toBeCloseTo(1, 4);
  expect(layer.namedWeights.map((w) => [w.path, w.variable.trainable])).toEqual([
    ['conv2d/kernel', true],
    ['vector_u', false],
    ['conv2d/bias', true],
  ]);
  inner.kernel.assign(zeros(inner.kernel.shape));
  expect((layer(x, { training: true }) as Tensor).isNan().any().item()).toBe(false);
  expect(() => new SpectralNormalization(new Flatten())(x)).toThrow(
    'needs a layer with a kernel or embeddings, got Flatten',
  );
  expect(() => new SpectralNormalization(5 as never)).toThrow('needs a layer');
  expect(() => new Wrapper(new Dense(1))(x)).toThrow('no call(inputs) method');
});

test.each([
  [
    'float16',
    [-1.018555, -0.39209, -0.3396, 1.373047, 1.358398, -0.980469],
    [2, 1.333008, 4.832031, 1.944336],
  ],
  [
    'bfloat16',
    [-1.015625, -0.392578, -0.339844, 1.375, 1.359375, -0.980469],
    [2, 1.335938, 4.84375, 1.945313],
  ],
] as const)('batch normalization whose variables are of %s trains as in Keras', (dtype, output, moved) => {
  const layer = new BatchNormalization({ dtype, momentum: 0.5 });
  const y = layer(constant([[1, 2], [3, 5], [8, 1]]), { training: true }) as Tensor; // biome-ignore format: rows
  expect(y.dtype).toBe(dtype);
  expect([...y.cast('float32').data()]).toEqual(output.map((v) => expect.closeTo(v, 5)));
  const { movingMean, movingVariance } = layer;
  expect(movingMean.dtype).toBe(dtype);
  const after = [movingMean, movingVariance].flatMap((v) => [...v.cast('float32').data()]);
  expect(after).toEqual(moved.map((v) => expect.closeTo(v, 5)));
});
