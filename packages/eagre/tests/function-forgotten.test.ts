// Programs and traces for ever new numbers and shapes are forgotten; who holds one can still use it.
import { expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

test('slopes that are others at each call', () => {
  const x = tf.constant([-1, 2]);
  for (let round = 0; round < 2; round++)
    for (let i = 1; i <= 400; i++)
      expect(tf.nn.leakyRelu(x, { alpha: i / 512 }).array()).toEqual([-i / 512, 2]);
});

test('traces of ever new shapes; a concrete function lives on', () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  let runs = 0;
  const f = tf.function((x: tf.Tensor) => {
    runs++;
    return x.add(1);
  });
  const first = f.getConcreteFunction(tf.ones([1]));
  for (let n = 1; n <= 1100; n++) f(tf.ones([n]));
  expect(runs).toBe(1100);
  expect(first(tf.ones([1])).array()).toEqual([2]);
  f(tf.ones([1100]));
  f(tf.ones([500]));
  expect(runs).toBe(1100);
  // Its trace was forgotten, as the least recent.
  f(tf.ones([1]));
  expect(runs).toBe(1101);
});
