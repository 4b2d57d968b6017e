// What types say of results, where it depends on the arguments, and of methods that a class of one's own overrides.
import { expect, expectTypeOf, test } from 'vitest';
import * as tf from '../src/index.ts';

const { ops, optimizers } = tf.keras;

test('sizes are numbers of tensors, and null in inputs of models', () => {
  const sizes = ops.shape(tf.ones([2, 3]));
  expectTypeOf(sizes).toEqualTypeOf<(number | tf.Tensor)[]>();
  expect(sizes).toEqual([2, 3]);
  const open = ops.shape(tf.keras.Input({ shape: [3] }));
  expectTypeOf(open).toEqualTypeOf<(number | null)[]>();
  expect(open).toEqual([null, 3]);
});

test('strings of a tensor are joined to a tensor', () => {
  const joined = tf.strings.reduceJoin([['a', 'b']], 1);
  expectTypeOf(joined).toEqualTypeOf<tf.Tensor>();
  expect(joined.array()).toEqual(['ab']);
  const rows = tf.strings.reduceJoin(tf.ragged.constant([['a', 'b'], ['c']]), 1);
  expectTypeOf(rows).toEqualTypeOf<tf.Tensor | tf.RaggedTensor>();
  expect(rows.array()).toEqual(['ab', 'c']);
});

test('an optimizer overrides applyGradients for pairs', () => {
  const seen: number[] = [];
  class OfPairs extends optimizers.SGD {
    override applyGradients(pairs: readonly (readonly [tf.Tensor | null, tf.Variable])[]): tf.Variable {
      seen.push(pairs.length);
      return super.applyGradients(pairs);
    }
  }
  const v = new tf.Variable(1);
  const one = tf.constant(1);
  new OfPairs(1).applyGradients([[one, v]]);
  expect([seen, v.item()]).toEqual([[1], 0]);
});

test('values have the type of the dtype, where it is known', () => {
  const logits = tf.ones([2, 3]);
  const places = tf.argmax(logits, 1);
  // @ts-expect-error: int64 gives bigints.
  expect(places.array<bigint[]>()[0] === 0).toBe(false);
  // @ts-expect-error: so they are no numbers.
  expect(places.array<number[]>()).toEqual([0n, 0n]);
  const numbers: number[] = tf.argmax(logits, 1, { outputType: 'int32' }).array();
  expect(numbers).toEqual([0, 0]);
  expectTypeOf(places.cast('int32').data()).toEqualTypeOf<Int32Array>();
  expectTypeOf(tf.reduceAll(logits.greater(0)).item()).toEqualTypeOf<boolean>();
  expectTypeOf(tf.strings.length(['a'])).toEqualTypeOf<tf.Tensor<'int32'>>();
  // Of other tensors nothing is claimed, and they take the place of those.
  let sum = tf.zeros([2, 3]);
  sum = sum.add(logits);
  expectTypeOf(logits.add(1)).toEqualTypeOf<tf.Tensor>();
  expect(sum.sum().item()).toBe(6);
});
