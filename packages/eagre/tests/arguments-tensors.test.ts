// Tensors where ops take sizes, shapes, axes and the like: tf.shape(x).at(0) is written wherever a number is.
import { describe, expect, it, test } from 'vitest';
import * as tf from '../src/index.ts';

const int = (value: number | readonly number[], dtype: 'int32' | 'int64' = 'int32'): tf.Tensor =>
  tf.constant(value, dtype);
const x = tf.constant([
  [3, 1, 2],
  [6, 5, 4],
]);

// What numbers give, and the same with n(…) around each integer and l(…) around each list.
type Number = (value: number) => tf.IntegerLike;
type List = (value: readonly number[]) => readonly tf.IntegerLike[] | tf.Tensor | tf.Variable;
const calls: Readonly<Record<string, (n: Number, l: List) => tf.Tensor | readonly tf.Tensor[]>> = {
  reshape: (n) => tf.reshape(x, [n(3), -1]),
  'reshape by one list': (_, l) => x.reshape(l([3, 2])),
  broadcastTo: (_, l) => tf.broadcastTo(x, l([2, 2, 3])),
  zeros: (n) => tf.zeros([n(2), 3]),
  'zeros of one list': (_, l) => tf.zeros(l([2, 3]), 'int32'),
  ones: (n) => tf.ones([2, n(3)]),
  fill: (n) => tf.fill([n(2), n(2)], 7),
  constant: (n) => tf.constant(1, 'float32', { shape: [n(2)] }),
  eye: (n, l) => tf.eye(n(2), n(3), { batchShape: l([2]) }),
  range: (n) => tf.range(n(5), { dtype: 'int64' }).cast('int32'),
  linspace: (n) => tf.linspace(0, 1, n(5)),
  oneHot: (n) => tf.oneHot([0, 2], n(3), { axis: n(0) }),
  tile: (n) => tf.tile(x, [n(2), 1]),
  'tile by one list': (_, l) => tf.tile(x, l([1, 2])),
  transpose: (_, l) => tf.transpose(x, l([1, 0])),
  swapAxes: (n) => x.swapAxes(n(0), n(-1)),
  moveAxis: (n) => x.moveAxis(n(0), n(1)),
  pad: (n) =>
    tf.pad(x, [
      [n(1), n(0)],
      [0, n(2)],
    ] as const),
  expandDims: (n) => tf.expandDims(x, n(-1)),
  squeeze: (n) => tf.squeeze(tf.ones([1, 2]), n(0)),
  repeat: (n) => tf.repeat(x, n(2), n(1)),
  'repeat by one list': (_, l) => tf.repeat(x, l([1, 2]), 0),
  roll: (n) => tf.roll(x, n(1), n(1)),
  reverse: (n) => tf.reverse(x, [n(0), n(1)]),
  split: (n) => tf.split(x, n(3), n(1)),
  'split by sizes': (_, l) => tf.split(x, l([1, 2]), 1),
  unstack: (n) => tf.unstack(x, n(1)),
  slice: (n) => tf.slice(x, [n(0), n(1)], [n(2), n(1)]),
  'slice by lists': (_, l) => tf.slice(x, l([0, 1]) as tf.Tensor, l([2, 1]) as tf.Tensor),
  stridedSlice: (_, l) => tf.stridedSlice(x, l([0, 0]), l([2, 3]), l([1, 2])),
  at: (n) => x.at(n(1), n(-1)),
  gather: (n) => tf.gather(x, [1, 0], n(1), { batchDims: n(0) }),
  scatterNd: (n) => tf.scatterNd([[1]], [[1, 2]], [n(3), n(2)]),
  unsortedSegmentSum: (n) => tf.math.unsortedSegmentSum(x, [1, 0], n(3)),
  sequenceMask: (n) => tf.sequenceMask([1, 2], n(3)),
  sum: (n) => tf.reduceSum(x, n(1), { keepdims: true }),
  'sum over one list': (_, l) => tf.reduceSum(x, l([0, 1])),
  argMax: (n) => tf.argmax(x, n(1)),
  cumsum: (n) => tf.cumsum(x, n(1)),
  softmax: (n) => tf.nn.softmax(x, n(0)),
  sort: (n) => tf.sort(x, n(1)),
  concat: (n) => tf.concat([x, x], n(1)),
  stack: (n) => tf.stack([x, x], n(1)),
  topK: (n) => tf.math.topK(x, n(2)).values,
  tensordot: (n) => tf.tensordot(x, x.transpose(), n(1)),
  'tensordot of lists': (n, l) => tf.tensordot(x, x, [l([1]), n(1)]),
  tril: (n) => x.tril(n(1)),
  bandPart: (n) => tf.linalg.bandPart(x, n(0), n(-1)),
  spaceToDepth: (n) => tf.nn.spaceToDepth(tf.ones([1, 2, 2, 1]), n(2)),
  layerNormalization: (n) => tf.nn.layerNormalization(x, { axis: n(0) }),
  dropout: (n) => tf.nn.dropout(x, 0.5, { noiseShape: [n(2), 1], seed: 3 }),
  'random.normal': (n) => tf.random.normal([n(2), 3], { seed: 1 }),
  'random.uniform': (_, l) => tf.random.uniform(l([2, 3]), { seed: 1 }),
  'random.categorical': (n) => tf.random.categorical(x, n(4), { seed: 1 }),
  'random.statelessNormal': (n) => tf.random.statelessNormal([n(2)], [1, 2]),
};

const forms: readonly (readonly [string, Number, List])[] = [
  ['int32 tensors', (v) => int(v), (v) => int(v)],
  ['int64 tensors', (v) => int(v, 'int64'), (v) => int(v, 'int64')],
  ['variables', (v) => new tf.Variable(int(v)), (v) => new tf.Variable(int(v))],
  ['bigints', (v) => BigInt(v), (v) => v.map(BigInt)],
  ['lists of tensors', (v) => int(v), (v) => v.map((i) => int(i))],
];
const values = (y: tf.Tensor | readonly tf.Tensor[]): unknown => {
  const list = y instanceof tf.Tensor ? [y] : y;
  return list.map((t) => ({ shape: t.shape, values: t.array() }));
};

describe.each(Object.entries(calls))('%s', (_, call) => {
  const run = (n: Number, l: List): unknown => {
    tf.random.setSeed(1);
    return values(call(n, l));
  };
  const expected = run(
    (v) => v,
    (v) => v,
  );
  it.each(forms)('takes %s', (_form, n, l) => {
    expect(run(n, l)).toEqual(expected);
  });
  it('takes constants in a traced function', () => {
    const list = call(
      (v) => v,
      (v) => v,
    );
    tf.random.setSeed(1);
    const traced = tf.function(() => {
      const y = call(
        (v) => int(v),
        (v) => int(v),
      );
      return y instanceof tf.Tensor ? [y] : [...y];
    });
    expect(traced().map((t) => t.shape)).toEqual(
      (list instanceof tf.Tensor ? [list] : list).map((t) => t.shape),
    );
  });
});

test('the axis of a mask', () => {
  expect(tf.booleanMask(x, [true, false, true], int(1)).array()).toEqual([
    [3, 2],
    [6, 4],
  ]);
});

test('what is no shape says why', () => {
  expect(() => tf.zeros(tf.constant([2, 3]))).toThrow(
    "zeros: shape is float32 [2], expected integers: cast it to 'int32'",
  );
  expect(() => tf.reshape(x, [tf.constant(3), 2])).toThrow('reshape: shape[0] is float32 []');
  expect(() => tf.reshape(x, [int([3]), 2])).toThrow('shape[0] is a tensor of shape [1], expected a scalar');
  expect(() => tf.reshape(x, int(3))).toThrow('shape is a tensor of shape [], expected one of rank 1');
  expect(() => tf.reduceSum(x, tf.constant([[0]], 'int32'))).toThrow(
    'axis is a tensor of shape [1, 1], expected one of rank 1',
  );
  expect(() => tf.pad(x, int([1, 2]))).toThrow('paddings is a tensor of shape [2], expected [n, 2]');
  expect(tf.pad(x, int([1, 0, 0, 2]).reshape([2, 2])).shape).toEqual([3, 5]);
});

test('in traced functions too', () => {
  const f = tf.function((n: tf.Tensor) => tf.zeros([n]));
  expect([3, 5, 0].map((n) => f(int(n)).size)).toEqual([3, 5, 0]);
  const many = tf.function((n: tf.Tensor) => tf.zeros(n));
  expect(() => many(tf.ones([33], { dtype: 'int32' }))).toThrow('at most 32');
  const heads = tf.function((y: tf.Tensor) => {
    const size = tf.shape(y);
    return tf.reshape(y, [size.at(0), -1, 2]).add(tf.zeros([size.at(0), 1, 1]));
  });
  expect(heads(tf.ones([3, 4])).shape).toEqual([3, 2, 2]);
  expect(heads(tf.ones([5, 6])).shape).toEqual([5, 3, 2]);
});
