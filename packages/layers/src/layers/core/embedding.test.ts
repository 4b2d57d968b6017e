import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, OutOfRangeError, ones, type Tensor } from '@eagre/core';
import { maskOf } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { Input } from '../../models/functional.ts';
import { Model } from '../../models/model.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import { Embedding, ReversibleEmbedding } from '../index.ts';

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

describe('ReversibleEmbedding', () => {
  test('as a layer', () => {
    runLayerTest(ReversibleEmbedding, {
      args: [5, 3],
      inputShape: [2, 4],
      outputShape: [2, 4, 3],
      trainable: 1,
      integers: 5,
    });
  });

  test('goes back by the same matrix, or by one of its own', () => {
    const tied = new ReversibleEmbedding(4, 2, { embeddingsInitializer: 'ones' });
    expect((tied(ones([1, 2]), { reverse: true }) as Tensor).array()).toEqual([[2, 2, 2, 2]]);
    expect(tied.weights).toHaveLength(1);
    const own = new ReversibleEmbedding(4, 2, {
      embeddingsInitializer: 'ones',
      tieWeights: false,
      logitSoftCap: 0.5,
      reverseDtype: 'float64',
    });
    const y = own(ones([3, 1, 2]), { reverse: true }) as Tensor;
    expect([y.shape, y.dtype, y.max().item()]).toEqual([[3, 1, 4], 'float64', 0.5 * Math.tanh(4)]);
    expect(own.weights.map((w) => w.shape)).toEqual([
      [4, 2],
      [2, 4],
    ]);
  });

  test('in models, of which a mask belongs to the way there', () => {
    const layer = new ReversibleEmbedding(5, 3, { maskZero: true });
    const ids = constant([[1, 0]], 'int32');
    const vectors = layer(ids) as Tensor;
    expect(maskOf(vectors)?.array()).toEqual([[true, false]]);
    expect(maskOf(layer(ones([1, 2, 3]), { reverse: true }) as Tensor)).toBe(null);
    const x = Input({ shape: [null], dtype: 'int32' });
    const inner = layer(x);
    const logits = layer(inner, { reverse: true });
    expect([inner.shape, logits.shape]).toEqual([
      [null, null, 3],
      [null, null, 5],
    ]);
    const model = new Model({ inputs: x, outputs: logits });
    const expected = layer(vectors, { reverse: true }) as Tensor;
    expect((model(ids) as Tensor).array()).toEqual(expected.array());
  });

  test('says what does not fit', () => {
    const layer = new ReversibleEmbedding(3, 2, { name: 'words' });
    expect(() => layer([3])).toThrow(OutOfRangeError);
    expect(() => layer(ones([2, 3]), { reverse: true })).toThrow(
      'takes vectors [..., 2] in reverse, got [2, 3]',
    );
    expect(() => new ReversibleEmbedding(3, 2, { reverseDtype: 'int32' })).toThrow('a dtype of floats');
    expect(() => new ReversibleEmbedding(3, 2, { logitSoftCap: 0 })).toThrow('above 0');
  });
});
