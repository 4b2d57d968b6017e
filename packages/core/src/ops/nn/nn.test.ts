import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import * as tf from '../../index.ts';
import { fusedConvolution, fusedMatMul } from '../../internal.ts';
import { everywhere, numbers, randoms, worst } from '../../testing/ops.ts';

const { nn } = tf;
const random = (shape: number[], seed: number, low = -1, high = 1): tf.Tensor =>
  tf
    .constant(
      randoms(
        shape.reduce((n, d) => n * d, 1),
        low,
        high,
        seed,
      ),
    )
    .reshape(shape);
const image = (rows: number[][]): tf.Tensor => tf.constant(rows).reshape([1, rows.length, rows[0].length, 1]);
const plane = (x: tf.Tensor): unknown => x.at(0, '...', 0).array();

describe('convolution', () => {
  test('of a small image', () => {
    everywhere(() => {
      const x = image([
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
      ]);
      const sum = tf.ones([2, 2, 1, 1]);
      expect(plane(nn.conv2d(x, sum))).toEqual([
        [12, 16],
        [24, 28],
      ]);
      // An odd pixel of padding comes at the end.
      expect(plane(nn.conv2d(x, sum, { padding: 'SAME' }))).toEqual([
        [12, 16, 9],
        [24, 28, 15],
        [15, 17, 9],
      ]);
      expect(
        plane(
          nn.conv2d(x, sum, {
            padding: [
              [1, 0],
              [1, 0],
            ],
          }),
        ),
      ).toEqual([
        [1, 3, 5],
        [5, 12, 16],
        [11, 24, 28],
      ]);
      expect(plane(nn.conv2d(x, sum, { strides: 2, padding: 'SAME' }))).toEqual([
        [12, 9],
        [15, 9],
      ]);
      expect(plane(nn.conv2d(x, sum, { dilations: 2 }))).toEqual([[20]]);
      expect(plane(nn.conv2d(x, sum, { strides: [1, 2] }))).toEqual([[12], [24]]);
    });
  });

  test('is a product of matrices for filters of one pixel', () => {
    everywhere(() => {
      const x = random([2, 3, 4, 5], 1);
      const w = random([1, 1, 5, 6], 2);
      expect(worst(nn.conv2d(x, w), numbers(x.matmul(w.reshape([5, 6]))))).toBeLessThan(1e-12);
    });
  });

  test('in groups is one convolution of each', () => {
    everywhere(() => {
      const x = random([1, 5, 5, 4], 1);
      const w = random([3, 3, 2, 6], 2);
      const parts = x.split(2, 3).map((p, i) => nn.conv2d(p, w.split(2, 3)[i]));
      expect(worst(nn.conv2d(x, w), numbers(tf.concat(parts, 3)))).toBeLessThan(1e-12);
      expect(worst(nn.conv2d(x, w, { groups: 2 }), numbers(tf.concat(parts, 3)))).toBeLessThan(1e-12);
    });
  });

  test('depthwise and separable', () => {
    everywhere(() => {
      const x = random([1, 4, 4, 3], 1);
      const w = random([2, 2, 3, 2], 2);
      const y = nn.depthwiseConv2d(x, w, { padding: 'SAME' });
      expect(y.shape).toEqual([1, 4, 4, 6]);
      for (let c = 0; c < 3; c++) {
        const one = nn.conv2d(x.at('...', `${c}:${c + 1}`), w.at(':', ':', `${c}:${c + 1}`), {
          padding: 'SAME',
        });
        expect(worst(y.at('...', `${2 * c}:${2 * c + 2}`), numbers(one))).toBeLessThan(1e-12);
      }
      const p = random([1, 1, 6, 5], 3);
      expect(worst(nn.separableConv2d(x, w, p, { padding: 'SAME' }), numbers(nn.conv2d(y, p)))).toBeLessThan(
        1e-12,
      );
    });
  });

  test('transposed: ⟨conv(x), y⟩ = ⟨x, convT(y)⟩', () => {
    everywhere(() => {
      for (const [size, options] of [
        [7, { strides: 2, padding: 'SAME' }],
        [8, { strides: 2, padding: 'SAME' }],
        [7, { strides: 1, padding: 'VALID' }],
        [
          7,
          {
            strides: 2,
            padding: [
              [1, 1],
              [0, 2],
            ],
          },
        ],
        [9, { strides: 1, padding: 'VALID', dilations: 2 }],
      ] as [number, Parameters<typeof nn.conv2d>[2]][]) {
        const x = random([2, size, size, 2], 1);
        const w = random([3, 3, 2, 4], 2);
        const conv = nn.conv2d(x, w, options);
        const y = random([...conv.shape], 3);
        const back = nn.conv2dTranspose(y, w, x.shape, options);
        expect(back.shape).toEqual(x.shape);
        expect(conv.mul(y).sum().item()).toBeCloseTo(back.mul(x).sum().item(), 10);
      }
      expect(
        nn.conv2dTranspose(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 5, 1]), null, { strides: 2 }).shape,
      ).toEqual([1, 6, 6, 5]);
      expect(
        nn.conv2dTranspose(tf.ones([1, 3, 3, 1]), tf.ones([3, 3, 1, 1]), null, {
          strides: 2,
          padding: 'SAME',
        }).shape,
      ).toEqual([1, 6, 6, 1]);
    });
    expect(() => nn.conv2dTranspose(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 9, 9, 1])).toThrow(
      'is not possible',
    );
  });

  test('over sequences', () => {
    everywhere(() => {
      const x = tf.constant([1, 2, 3, 4]).reshape([1, 4, 1]);
      expect(
        nn
          .conv1d(x, tf.ones([2, 1, 1]))
          .flatten()
          .array(),
      ).toEqual([3, 5, 7]);
      expect(
        nn
          .conv1d(x, tf.ones([2, 1, 1]), { stride: 2, padding: 'SAME' })
          .flatten()
          .array(),
      ).toEqual([3, 7]);
      expect(
        nn
          .conv1d(x, tf.ones([2, 1, 1]), { padding: [1, 0] })
          .flatten()
          .array(),
      ).toEqual([1, 3, 5, 7]);
      expect(nn.conv1dTranspose(x, tf.ones([2, 1, 1]), null, { strides: 2 }).shape).toEqual([1, 8, 1]);
      expect(
        nn
          .conv1dTranspose(x, tf.ones([2, 1, 1]), [1, 5, 1])
          .flatten()
          .array(),
      ).toEqual([1, 3, 5, 7, 4]);
    });
  });

  test('holds no view of a variable', () => {
    const w = new tf.Variable(tf.ones([2, 2, 1, 3]));
    const before = w.taken();
    nn.depthwiseConv2d(tf.ones([1, 4, 4, 1]), w);
    tf.broadcastTo(w, [1, 2, 2, 1, 3]);
    fusedMatMul(tf.ones([2, 2, 2]), new tf.Variable(tf.ones([2, 2])), null);
    expect(w.writable()).toBe(before);
  });

  test('says what does not fit', () => {
    const x = tf.zeros([1, 4, 4, 3]);
    expect(() => nn.conv2d(x, tf.zeros([3, 3, 2, 8]))).toThrow(
      'x [1, 4, 4, 3] has 3 channels, filters [3, 3, 2, 8] take 2',
    );
    expect(() => nn.conv2d(x, tf.zeros([5, 5, 3, 8]))).toThrow('a window of 5 is larger than 4 pixels');
    expect(() => nn.conv2d(tf.zeros([4, 4, 3]), tf.zeros([3, 3, 3, 8]))).toThrow('expected [n, h, w, c]');
    expect(() => nn.conv2d(x, tf.zeros([3, 3, 3, 8]), { padding: 'FULL' as 'SAME' })).toThrow(
      "padding 'FULL'",
    );
    expect(() => nn.conv2d(x, tf.zeros([3, 3, 3, 8]), { strides: 0 })).toThrow('strides must be');
    expect(() => nn.conv2d(x.cast('int32'), tf.zeros([3, 3, 3, 8], 'int32'))).toThrow('x is int32');
    // As TensorFlow; a window of nothing would give more pixels than there are.
    for (const padding of ['SAME', 'VALID'] as const) {
      const none = 'the window [0, 2] has no pixels';
      expect(() => nn.conv2d(x, tf.zeros([0, 2, 3, 8]), { padding })).toThrow(none);
      expect(() => nn.depthwiseConv2d(x, tf.zeros([0, 2, 3, 1]), { padding })).toThrow(none);
    }
  });

  test('with a bias and relu in one kernel', () => {
    everywhere(() => {
      const x = random([2, 5, 5, 3], 1);
      const w = random([3, 3, 3, 4], 2);
      const b = random([4], 3);
      const y = nn.conv2d(x, w, { padding: 'SAME' });
      expect(
        worst(fusedConvolution(x, w, b, { padding: 'SAME', activation: 1 }), numbers(nn.relu(y.add(b)))),
      ).toBeLessThan(1e-12);
      expect(worst(fusedConvolution(x, w, null, { padding: 'SAME' }), numbers(y))).toBe(0);
      const m = random([2, 3, 4], 4);
      const v = random([4, 5], 5);
      const c = random([5], 6);
      expect(worst(fusedMatMul(m, v, c), numbers(m.matmul(v).add(c)))).toBeLessThan(1e-12);
      expect(worst(fusedMatMul(m, v, null, { activation: 1 }), numbers(nn.relu(m.matmul(v))))).toBeLessThan(
        1e-12,
      );
    });
    expect(() => fusedMatMul(tf.ones([2, 2]), tf.ones([2, 3]), [1, 2])).toThrow('expected float32 [3]');
  });
});

describe('pooling', () => {
  const x = (): tf.Tensor =>
    image([
      [1, 5, 2],
      [7, 3, 8],
      [4, 9, 6],
    ]);

  test('maximum and mean', () => {
    everywhere(() => {
      expect(plane(nn.maxPool2d(x(), 2, { strides: 1 }))).toEqual([
        [7, 8],
        [9, 9],
      ]);
      expect(plane(nn.maxPool2d(x(), 2))).toEqual([[7]]);
      expect(plane(nn.maxPool2d(x(), 2, { padding: 'SAME' }))).toEqual([
        [7, 8],
        [9, 6],
      ]);
      expect(plane(nn.avgPool2d(x(), 2, { padding: 'SAME' }))).toEqual([
        [4, 5],
        [6.5, 6],
      ]);
      expect(
        plane(
          nn.maxPool2d(x().neg(), 3, {
            strides: 3,
            padding: [
              [1, 1],
              [1, 1],
            ],
          }),
        ),
      ).toEqual([[-1]]);
      const { output, argmax } = nn.maxPoolWithArgmax(x(), 2, { strides: 1 });
      expect([plane(output), plane(argmax)]).toEqual([
        [
          [7, 8],
          [9, 9],
        ],
        [
          [3n, 5n],
          [7n, 7n],
        ],
      ]);
      const places = nn.maxPoolWithArgmax(x(), 2, { strides: 1, outputType: 'int32' }).argmax;
      expect(plane(places)).toEqual([
        [3, 5],
        [7, 7],
      ]);
      expect(() => nn.maxPoolWithArgmax(x(), 2, { outputType: 'int8' as never })).toThrow('outputType');
      const halves = nn.crelu(tf.constant([-1, 2], 'int32'));
      expect([halves.dtype, halves.array()]).toEqual(['int32', [0, 2, 1, 0]]);
      expect(() => nn.crelu(tf.constant([1], 'uint8'))).toThrow('features');
      const s = tf.constant([1, 4, 2, 3]).reshape([1, 4, 1]);
      expect(nn.maxPool1d(s, 2).flatten().array()).toEqual([4, 3]);
      expect(nn.avgPool1d(s, 3, { strides: 1, padding: 'SAME' }).flatten().array()).toEqual([
        2.5,
        expect.closeTo(7 / 3),
        3,
        2.5,
      ]);
    });
    expect(() => nn.maxPool2d(x(), 4)).toThrow('is larger than');
  });
});

describe('normalisation', () => {
  test('of batches', () => {
    everywhere(() => {
      const x = random([4, 3, 3, 2], 1, 5, 9);
      const scale = tf.constant([2, 0.5], 'float64');
      const offset = tf.constant([1, -1], 'float64');
      const { y, mean, variance } = nn.fusedBatchNorm(x, scale, offset);
      expect(worst(mean, numbers(x.mean([0, 1, 2])))).toBeLessThan(1e-12);
      expect(worst(variance, numbers(x.sub(mean).square().mean([0, 1, 2])))).toBeLessThan(1e-12);
      expect(worst(y, numbers(nn.batchNormalization(x, mean, variance, offset, scale, 1e-3)))).toBeLessThan(
        1e-12,
      );
      const fixed = nn.fusedBatchNorm(x, null, null, { mean, variance, isTraining: false, epsilon: 0 });
      expect(worst(fixed.y.mean([0, 1, 2]), [0, 0])).toBeLessThan(1e-12);
      expect(worst(fixed.y.square().mean([0, 1, 2]), [1, 1])).toBeLessThan(1e-12);
    });
    expect(() => nn.fusedBatchNorm(tf.zeros([2, 3]), tf.ones([2]), null)).toThrow(
      'scale is float32 [2], expected float32 [3]',
    );
    expect(() => nn.fusedBatchNorm(tf.zeros([2, 3]), null, null, { isTraining: false })).toThrow(
      'must be given',
    );
  });

  test('of examples', () => {
    everywhere(() => {
      const y = nn.layerNormalization(
        [
          [1, 2, 3],
          [6, 4, 2],
        ],
        { epsilon: 0 },
      );
      const s = Math.sqrt(1.5);
      expect(worst(y, [-s, 0, s, s, 0, -s])).toBeLessThan(1e-6);
      const z = nn.layerNormalization(random([2, 3, 4], 1), {
        axis: [1, 2],
        scale: tf.ones([3, 4], 'float64'),
        offset: tf.fill([3, 4], 5, 'float64'),
      });
      expect(worst(z.mean([1, 2]), [5, 5])).toBeLessThan(1e-12);
    });
    expect(() => nn.layerNormalization([[1, 2]], { scale: [1] })).toThrow(
      'scale has shape [1], expected [2]',
    );
    expect(() => nn.layerNormalization([[1, 2]], { epsilon: -1 })).toThrow('epsilon is -1');
  });

  test('by the root mean square', () => {
    everywhere(() => {
      const y = nn.rmsNormalization([[3, 4]], { scale: [2, 1] });
      expect(worst(y, [6 / Math.sqrt(12.5), 4 / Math.sqrt(12.5)])).toBeLessThan(1e-6);
      const x = random([2, 3, 4], 2);
      const scale = random([3, 4], 3);
      const expected = x.mul(x.square().mean([1, 2], { keepdims: true }).add(1e-6).rsqrt()).mul(scale);
      expect(
        worst(nn.rmsNormalization(x, { axis: [1, 2], scale }), expected.data() as Float64Array),
      ).toBeLessThan(1e-12);
      const first = x.mul(x.square().mean(0, { keepdims: true }).add(1e-6).rsqrt());
      expect(worst(nn.rmsNormalization(x, { axis: 0 }), first.data() as Float64Array)).toBeLessThan(1e-12);
    });
    expect(() => nn.rmsNormalization([[1, 2]], { scale: [1] })).toThrow('scale has shape [1], expected [2]');
  });
});

describe('losses', () => {
  test('softmax cross-entropy', () => {
    everywhere(() => {
      const logits = [
        [1, 2, 3],
        [0, 0, 0],
      ];
      const labels = [
        [0, 0, 1],
        [0.5, 0.5, 0],
      ];
      const first = -Math.log(Math.E ** 3 / (Math.E + Math.E ** 2 + Math.E ** 3));
      expect(worst(nn.softmaxCrossEntropyWithLogits({ labels, logits }), [first, Math.log(3)])).toBeLessThan(
        1e-6,
      );
      expect(
        worst(nn.sparseSoftmaxCrossEntropyWithLogits({ labels: [2, 0], logits }), [first, Math.log(3)]),
      ).toBeLessThan(1e-6);
      const t = nn.softmaxCrossEntropyWithLogits({
        labels: tf.transpose(labels),
        logits: tf.transpose(logits),
        axis: 0,
      });
      expect(worst(t, [first, Math.log(3)])).toBeLessThan(1e-6);
      const deep = nn.sparseSoftmaxCrossEntropyWithLogits({
        labels: tf.constant([
          [0n, 1n],
          [2n, 0n],
        ]),
        logits: tf.zeros([2, 2, 3]),
      });
      expect(deep.shape).toEqual([2, 2]);
      expect(nn.sparseSoftmaxCrossEntropyWithLogits({ labels: 1, logits: [0, 1000] }).item()).toBe(0);
      expect(() => nn.sparseSoftmaxCrossEntropyWithLogits({ labels: [3], logits: [[0, 0, 0]] })).toThrow(
        tf.OutOfRangeError,
      );
    });
    expect(() => nn.sparseSoftmaxCrossEntropyWithLogits({ labels: [[1]], logits: [[0, 0]] })).toThrow(
      'expected [1]',
    );
    expect(() =>
      nn.sparseSoftmaxCrossEntropyWithLogits({ labels: tf.constant([0.5]), logits: [[0, 0]] }),
    ).toThrow('labels is float32');
  });

  test('sigmoid cross-entropy keeps small losses', () => {
    everywhere(() => {
      const y = nn.sigmoidCrossEntropyWithLogits({ labels: [1, 0, 1, 0], logits: [20, -20, -100, 100] });
      expect(y.array()).toEqual([
        expect.closeTo(2.0611537e-9, 15),
        expect.closeTo(2.0611537e-9, 15),
        100,
        100,
      ]);
      const logits = [-1.5, 0, 2];
      const labels = [0.2, 0.5, 1];
      const plain = nn.sigmoidCrossEntropyWithLogits({ labels, logits });
      expect(
        worst(nn.weightedCrossEntropyWithLogits({ labels, logits, posWeight: 1 }), numbers(plain)),
      ).toBeLessThan(1e-6);
      const weighted = nn.weightedCrossEntropyWithLogits({ labels: [1], logits: [2], posWeight: 3 });
      expect(weighted.array()).toEqual([expect.closeTo(3 * Math.log1p(Math.exp(-2)), 5)]);
    });
  });

  test('others', () => {
    everywhere(() => {
      expect(nn.l2Loss([3, 4]).item()).toBe(12.5);
      expect(nn.biasAdd([[1, 2]], [10, 20]).array()).toEqual([[11, 22]]);
      expect(
        nn
          .embeddingLookup(
            [
              [1, 2],
              [3, 4],
            ],
            [[1], [0]],
          )
          .array(),
      ).toEqual([[[3, 4]], [[1, 2]]]);
      expect(
        nn
          .inTopK(
            [0, 2],
            [
              [1, 2, 3],
              [1, 2, 3],
            ],
            1,
          )
          .array(),
      ).toEqual([false, true]);
      // As in TensorFlow 2.21: false for classes that are not there, and where a prediction is not finite.
      const predictions = [
        [1, NaN, 2],
        [1, Infinity, 2],
        [2, -Infinity, 1],
        [1, 2, 3],
        [1, 2, 3],
        [1, 2, 3],
      ];
      expect(nn.inTopK([0, 2, 0, 3, -1, 2], predictions, 2).array()).toEqual([
        false,
        false,
        false,
        false,
        false,
        true,
      ]);
    });
    expect(() => nn.biasAdd([[1, 2]], [[1, 2]])).toThrow('expected [..., c]');
  });
});

describe('dropout', () => {
  test('noise broadcasts to x', () => {
    everywhere(() => {
      const x = tf.ones([64, 3, 4]);
      const columns = tf.nn.dropout(x, 0.5, { noiseShape: [4], seed: 1 });
      expect(columns.sub(columns.at(0, 0)).abs().sum().item()).toBe(0);
      const rows = tf.nn.dropout(x, 0.5, { noiseShape: [null, 1, 1], seed: 1 });
      expect(
        rows
          .sub(rows.at(':', '0:1', '0:1'))
          .abs()
          .sum()
          .item(),
      ).toBe(0);
      expect(new Set(numbers(tf.nn.dropout(x, 0.5, { noiseShape: [], seed: 2 }))).size).toBe(1);
      for (const bad of [[3], [1, 64, 3, 4], [null, 1], [null]])
        expect(() => tf.nn.dropout(x, 0.5, { noiseShape: bad })).toThrow(tf.InvalidArgumentError);
    });
  });

  test('keeps the expected sum', () => {
    everywhere(() => {
      const y = nn.dropout(tf.ones([100, 100]), 0.25, { seed: 3 });
      const list = numbers(y);
      expect(new Set(list)).toEqual(new Set([0, Math.fround(1 / 0.75)]));
      expect(list.filter((v) => v === 0).length / list.length).toBeCloseTo(0.25, 1);
      const rows = nn.dropout(tf.ones([50, 4]), 0.5, { noiseShape: [50, 1] });
      expect(numbers(rows.sum(1)).every((v) => v === 0 || v === 8)).toBe(true);
      expect(nn.dropout([1, 2], 0).array()).toEqual([1, 2]);
      expect(nn.dropout(tf.fill([10], Infinity), 0.5, { seed: 1 }).array()).not.toContain(NaN);
    });
    expect(() => nn.dropout([1], 1)).toThrow('0 ≤ rate < 1');
    expect(() => nn.dropout([1, 2], 0.5, { noiseShape: [3] })).toThrow('noiseShape [3]');
  });
});
