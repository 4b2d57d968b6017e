import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

test('equal rows share the gradient of the extreme of their segment', () => {
  const rows = tf.constant([2, 2, 1, 5]);
  const tape = new tf.GradientTape();
  tape.watch(rows);
  const y = tf.math.segmentMax(rows, tf.constant([0, 0, 0, 1], 'int32'));
  expect((tape.gradient(y, rows) as tf.Tensor).array()).toEqual([0.5, 0.5, 0, 1]);
});

test('a matrix and the diagonal that is put into it have gradients', () => {
  const a = tf.constant([
    [1, 2],
    [3, 4],
  ]);
  const d = tf.constant([5, 6]);
  const tape = new tf.GradientTape();
  tape.watch([a, d]);
  const y = tf.linalg.setDiag(a, d).mul([
    [1, 2],
    [3, 4],
  ]);
  const [da, dd] = tape.gradient(y, [a, d]) as tf.Tensor[];
  expect(da?.array()).toEqual([
    [0, 2],
    [3, 0],
  ]);
  expect(dd?.array()).toEqual([1, 4]);
});
