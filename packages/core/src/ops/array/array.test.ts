import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import * as tf from '../../index.ts';
import { everywhere, numbers, randoms } from '../../testing/ops.ts';

const x234 = (): tf.Tensor => tf.range(24).reshape([2, 3, 4]);
const names = (): tf.Tensor =>
  tf.constant([
    ['a', 'b', 'c'],
    ['d', 'e', 'f'],
  ]);
const matrix = [
  [1, 2, 3],
  [4, 5, 6],
];

describe('reshape', () => {
  test('shares memory and computes one dimension', () => {
    everywhere(() => {
      const x = x234();
      const y = x.reshape([-1, 6]);
      expect(y.shape).toEqual([4, 6]);
      expect(y.storage).toBe(x.storage);
      expect(x.flatten().shape).toEqual([24]);
      expect(tf.constant(5).reshape([1, 1]).array()).toEqual([[5]]);
      expect(tf.zeros([0, 3]).reshape([3, -1]).shape).toEqual([3, 0]);
      x.dispose();
      expect(y.at(0).array()).toEqual([0, 1, 2, 3, 4, 5]);
    });
  });

  test('says what does not fit', () => {
    expect(() => x234().reshape([5, 5])).toThrow(
      'Reshape: 24 elements (shape [2, 3, 4]) do not fit into [5, 5]',
    );
    expect(() => x234().reshape([-1, 7])).toThrow(tf.InvalidArgumentError);
    expect(() => x234().reshape([-1, -1])).toThrow('not a shape');
    expect(() => tf.zeros([0, 3]).reshape([-1, 0])).toThrow(tf.InvalidArgumentError);
    expect(() => tf.constant([1]).reshape([1, 1, 1, 1, 1, 1, 1, 1, 1])).toThrow('rank 9');
  });

  test('adds and removes axes of size 1', () => {
    const x = x234();
    expect(x.expandDims(0).shape).toEqual([1, 2, 3, 4]);
    expect(x.expandDims(-1).shape).toEqual([2, 3, 4, 1]);
    expect(x.expandDims([0, -1]).shape).toEqual([1, 2, 3, 4, 1]);
    expect(x.expandDims([0, -1]).squeeze().shape).toEqual([2, 3, 4]);
    expect(x.expandDims([0, -1]).squeeze(0).shape).toEqual([2, 3, 4, 1]);
    expect(() => x.squeeze(1)).toThrow('axis 1 of [2, 3, 4] has size 3');
    expect(() => x.expandDims(5)).toThrow('out of range for rank 4');
    expect(x.shapeOf().array()).toEqual([2, 3, 4]);
    expect(x.shapeOf().dtype).toBe('int32');
  });

  test('works for variables, whose later values a reshaped one does not see', () => {
    const v = new tf.Variable([1, 2, 3, 4]);
    const y = v.reshape([2, 2]);
    v.assignAdd([1, 1, 1, 1]);
    expect(y.array()).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(v.reshape([2, 2]).array()).toEqual([
      [2, 3],
      [4, 5],
    ]);
  });
});

describe('order of axes and elements', () => {
  test('transpose', () => {
    everywhere(() => {
      expect(tf.transpose(matrix).array()).toEqual([
        [1, 4],
        [2, 5],
        [3, 6],
      ]);
      const x = x234();
      const y = x.transpose([2, 0, 1]);
      expect(y.shape).toEqual([4, 2, 3]);
      for (let i = 0; i < 2; i++) {
        for (let j = 0; j < 3; j++)
          for (let k = 0; k < 4; k++) expect(y.at(k, i, j).item()).toBe(x.at(i, j, k).item());
      }
      expect(x.swapAxes(0, -1).shape).toEqual([4, 3, 2]);
      expect(x.moveAxis(0, -1).shape).toEqual([3, 4, 2]);
      expect(x.moveAxis(-1, 0).array()).toEqual(y.array());
      expect(tf.transpose(3).item()).toBe(3);
      expect(tf.zeros([0, 2]).transpose().shape).toEqual([2, 0]);
    });
    expect(() => tf.transpose(matrix, [0, 0])).toThrow('each of the 2 axes once');
    expect(() => tf.transpose(matrix, [0])).toThrow('2 integers');
  });

  test('reverse and roll', () => {
    everywhere(() => {
      expect(tf.reverse(matrix, 1).array()).toEqual([
        [3, 2, 1],
        [6, 5, 4],
      ]);
      expect(tf.reverse(matrix, [0, 1]).array()).toEqual([
        [6, 5, 4],
        [3, 2, 1],
      ]);
      expect(tf.roll([1, 2, 3, 4, 5], 2, 0).array()).toEqual([4, 5, 1, 2, 3]);
      expect(tf.roll([1, 2, 3, 4, 5], -7, 0).array()).toEqual([3, 4, 5, 1, 2]);
      expect(tf.roll(matrix, [1, 1], [0, 1]).array()).toEqual([
        [6, 4, 5],
        [3, 1, 2],
      ]);
      expect(tf.roll(matrix, 3, 1).array()).toEqual(matrix);
    });
  });
});

describe('repetition', () => {
  test('tile, repeat and broadcastTo', () => {
    everywhere(() => {
      expect(tf.tile([1, 2], [2]).array()).toEqual([1, 2, 1, 2]);
      expect(tf.tile(matrix, [1, 2]).array()).toEqual([
        [1, 2, 3, 1, 2, 3],
        [4, 5, 6, 4, 5, 6],
      ]);
      expect(tf.repeat([1, 2], 2).array()).toEqual([1, 1, 2, 2]);
      expect(tf.repeat(matrix, 2, 0).array()).toEqual([
        [1, 2, 3],
        [1, 2, 3],
        [4, 5, 6],
        [4, 5, 6],
      ]);
      expect(tf.repeat(matrix, [1, 0, 2], 1).array()).toEqual([
        [1, 3, 3],
        [4, 6, 6],
      ]);
      expect(tf.broadcastTo([[1], [2]], [2, 2, 3]).array()).toEqual([
        [
          [1, 1, 1],
          [2, 2, 2],
        ],
        [
          [1, 1, 1],
          [2, 2, 2],
        ],
      ]);
      expect(tf.broadcastTo(7, [2]).array()).toEqual([7, 7]);
      expect(tf.broadcastTo([[1]], [0, 4]).shape).toEqual([0, 4]);
    });
    expect(() => tf.broadcastTo([1, 2, 3], [2])).toThrow('[3] does not broadcast to [2]');
    expect(() => tf.tile([1], [-1])).toThrow('negative');
    expect(() => tf.repeat([1, 2, 3], [1, 2], 0)).toThrow('3 of them');
  });
});

describe('pad', () => {
  test('fills or mirrors', () => {
    everywhere(() => {
      expect(tf.pad([1, 2], [[1, 2]]).array()).toEqual([0, 1, 2, 0, 0]);
      expect(tf.pad([1, 2], [[1, 0]], { constantValues: 9 }).array()).toEqual([9, 1, 2]);
      expect(tf.pad([1, 2, 3], [[2, 2]], { mode: 'REFLECT' }).array()).toEqual([3, 2, 1, 2, 3, 2, 1]);
      expect(tf.pad([1, 2, 3], [[2, 2]], { mode: 'SYMMETRIC' }).array()).toEqual([2, 1, 1, 2, 3, 3, 2]);
      expect(
        tf
          .pad(matrix, [
            [0, 1],
            [1, 0],
          ])
          .array(),
      ).toEqual([
        [0, 1, 2, 3],
        [0, 4, 5, 6],
        [0, 0, 0, 0],
      ]);
      expect(tf.pad([true], [[1, 1]]).array()).toEqual([false, true, false]);
    });
    expect(() => tf.pad([1, 2, 3], [[3, 0]], { mode: 'REFLECT' })).toThrow('at most 2');
    expect(() => tf.pad(matrix, [[0, 1]])).toThrow('2 pairs');
  });
});

describe('slices', () => {
  test('of a begin and a size', () => {
    everywhere(() => {
      const x = x234();
      expect(x.slice([1, 0, 2], [1, 2, -1]).array()).toEqual([
        [
          [14, 15],
          [18, 19],
        ],
      ]);
      expect(x.slice([0, 0, 0]).array()).toEqual(x.array());
      expect(x.slice([2, 0, 0], [0, 3, 4]).shape).toEqual([0, 3, 4]);
    });
    expect(() => x234().slice([0, 0, 3], [1, 1, 2])).toThrow('reach outside the shape [2, 3, 4]');
    expect(() => x234().slice([0])).toThrow('3 integers');
  });

  test('as Python indexes', () => {
    everywhere(() => {
      const x = tf.range(10);
      const cases: [string, number[]][] = [
        [':', [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
        ['2:5', [2, 3, 4]],
        ['-3:', [7, 8, 9]],
        [':-7', [0, 1, 2]],
        ['::3', [0, 3, 6, 9]],
        ['1::3', [1, 4, 7]],
        ['::-1', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
        ['7:2:-2', [7, 5, 3]],
        ['-1:-4:-1', [9, 8, 7]],
        ['5:2', []],
        ['2:5:-1', []],
        ['8:99', [8, 9]],
        ['-99:2', [0, 1]],
        ['99::-4', [9, 5, 1]],
        [' 1 : 3 ', [1, 2]],
      ];
      for (const [range, expected] of cases) expect(x.at(range).array(), range).toEqual(expected);
    });
  });

  test('drop and add axes', () => {
    everywhere(() => {
      const x = x234();
      expect(x.at(1).array()).toEqual([
        [12, 13, 14, 15],
        [16, 17, 18, 19],
        [20, 21, 22, 23],
      ]);
      expect(x.at(-1, 0, -2).item()).toBe(14);
      expect(x.at('...', 0).array()).toEqual([
        [0, 4, 8],
        [12, 16, 20],
      ]);
      expect(x.at(0, '...', '1:3').array()).toEqual([
        [1, 2],
        [5, 6],
        [9, 10],
      ]);
      expect(x.at(null, 0).shape).toEqual([1, 3, 4]);
      expect(x.at('...', 'newaxis').shape).toEqual([2, 3, 4, 1]);
      expect(x.at(':', null, '1').shape).toEqual([2, 1, 4]);
      expect(x.at().array()).toEqual(x.array());
      expect(x.at('1:1').shape).toEqual([0, 3, 4]);
      expect(x.at('::-1', ':', '::2').array()).toEqual([
        [
          [12, 14],
          [16, 18],
          [20, 22],
        ],
        [
          [0, 2],
          [4, 6],
          [8, 10],
        ],
      ]);
    });
  });

  test('by a mask, and with new axes', () => {
    everywhere(() => {
      const x = tf.constant([
        [1, -2],
        [-3, 4],
      ]);
      expect(x.at(x.greater(0)).array()).toEqual([1, 4]);
      expect(x.at(tf.constant([false, true])).array()).toEqual([[-3, 4]]);
      expect(x.at(new tf.Variable([true, false])).array()).toEqual([[1, -2]]);
      expect(x.at(tf.newaxis, '...', tf.newaxis).shape).toEqual([1, 2, 2, 1]);
      // An index may be a tensor that was computed.
      expect(x.at(0, tf.constant(1, 'int64').add(tf.constant(0, 'int64'))).array()).toEqual(
        (x.array() as number[][])[0]?.at(-1),
      );
      expect(() => x.at(0, tf.constant([true, true]))).toThrow(/a mask must be the only index/);
      expect(() => x.at(tf.constant([true, true, true]))).toThrow(/does not match/);
    });
  });

  test('where without values gives coordinates', () => {
    everywhere(() => {
      const x = tf.constant([
        [1.5, 0],
        [0, Number.NaN],
      ]);
      expect(tf.where(x).dtype).toBe('int64');
      expect(tf.where(x).array()).toEqual([
        [0n, 0n],
        [1n, 1n],
      ]);
      expect(x.equal(0).where().array()).toEqual([
        [0n, 1n],
        [1n, 0n],
      ]);
      expect(tf.where([false]).shape).toEqual([0, 1]);
      expect(() => tf.where([true], [1])).toThrow(/both x and y, or neither/);
      expect(() => tf.where([true], null, [1])).toThrow(/both x and y, or neither/);
    });
  });

  test('what at refuses', () => {
    const x = x234();
    expect(() => x.at(2)).toThrow(tf.OutOfRangeError);
    expect(() => x.at(2)).toThrow('index 2 is out of range for axis 0 of size 2');
    expect(() => x.at('1-2')).toThrow("'1-2' is not a range");
    expect(() => x.at('::0')).toThrow('step of 0');
    expect(() => x.at(0, 0, 0, 0)).toThrow('4 axes are indexed, there are 3');
    expect(() => x.at('...', '...')).toThrow('only once');
    expect(() => x.at(0.5)).toThrow('not an integer');
  });

  test('stridedSlice with masks', () => {
    everywhere(() => {
      const x = x234();
      expect(x.stridedSlice([0, 1], [2, 3]).array()).toEqual(x.at('0:2', '1:3').array());
      expect(
        x.stridedSlice([1, 0, 0], [0, 3, 0], [-1, 1, 2], { beginMask: 0b100, endMask: 0b101 }).array(),
      ).toEqual(x.at('1::-1', '0:3', '::2').array());
      const masks = { ellipsisMask: 1, newAxisMask: 2, shrinkAxisMask: 4 };
      expect(x.stridedSlice([0, 0, 3], [0, 0, 4], [1, 1, 1], masks).array()).toEqual(
        x.at('...', null, 3).array(),
      );
    });
  });
});

describe('pieces', () => {
  test('split and concat undo each other', () => {
    everywhere(() => {
      const x = x234();
      expect(x.split(2, 2).map((p) => p.shape)).toEqual([
        [2, 3, 2],
        [2, 3, 2],
      ]);
      const parts = x.split([1, -1], 1);
      expect(parts.map((p) => p.shape)).toEqual([
        [2, 1, 4],
        [2, 2, 4],
      ]);
      expect(tf.concat(parts, 1).array()).toEqual(x.array());
      expect(tf.split([1, 2, 3], [0, 3])[0].shape).toEqual([0]);
    });
    expect(() => x234().split(3, 2)).toThrow('cannot be split into 3 equal pieces');
    expect(() => x234().split([1, 1], 1)).toThrow('do not add up');
  });

  test('stack and unstack undo each other', () => {
    everywhere(() => {
      const x = x234();
      for (const axis of [0, 1, 2, -1]) {
        const parts = x.unstack(axis);
        expect(tf.stack(parts, axis).array()).toEqual(x.array());
      }
      expect(tf.stack([1, 2, 3]).array()).toEqual([1, 2, 3]);
      expect(
        tf
          .stack(
            [
              [1, 2],
              [3, 4],
            ],
            1,
          )
          .array(),
      ).toEqual([
        [1, 3],
        [2, 4],
      ]);
      const empty = tf.zeros([0, 2]).unstack();
      expect(empty).toEqual([]);
    });
    expect(() => tf.stack([[1], [1, 2]])).toThrow('tensor 1 has shape [2], the first has [1]');
    expect(() => tf.concat([])).toThrow('at least one tensor');
    expect(() => tf.concat([1, 2])).toThrow('use stack');
    expect(() => tf.concat([tf.zeros([2, 2]), tf.zeros([2, 3])], 0)).toThrow('may differ in axis 0 only');
  });

  test('lists meet in one dtype', () => {
    everywhere(() => {
      const y = tf.concat([tf.constant([1], 'int32'), tf.constant([2n])]);
      expect(y.dtype).toBe('int64');
      expect(y.array()).toEqual([1n, 2n]);
      expect(tf.stack([tf.constant(1, 'int32'), 5]).dtype).toBe('int32');
    });
    expect(() => tf.stack([tf.constant(1, 'int32'), tf.constant(1.5)])).toThrow('no common dtype');
  });

  test('addN', () => {
    everywhere(() => {
      const list = Array.from({ length: 40 }, (_, i) => tf.fill([2, 2], i));
      expect(tf.addN(list).array()).toEqual([
        [780, 780],
        [780, 780],
      ]);
      expect(tf.addN([[1, 2]]).array()).toEqual([1, 2]);
    });
    expect(() => tf.addN([[1], [1, 2]])).toThrow('the same shape');
  });
});

describe('gather and scatter', () => {
  test('gather', () => {
    everywhere(() => {
      expect(tf.gather(matrix, [1, 0, 1]).array()).toEqual([
        [4, 5, 6],
        [1, 2, 3],
        [4, 5, 6],
      ]);
      expect(tf.gather(matrix, [[2], [0]], 1).array()).toEqual([
        [[3], [1]],
        [[6], [4]],
      ]);
      expect(tf.gather(matrix, 1).array()).toEqual([4, 5, 6]);
      expect(
        tf
          .gather(
            matrix,
            [
              [2, 0],
              [1, 1],
            ],
            1,
            { batchDims: 1 },
          )
          .array(),
      ).toEqual([
        [3, 1],
        [5, 5],
      ]);
      expect(tf.gather(matrix, [[2], [1]], null, { batchDims: 1 }).array()).toEqual([[3], [5]]);
      expect(tf.gather(matrix, tf.constant([], 'int32')).shape).toEqual([0, 3]);
    });
    everywhere(() => {
      expect(() => tf.gather(matrix, [2])).toThrow(tf.OutOfRangeError);
      expect(() => tf.gather(matrix, [-1])).toThrow(tf.OutOfRangeError);
    });
    expect(() => tf.gather(matrix, tf.constant([0.5]))).toThrow('indices is float32, expected int32, int64');
    expect(() => tf.gather(matrix, [[0]], 1, { batchDims: 1 })).toThrow('share 1 leading axes');
  });

  test('gatherNd and scatterNd', () => {
    everywhere(() => {
      expect(
        tf
          .gatherNd(matrix, [
            [1, 2],
            [0, 0],
          ])
          .array(),
      ).toEqual([6, 1]);
      expect(tf.gatherNd(matrix, [[1]]).array()).toEqual([[4, 5, 6]]);
      expect(tf.gatherNd(matrix, [[[0, 1]], [[1, 1]]]).array()).toEqual([[2], [5]]);
      expect(tf.scatterNd([[1], [3], [1]], [10, 20, 30], [5]).array()).toEqual([0, 40, 0, 20, 0]);
      expect(() => tf.gatherNd(matrix, [[2, 0]])).toThrow(tf.OutOfRangeError);
    });
    expect(() => tf.gatherNd(matrix, [[0, 0, 0]])).toThrow('at most the 2 axes');
    expect(() => tf.scatterNd([[1], [3]], [1, 2, 3], [5])).toThrow('updates have shape [3], expected [2]');
  });

  test('scatterNd of bools', () => {
    everywhere(() => {
      const y = tf.scatterNd(tf.constant([[0], [2], [0], [1]], 'int32'), [true, true, true, false], [4]);
      expect(y.dtype).toBe('bool');
      expect(y.array()).toEqual([true, false, true, false]);
    });
  });

  test('updates of a copy', () => {
    everywhere(() => {
      const base = tf.constant([1, 2, 3, 4]);
      const at = [[1], [3]];
      expect(tf.tensorScatterNdUpdate(base, at, [9, 8]).array()).toEqual([1, 9, 3, 8]);
      expect(tf.tensorScatterNdAdd(base, [[1], [1]], [9, 8]).array()).toEqual([1, 19, 3, 4]);
      expect(base.tensorScatterNdSub(at, [1, 1]).array()).toEqual([1, 1, 3, 3]);
      expect(base.tensorScatterNdMax(at, [9, 0]).array()).toEqual([1, 9, 3, 4]);
      expect(base.tensorScatterNdMin(at, [9, 0]).array()).toEqual([1, 2, 3, 0]);
      expect(base.array()).toEqual([1, 2, 3, 4]);
      expect(() => tf.tensorScatterNdUpdate(base, [[4]], [1])).toThrow(tf.OutOfRangeError);
    });
  });

  test('segments', () => {
    everywhere(() => {
      expect(tf.unsortedSegmentSum([1, 2, 3, 4], [2, 0, 2, 0], 3).array()).toEqual([6, 0, 4]);
      expect(tf.unsortedSegmentSum(matrix, [1, 1], 2).array()).toEqual([
        [0, 0, 0],
        [5, 7, 9],
      ]);
      expect(
        tf
          .unsortedSegmentSum(
            matrix,
            [
              [0, 1, 0],
              [1, 1, 1],
            ],
            2,
          )
          .array(),
      ).toEqual([4, 17]);
    });
  });

  test('slices of negative segments are left out', () => {
    everywhere(() => {
      const ids = tf.constant([1, -1, 0, -(2 ** 31), 1], 'int32');
      expect(tf.unsortedSegmentSum([1, 2, 4, 8, 16], ids, 2).array()).toEqual([4, 17]);
      expect(tf.unsortedSegmentSum([[1], [2], [4], [8], [16]], ids.cast('int64'), 3).array()).toEqual([
        [4],
        [17],
        [0],
      ]);
      expect(tf.unsortedSegmentSum([1, 2], tf.constant([-1, -1], 'int32'), 0).array()).toEqual([]);
      for (const above of [2, 2 ** 31 - 1])
        expect(() => tf.unsortedSegmentSum([1, 2], tf.constant([-1, above], 'int32'), 2)).toThrow(
          tf.OutOfRangeError,
        );
    });
  });

  test('oneHot', () => {
    everywhere(() => {
      expect(tf.oneHot([0, 2, -1], 3).array()).toEqual([
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 0],
      ]);
      expect(tf.oneHot([0, 2], 3, { axis: 0, onValue: 5, offValue: -1, dtype: 'int32' }).array()).toEqual([
        [5, -1],
        [-1, -1],
        [-1, 5],
      ]);
      expect(tf.oneHot(new Uint8Array([1]), 2).array()).toEqual([[0, 1]]);
      expect(tf.oneHot(1, 2, { dtype: 'bool' }).array()).toEqual([false, true]);
    });
  });

  test('masks', () => {
    everywhere(() => {
      expect(
        tf
          .nonzero([
            [0, 3],
            [4, 0],
          ])
          .array(),
      ).toEqual([
        [0n, 1n],
        [1n, 0n],
      ]);
      expect(tf.nonzero([false, false]).shape).toEqual([0, 1]);
      expect(tf.booleanMask(matrix, [false, true]).array()).toEqual([[4, 5, 6]]);
      expect(tf.booleanMask(matrix, [true, false, true], 1).array()).toEqual([
        [1, 3],
        [4, 6],
      ]);
      expect(tf.booleanMask(matrix, tf.greater(matrix, 2)).array()).toEqual([3, 4, 5, 6]);
      expect(tf.sequenceMask([1, 3, 0]).array()).toEqual([
        [true, false, false],
        [true, true, true],
        [false, false, false],
      ]);
      expect(tf.sequenceMask([2], 4, { dtype: 'int32' }).array()).toEqual([[1, 1, 0, 0]]);
      expect(tf.invertPermutation([2, 0, 1]).array()).toEqual([1, 2, 0]);
    });
    expect(() => tf.booleanMask(matrix, [true])).toThrow('does not match x');
    expect(() => tf.invertPermutation([0, 0])).toThrow('not a permutation');
  });
});

describe('order', () => {
  test('topK, sort and argSort', () => {
    everywhere(() => {
      const { values, indices } = tf.topK(
        [
          [3, 1, 4],
          [1, 5, 9],
        ],
        2,
      );
      expect(values.array()).toEqual([
        [4, 3],
        [9, 5],
      ]);
      expect(indices.array()).toEqual([
        [2, 0],
        [2, 1],
      ]);
      expect(tf.topK([2, 2, 1]).indices.array()).toEqual([0]);
      expect(tf.sort([3, 1, 2]).array()).toEqual([1, 2, 3]);
      expect(
        tf
          .sort(
            [
              [3, 1],
              [2, 5],
            ],
            0,
            { direction: 'DESCENDING' },
          )
          .array(),
      ).toEqual([
        [3, 5],
        [2, 1],
      ]);
      expect(tf.argSort([3, 1, 2, 1]).array()).toEqual([1, 3, 2, 0]);
      expect(tf.argSort([3, 1, 2, 1], 0, { direction: 'DESCENDING' }).array()).toEqual([0, 2, 1, 3]);
      expect(tf.sort([1, Number.NaN, -Infinity]).array()).toEqual([-Infinity, 1, Number.NaN]);
      const x = tf.constant(randoms(500, -9, 9));
      expect(numbers(x.sort())).toEqual([...numbers(x)].sort((a, b) => a - b));
    });
    expect(() => tf.topK([1, 2], 3)).toThrow('k is 3');
    expect(() => tf.sort([true])).toThrow(tf.InvalidArgumentError);
  });

  test('unique', () => {
    const { values, indices, counts } = tf.unique([5, 1, 5, 5]);
    expect([values.array(), indices.array(), counts.array()]).toEqual([
      [5, 1],
      [0, 1, 0, 0],
      [3, 1],
    ]);
    expect(tf.unique(['b', 'a', 'b']).values.array()).toEqual(['b', 'a']);
    expect(tf.unique(tf.constant([7n, 7n])).values.array()).toEqual([7n]);
    // Zeros are equal, and a NaN equals nothing; the first of equal ones stands for all.
    for (const dtype of ['float32', 'float64', 'float16', 'bfloat16'] as const) {
      const found = tf.unique(tf.constant([Number.NaN, -0, 0, Number.NaN, 1, 0], dtype));
      expect(found.values.array()).toEqual([Number.NaN, -0, Number.NaN, 1]);
      expect(found.indices.array()).toEqual([0, 1, 1, 2, 3, 1]);
      expect(found.counts.array()).toEqual([1, 3, 1, 1]);
    }
    const long = tf.unique(tf.constant([2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 53n, 1n]));
    expect(long.values.array()).toEqual([2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 1n]);
    expect(long.indices.array()).toEqual([0, 1, 2, 0, 3]);
    for (const dtype of ['int32', 'int64', 'float64', 'bool', 'string'] as const) {
      const none = tf.unique(tf.zeros([0], dtype));
      expect([none.values.dtype, none.values.shape, none.indices.shape]).toEqual([dtype, [0], [0]]);
    }
  });

  test('unique of many values is what a Map finds', () => {
    const random = randoms(20_000, 0, 1);
    const cases: [tf.DType, number, (u: number, i: number) => number | bigint | string][] = [
      ['int32', 20_000, (u) => Math.floor(u * 500) - 250],
      ['int32', 20_000, (u) => Math.floor(u * 2 ** 32) - 2 ** 31],
      ['int32', 20_000, (u) => Math.floor(u * 700) * 5_000_011 - 2 ** 31],
      ['int32', 5000, (_, i) => (i % 4097) << 19],
      ['uint32', 20_000, (u) => Math.floor(u * 3) * 2_000_000_001],
      ['int8', 3000, (u) => Math.floor(u * 256) - 128],
      ['uint16', 3000, (u) => Math.floor(u * 65536)],
      ['int64', 20_000, (u) => BigInt(Math.floor(u * 40_000)) << 33n],
      // The lower halves are equal, and so are many of the higher ones.
      ['int64', 20_000, (u, i) => BigInt(i % 3) + (BigInt(Math.floor(u * 40_000) - 20_000) << 32n)],
      ['int64', 20_000, (u) => BigInt(Math.floor(u * 2 ** 32) - 2 ** 31)],
      ['uint64', 20_000, (u) => 2n ** 64n - 1n - BigInt(Math.floor(u * 50_000))],
      ['float64', 20_000, (u) => Math.floor(u * 30_000) / 7],
      ['float32', 20_000, (u) => Math.fround(Math.floor(u * 30_000) / 7)],
      ['float32', 20_000, (u, i) => (i % 1000 === 7 ? -0 : Math.floor(u * 10_000))],
      ['float16', 3000, (u) => Math.floor(u * 500) - 250],
      // All different, and all equal.
      ['int32', 20_000, (_, i) => Math.imul(i, 0x9e3779b1)],
      ['float64', 20_000, (_, i) => 1 / (i + 1)],
      ['int32', 3000, () => -7],
      ['int64', 3000, () => 7n << 40n],
      ['float64', 3000, () => 0.1],
      ['string', 3000, (u) => `w${Math.floor(u * 500)}`],
    ];
    for (const [dtype, n, make] of cases) {
      const data = Array.from({ length: n }, (_, i) => make(random[i], i));
      const numbers = new Map<unknown, number>();
      const counts: number[] = [];
      const places = data.map((v) => {
        if (!numbers.has(v)) numbers.set(v, counts.push(0) - 1);
        const number = numbers.get(v) as number;
        counts[number]++;
        return number;
      });
      const found = tf.unique(tf.constant(data as number[], dtype));
      // One text of each: comparing so many elements takes a second.
      expect(String(found.values.array())).toBe(String([...numbers.keys()]));
      expect(String(found.indices.array())).toBe(String(places));
      expect(String(found.counts.array())).toBe(String(counts));
    }
    const nans = tf.unique(tf.fill([20_000], Number.NaN));
    expect(nans.values.shape).toEqual([20_000]);
    expect(nans.indices.array()).toEqual(Array.from({ length: 20_000 }, (_, i) => i));
  });
});

test('strings move like numbers', () => {
  everywhere(() => {
    const s = names();
    expect(s.reshape([3, 2]).array()).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ]);
    expect(s.transpose().array()).toEqual([
      ['a', 'd'],
      ['b', 'e'],
      ['c', 'f'],
    ]);
    expect(s.at(1, '::-1').array()).toEqual(['f', 'e', 'd']);
    expect(s.gather([1, 1], 1).array()).toEqual([
      ['b', 'b'],
      ['e', 'e'],
    ]);
    expect(s.gatherNd([[0, 2]]).array()).toEqual(['c']);
    expect(tf.concat([s, [['x', 'y', 'z']]], 0).array()).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
      ['x', 'y', 'z'],
    ]);
    expect(tf.stack(['a', 'b']).array()).toEqual(['a', 'b']);
    expect(s.unstack(1).map((t) => t.array())).toEqual([
      ['a', 'd'],
      ['b', 'e'],
      ['c', 'f'],
    ]);
    expect(s.split(3, 1)[2].array()).toEqual([['c'], ['f']]);
    expect(s.tile([1, 2]).at(0).array()).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(tf.broadcastTo('q', [2]).array()).toEqual(['q', 'q']);
    expect(s.reverse(0).array()).toEqual([
      ['d', 'e', 'f'],
      ['a', 'b', 'c'],
    ]);
    expect(s.roll(1, 1).array()).toEqual([
      ['c', 'a', 'b'],
      ['f', 'd', 'e'],
    ]);
    expect(tf.repeat(['a', 'b'], [1, 2], 0).array()).toEqual(['a', 'b', 'b']);
    expect(tf.booleanMask(['a', 'b'], [false, true]).array()).toEqual(['b']);
    expect(tf.zeros([2], 'string').array()).toEqual(['', '']);
    expect(tf.fill([2], 'x').array()).toEqual(['x', 'x']);
    expect(() =>
      s.pad([
        [0, 1],
        [0, 0],
      ]),
    ).toThrow('x is string');
    expect(() => s.sort()).toThrow('x is string');
  });
});

test('blocks move between space and depth', () => {
  everywhere(() => {
    const x = tf.range(16).reshape([1, 4, 4, 1]);
    const y = tf.spaceToDepth(x, 2);
    expect(y.at(0, 0, 1).array()).toEqual([2, 3, 6, 7]);
    expect(tf.depthToSpace(y, 2).array()).toEqual(x.array());
  });
  expect(() => tf.spaceToDepth(tf.zeros([1, 3, 4, 1]), 2)).toThrow('divisible by the block size');
});

describe('tensors from nothing', () => {
  test('zeros, ones and fill', () => {
    everywhere(() => {
      expect(tf.zeros([2, 2]).array()).toEqual([
        [0, 0],
        [0, 0],
      ]);
      expect(tf.ones([2], 'int64').array()).toEqual([1n, 1n]);
      expect(tf.ones([1], { dtype: 'bool' }).array()).toEqual([true]);
      expect(tf.fill([2], 2.5).array()).toEqual([2.5, 2.5]);
      expect(tf.fill([2], 3, 'int32').dtype).toBe('int32');
      expect(tf.fill([2], 3, { dtype: 'float64' }).dtype).toBe('float64');
      expect(tf.fill([1], 2n ** 60n).array()).toEqual([2n ** 60n]);
      expect(tf.fill([2], tf.constant(4, 'uint8')).array()).toEqual([4, 4]);
      expect(tf.zerosLike(matrix).array()).toEqual([
        [0, 0, 0],
        [0, 0, 0],
      ]);
      expect(tf.onesLike(tf.constant([true, false])).array()).toEqual([true, true]);
      expect(tf.fullLike(tf.constant([1, 2], 'int32'), 7).array()).toEqual([7, 7]);
      expect(tf.zeros([0, 3]).size).toBe(0);
    });
    expect(() => tf.zeros([-1])).toThrow('not a shape');
    expect(() => tf.fill([2], 0.5, 'int32')).toThrow('not an int32');
    expect(() => tf.fill([2], [1, 2])).toThrow('expected a scalar');
  });

  test('range and linspace', () => {
    everywhere(() => {
      expect(tf.range(4).array()).toEqual([0, 1, 2, 3]);
      expect(tf.range(4).dtype).toBe('float32');
      expect(tf.range(2, 5, { dtype: 'int32' }).array()).toEqual([2, 3, 4]);
      expect(tf.range(5, 0, -2).array()).toEqual([5, 3, 1]);
      expect(tf.range(0, 1, 0.25).array()).toEqual([0, 0.25, 0.5, 0.75]);
      expect(tf.range(3, 1).shape).toEqual([0]);
      expect(tf.range(3n).array()).toEqual([0n, 1n, 2n]);
      expect(tf.range(tf.constant(2, 'int32')).array()).toEqual([0, 1]);
      expect(tf.linspace(0, 1, 5).array()).toEqual([0, 0.25, 0.5, 0.75, 1]);
      expect(tf.linspace(0, 1, 50, { dtype: 'float64' }).at(-1).item()).toBe(1);
      expect(tf.linspace(3, 4, 1).array()).toEqual([3]);
    });
    expect(() => tf.range(0, 5, 0)).toThrow('delta must not be 0');
    expect(() => tf.range(0.5, { dtype: 'int32' })).toThrow('must be integers');
    expect(() => tf.linspace(0, 1, 0)).toThrow('at least 1');
  });

  test('eye and meshgrid', () => {
    everywhere(() => {
      expect(tf.eye(2).array()).toEqual([
        [1, 0],
        [0, 1],
      ]);
      expect(tf.eye(2, 3, { dtype: 'int32' }).array()).toEqual([
        [1, 0, 0],
        [0, 1, 0],
      ]);
      expect(tf.eye(1, null, { batchShape: [2] }).array()).toEqual([[[1]], [[1]]]);
      const [x, y] = tf.meshgrid([
        [1, 2, 3],
        [4, 5],
      ]);
      expect(x.array()).toEqual([
        [1, 2, 3],
        [1, 2, 3],
      ]);
      expect(y.array()).toEqual([
        [4, 4, 4],
        [5, 5, 5],
      ]);
      const [a, b] = tf.meshgrid(
        [
          [1, 2, 3],
          [4, 5],
        ],
        { indexing: 'ij' },
      );
      expect(a.array()).toEqual([
        [1, 1],
        [2, 2],
        [3, 3],
      ]);
      expect(b.array()).toEqual([
        [4, 5],
        [4, 5],
        [4, 5],
      ]);
    });
  });
});
