import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, type DType, ones } from '@eagre/core';
import { expect, test } from 'vitest';
import type { Layer } from '../../layer/layer.ts';
import { Input } from '../../models/functional.ts';
import * as layers from '../index.ts';

const image = constant(
  [
    [
      [[7], [-3]],
      [[16777217], [2]],
    ],
  ],
  'int32',
);
const row = constant([[1, -2, 9]], 'int32');

// Keras's: what is compared or moved only stays what it is, what is computed with becomes a float.
test.each<[string, Layer, typeof image, DType, unknown]>([
  ['MaxPooling2D', new layers.MaxPooling2D(2), image, 'int32', [[[[16777217]]]]],
  ['GlobalMaxPooling2D', new layers.GlobalMaxPooling2D(), image, 'int32', [[16777217]]],
  ['ReLU', new layers.ReLU(), row, 'int32', [[1, 0, 9]]],
  ['ReLU with a limit', new layers.ReLU({ maxValue: 6 }), row, 'int32', [[1, 0, 6]]],
  ['ReLU with a slope', new layers.ReLU({ negativeSlope: 0.5 }), row, 'float32', [[1, -1, 9]]],
  ['Dropout', new layers.Dropout(0.5), row, 'int32', [[1, -2, 9]]],
  ['GaussianNoise', new layers.GaussianNoise(0.5), row, 'int32', [[1, -2, 9]]],
  ["Activation('relu')", new layers.Activation('relu'), row, 'int32', [[1, 0, 9]]],
  ["Activation('linear')", new layers.Activation('linear'), row, 'int32', [[1, -2, 9]]],
  ['Activation of a function', new layers.Activation((x) => x.mul(2)), row, 'int32', [[2, -4, 18]]],
  ["Activation('softsign')", new layers.Activation('softsign'), row, 'float32', [[0.5, -2 / 3, 0.9]]],
  [
    'AveragePooling2D',
    new layers.AveragePooling2D(2),
    constant(
      [
        [
          [[7], [-3]],
          [[2], [2]],
        ],
      ],
      'int32',
    ),
    'float32',
    [[[[2]]]],
  ],
  ['Identity', new layers.Identity(), row, 'int32', [[1, -2, 9]]],
])('%s of integers', (_, layer, x, dtype, expected) => {
  const y = layer(x);
  expect(y.dtype).toBe(dtype);
  const flat = (value: unknown): number[] => [value].flat(Number.POSITIVE_INFINITY) as number[];
  flat(y.array()).forEach((v, i) => expect(v).toBeCloseTo(flat(expected)[i] as number, 6));
  // A model that is described before it is called knows it too.
  expect(layer(Input(x.shape.slice(1), { dtype: 'int32' })).dtype).toBe(dtype);
});

test('Identity gives floats of its dtype', () => {
  expect(new layers.Identity()(ones([2], 'float64')).dtype).toBe('float32');
  expect(new layers.Identity({ dtype: 'float64' })(ones([2])).dtype).toBe('float64');
});

test('the largest of int64 is refused where it would be rounded', () => {
  expect(() => new layers.MaxPooling2D(2)(ones([1, 2, 2, 1], 'int64'))).toThrow("cast it to 'int32'");
});
