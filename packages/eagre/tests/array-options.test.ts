// Options of functions on arrays, with values of TensorFlow 2.21.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { everywhere } from '../../core/src/testing/ops.ts';
import * as tf from '../src/index.ts';
import { each, gradients } from './testing/each.ts';

const { linalg } = tf;

const x = tf.range(1, 13, 1, { dtype: 'float32' }).reshape([3, 4]);
const d = tf.range(1, 10, 1, { dtype: 'float32' }).reshape([3, 3]);

describe('diagonals', () => {
  test.each([
    [
      'LEFT_RIGHT',
      [
        [3, 8, -1],
        [2, 7, 12],
        [1, 6, 11],
        [-1, 5, 10],
      ],
    ],
    [
      'RIGHT_LEFT',
      [
        [-1, 3, 8],
        [2, 7, 12],
        [1, 6, 11],
        [5, 10, -1],
      ],
    ],
    [
      'LEFT_LEFT',
      [
        [3, 8, -1],
        [2, 7, 12],
        [1, 6, 11],
        [5, 10, -1],
      ],
    ],
    [
      'RIGHT_RIGHT',
      [
        [-1, 3, 8],
        [2, 7, 12],
        [1, 6, 11],
        [-1, 5, 10],
      ],
    ],
  ] as const)('several, aligned %s', (align, rows) => {
    const band = [
      [1, 2, 3, 0],
      [5, 6, 7, 8],
      [0, 10, 11, 12],
    ];
    const k = [-1, 2];
    everywhere(() => {
      expect(each((t) => linalg.diagPart(t, { k, paddingValue: -1, align }), x)).toEqual(rows);
      expect(each((t, r) => linalg.setDiag(t, r, { k, align }), tf.zeros([3, 4]), tf.constant(rows))).toEqual(
        band,
      );
      const options = { k, align, numRows: 3, numCols: 4 };
      expect(each((r) => linalg.diag(r, options), tf.constant(rows))).toEqual(band);
    });
  });

  test('one other than the main one, and other sizes', () => {
    expect(each((t) => linalg.diagPart(t, { k: 1 }), x)).toEqual([2, 7, 12]);
    expect(each((t) => linalg.diagPart(t, { k: [0, 0] }), x)).toEqual([1, 6, 11]);
    const options = { k: -1, numRows: 3, numCols: 4, paddingValue: 9 };
    expect(each((t) => linalg.diag(t, options), tf.constant([1, 2]))).toEqual([
      [9, 9, 9, 9],
      [1, 9, 9, 9],
      [9, 2, 9, 9],
    ]);
    expect(linalg.diag([1n, 2n], { k: 1 }).array()).toEqual([
      [0n, 1n, 0n],
      [0n, 0n, 2n],
      [0n, 0n, 0n],
    ]);
    expect(
      linalg
        .diagPart(
          [
            [true, false],
            [true, true],
          ],
          { k: [-1, 0] },
        )
        .array(),
    ).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(linalg.diag(tf.zeros([0]), { k: 2 }).array()).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('have gradients', () => {
    const k = [-1, 1];
    const band = [
      [2, 7, 12],
      [1, 6, 11],
      [5, 10, 0],
    ];
    expect(gradients((t) => linalg.diagPart(t, { k }), x)).toEqual([
      [
        [4, 1, 0, 0],
        [7, 5, 2, 0],
        [0, 8, 6, 3],
      ],
    ]);
    expect(gradients((t, r) => linalg.setDiag(t, r, { k }), x, d)).toEqual([
      [
        [0, 0, 3, 4],
        [0, 0, 0, 8],
        [9, 0, 0, 0],
      ],
      band,
    ]);
    expect(gradients((r) => linalg.diag(r, { k, numCols: 4 }), d)).toEqual([band]);
  });

  test('are written into graphs, and read back', async () => {
    const fn = (t: tf.Tensor) => {
      const rows = linalg.diagPart(t, { k: [-1, 2], align: 'LEFT_RIGHT', paddingValue: -1 });
      const y = linalg.diag(rows, {
        k: [-1, 2],
        align: 'LEFT_RIGHT',
        numRows: 3,
        numCols: 4,
        paddingValue: 7,
      });
      return linalg.setDiag(y, linalg.diagPart(t, { k: 3 }), { k: -2 });
    };
    const folder = await mkdtemp(join(tmpdir(), 'eagre-'));
    const module = Object.assign(new tf.Module(), {
      f: tf.function(fn, { inputSignature: [new tf.TensorSpec([3, 4], 'float32')] }),
    });
    await tf.savedModel.save(module, folder);
    const loaded = (await tf.savedModel.load(folder)) as unknown as { f(t: tf.Tensor): tf.Tensor };
    expect(loaded.f(x).array()).toEqual(fn(x).array());
    await rm(folder, { recursive: true });
  });

  test('refuse what is not there', () => {
    const refused = (fn: () => unknown, message: string): void => {
      expect(fn).toThrow(tf.errors.InvalidArgumentError);
      expect(fn).toThrow(message);
    };
    refused(() => linalg.diag([1, 2], { k: [1, 0] }), 'k is [1, 0]');
    refused(() => linalg.diagPart(x, { k: [0, 1, 2] }), 'expected an integer');
    refused(() => linalg.diagPart(x, { k: 0.5 }), 'expected an integer');
    refused(() => linalg.diagPart(x, { k: 4 }), 'no diagonal of [3, 4]');
    refused(() => linalg.diagPart(x, { k: [-3, 0] }), 'no diagonal of [3, 4]');
    refused(() => linalg.diagPart(x, { k: 1, align: 'LEFT' as never }), 'align');
    refused(() => linalg.diagPart(x, { k: 1, paddingValue: [1] }), 'paddingValue');
    refused(() => linalg.diag([1, 2], { numRows: 5, numCols: 5 }), 'do not fit [5, 5]');
    refused(() => linalg.diag([1, 2], { numRows: 1 }), 'do not fit');
    refused(() => linalg.diag([1, 2], { k: [0, 1] }), 'expected [..., 2, length]');
    refused(() => linalg.setDiag(x, [1, 2], { k: 1 }), 'expected [3]');
  });
});

describe('dtypes of indices', () => {
  test('of topK and unique', () => {
    const { values, indices } = tf.math.topK(x, 2, { indexType: 'int64' });
    expect([values.dtype, indices.dtype]).toEqual(['float32', 'int64']);
    expect(each((t) => tf.math.topK(t, 2, { indexType: 'int64' }).indices, x)).toEqual([
      [3n, 2n],
      [3n, 2n],
      [3n, 2n],
    ]);
    expect(tf.math.topK(x, 1, { indexType: 'int16' }).indices.dtype).toBe('int16');
    const twice = tf.constant([7, 3, 7]);
    expect(each((t) => tf.unique(t, { outIdx: 'int64' }).indices, twice)).toEqual([0n, 1n, 0n]);
    expect(each((t) => tf.unique(t, { outIdx: 'int64' }).counts, twice)).toEqual([2n, 1n]);
    expect(tf.unique(twice).indices.dtype).toBe('int32');
    expect(() => tf.math.topK(x, 1, { indexType: 'int8' as never })).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.unique(twice, { outIdx: 'float32' as never })).toThrow(tf.errors.InvalidArgumentError);
  });
});
