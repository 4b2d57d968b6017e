// Members of TensorFlow's classes; results are those of TensorFlow 2.21.
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { TensorSpec, RaggedTensorSpec, SparseTensorSpec, IndexedSlicesSpec, OptionalSpec } = tf;

describe('specs', () => {
  test('a value or another spec fits, or not', () => {
    const rows = new TensorSpec([null, 3]);
    expect(rows.isCompatibleWith(new TensorSpec([2, null], 'float32', 'x'))).toBe(true);
    expect(rows.isCompatibleWith(tf.ones([2, 3]))).toBe(true);
    expect(rows.isCompatibleWith(new tf.Variable(tf.ones([2, 3])))).toBe(true);
    expect(rows.isCompatibleWith(tf.ones([2, 4]))).toBe(false);
    expect(rows.isCompatibleWith({ specOrTensor: tf.ones([3]) })).toBe(false);
    expect(new TensorSpec([null], 'int32').isCompatibleWith(tf.ones([2]))).toBe(false);
    for (const other of [null, 3, [1, 2], {}, 'float32']) expect(rows.isCompatibleWith(other)).toBe(false);

    const ragged = tf.ragged.constant([[1, 2], [3]], { dtype: 'int32' });
    expect(new RaggedTensorSpec([null, null], 'int32').isCompatibleWith(ragged)).toBe(true);
    expect(new RaggedTensorSpec([2, null], 'int32').isCompatibleWith(ragged)).toBe(true);
    expect(new RaggedTensorSpec([3, null], 'int32').isCompatibleWith(ragged)).toBe(false);
    expect(new RaggedTensorSpec([2, null], 'int32', 1, 'int32').isCompatibleWith(ragged)).toBe(false);
    expect(new TensorSpec([2, null], 'int32').isCompatibleWith(ragged)).toBe(false);
    expect(new RaggedTensorSpec([2, null]).isCompatibleWith(tf.ones([2, 2]))).toBe(false);

    const sparse = tf.sparse.fromDense(tf.ones([2, 3]));
    expect(new SparseTensorSpec([null, 3]).isCompatibleWith(sparse)).toBe(true);
    expect(new SparseTensorSpec([null, 4]).isCompatibleWith(sparse)).toBe(false);
    expect(new SparseTensorSpec([null, 3]).isCompatibleWith(tf.ones([2, 3]))).toBe(false);
    expect(String(SparseTensorSpec.fromValue(sparse))).toBe(String(new SparseTensorSpec([2, 3])));

    const pairs = tf.data.Dataset.fromTensors([tf.ones([2]), tf.constant(1, 'int32')]);
    const spec = new tf.data.DatasetSpec([new TensorSpec([null]), new TensorSpec([], 'int32')]);
    expect(spec.isCompatibleWith(pairs)).toBe(true);
    expect(spec.isCompatibleWith(tf.data.Dataset.fromTensors(tf.ones([2])))).toBe(false);
    expect(spec.isCompatibleWith(tf.data.DatasetSpec.fromValue(pairs))).toBe(true);
  });

  test('a spec is more special than another', () => {
    expect(new TensorSpec([2, 3]).isSubtypeOf(new TensorSpec([null, 3]))).toBe(true);
    expect(new TensorSpec([null, 3]).isSubtypeOf(new TensorSpec([2, 3]))).toBe(false);
    expect(new TensorSpec([2], 'float32', 'a').isSubtypeOf(new TensorSpec([2]))).toBe(false);
    expect(new TensorSpec([2]).isSubtypeOf(new TensorSpec([2], 'float32', 'a'))).toBe(true);
    expect(new RaggedTensorSpec([2, null]).isSubtypeOf(new RaggedTensorSpec([null, null]))).toBe(true);
    const { DatasetSpec } = tf.data;
    const narrow = new DatasetSpec({ x: new TensorSpec([2]) });
    expect(narrow.isSubtypeOf(new DatasetSpec({ x: new TensorSpec([null]) }))).toBe(true);
    expect(narrow.isSubtypeOf(new DatasetSpec({ y: new TensorSpec([null]) }))).toBe(false);
  });

  test('the spec of several', () => {
    const of = (spec: tf.TensorSpec, ...others: tf.TensorSpec[]): string =>
      String(spec.mostSpecificCommonSupertype(others));
    expect(of(new TensorSpec([2, 3]), new TensorSpec([4, 3]))).toBe(String(new TensorSpec([null, 3])));
    expect(of(new TensorSpec([2, 3]), new TensorSpec([4]))).toBe(String(new TensorSpec(null)));
    expect(of(new TensorSpec([2, 3]), new TensorSpec([2, 3], 'int32'))).toBe('null');
    expect(of(new TensorSpec([2], 'float32', 'a'), new TensorSpec([2], 'float32', 'b'))).toBe('null');
    expect(of(new TensorSpec([2], 'float32', 'a'))).toBe(String(new TensorSpec([2], 'float32', 'a')));
    const ragged = new RaggedTensorSpec([2, null]).mostSpecificCommonSupertype([
      new RaggedTensorSpec([3, null]),
    ]);
    expect(String(ragged)).toBe(String(new RaggedTensorSpec([null, null])));
    expect(ragged?.isCompatibleWith(tf.ragged.constant([[1, 2], [3]]))).toBe(true);
    expect(ragged?.parts).toHaveLength(2);
    const slices = new IndexedSlicesSpec([3, 2]).mostSpecificCommonSupertype([new IndexedSlicesSpec([4, 2])]);
    expect(String(slices)).toBe(String(new IndexedSlicesSpec([null, 2])));
    const optional = new OptionalSpec(new TensorSpec([2])).mostSpecificCommonSupertype([
      new OptionalSpec(new TensorSpec([3])),
    ]);
    expect(String(optional)).toBe(String(new OptionalSpec(new TensorSpec([null]))));
    expect(new TensorSpec([2]).mostSpecificCommonSupertype([ragged])).toBeNull();
    expect(() => new TensorSpec([2]).mostSpecificCommonSupertype([3])).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => new TensorSpec([2]).mostSpecificCommonSupertype(3 as never)).toThrow(/others/);
  });
});

test('row partitions know what is known without a run', () => {
  const { RowPartition } = tf.experimental;
  const ragged = RowPartition.fromRowLengths([2, 0, 3]);
  expect(ragged.isUniform()).toBe(false);
  expect(ragged.offsetsInRows().array()).toEqual([0n, 1n, 0n, 1n, 2n]);
  expect([ragged.staticNrows, ragged.staticNvals, ragged.staticUniformRowLength]).toEqual([3, 5, null]);
  const uniform = RowPartition.fromUniformRowLength(2, 6);
  expect(uniform.isUniform()).toBe(true);
  expect(uniform.offsetsInRows().array()).toEqual([0n, 1n, 0n, 1n, 0n, 1n]);
  expect([uniform.staticNrows, uniform.staticNvals, uniform.staticUniformRowLength]).toEqual([3, 6, 2]);
  const { fromRowSplits, fromRowLengths, fromRowLimits, fromRowStarts, fromValueRowids } = RowPartition;
  for (const [make, numbers] of [
    [fromRowSplits, [0, 2, 2, 5]],
    [fromRowLengths, [2, 0, 3]],
    [fromRowLimits, [2, 2, 5]],
    [(starts: tf.Tensor) => fromRowStarts(starts, 5), [0, 2, 2]],
    [fromValueRowids, [0, 0, 2, 2, 2]],
  ] as const) {
    const open = { inputSignature: [new TensorSpec([null], 'int64')] };
    const traced = tf.function(open)((x: tf.Tensor) => {
      const partition = make(x);
      return [partition.offsetsInRows(), partition.rowLengths(), partition.nvals(), partition.nrows()];
    });
    const found = traced(tf.constant(numbers, 'int64')).map((t) => t.array());
    expect(found).toEqual([[0n, 1n, 0n, 1n, 2n], [2n, 0n, 3n], 5n, 3n]);
  }
  const bad = tf.function((x: tf.Tensor) => fromRowSplits(x).rowLengths());
  expect(() => bad(tf.constant([0, 3, 2], 'int64'))).toThrow(tf.errors.InvalidArgumentError);
});

test('linear operators', () => {
  const { linalg } = tf;
  const block = new linalg.LinearOperatorCirculant2D(tf.ones([5, 2, 3]));
  expect(block.blockDepth).toBe(2);
  expect(block.blockShape.asList()).toEqual([2, 3]);
  expect(block.blockShapeTensor().array()).toEqual([2, 3]);
  block.assertHermitianSpectrum();
  new linalg.LinearOperatorCirculant([1, 2, 3, 2]).assertHermitianSpectrum();
  expect(() => new linalg.LinearOperatorCirculant([1, 2, 3, 5]).assertHermitianSpectrum()).toThrow(
    tf.errors.InvalidArgumentError,
  );
  const base = new linalg.LinearOperatorIdentity(3);
  const update = new linalg.LinearOperatorLowRankUpdate(base, tf.ones([3, 2]), { diagUpdate: [2, 3] });
  expect(update.diagOperator.toDense().array()).toEqual([
    [2, 0],
    [0, 3],
  ]);
  const ones = new linalg.LinearOperatorLowRankUpdate(base, tf.ones([3, 2])).diagOperator;
  expect(ones.toDense().array()).toEqual([
    [1, 0],
    [0, 1],
  ]);
  expect(ones.isPositiveDefinite).toBe(true);
});

test('others', () => {
  const table = new tf.lookup.StaticHashTable(
    new tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]),
    -1,
  );
  expect(table.export().map((t) => t.array())).toEqual([
    ['a', 'b'],
    [1, 2],
  ]);
  expect(new tf.Variable(3).readValue().item()).toBe(3);
  expect(new tf.distribute.MirroredStrategy().clusterResolver).toBeNull();
  const v = new tf.Variable([1, 2], { name: 'v' });
  const ema = new tf.train.ExponentialMovingAverage(0.5);
  ema.apply([v]);
  expect(ema.averageName(v)).toBe(ema.average(v)?.path);
  expect(() => ema.averageName(3 as never)).toThrow(tf.errors.InvalidArgumentError);
  const graph = new tf.compat.v1.Graph();
  const x = graph.asDefault(() => {
    const x = tf.compat.v1.placeholder('float32', [2]);
    x.mul(2);
    return x;
  });
  const mul = graph.getOperations().find(({ type }) => type === 'Mul');
  const session = new tf.compat.v1.Session({ graph });
  const inputs = session.run(mul?.inputs ?? [], { feedDict: new Map([[x, [3, 4]]]) });
  expect(inputs.map((t) => t.array())).toEqual([[3, 4], 2]);
});
