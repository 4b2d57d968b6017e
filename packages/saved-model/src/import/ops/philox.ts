// Random bits by TensorFlow's generator Philox4x32-10, from a key and a counter that are tensors.
import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { addDims, type Dim, dimsOf, floorDivDims, productOf, sizeValue, toShape } from '@eagre/core/internal';

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
  const count = productOf(dimsOf(shape));
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
  return tf.cast(tf.reshape(tf.slice(all, [0], toShape([count])), shape), 'uint32');
}
