// Layers, operations and weights of models, and the states of stacked cells: names and orders are those of Keras 3.15.1.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { ones, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { MobileNetV3Small } from '../applications/index.ts';
import * as layers from '../layers/index.ts';
import { Input } from './functional.ts';
import type { KerasTensor } from './keras-tensor.ts';
import { Model } from './model.ts';
import { Sequential } from './sequential.ts';

test('calls of ops are operations of a model, and none of its layers', () => {
  const input = Input({ shape: [4], name: 'inp' });
  const x = new layers.Dense(4, { name: 'd' })(input);
  const y = x.add(1).relu();
  const sum = new layers.Add({ name: 'sum' })([y.mul(2), x]);
  const model = new Model(input, sum);
  expect(model.layers.map((l) => l.name)).toEqual(['inp', 'd', 'sum']);
  expect(model.operations).toHaveLength(6);
  expect(() => model.getLayer(model.operations[2]!.name)).toThrow('no layer');
  expect(model.getLayer(-1).name).toBe('sum');
  // Freezing the first layers freezes the same as in Keras.
  const net = MobileNetV3Small({ weights: null, inputShape: [64, 64, 3] });
  expect([net.layers.length, net.operations.length]).toEqual([164, 182]);
});

test('the weights of a model with SpectralNormalization', () => {
  const model = new Sequential([
    Input([4]),
    new layers.SpectralNormalization(new layers.Dense(3)),
    new layers.Dense(2),
  ]);
  expect(model.weights.map((w) => [w.name, w.shape])).toEqual([
    ['kernel', [4, 3]],
    ['vector_u', [1, 3]],
    ['bias', [3]],
    ['kernel', [3, 2]],
    ['bias', [2]],
  ]);
});

const sequence = ones([1, 3, 2]);
const cells = (): layers.RecurrentCell[] => [new layers.LSTMCell(2), new layers.GRUCell(3)];
const shapes = (given: unknown): unknown =>
  Array.isArray(given) ? given.map(shapes) : (given as Tensor | KerasTensor).shape;

test('the states of stacked cells are those of each cell, and may be given so', () => {
  const rnn = new layers.RNN(cells(), { returnState: true });
  const [y, ...states] = rnn(sequence) as unknown as [Tensor, ...Tensor[]];
  expect(shapes([y, ...states])).toEqual([
    [1, 3],
    [
      [1, 2],
      [1, 2],
    ],
    [1, 3],
  ]);
  const on = rnn(sequence, { initialState: states as never }) as unknown as [Tensor];
  const flat = states.flat() as Tensor[];
  expect((rnn(sequence, { initialState: flat as never }) as unknown as [Tensor])[0].array()).toEqual(
    on[0].array(),
  );
  expect((rnn(sequence, flat as never) as unknown as [Tensor])[0].array()).toEqual(on[0].array());
  const input = Input([3, 2]);
  const described = rnn(input) as unknown as KerasTensor[];
  expect(shapes(described)).toEqual([
    [null, 3],
    [
      [null, 2],
      [null, 2],
    ],
    [null, 3],
  ]);
  const again = rnn(input, { initialState: described.slice(1) as never }) as unknown as KerasTensor[];
  const model = new Model(input, again[0] as never);
  expect((model(sequence) as Tensor).array()).toEqual(on[0].array());
  const both = new layers.Bidirectional(new layers.RNN(cells(), { returnState: true }));
  const [z, ...all] = both(sequence) as unknown as [Tensor, ...Tensor[]];
  expect(shapes([z, ...all])).toEqual([
    [1, 6],
    [
      [1, 2],
      [1, 2],
    ],
    [1, 3],
    [
      [1, 2],
      [1, 2],
    ],
    [1, 3],
  ]);
  expect(shapes(both(sequence, { initialState: all as never }))).toEqual(shapes([z, ...all]));
});
