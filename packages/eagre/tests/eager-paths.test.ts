import * as tf from 'eagre';
import { describe, expect, test } from 'vitest';

// Some functions count, look up and multiply in plain code where values are in memory of the host, and by ops in graphs: with equal results.

const draw = (shape: number[], seed: number): tf.Tensor => tf.random.statelessNormal(shape, [seed, 5]);
const ids = tf.constant([0, 0, 2, 1, 2, 0], 'int32');
const x = draw([6, 5], 1);
const images = draw([2, 7, 6, 3], 2);
const boxes = tf.constant([
  [0.1, 0.2, 0.9, 0.7],
  [-0.3, 0, 1.2, 1],
  [0.8, 0.9, 0.1, 0.3],
]);
const places = tf.constant([1, 0, 1], 'int32');
const rows = tf.sort(draw([3, 50], 3));
const values = draw([3, 40], 4);

const functions: Readonly<Record<string, (of: tf.Tensor) => tf.Tensor>> = {
  'searchsorted, left': () => tf.searchsorted(rows, values),
  'searchsorted, right': () => tf.searchsorted(rows, values, { side: 'right', outType: 'int64' }),
  'searchsorted of integers': () => {
    const whole = (t: tf.Tensor): tf.Tensor => t.mul(3).floor().cast('int64');
    return tf.searchsorted(whole(rows), whole(values), { side: 'right' });
  },
  histogramFixedWidth: () => tf.histogramFixedWidth(values, [-1, 1.5], { nbins: 7 }),
  unsortedSegmentProd: () => tf.math.unsortedSegmentProd(x, ids, 4),
  'unsortedSegmentProd of integers': () => tf.math.unsortedSegmentProd(x.mul(9).cast('int64'), ids.sub(1), 3),
  fakeQuantWithMinMaxVars: () => tf.quantization.fakeQuantWithMinMaxVars(x, -0.7, 1.1),
  fakeQuantWithMinMaxVarsPerChannel: () =>
    tf.quantization.fakeQuantWithMinMaxVarsPerChannel(x, [-1, -2, 0, -1, 0], [1, 1, 2, 0, 0], { numBits: 4 }),
  'cropAndResize, bilinear': () =>
    tf.image.cropAndResize(images, boxes, places, [5, 4], { extrapolationValue: 0.5 }),
  'cropAndResize, nearest': () =>
    tf.image.cropAndResize(images, boxes, places, [1, 4], { method: 'nearest' }),
};

describe('eager code and graphs agree:', () => {
  test.each(Object.entries(functions))('%s', (_, fn) => {
    const traced = tf.function(fn)(x);
    const eager = fn(x);
    expect(traced.dtype).toBe(eager.dtype);
    expect(traced.shape).toEqual(eager.shape);
    const near = traced.cast('float64').sub(eager.cast('float64')).abs().max().item<number>();
    expect(near).toBeLessThan(1e-6);
  });

  test('so do their gradients', () => {
    const of = (fn: (a: tf.Tensor, b: tf.Tensor) => tf.Tensor, a: tf.Tensor, b: tf.Tensor): tf.Tensor[] => {
      using tape = new tf.GradientTape();
      tape.watch([a, b]);
      const loss = fn(a, b).square().sum();
      return tape.gradient(loss, [a, b]).map((d) => d ?? tf.zeros([1]));
    };
    const crop = (a: tf.Tensor, b: tf.Tensor): tf.Tensor => tf.image.cropAndResize(a, b, places, [5, 4]);
    const product = (a: tf.Tensor, b: tf.Tensor): tf.Tensor =>
      tf.math.unsortedSegmentProd(a, ids, 4).mul(b.sum());
    for (const [fn, a, b] of [
      [crop, images, boxes],
      [product, x, boxes],
    ] as const) {
      const eager = of(fn, a, b);
      const traced = tf.function((p: tf.Tensor, q: tf.Tensor) => of(fn, p, q))(a, b);
      eager.forEach((d, i) => {
        expect((traced[i] as tf.Tensor).sub(d).abs().max().item<number>()).toBeLessThan(1e-4);
      });
    }
  });

  test('files have the ops that others know', () => {
    const traced = tf.function((a: tf.Tensor) => tf.searchsorted(rows, a));
    expect(traced(values).array()).toEqual(tf.searchsorted(rows, values).array());
  });
});

test('boxes of equal scores are kept in their order, and softened ones go back to where they belong', () => {
  const all = [
    [0, 0, 1, 1],
    [0, 0.1, 1, 1.1],
    [0, 2, 1, 3],
    [1, 3, 0, 2.1],
  ];
  const scores = [0.9, 0.8, 0.7, 0.7];
  expect(tf.image.nonMaxSuppression(all, scores, 4).array()).toEqual([0, 2]);
  const [taken, left] = tf.image.nonMaxSuppressionWithScores(all, scores, 4, { softNmsSigma: 0.5 });
  expect(taken.array()).toEqual([0, 2, 1, 3]);
  const share = 0.9 / 1.1;
  expect((left.array() as number[])[2]).toBeCloseTo(0.8 * Math.exp(-share * share), 5);
});

test('complex tensors move as pairs', () => {
  const z = tf.complex(draw([3, 4], 6), draw([3, 4], 7));
  const both = (fn: (t: tf.Tensor) => tf.Tensor): void => {
    const got = fn(z);
    expect(got.real().array()).toEqual(fn(z.real()).array());
    expect(got.imag().array()).toEqual(fn(z.imag()).array());
  };
  both((t) => t.transpose());
  both((t) => t.reverse(1));
  both((t) =>
    t.pad([
      [1, 0],
      [0, 2],
    ]),
  );
  both((t) => t.slice([1, 1], [2, 2]));
  both((t) => tf.stridedSlice(t, [2, 3], [0, 0], [-1, -2]));
  both((t) => tf.concat([t, t], 1));
  both((t) => tf.tile(t, [2, 1]));
  both((t) => t.gather([2, 0, 2], 1));
  both((t) =>
    tf.gatherNd(t, [
      [1, 2],
      [0, 3],
    ]),
  );
  both((t) => t.cumsum(1, { reverse: true }));
  both((t) => t.sum(0));
  both((t) => t.mean());
  both((t) => tf.tensorScatterNdAdd(t, [[2], [0]], t.slice([0, 0], [2, 4])));
  expect(
    z
      .pad(
        [
          [1, 0],
          [0, 0],
        ],
        { constantValues: 2 },
      )
      .real()
      .at(0)
      .array(),
  ).toEqual([2, 2, 2, 2]);
});
