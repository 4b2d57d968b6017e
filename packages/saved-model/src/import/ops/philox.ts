// Random bits by TensorFlow's generator Philox4x32-10, from a key and a counter that are tensors.
import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import {
  addDims,
  type Dim,
  dimsOf,
  floorDivDims,
  mulDims,
  productOf,
  sizeValue,
  toShape,
} from '@eagre/core/internal';

const { bitwiseAnd, bitwiseXor, rightShift } = tf.bitwise;

const ROUNDS = 10;
const WORD = 0xffffffff;
const MULTIPLIERS = [0xd2511f53, 0xcd9e8d57] as const;
const WEYL = [0x9e3779b9, 0xbb67ae85] as const;

const low = (x: Tensor): Tensor => bitwiseAnd(x, wide(WORD));
const high = (x: Tensor): Tensor => rightShift(x, wide(32));
const wide = (value: number): Tensor => tf.constant(BigInt(value), 'uint64');

/**
 * Words of 32 bits (uint32) of a shape: four for each value of the counter.
 * @param key uint64 [1].
 * @param counter uint64 [2], the lower half first.
 */
export function philoxWords(shape: readonly number[], key: Tensor, counter: Tensor): Tensor {
  return tf.cast(tf.reshape(wordsOf(productOf(dimsOf(shape)), key, counter), shape), 'uint32');
}

/** So many words (uint64 below 2^32), one behind the other. */
function wordsOf(count: Dim, key: Tensor, counter: Tensor): Tensor {
  const blocks: Dim = floorDivDims(addDims(count, 3), 4);
  const places = tf.cast(tf.range(sizeValue(blocks, 'int32'), { dtype: 'int32' }), 'uint64');
  const [first, second] = tf.unstack(counter) as [Tensor, Tensor];
  const lower = first.add(places);
  const upper = second.add(tf.cast(lower.less(places), 'uint64'));
  let words: readonly [Tensor, Tensor, Tensor, Tensor] = [low(lower), high(lower), low(upper), high(upper)];
  let keys: readonly [Tensor, Tensor] = [low(key), high(key)];
  for (let round = 0; round < ROUNDS; round++) {
    const [a, b, c, d] = words;
    const [x, y] = [a.mul(wide(MULTIPLIERS[0])), c.mul(wide(MULTIPLIERS[1]))];
    words = [
      bitwiseXor(bitwiseXor(high(y), b), keys[0]),
      low(y),
      bitwiseXor(bitwiseXor(high(x), d), keys[1]),
      low(x),
    ];
    keys = [low(keys[0].add(wide(WEYL[0]))), low(keys[1].add(wide(WEYL[1])))];
  }
  const all = tf.reshape(tf.stack([...words], 1), [-1]);
  return tf.slice(all, [0], toShape([count]));
}

// What TensorFlow's stateless ops scramble seeds with.
const SCRAMBLE = 0x02461e293ec8f720n;

/** The key (uint64 [1]) and the counter (uint64 [2]) that TensorFlow makes of a seed of two integers. */
export function keyAndCounter(seed: Tensor): [key: Tensor, counter: Tensor] {
  const mixed = pairs(wordsOf(4, tf.constant([SCRAMBLE], 'uint64'), tf.cast(seed, 'uint64')));
  return [tf.slice(mixed, [0], [1]), tf.concat([tf.zeros([1], 'uint64'), tf.slice(mixed, [1], [1])], 0)];
}

/** Words in pairs, the lower half first: integers of 64 bits. */
function pairs(words: Tensor): Tensor {
  const [lower, upper] = tf.unstack(tf.reshape(words, [-1, 2]), { axis: 1 }) as [Tensor, Tensor];
  return tf.bitwise.bitwiseOr(lower, tf.bitwise.leftShift(upper, wide(32)));
}

/** Integers of all bits. */
export function philoxIntegers(
  shape: readonly number[],
  key: Tensor,
  counter: Tensor,
  dtype: IntegerDType,
): Tensor {
  if (dtype === 'uint32' || dtype === 'int32') {
    const words = philoxWords(shape, key, counter);
    return dtype === 'uint32' ? words : tf.bitcast(words, 'int32');
  }
  const count = productOf(dimsOf(shape));
  const all = tf.reshape(pairs(wordsOf(mulDims(count, 2), key, counter)), shape);
  return dtype === 'uint64' ? all : tf.bitcast(all, 'int64');
}
export type IntegerDType = 'int32' | 'uint32' | 'int64' | 'uint64';

/** Numbers from 0 to less than 1: as many bits as a mantissa has behind the point of 1 … 2, minus 1. */
export function philoxUniform(
  shape: readonly number[],
  key: Tensor,
  counter: Tensor,
  dtype: 'float32' | 'float64',
): Tensor {
  const count = productOf(dimsOf(shape));
  if (dtype === 'float32') return tf.reshape(unit(wordsOf(count, key, counter)), shape);
  const words = tf.reshape(wordsOf(mulDims(count, 2), key, counter), [-1, 2]);
  const [upper, lower] = tf.unstack(words, { axis: 1 }) as [Tensor, Tensor];
  const mantissa = bitwiseAnd(upper, wide(0xfffff))
    .mul(wide(2 ** 32))
    .add(lower);
  const bits = mantissa.add(tf.constant(0x3ff0000000000000n, 'uint64'));
  return tf.reshape(tf.bitcast(bits, 'float64').sub(1), shape);
}

const unit = (words: Tensor): Tensor =>
  tf.bitcast(tf.cast(bitwiseAnd(words, wide(0x7fffff)).add(wide(0x3f800000)), 'uint32'), 'float32').sub(1);

/** Normally distributed numbers (float32), by Box and Muller's method from pairs of words. */
export function philoxNormal(shape: readonly number[], key: Tensor, counter: Tensor): Tensor {
  const count = productOf(dimsOf(shape));
  const even = mulDims(floorDivDims(addDims(count, 1), 2), 2);
  const both = tf.reshape(unit(wordsOf(even, key, counter)), [-1, 2]);
  const [a, b] = tf.unstack(both, { axis: 1 }) as [Tensor, Tensor];
  const radius = tf.maximum(a, 1e-7).log().mul(-2).sqrt();
  const angle = b.mul(2 * Math.PI);
  const all = tf.reshape(tf.stack([angle.sin().mul(radius), angle.cos().mul(radius)], 1), [-1]);
  return tf.reshape(tf.slice(all, [0], toShape([count])), shape);
}
