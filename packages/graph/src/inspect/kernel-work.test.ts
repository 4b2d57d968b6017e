import { describe, expect, test } from 'vitest';
import { productOperations } from './kernel-work.ts';

describe('multiplications and additions of kernels', () => {
  test('products of matrices, transposed and in batches', () => {
    expect(
      productOperations(
        'MatMul',
        [
          [2, 3],
          [3, 4],
        ],
        [[2, 4]],
        { transposeA: false },
      ),
    ).toBe(48);
    expect(
      productOperations(
        'MatMul',
        [
          [3, 2],
          [3, 4],
        ],
        [[2, 4]],
        { transposeA: true },
      ),
    ).toBe(48);
    expect(
      productOperations(
        'MatMul',
        [
          [5, 2, 3],
          [3, 4],
        ],
        [[5, 2, 4]],
        {},
      ),
    ).toBe(240);
    expect(
      productOperations(
        'MatMul',
        [
          [2, 0],
          [0, 4],
        ],
        [[2, 4]],
        {},
      ),
    ).toBe(0);
  });

  test('a convolution and its gradients are as much work', () => {
    const [x, filter, y] = [
      [8, 10, 10, 6],
      [3, 3, 2, 9],
      [8, 5, 5, 9],
    ];
    const work = 2 * 8 * 5 * 5 * 9 * (3 * 3 * 2);
    expect(productOperations('Conv2D', [x, filter], [y], {})).toBe(work);
    expect(productOperations('Conv2DBackpropInput', [filter, y], [x], {})).toBe(work);
    expect(productOperations('Conv2DBackpropFilter', [x, y], [filter], {})).toBe(work);
  });

  test('attention in both layouts', () => {
    const headsFirst = [
      [2, 4, 10, 8],
      [2, 4, 12, 8],
      [2, 4, 12, 6],
    ];
    const timeFirst = headsFirst.map(([b, h, t, d]) => [b, t, h, d]);
    const pairs = 2 * 4 * 10 * 12;
    for (const [shapes, first] of [
      [headsFirst, false],
      [timeFirst, true],
    ] as const) {
      const attrs = { timeFirst: first };
      expect(productOperations('ScaledDotProductAttention', shapes, [], attrs)).toBe(2 * pairs * (8 + 6));
      expect(productOperations('ScaledDotProductAttentionGrad', [[], ...shapes], [], attrs)).toBe(
        2 * pairs * (3 * 8 + 2 * 6),
      );
    }
  });

  test('recurrent layers, the gradient for x only where it is made', () => {
    const [x, h, kernel, recurrent] = [
      [2, 5, 3],
      [2, 4],
      [3, 16],
      [4, 16],
    ];
    const [ofX, ofH] = [2 * 10 * 48, 2 * 10 * 64];
    expect(productOperations('LSTM', [x, h, h, kernel, recurrent], [], {})).toBe(ofX + ofH);
    expect(productOperations('LSTMGrad', [x, h, h, kernel, recurrent], Array(6).fill([]), {})).toBe(
      ofX + 2 * ofH,
    );
    expect(productOperations('LSTMGrad', [x, h, h, kernel, recurrent], Array(7).fill([]), {})).toBe(
      2 * (ofX + ofH),
    );
    expect(productOperations('GRU', [x, h, kernel, recurrent], [], {})).toBe(ofX + ofH);
    expect(productOperations('GRUGrad', [x, h, kernel, recurrent], Array(5).fill([]), {})).toBe(
      ofX + 2 * ofH,
    );
    expect(productOperations('GRUGrad', [x, h, kernel, recurrent], Array(6).fill([]), {})).toBe(
      2 * (ofX + ofH),
    );
  });

  test('nothing else', () => {
    expect(productOperations('Sum', [[2, 3]], [[2]], {})).toBeNull();
  });
});
