import { describe, expect, test } from 'vitest';
import * as tf from '../index.ts';

const rt = () => tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []], 'int32');

describe('RaggedTensor', () => {
  test('is made of values and rows', () => {
    const made = [
      tf.RaggedTensor.fromRowSplits([3, 1, 4, 1, 5, 9, 2, 6], [0, 4, 4, 7, 8, 8]),
      tf.RaggedTensor.fromRowLengths([3, 1, 4, 1, 5, 9, 2, 6], [4, 0, 3, 1, 0]),
      tf.RaggedTensor.fromRowStarts([3, 1, 4, 1, 5, 9, 2, 6], [0, 4, 4, 7, 8]),
      tf.RaggedTensor.fromRowLimits([3, 1, 4, 1, 5, 9, 2, 6], [4, 4, 7, 8, 8]),
      tf.RaggedTensor.fromValueRowids([3, 1, 4, 1, 5, 9, 2, 6], [0, 0, 0, 0, 2, 2, 2, 3], 5),
    ];
    for (const x of made) {
      expect(x.toList()).toEqual(rt().toList());
      expect(x.shape).toEqual([5, null]);
      expect(x.rowSplits.dtype).toBe('int64');
      expect(x.valueRowids().array()).toEqual([0n, 0n, 0n, 0n, 2n, 2n, 2n, 3n]);
      expect((x.rowLengths() as tf.Tensor).array()).toEqual([4n, 0n, 3n, 1n, 0n]);
    }
  });
  test('ops', () => {
    const x = rt();
    const plain = (v: unknown) => JSON.parse(JSON.stringify(v));
    const f = tf as never as Record<string, (...args: unknown[]) => { array(): unknown }>;
    const show = (v: { array(): unknown }) => plain(v);
    expect(show(f.add(x, 1))).toEqual([[4, 2, 5, 2], [], [6, 10, 3], [7], []]);
    expect(show(f.add(x, [[10], [20], [30], [40], [50]]))).toEqual([
      [13, 11, 14, 11],
      [],
      [35, 39, 32],
      [46],
      [],
    ]);
    expect(show(f.sum(x, 1))).toEqual([9, 0, 16, 6, 0]);
    expect(show(f.sum(x, 0))).toEqual([14, 10, 6, 1]);
    expect(show(f.max(x, 1))).toEqual([4, -2147483648, 9, 6, -2147483648]);
    expect(show(f.mean(f.cast(x, 'float32'), 0))).toEqual([14 / 3, 5, 3, 1].map(Math.fround));
    expect(show(f.concat([x, x], 1))).toEqual([[3, 1, 4, 1, 3, 1, 4, 1], [], [5, 9, 2, 5, 9, 2], [6, 6], []]);
    expect(show(f.stack([x, x], 1)).length).toEqual(5);
    expect(show(f.gather(x, [2, 0]))).toEqual([
      [5, 9, 2],
      [3, 1, 4, 1],
    ]);
    expect(show(x.at(':', '1:3'))).toEqual([[1, 4], [], [9, 2], [], []]);
    expect(show(x.at(2))).toEqual([5, 9, 2]);
    expect(show(x.at('1:3'))).toEqual([[], [5, 9, 2]]);
    expect(show(x.toTensor())).toEqual([
      [3, 1, 4, 1],
      [0, 0, 0, 0],
      [5, 9, 2, 0],
      [6, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
    expect(String(x)).toBe('<tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9, 2], [6], []]>');
    const s = tf.ragged.constant([['a', 'bc'], [], ['d']]);
    expect(show(s.toTensor())).toEqual([
      ['a', 'bc'],
      ['', ''],
      ['d', ''],
    ]);
    expect(show(f.gather(['x', 'y'], tf.ragged.constant([[1], [0, 1]], 'int32')))).toEqual([
      ['y'],
      ['x', 'y'],
    ]);
    expect(show(tf.ragged.range([3, 5, 2]))).toEqual([
      [0, 1, 2],
      [0, 1, 2, 3, 4],
      [0, 1],
    ]);
    expect(
      show(
        tf.ragged.booleanMask(
          [
            [1, 2],
            [3, 4],
          ],
          [
            [true, false],
            [true, true],
          ],
        ),
      ),
    ).toEqual([[1], [3, 4]]);
    expect(show(tf.ragged.stackDynamicPartitions(['a', 'b', 'c', 'd', 'e'], [3, 0, 2, 2, 3], 5))).toEqual([
      ['b'],
      [],
      ['c', 'd'],
      ['a', 'e'],
      [],
    ]);
    const deep = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]], 'int32');
    expect(show(f.sum(deep, 1))).toEqual([[4, 2], [], [4, 5, 6]]);
    expect(show(f.sum(deep, 2))).toEqual([[3, 3], [], [15]]);
    expect(show(f.sum(deep, 0))).toEqual([[5, 7, 6], [3]]);
    expect(show(f.prod(deep, 0))).toEqual([[4, 10, 6], [3]]);
    expect(show(deep.toTensor())).toEqual([
      [
        [1, 2, 0],
        [3, 0, 0],
      ],
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
      [
        [4, 5, 6],
        [0, 0, 0],
      ],
    ]);
  });
});
