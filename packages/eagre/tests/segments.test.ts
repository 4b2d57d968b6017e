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

const segments = ['segmentSum', 'segmentMean', 'segmentProd', 'segmentMax', 'segmentMin'] as const;
test.each(segments)('%s is the same in a trace with unknown sizes, with its gradient', (name) => {
  const rows = tf.constant([
    [2, -3],
    [0, 5],
    [4, 1],
    [0.5, 2],
  ]);
  const ids = tf.constant([0, 0, 2, 2], 'int32');
  const both = (x: tf.Tensor, to: tf.Tensor): [tf.Tensor, tf.Tensor] => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = tf.math[name](x, to);
    return [y, tape.gradient(y.mul(y), x) as tf.Tensor];
  };
  const traced = tf.function(both, {
    inputSignature: [new tf.TensorSpec([null, 2]), new tf.TensorSpec([null], 'int32')],
  });
  const eager = both(rows, ids).map((t) => t.array());
  expect(traced(rows, ids).map((t) => t.array())).toEqual(eager);
  // By its own formula.
  const of = {
    segmentSum: [2, 2],
    segmentMean: [1, 1],
    segmentProd: [0, -15],
    segmentMax: [2, 5],
    segmentMin: [0, -3],
  };
  expect((eager[0] as number[][])[0]).toEqual(of[name]);
  expect(() => traced(rows, tf.constant([0, 2, 1, 2], 'int32'))).toThrow('must be at least 0 and rise');
});
