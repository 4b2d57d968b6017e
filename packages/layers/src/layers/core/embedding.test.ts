import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, OutOfRangeError, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Embedding } from '../index.ts';

test('as a layer', () => {
  runLayerTest(Embedding, {
    args: [5, 3],
    inputShape: [2, 4],
    outputShape: [2, 4, 3],
    trainable: 1,
    integers: 5,
  });
  runLayerTest(Embedding, { args: [5, 2], inputShape: [3], outputShape: [3, 2], trainable: 1, integers: 5 });
  runLayerTest(Embedding, {
    args: [5, 2, { embeddingsRegularizer: 'l2', activityRegularizer: 'l2' }],
    inputShape: [2, 1, 3],
    outputShape: [2, 1, 3, 2],
    trainable: 1,
    integers: 5,
  });
});

test('starts between -0.05 and 0.05, as Keras does', () => {
  const layer = new Embedding(100, 10);
  layer([0]);
  const values = Array.from(layer.embeddings.data() as Float32Array);
  expect(Math.max(...values.map(Math.abs))).toBeLessThanOrEqual(0.05);
  expect(Math.max(...values)).toBeGreaterThan(0.03);
  expect(layer.namedWeights.map((w) => w.path)).toEqual(['embeddings']);
});

test('takes int32, int64 and floats that hold integers', () => {
  const layer = new Embedding(3, 1, {
    embeddingsInitializer: (shape, dtype) => constant([5, 6, 7], dtype, { shape }),
  });
  for (const ids of [constant([2, 0], 'int32'), constant([2, 0], 'int64'), constant([2, 0])]) {
    expect((layer(ids) as Tensor).array()).toEqual([[7], [5]]);
  }
});

test('says what does not fit', () => {
  const layer = new Embedding(3, 2, { name: 'words' });
  expect(() => layer([3])).toThrow(OutOfRangeError);
  expect(() => layer([-1])).toThrow("Embedding 'words' has rows 0 … 2");
  expect(() => layer(constant(['a']))).toThrow('got a string tensor');
  expect(() => new Embedding(0, 2)).toThrow('inputDim to be an integer of at least 1, got 0');
});
