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

describe('the shape of a ragged tensor', () => {
  const shapeOf = (x: unknown, options: object = {}): Shape => tf.shape(x as tf.Tensor, options) as never;
  const rt = tf.ragged.constant([[1, 2], [3], []]);
  it('is one, of int32 unless said', () => {
    expect([String(shapeOf(rt)), shapeOf(rt).dtype]).toEqual([
      'DynamicRaggedShape(lengths=[3, [2, 1, 0]], numRowPartitions=1)',
      'int32',
    ]);
    expect(shapeOf(rt, { outType: 'int64' }).dtype).toBe('int64');
    expect(() => shapeOf(rt, { outType: 'float32' })).toThrow(tf.errors.InvalidArgumentError);
    const deep = tf.ragged.constant([[[1, 2], [3]], [], [[4]]]);
    expect(shapeOf(deep).staticLengths()).toEqual([3, [2, 0, 1], [2, 1, 1]]);
    expect(list(tf.broadcastTo([[1], [2], [3]], as(shapeOf(rt))))).toEqual([[1, 1], [2], []]);
    const x = tf.constant([1, 2, 3]);
    expect(list(tf.reshape(x, as(shapeOf(rt))))).toEqual([[1, 2], [3], []]);
  });
  it('is traced, with unknown sizes too', () => {
    const f = (r: tf.RaggedTensor): unknown[] => {
      const s = shapeOf(r);
      return [s.at(0), tf.zeros(as(s)), s.slice(0, 1).innerShape, s.equals(s), s.equals(s.slice(0, 1))];
    };
    const signature = [new tf.RaggedTensorSpec([null, null], 'float32')];
    for (const traced of [tf.function(f), tf.function(f, { inputSignature: signature })]) {
      const [rows, made, first, same, other] = traced(rt) as tf.Tensor[];
      expect([rows?.dtype, rows?.item(), list(made)]).toEqual(['int32', 3, [[0, 0], [0], []]]);
      expect([first?.dtype, first?.array()]).toEqual(['int64', [3n]]);
      expect([same?.item(), other?.item()]).toEqual([true, false]);
    }
  });
});

describe('slices', () => {
  const uniform = DynamicRaggedShape.fromLengths([2, 3, 4], { numRowPartitions: 2, dtype: 'int32' });
  const mixed = of(2, 3, [1, 2, 3, 1, 1, 1], 5, 6);
  it.each<[Shape, number, number | null, unknown, number]>([
    [pairs, 0, 1, [3], 0],
    [pairs, 0, 2, [3, [2, 1, 0]], 1],
    [pairs, 0, -1, [3, [2, 1, 0]], 1],
    [pairs, 0, null, [3, [2, 1, 0], 2], 1],
    [pairs, -9, 1, [3], 0],
    [pairs, 0, 0, [], 0],
    [pairs, 5, 9, [], 0],
    [pairs, 2, 1, [], 0],
    [mixed, 0, -1, [2, 3, [1, 2, 3, 1, 1, 1], 5], 2],
    [mixed, 0, 2, [2, 3], 1],
    [mixed, 1, 2, [3], 0],
    [uniform, 1, null, [3, 4], 0],
    [uniform, 0, -1, [2, 3], 1],
    [uniform, -1, null, [4], 0],
    [of(2, 3, 4), 1, null, [3, 4], 0],
    [of(2, 3, 4), 0, 2, [2, 3], 0],
    [DynamicRaggedShape.fromLengths([2, 0, 4], { numRowPartitions: 1 }), 1, null, [0, 4], 0],
  ])('%s from %i before %s', (shape, start, stop, lengths, partitions) => {
    const s = shape.slice(start, stop);
    expect([s.staticLengths(), s.numRowPartitions]).toEqual([lengths, partitions]);
  });
  it('have the dtypes of TensorFlow', () => {
    const dtypes = (s: Shape): string[] =>
      [s.slice(1), s.slice(0, 1), s.slice(0, 0), s.slice(0, 2), s.slice(3), s.slice(1, 2)].map(
        (x) => x.dtype,
      );
    expect(dtypes(uniform)).toEqual(['int32', 'int64', 'int64', 'int32', 'int64', 'int32']);
    expect(dtypes(DynamicRaggedShape.fromLengths([2, 3, 4], { dtype: 'int32' }))).toEqual([
      'int32',
      'int32',
      'int64',
      'int32',
      'int64',
      'int32',
    ]);
  });
  it.each([
    [pairs, 1, null],
    [pairs, 2, null],
    [pairs, 1, 2],
    [mixed, 1, null],
    [mixed, 3, null],
    [mixed, 4, 5],
  ])('%s has none from %i before %s', (shape, start, stop) => {
    expect(() => shape.slice(start, stop)).toThrow('is ragged');
    expect(() => shape.slice(0.5)).toThrow('start must be an integer');
  });
});

it('is equal to the same shape alone', () => {
  const same = (x: Shape, y: unknown): unknown => x.equals(y).item();
  expect([same(pairs, pairs), same(pairs, of(3, [2, 1, 0], 2))]).toEqual([true, true]);
  const others = [of(3, [2, 0, 1], 2), of(3, [2, 1, 0], 3), of(4, [2, 1, 0, 0], 2), of(3, 1, 2)];
  for (const other of [...others, pairs.withDtype('int32'), 3, null]) expect(same(pairs, other)).toBe(false);
  expect(same(of(2, 3), of(2, 4))).toBe(false);
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
