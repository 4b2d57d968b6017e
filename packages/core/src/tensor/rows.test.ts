import '@eagre/backend-js';
import { expect, it } from 'vitest';
import * as tf from '../index.ts';

it('rows may be typed arrays', () => {
  const rows = [new Float32Array([1, 2]), new Float32Array([3, 4])];
  expect(tf.constant(rows).array()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(tf.constant(rows).dtype).toBe('float32');
  expect(tf.add(rows, [10, 20]).array()).toEqual([
    [11, 22],
    [13, 24],
  ]);
  const bytes = tf.constant([[new Uint8Array([1, 2])], [new Uint8Array([3, 4])]]);
  expect([bytes.dtype, bytes.array()]).toEqual(['uint8', [[[1, 2]], [[3, 4]]]]);
  expect(tf.constant([new Int32Array([1]), new Int32Array([2])], 'float64').dtype).toBe('float64');
  expect(tf.constant([new BigInt64Array([1n])]).dtype).toBe('int64');
  expect(tf.constant([new Float64Array(0), new Float64Array(0)]).shape).toEqual([2, 0]);
  // As NumPy's in TensorFlow, kinds may differ.
  const mixed = tf.constant([new Uint8Array([1, 2]), [3, 4.5]]);
  expect([mixed.dtype, mixed.array()]).toEqual([
    'float32',
    [
      [1, 2],
      [3, 4.5],
    ],
  ]);
  for (const bad of [
    [new Float32Array(2), new Float32Array(3)],
    [[new Float32Array(2)], new Float32Array(2)],
    [[new Float32Array(1), new Float32Array(1)], [new Float32Array(1)]],
    [new DataView(new ArrayBuffer(2))],
    [new Float32Array(1), new BigInt64Array(1)],
  ])
    expect(() => tf.constant(bad as never)).toThrow(tf.InvalidArgumentError);
});

it('flat values with a shape may be a list, or bytes of pixels', () => {
  const two = { data: [1, 2, 3, 4], shape: [2, 2] };
  expect(tf.constant(two).array()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(tf.add(two, 1).sum().item()).toBe(14);
  expect(tf.constant({ ...two, dtype: 'int32' }).dtype).toBe('int32');
  expect(tf.constant(two, 'int32').dtype).toBe('int32');
  expect(tf.constant({ data: ['a', 'b'], shape: [2, 1] }).array()).toEqual([['a'], ['b']]);
  expect(tf.constant({ data: [5], shape: [] }).array()).toBe(5);
  const pixels = { data: new Uint8ClampedArray([1, 2, 300]), shape: [1, 3] };
  expect([tf.constant(pixels).dtype, tf.constant(pixels).array()]).toEqual(['uint8', [[1, 2, 255]]]);
  expect(tf.constant(new Uint8ClampedArray([7])).array()).toEqual([7]);
  for (const bad of [
    { data: [1, 2, 3], shape: [2, 2] },
    { data: [[1, 2]], shape: [2] },
    { data: [1], shape: [-1] },
    { data: [1, 'a'], shape: [2] },
  ])
    expect(() => tf.constant(bad as never)).toThrow(tf.InvalidArgumentError);
});
