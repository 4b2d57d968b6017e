// Shapes of ragged tensors as values: results and refusals are those of TensorFlow 2.21, where no line says otherwise.
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

const { DynamicRaggedShape, RowPartition } = tf.experimental;
type Shape = InstanceType<typeof DynamicRaggedShape>;
const of = (...lengths: (number | number[])[]): Shape => DynamicRaggedShape.fromLengths(lengths);
const pairs = of(3, [2, 1, 0], 2);
/** As functions of tensors take it. */
const as = (shape: Shape): number[] => shape as never;
const list = (x: unknown): unknown => (x as tf.RaggedTensor).toList();

describe('what a shape tells', () => {
  it('has lengths, ranks and partitions', () => {
    expect(pairs.staticLengths()).toEqual([3, [2, 1, 0], 2]);
    expect(pairs.staticLengths({ raggedLengths: false })).toEqual([3, null, 2]);
    expect([pairs.rank, pairs.innerRank, pairs.numRowPartitions]).toEqual([3, 2, 1]);
    expect([pairs.dtype, pairs.withDtype('int32').dtype]).toEqual(['int64', 'int32']);
    expect(pairs.innerShape.array()).toEqual([3n, 2n]);
    expect([0, 1, 2].map((axis) => pairs.isUniform(axis))).toEqual([true, false, true]);
    expect([0, 2, -1].map((axis) => pairs.at(axis).item())).toEqual([3, 2, 2]);
    expect(pairs.rowPartitions.map((p) => p.rowSplits().array())).toEqual([[0n, 2n, 3n, 3n]]);
    expect(String(pairs)).toBe('DynamicRaggedShape(lengths=[3, [2, 1, 0], 2], numRowPartitions=1)');
  });
  it('is made of lengths, partitions and tensors', () => {
    expect(of(2, 3).numRowPartitions).toBe(0);
    expect(of().staticLengths()).toEqual([]);
    const uniform = DynamicRaggedShape.fromLengths([2, 3], { numRowPartitions: 1 });
    expect([uniform.staticLengths(), uniform.innerShape.array()]).toEqual([[2, 3], [6n]]);
    const deep = of(2, 3, [1, 2, 3, 1, 1, 1]);
    expect([deep.staticLengths(), deep.numRowPartitions]).toEqual([[2, 3, [1, 2, 3, 1, 1, 1]], 2]);
    expect(of(2, [1, 2], 1, 2).staticLengths()).toEqual([2, [1, 2], 1, 2]);
    expect(DynamicRaggedShape.fromTensor(tf.zeros([2, 3])).staticLengths()).toEqual([2, 3]);
    expect(DynamicRaggedShape.fromTensor(5).staticLengths()).toEqual([]);
    const inner = tf.ragged.constant([[[1], [2]], [[3]]], { innerShape: [1] });
    expect(DynamicRaggedShape.fromTensor(inner as tf.RaggedTensor).staticLengths()).toEqual([2, [2, 1], 1]);
    const rows = RowPartition.fromRowLengths([2, 1, 0]);
    expect(DynamicRaggedShape.fromRowPartitions([rows]).staticLengths()).toEqual([3, [2, 1, 0]]);
    expect(new DynamicRaggedShape([rows], [3, 4]).staticLengths()).toEqual([3, [2, 1, 0], 4]);
    expect(new DynamicRaggedShape([], [3, 4]).staticLengths()).toEqual([3, 4]);
  });
  it.each([
    ['lengths of too many rows', () => of(2, [1, 2, 3]), 'axis 1 has lengths of 3 rows, but there are 2'],
    ['a ragged first axis', () => of([1, 2]), 'the first axis is never ragged'],
    ['a negative length', () => of(2, [1, -2]), 'the length of axis 1'],
    ['no partitions', () => DynamicRaggedShape.fromRowPartitions([]), 'must not be empty'],
    ['a place in a ragged axis', () => pairs.at(1), 'axis 1 is not uniform'],
    ['an axis that is not there', () => pairs.isUniform(3), 'axis 3 is not one of 3'],
    // TensorFlow does not look at this one.
    [
      'an inner shape of other values',
      () => new DynamicRaggedShape([RowPartition.fromRowLengths([2, 1])], [4, 4]),
      'partition 0 has 3 values',
    ],
    ['another dtype', () => pairs.withDtype('float32' as never), 'dtype'],
  ])('refuses %s', (_, make, message) => {
    expect(make).toThrow(message);
    expect(make).toThrow(tf.errors.OpError);
  });
});

describe('functions that take one', () => {
  const rows = of(2, [1, 2]);
  it('make values', () => {
    expect(list(tf.ones(as(rows)))).toEqual([[1], [1, 1]]);
    expect(list(tf.zeros(as(rows), 'int32'))).toEqual([[0], [0, 0]]);
    expect(list(tf.fill(as(rows), 7))).toEqual([[7], [7, 7]]);
    expect(tf.ones(as(of(2, 1))).array()).toEqual([[1], [1]]);
  });
  it('reshape', () => {
    expect(list(tf.reshape([1, 2, 3], as(rows)))).toEqual([[1], [2, 3]]);
    const x = tf.ragged.constant([[1, 2], [3]]);
    expect(list(tf.reshape(x as never, as(of(3, [1, 1, 1]))))).toEqual([[1], [2], [3]]);
    expect(() => tf.reshape([1, 2], as(rows))).toThrow(tf.errors.InvalidArgumentError);
  });
  it('broadcast', () => {
    const to = (x: unknown, shape: Shape): unknown => list(tf.broadcastTo(x as number, as(shape)));
    expect(to(5, rows)).toEqual([[5], [5, 5]]);
    expect(to([[5], [6]], rows)).toEqual([[5], [6, 6]]);
    expect(to(tf.ragged.constant([[1], [2, 3]]), rows)).toEqual([[1], [2, 3]]);
    expect(to([1, 2], of(2, [1, 2], 2))).toEqual([
      [[1, 2]],
      [
        [1, 2],
        [1, 2],
      ],
    ]);
    expect(tf.broadcastTo([1, 2], as(of(2, 2))).array()).toEqual([
      [1, 2],
      [1, 2],
    ]);
    for (const x of [tf.ragged.constant([[1], [2]]), [5, 6], [[[1]]], [[1], [2], [3]]])
      expect(() => to(x, rows)).toThrow(tf.errors.InvalidArgumentError);
  });
  it('broadcast shapes', () => {
    const both = (a: unknown, b: unknown): unknown =>
      (tf.broadcastDynamicShape(a as number[], b as number[]) as unknown as Shape).staticLengths();
    expect(both(pairs, [1, 1, 2])).toEqual([3, [2, 1, 0], 2]);
    expect(both([1, 1, 2], pairs)).toEqual([3, [2, 1, 0], 2]);
    expect(both(pairs, of(3, 1, 1))).toEqual([3, [2, 1, 0], 2]);
    expect(both(of(3, [1, 2, 3]), of(3, [1, 2, 3]))).toEqual([3, [1, 2, 3]]);
    expect(both(of(2, 1), of(3))).toEqual([2, 3]);
    expect(() => both(of(3, [1, 2, 3]), of(3, [1, 2, 2]))).toThrow(tf.errors.InvalidArgumentError);
    expect(() => both(of(2, 3), of(2, [1, 3]))).toThrow(tf.errors.InvalidArgumentError);
  });
  it('are traced, and have gradients', () => {
    const spread = tf.function((x: tf.Tensor, shape: Shape) => tf.broadcastTo(x, as(shape)));
    expect(list(spread(tf.constant([[5], [6]]), rows))).toEqual([[5], [6, 6]]);
    expect(list(spread(tf.constant([[5], [6]]), of(2, [3, 0])))).toEqual([[5, 5, 5], []]);
    const x = tf.constant([[5], [6]]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = tf.broadcastTo(x, as(rows)) as unknown as tf.RaggedTensor;
    expect((tape.gradient(y.flatValues.square().sum(), x) as tf.Tensor).array()).toEqual([[10], [24]]);
  });
  it('others refuse it', () => {
    expect(() => tf.add(as(rows) as never, 1)).toThrow('use staticLengths() or innerShape');
  });
});
