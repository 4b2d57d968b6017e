// Integers of functions of ragged and sparse tensors: what is none is refused, as it is for other tensors.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

type Call = (x: never, value: never) => unknown;

const ragged = tf.ragged.constant([[1, 2, 3], [4], [5, 6]], { dtype: 'float32' });
const dense = tf.constant([
  [1, 2, 3],
  [4, 5, 6],
]);
const calls: Readonly<Record<string, Call>> = {
  concat: (x, axis) => tf.concat([x, x], axis),
  stack: (x, axis) => tf.stack([x, x], axis),
  split: (x, axis) => tf.split(x, 1, axis),
  'the number of parts': (x, count) => tf.split(x, count),
  oneHot: (x, axis) => tf.oneHot(tf.cast(x, 'int32'), 3, { axis }),
  expandDims: (x, axis) => tf.expandDims(x, axis),
  squeeze: (x, axis) => tf.squeeze(tf.expandDims(x, 0), axis),
  reverse: (x, axis) => tf.reverse(x, axis),
  'one of several axes': (x, axis) => tf.reverse(x, [axis]),
  'a multiple': (x, multiple) => tf.tile(x, [1, multiple]),
  multiples: (x, multiples) => tf.tile(x, multiples),
  softmax: (x, axis) => tf.nn.softmax(x, axis),
  cumsum: (x, axis) => tf.cumsum(x, axis),
  gather: (x, axis) => tf.gather(x, [0], axis),
  'batchDims of gather': (x, batchDims) => tf.gather(x, [0, 0], { batchDims }),
  'depth of oneHot': (x, depth) => tf.oneHot(tf.cast(x, 'int32'), depth),
  reduceSum: (x, axis) => tf.reduceSum(x, axis),
  reduceMean: (x, axis) => tf.reduceMean(x, axis),
  reduceMax: (x, axis) => tf.reduceMax(x, axis),
  reduceProd: (x, axis) => tf.reduceProd(x, axis),
  reduceAny: (x, axis) => tf.reduceAny(tf.greater(x, 2), axis),
  argmax: (x, axis) => tf.argmax(x, axis),
  sort: (x, axis) => tf.sort(x, axis),
  norm: (x, axis) => tf.norm(x, { axis }),
};
/** At the end of a call these are arguments by name, of which there are none. */
const NAMED = {};
const sparse = tf.sparse.fromDense([
  [1, 0, 2],
  [0, 3, 0],
]);
/** Of functions that have no form for other tensors: what is refused is refused by errors of ours, and these take none of `odd` but what `takes` lists. */
const others: Readonly<Record<string, { call(value: never): unknown; takes?: readonly unknown[] }>> = {
  'sparse.reshape': { call: (shape) => tf.sparse.reshape(sparse, shape) },
  'a size of sparse.reshape': { call: (size) => tf.sparse.reshape(sparse, [size, 2, 3]) },
  'sparse.slice, start': { call: (start) => tf.sparse.slice(sparse, start, [1, 1]) },
  'sparse.slice, size': { call: (size) => tf.sparse.slice(sparse, [0, 0], size) },
  'sparse.resetShape': { call: (shape) => tf.sparse.resetShape(sparse, shape), takes: [null, NAMED] },
  'sparse.expandDims': { call: (axis) => tf.sparse.expandDims(sparse, axis), takes: [null, NAMED] },
  fromUniformRowLength: { call: (n) => tf.RaggedTensor.fromUniformRowLength([1, 2, 3, 4], n) },
  'nrows of fromUniformRowLength': {
    call: (n) => tf.RaggedTensor.fromUniformRowLength([], 0, n),
    takes: [null, 99, NAMED],
  },
  'nrows of fromValueRowids': {
    call: (n) => tf.RaggedTensor.fromValueRowids([1, 2], [0, 0], n),
    takes: [null, 99, NAMED],
  },
};
const odd: readonly unknown[] = [
  ...[
    Symbol('x'),
    null,
    '1',
    '',
    [],
    [[0]],
    NAMED,
    true,
    () => 0,
    Number.NaN,
    1.5,
    Number.POSITIVE_INFINITY,
    99,
  ],
  ...[tf.constant('a'), tf.constant([0, 1, 2, 3]), tf.constant(0.5), tf.constant(true), ragged],
  ...[sparse, new Date(0), 2n ** 70n, new Map(), /1/],
];

/** What it throws, if anything. */
function errorOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

test.each(Object.entries(calls))('%s', (_, call) => {
  for (const value of odd) {
    const shown = typeof value === 'symbol' ? 'a symbol' : `${typeof value} ${String(value)}`;
    const error = errorOf(() => call(ragged as never, value as never));
    if (error !== undefined) expect(error, shown).toBeInstanceOf(tf.errors.EagreError);
    else
      expect(
        errorOf(() => call(dense as never, value as never)),
        shown,
      ).toBeUndefined();
  }
});

test.each(Object.entries(others))('%s', (_, { call, takes = [] }) => {
  for (const value of odd) {
    const shown = typeof value === 'symbol' ? 'a symbol' : `${typeof value} ${String(value)}`;
    const error = errorOf(() => call(value as never));
    if (takes.includes(value)) expect(error, shown).toBeUndefined();
    else expect(error, shown).toBeInstanceOf(tf.errors.EagreError);
  }
});
