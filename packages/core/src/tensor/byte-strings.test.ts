import '@eagre/backend-js';
import { expect, test } from 'vitest';
import * as tf from '../index.ts';
import { bytesOf, textOf } from '../ops/strings/bytes.ts';
import { bytesIn, byteTensor } from './byte-strings.ts';

const a = Uint8Array.of(0xff, 0xd8, 0, 0x61);
const b = bytesOf('é😀');
const c = Uint8Array.of(0xed, 0xa0, 0x80);
const texts = [a, b, c].map(textOf);

test('bytes are texts for whoever asks', () => {
  const x = byteTensor([a, b, c], [3]);
  expect([x.dtype, x.shape, x.size]).toEqual(['string', [3], 3]);
  expect(x.strings()).toEqual(texts);
  expect(x.array()).toEqual(texts);
  expect(bytesIn(x)).toEqual([a, b, c]);
  expect(byteTensor([a], []).item()).toBe(texts[0]);
  expect(String(byteTensor([b], [1]))).toBe(String(tf.constant([texts[1]])));
  expect(tf.equal(byteTensor([a, b], [2]), [texts[0], 'x']).array()).toEqual([true, false]);
  expect(tf.unique(byteTensor([a, b, a], [3])).values.array()).toEqual(texts.slice(0, 2));
  expect(() => bytesIn(tf.constant([1]))).toThrow(tf.InvalidArgumentError);
});

test('bytes are moved as they are', () => {
  const x = byteTensor([a, b, c, b], [2, 2]);
  const moved = tf.stack([tf.transpose(x), tf.reverse(tf.reshape(x, [2, 2]), 0)]);
  const want = [a, c, b, b, c, b, a, b];
  expect(bytesIn(moved).every((each, i) => each === want[i])).toBe(true);
  expect(bytesIn(tf.gather(tf.reshape(moved, [8]), [1]))[0]).toBe(c);
  // Beside texts too.
  const both = tf.concat([byteTensor([a], [1]), ['é']], 0);
  expect(bytesIn(both)[0]).toBe(a);
  expect(bytesIn(both)[1]).toEqual(bytesOf('é'));
  expect(both.strings()).toEqual([texts[0], 'é']);
  const chosen = tf.where([[true], [false]], byteTensor([a, b], [2]), 'x');
  expect(chosen.array()).toEqual([
    [texts[0], texts[1]],
    ['x', 'x'],
  ]);
});
