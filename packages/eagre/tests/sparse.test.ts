import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { expectGolden, type GoldenComposite } from './testing/golden.ts';

const golden = JSON.parse(readFileSync(new URL('../golden/sparse.json', import.meta.url), 'utf8')) as {
  cases: Record<string, GoldenComposite | GoldenComposite[]>;
};

// Some functions of tensors take sparse ones, which their types do not say.
// biome-ignore lint/suspicious/noExplicitAny: as above.
const f = tf as any;
const { sparse: S, SparseTensor } = tf;
type Sparse = tf.SparseTensor;
const int = (values: unknown) => tf.constant(values as number[], 'int32');
const long = (values: unknown) => tf.constant(values as number[], 'int64');

const A = new SparseTensor(
  [
    [0, 1],
    [0, 3],
    [2, 0],
    [2, 2],
  ],
  [1, -2, 3, 4],
  [4, 4],
);
const B = new SparseTensor(
  [
    [0, 1],
    [1, 1],
    [2, 3],
  ],
  [5, 6, -7],
  [4, 4],
);
const E = new SparseTensor([], [], [3, 4]);
const U = new SparseTensor(
  [
    [2, 2],
    [0, 1],
    [2, 0],
  ],
  int([1, 2, 3]),
  [3, 3],
);
const C = new SparseTensor(
  [
    [0, 1, 0],
    [1, 0, 2],
    [1, 1, 1],
  ],
  [1, 2, 3],
  [2, 2, 3],
);
const W = new SparseTensor(
  [
    [0, 0],
    [1, 2],
  ],
  ['a', 'b'],
  [2, 3],
);
const M = tf.range(12).reshape([4, 3]);
const IDS = new SparseTensor(
  [
    [0, 0],
    [0, 1],
    [1, 0],
    [3, 0],
    [3, 1],
  ],
  long([1, 3, 0, 1, 1]),
  [4, 2],
);
const WTS = new SparseTensor(IDS.indices, [2, 0.5, 1, 3, 0.25], [4, 2]);
const PARAMS = tf.range(10).reshape([5, 2]).div(3);

type Fn = (x: Sparse, ...more: tf.Tensor[]) => tf.Tensor | Sparse;
function gradient(fn: Fn, x: Sparse, ...more: tf.Tensor[]): tf.Tensor[] {
  const tape = new tf.GradientTape();
  tape.watch([x, ...more] as never);
  const loss = tape.record(() => {
    const y = fn(x, ...more);
    const values = y instanceof SparseTensor ? y.values : y;
    return values.mul(tf.range(1, values.size + 1).reshape(values.shape)).sum();
  });
  const [own, ...others] = tape.gradient(loss, [x, ...more] as never) as unknown as [Sparse, ...tf.Tensor[]];
  return [own.values, ...others].map((g) => tf.convertToTensor(g));
}

const cases: Record<string, () => unknown> = {
  made: () => [A, E, C, W],
  toDense: () => [
    S.toDense(A),
    S.toDense(A, 9),
    S.toDense(E),
    S.toDense(C),
    S.toDense(W),
    S.toDense(W, '?'),
    S.toDense(U, { validateIndices: false }),
  ],
  fromDense: () => [
    S.fromDense([
      [0, 1],
      [2, 0],
    ]),
    S.fromDense(tf.zeros([2, 2])),
    S.fromDense(int([1, 0, 3])),
    S.fromDense(['a', '', 'b']),
  ],
  reorder: () => S.reorder(U),
  eye: () => [S.eye(3), S.eye(2, 4), S.eye(3, 2, 'int32')],
  expandDims: () => [S.expandDims(A), S.expandDims(A, 0), S.expandDims(C, 1), S.expandDims(C, -2)],
  reshape: () => [S.reshape(A, [2, 8]), S.reshape(A, [-1]), S.reshape(C, [3, -1]), S.reshape(E, [12])],
  resetShape: () => [S.resetShape(A), S.resetShape(A, [5, 6]), S.resetShape(C)],
  transpose: () => [S.transpose(A), S.transpose(C, [2, 0, 1])],
  concat: () => [
    S.concat(0, [A, B]),
    S.concat(1, [A, B]),
    S.concat(-1, [A, E], { expandNonconcatDims: true }),
    S.concat(0, [W, W]),
  ],
  slice: () => [S.slice(A, [0, 1], [3, 2]), S.slice(A, [2, 0], [9, 9]), S.slice(C, [1, 0, 0], [1, 2, 2])],
  split: () => [S.split(A, 2, 1), S.split(A, 3, 0), S.split(C, 2, -1)],
  retain: () => [S.retain(A, [true, false, false, true]), S.retain(A, [false, false, false, false])],
  fillEmptyRows: () => [
    ...S.fillEmptyRows(A, 9),
    ...S.fillEmptyRows(E, 1),
    ...S.fillEmptyRows(
      new SparseTensor(
        [
          [0, 0],
          [2, 1],
        ],
        ['a', 'b'],
        [3, 3],
      ),
      '-',
    ),
  ],
  reduceSum: () => [
    S.reduceSum(A),
    S.reduceSum(A, 0),
    S.reduceSum(A, 1),
    S.reduceSum(A, 1, { keepdims: true }),
    S.reduceSum(C, [0, 2]),
    S.reduceSum(C, -1),
    S.reduceSum(E, 1),
    S.reduceSum(A, 1, { outputIsSparse: true }),
    S.reduceSum(A, 0, { keepdims: true, outputIsSparse: true }),
  ],
  reduceMax: () => [
    S.reduceMax(A),
    S.reduceMax(A, 0),
    S.reduceMax(A, 1),
    S.reduceMax(C, [0, 1]),
    S.reduceMax(B, 1, { outputIsSparse: true }),
  ],
  add: () => [
    S.add(A, B),
    S.add(A, B, { threshold: 4.5 }),
    S.add(A, tf.ones([4, 4])),
    S.add(tf.ones([4, 4]), A),
  ],
  extremes: () => [S.maximum(A, B), S.minimum(A, B)],
  matmul: () => [
    S.sparseDenseMatmul(A, M),
    S.sparseDenseMatmul(A, M, { adjointA: true }),
    S.sparseDenseMatmul(A, M.transpose(), { adjointB: true }),
    S.sparseDenseMatmul(M.transpose(), A),
    S.sparseDenseMatmul(M.transpose(), A, { adjointB: true }),
    S.sparseDenseMatmul(M, A, { adjointA: true }),
    S.sparseDenseMatmul(E, M),
  ],
  softmax: () => [S.softmax(A), S.softmax(C)],
  mapValues: () => [S.mapValues(tf.square as never, A), S.mapValues(tf.add as never, A, 1)],
  toIndicator: () => S.toIndicator(IDS, 5),
  bincount: () => [
    S.bincount(int([1, 1, 3, 5])),
    S.bincount(
      int([
        [1, 2, 2],
        [0, 0, 3],
      ]),
      { axis: -1 },
    ),
    S.bincount(
      int([
        [1, 2, 2],
        [0, 0, 3],
      ]),
      { axis: -1, binaryOutput: true },
    ),
    S.bincount(IDS, { axis: -1, minlength: 6 }),
    S.bincount(IDS, { axis: -1, weights: WTS }),
    S.bincount(int([1, 1, 3, 5]), { maxlength: 4 }),
    S.bincount(tf.ragged.constant([[1, 1], [], [2]], 'int32'), { axis: -1 }),
    S.bincount(int([1, 5]), { minlength: 2, maxlength: 3 }),
    S.bincount(
      int([
        [1, 2],
        [5, 5],
      ]),
      { axis: null },
    ),
  ],
  shape: () => [f.shape(A), f.size(A), f.rank(A)],
  segments: () => [
    S.segmentSum(M, [0, 1, 3], [0, 0, 2]),
    S.segmentMean(M, [0, 1, 3], [0, 0, 2]),
    S.segmentSqrtN(M, [0, 1, 3], [0, 0, 2]),
    S.segmentSum(M, [0, 1], [0, 1], { numSegments: 4 }),
  ],
  mask: () => S.mask(new tf.IndexedSlices(M, int([12, 26, 37, 45]), [100, 3]), [12, 45]),
  elementwise: () => [
    f.abs(A),
    f.square(A),
    f.cast(A, 'int32'),
    f.multiply(A, 2),
    f.multiply(A, tf.range(4)),
    f.divide(A, 2),
  ],
  embeddingLookupSparse: () =>
    [null, WTS].flatMap((w) =>
      (['sum', 'mean', 'sqrtn'] as const).map((combiner) =>
        tf.nn.embeddingLookupSparse(PARAMS, IDS, w, { combiner }),
      ),
    ),
  'embeddingLookupSparse maxNorm': () =>
    tf.nn.embeddingLookupSparse(PARAMS, IDS, null, { combiner: 'sum', maxNorm: 1 }),
  safeEmbeddingLookupSparse: () => [
    tf.nn.safeEmbeddingLookupSparse(PARAMS, IDS),
    tf.nn.safeEmbeddingLookupSparse(PARAMS, IDS, WTS, { combiner: 'sum' }),
    tf.nn.safeEmbeddingLookupSparse(PARAMS, IDS, { defaultId: 4 }),
  ],
  'gradient toDense': () => gradient((x) => S.toDense(x).square(), A),
  'gradient matmul': () => gradient((x, m) => S.sparseDenseMatmul(x, m as tf.Tensor).square(), A, M),
  'gradient reduceSum': () => gradient((x) => S.reduceSum(x, 1).square(), A),
  'gradient add': () => gradient((x) => S.add(x, B), A),
  'gradient reorder': () => gradient((x) => S.transpose(x), A),
  'gradient softmax': () => gradient((x) => S.softmax(x), A),
};

describe('sparse tensors do as in TensorFlow', () => {
  expect(Object.keys(cases).sort()).toEqual(Object.keys(golden.cases).sort());
  test.each(Object.keys(cases))('%s', (name) => {
    expectGolden((cases[name] as () => unknown)(), golden.cases[name] as GoldenComposite, name);
  });
});

test('sparse tensors refuse what TensorFlow refuses', () => {
  expect(() => S.concat(0, [A, tf.sparse.fromDense([1, 0])])).toThrow('spInputs have the ranks 2 and 1');
  expect(() => S.slice(A, [0, 0], [-1, 2])).toThrow('size must not be negative, got -1');
  expect(() => S.bincount([1, 1], { weights: [1, 2], binaryOutput: true })).toThrow('exclude each other');
  for (const ids of [[0], [1], [2]])
    expect(() => tf.math.unsortedSegmentProd([3], int(ids), 0)).toThrow(tf.errors.OutOfRangeError);
  expect(() => tf.math.unsortedSegmentProd([3], int([1]), 1)).toThrow(tf.errors.OutOfRangeError);
  expect(tf.math.unsortedSegmentProd([3, 4], int([-1, 0]), 1).array()).toEqual([4]);
  const f = tf.function((x: tf.Tensor) => tf.sets.size(tf.sets.union(x, x)));
  expect(() => f(int([[1, 2]]))).toThrow('cannot compute with strings and sets');
});

test('a limit of bincount is the size of what it gives, as in TensorFlow', () => {
  const values = [
    [1, 1, 3],
    [0, 7, 1],
  ];
  for (const [options, shape] of [
    [{ maxlength: 6 }, [2, 6]],
    [{ minlength: 8, maxlength: 6 }, [2, 6]],
    [{ maxlength: 0 }, [2, 0]],
    [{ minlength: 9 }, [2, 9]],
  ] as const)
    expect(tf.sparse.bincount(values, { axis: -1, ...options }).shape).toEqual(shape);
});
