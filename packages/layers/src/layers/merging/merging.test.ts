import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, ones, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Input } from '../../models/functional.ts';
import { Model } from '../../models/model.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import * as layers from '../index.ts';
import { Add, Average, Concatenate, Maximum, Minimum, Multiply, Subtract } from '../index.ts';

describe.each([Add, Multiply, Average, Maximum, Minimum, Subtract])('%o', (Class) => {
  test('as a layer', () => {
    runLayerTest(Class, {
      args: [],
      inputShape: [
        [2, 3],
        [2, 3],
      ],
      outputShape: [2, 3],
    });
    runLayerTest(Class, {
      args: [],
      inputShape: [
        [2, 4],
        [2, 3, 1],
      ],
      outputShape: [2, 3, 4],
    });
    if (Class === Subtract) return;
    runLayerTest(Class, {
      args: [],
      inputShape: [
        [2, 3],
        [2, 3],
        [2, 1],
      ],
      outputShape: [2, 3],
    });
  });

  test('says what does not fit', () => {
    expect(() => new Class()(ones([2, 3]))).toThrow('takes a list of tensors, got one of shape [2, 3]');
    expect(() => new Class()([ones([2, 3]), ones([2, 4])])).toThrow(
      'cannot broadcast its inputs, got [2, 3], [2, 4]',
    );
    expect(() => new Class()([ones([2, 3]), ones([3, 3])])).toThrow('different batch sizes');
  });
});

test('integers and truths beside floats are floats, as in Keras', () => {
  const list = [constant([[2]], 'int64'), constant([[0.5]]), constant([[true]])];
  expect(new Concatenate()(list).array()).toEqual([[2, 0.5, 1]]);
  expect(new Add()(list).array()).toEqual([[3.5]]);
  expect(new Subtract()(list.slice(0, 2)).dtype).toBe('float32');
  expect(new Concatenate()([list[0]!, list[2]!.cast('int32')]).dtype).toBe('int64');
});

test('values and unknown sizes', () => {
  const [a, b] = [constant([[1, 5]]), constant([[3, 2]])];
  expect(new Add()([a, b]).array()).toEqual([[4, 7]]);
  expect(new Subtract()([a, b]).array()).toEqual([[-2, 3]]);
  expect(new Average()([a, b]).array()).toEqual([[2, 3.5]]);
  expect(new Maximum()([a, b]).array()).toEqual([[3, 5]]);
  expect(new Add()([a])).toBe(a);
  expect(new Average()([constant([[1]], 'int32'), constant([[2]], 'int32')]).array()).toEqual([[1.5]]);
  expect(() => new Subtract()([a, b, a])).toThrow('takes exactly two tensors, got 3');
  expect(
    new Add().computeOutputShape([
      [null, null, 4],
      [null, 3, null],
    ]),
  ).toEqual([null, 3, 4]);
  expect(
    new Add().computeOutputShape([
      [null, null],
      [null, 1],
    ]),
  ).toEqual([null, null]);
});

describe('Concatenate', () => {
  test('as a layer', () => {
    runLayerTest(Concatenate, {
      args: [],
      inputShape: [
        [2, 3],
        [2, 4],
        [2, 1],
      ],
      outputShape: [2, 8],
    });
    runLayerTest(Concatenate, {
      args: [{ axis: 1 }],
      inputShape: [
        [2, 1, 3],
        [2, 2, 3],
      ],
      outputShape: [2, 3, 3],
    });
  });

  test('says what does not fit', () => {
    const layer = new Concatenate({ name: 'join' });
    expect(() => layer(ones([2, 3]))).toThrow("Concatenate 'join' takes a list of tensors");
    expect(() => layer([ones([2, 3]), ones([3, 3])])).toThrow('agree but on axis -1, got [2, 3], [3, 3]');
    expect(() => new Concatenate()([ones([2, 3]), ones([2])])).toThrow('of one rank');
    expect(() => new Concatenate({ axis: 2 })([ones([2, 3]), ones([2, 3])])).toThrow(InvalidArgumentError);
    expect(
      new Concatenate().computeOutputShape([
        [null, 3, null],
        [5, null, 2],
      ]),
    ).toEqual([5, 3, null]);
  });
});

test('functions make the layer and call it', () => {
  const [a, b] = [constant([[1, 6]]), constant([[3, 2]])];
  const { add, subtract, multiply, average, maximum, minimum, concatenate } = layers;
  const results = [add, subtract, multiply, average, maximum, minimum].map((f) => f([a, b]).array());
  expect(results).toEqual([[[4, 8]], [[-2, 4]], [[3, 12]], [[2, 4]], [[3, 6]], [[1, 2]]]);
  expect(concatenate([a, b], { axis: 0 }).array()).toEqual([
    [1, 6],
    [3, 2],
  ]);
  const [x, y] = [Input({ shape: [2] }), Input({ shape: [2] })];
  const model = new Model([x, y], add([x, y], { name: 'both' }));
  expect(model([a, b]).array()).toEqual([[4, 8]]);
  expect(model.getLayer('both')).toBeInstanceOf(Add);
  expect(() => concatenate([a, ones([2, 2])])).toThrow(InvalidArgumentError);
});

test('what masks hide does not count in products and extremes, as in Keras', () => {
  const [a, b] = [Input([3, 2]), Input([3, 2])];
  const x = constant([[[1, 2], [0, 0], [0, 0]]]); // biome-ignore format: rows
  const y = constant([[[3, -4], [5, 6], [0, 0]]]); // biome-ignore format: rows
  const masked = (input: typeof a, offset: number) =>
    new layers.Rescaling(1, { offset })(new layers.Masking()(input));
  const values = (
    Merged: typeof layers.Multiply | typeof layers.Maximum | typeof layers.Minimum | typeof layers.Add,
  ): unknown => {
    const both = new Merged()([masked(a, -3), masked(b, 1)]);
    const one = new Merged()([masked(a, -3), b]);
    return new Model([a, b], [both, one])<Tensor[]>([x, y]).map((t) => t.reshape([-1]).array());
  };
  expect(values(layers.Multiply)).toEqual([[-8, 3, 6, 7, 0, 0], [-6, 4, 5, 6, 0, 0]]); // biome-ignore format: rows
  expect(values(layers.Maximum)).toEqual([[4, -1, 6, 7, -3, -3], [3, -1, 5, 6, 0, 0]]); // biome-ignore format: rows
  expect(values(layers.Minimum)).toEqual([[-2, -3, 6, 7, -3, -3], [-2, -4, 5, 6, 0, 0]]); // biome-ignore format: rows
  expect(values(layers.Add)).toEqual([[2, -4, 3, 4, -2, -2], [1, -5, 2, 3, -3, -3]]); // biome-ignore format: rows
});
