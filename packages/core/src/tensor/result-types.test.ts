// What TypeScript knows of the values of tensors whose dtype it knows, and that it claims nothing of others.
import '@eagre/backend-js';
import { expect, expectTypeOf, test } from 'vitest';
import type { Complex, NestedArray, Scalar, Tensor, TypedArray } from '../index.ts';
import * as tf from '../index.ts';

const x = tf.ones([2, 3]);

test('positions are bigints, or numbers where that is asked for', () => {
  const places = tf.argmax(x, 1);
  expectTypeOf(places).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(places.array()).toEqualTypeOf<NestedArray<bigint>>();
  expectTypeOf(places.array<bigint[]>()).toEqualTypeOf<bigint[]>();
  // @ts-expect-error: no numbers.
  const numbers: number[] = places.array();
  // @ts-expect-error: neither where it is told.
  expect(places.array<number[]>()).toEqual(numbers);
  // @ts-expect-error: a bigint is never a number.
  expect(places.array<bigint[]>()[0] === 0).toBe(false);
  expectTypeOf(places.data()).toEqualTypeOf<BigInt64Array>();
  expectTypeOf(places.at(0).item()).toEqualTypeOf<number>();
  expectTypeOf(tf.argmax(x, 1, { dtype: 'int32' })).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.argmin({ input: x, axis: 1, outputType: 'int32' })).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.argmin(x, { axis: 1 })).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(x.argMax(1)).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(x.argMax(1, { outputType: 'int32' })).toEqualTypeOf<Tensor<'int32'>>();
  const casted: number[] = places.cast('int32').array();
  expect(casted).toEqual([0, 0]);
});

test('comparisons and tests are bools', () => {
  for (const y of [
    x.greater(0),
    tf.equal(x, 1),
    tf.logicalNot(x.less(0)),
    tf.isNan(x),
    x.isFinite(),
    tf.all(x.notEqual(2)),
  ])
    expectTypeOf(y).toEqualTypeOf<Tensor<'bool'>>();
  expectTypeOf(tf.any([true]).item()).toEqualTypeOf<boolean>();
  expectTypeOf(x.greaterEqual(1).data()).toEqualTypeOf<Uint8Array>();
  const rows: boolean[][] = x.greater(0).array();
  expect(rows[0]).toEqual([true, true, true]);
});

test('sizes, orders and counts are integers', () => {
  expectTypeOf(tf.shapeOf(x)).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.shapeOf(x, { outType: 'int64' }).data()).toEqualTypeOf<BigInt64Array>();
  expectTypeOf(tf.size(x)).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.size(x, { outType: 'int64' })).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(tf.rank(x)).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.argsort(x)).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.topK(x, 2).indices).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.topK(x, 2, { indexType: 'int64' }).indices).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(tf.topK(x, 2).values).toEqualTypeOf<Tensor>();
  expectTypeOf(tf.unique([1, 2]).counts).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.searchsorted([1, 2], [1])).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.where([true, false])).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(tf.where([true, false], 1, 0)).toEqualTypeOf<Tensor>();
  expectTypeOf(tf.countNonzero(x)).toEqualTypeOf<Tensor<'int64'>>();
  expect(tf.unique([1, 2, 1]).counts.array()).toEqual([2, 1]);
});

test('strings are strings', () => {
  expectTypeOf(tf.strings.length(['a'])).toEqualTypeOf<Tensor<'int32'>>();
  expectTypeOf(tf.strings.upper(['a']).array()).toEqualTypeOf<NestedArray<string>>();
  expectTypeOf(tf.strings.toHashBucketFast(['a'], 3)).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(tf.strings.toNumber(['1'])).toEqualTypeOf<Tensor<'float32'>>();
  const [text]: string[] = tf.strings.join([['a'], ['b']]).array<string[]>();
  expect(text).toBe('ab');
});

test('a dtype that is given is that of the result', () => {
  expectTypeOf(x.cast('int64')).toEqualTypeOf<Tensor<'int64'>>();
  expectTypeOf(tf.cast(x, tf.bool)).toEqualTypeOf<Tensor<'bool'>>();
  expectTypeOf(tf.zeros([2])).toEqualTypeOf<Tensor<'float32'>>();
  expectTypeOf(tf.zeros([2], 'uint64').data()).toEqualTypeOf<BigUint64Array>();
  expectTypeOf(tf.ones({ shape: [2], dtype: 'bool' })).toEqualTypeOf<Tensor<'bool'>>();
  expectTypeOf(tf.range(3, { dtype: 'int32' }).data()).toEqualTypeOf<Int32Array>();
  expectTypeOf(tf.constant([1], 'float16').data()).toEqualTypeOf<Float32Array>();
  expectTypeOf(tf.constant([1], 'complex64').item()).toEqualTypeOf<Complex>();
  expectTypeOf(tf.constant(['a'], 'string').item()).toEqualTypeOf<string>();
  const some: tf.TensorLike = x;
  const dtype = 'int32' as 'int32' | 'int64';
  expectTypeOf(tf.cast(some, dtype)).toEqualTypeOf<Tensor<'int32' | 'int64'>>();
  expect(tf.cast(some, dtype).dtype).toBe('int32');
});

test('nothing is claimed of other tensors, and they go wherever one of a known dtype does', () => {
  const y = x.add(1);
  expectTypeOf(y).toEqualTypeOf<Tensor>();
  expectTypeOf(y.array()).toEqualTypeOf<NestedArray<Scalar>>();
  expectTypeOf(y.data()).toEqualTypeOf<TypedArray>();
  expectTypeOf(y.dtype).toEqualTypeOf<
    tf.HostArray['dtype'] | Exclude<typeof y.dtype, tf.HostArray['dtype']>
  >();
  const rows: number[][] = y.array();
  expect(rows[0]?.[0]).toBe(2);
  let sum = tf.zeros([2, 3]);
  sum = sum.add(x);
  // @ts-expect-error: it began as floats.
  sum = sum.greater(0);
  const mixed: Tensor[] = [sum, tf.argmax(x), x.greater(0)];
  expect(mixed.length).toBe(3);
});
