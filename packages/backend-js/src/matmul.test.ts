import { describe, expect, it } from 'vitest';
import { kernels } from './matmul.ts';
import { noise, run, tensor, values } from './testing/kernels.ts';
import { view } from './view.ts';

const plain = { transposeA: false, transposeB: false, activation: 0 };

describe('MatMul', () => {
  it('multiplies, transposed or not', () => {
    const [m, k, n] = [3, 6, 5];
    const a = noise(m * k, 1);
    const b = noise(k * n, 2);
    const bias = noise(n, 3);
    for (const transposeA of [false, true]) {
      for (const transposeB of [false, true]) {
        const x = tensor('float64', transposeA ? [k, m] : [m, k], a);
        const w = tensor('float64', transposeB ? [n, k] : [k, n], b);
        const at = (i: number, l: number): number => a[transposeA ? l * m + i : i * k + l];
        const bt = (l: number, j: number): number => b[transposeB ? j * k + l : l * n + j];
        for (const activation of [0, 1]) {
          const attrs = { transposeA, transposeB, activation };
          const y = run(kernels, 'MatMul', [x, w, tensor('float64', [n], bias)], 'float64', [m, n], attrs);
          values(y).forEach((value, index) => {
            const [i, j] = [Math.floor(index / n), index % n];
            let sum = bias[j];
            for (let l = 0; l < k; l++) sum += at(i, l) * bt(l, j);
            expect(value).toBeCloseTo(activation ? Math.max(sum, 0) : sum, 13);
          });
        }
      }
    }
  });

  it('broadcasts batches', () => {
    const a = tensor('float32', [2, 1, 1, 2], [1, 2, 3, 4]);
    const b = tensor('float32', [3, 2, 1], [1, 0, 0, 1, 1, 1]);
    expect(values(run(kernels, 'MatMul', [a, b], 'float32', [2, 3, 1, 1], plain))).toEqual([
      1, 2, 3, 3, 4, 7,
    ]);
    const shared = tensor('float32', [2, 1], [1, 10]);
    expect(values(run(kernels, 'MatMul', [a, shared], 'float32', [2, 1, 1, 1], plain))).toEqual([21, 43]);
  });

  it('wraps integers', () => {
    const a = [3, -4];
    for (const dtype of ['int32', 'int64'] as const) {
      const x = tensor(dtype, [1, 2], a);
      const w = tensor(dtype, [2, 2], [1, 2, 5, 1]);
      const bias = tensor(dtype, [2], [0, 1]);
      const attrs = { ...plain, activation: 1 };
      expect(values(run(kernels, 'MatMul', [x, w, bias], dtype, [1, 2], attrs)).map(Number)).toEqual([0, 3]);
      expect(values(run(kernels, 'MatMul', [x, w], dtype, [1, 2], plain)).map(Number)).toEqual([-17, 2]);
    }
    const big = tensor('int32', [1, 1], [2 ** 30]);
    expect(values(run(kernels, 'MatMul', [big, big], 'int32', [1, 1], plain))).toEqual([0]);
    const bigger = tensor('int64', [1, 1], [2n ** 62n + 1n]);
    expect(values(run(kernels, 'MatMul', [bigger, bigger], 'int64', [1, 1], plain))).toEqual([
      -(2n ** 63n) + 1n,
    ]);
  });

  it('rounds before it adds the bias, as two calls do', () => {
    const row = tensor('float32', [1, 2], [1, 2 ** -25]);
    const column = tensor('float32', [2, 1], [1, 1]);
    const bias = tensor('float32', [1], [-1]);
    expect(values(run(kernels, 'MatMul', [row, column, bias], 'float32', [1, 1], plain))).toEqual([0]);
  });

  it('takes empty matrices', () => {
    const a = tensor('float32', [2, 0]);
    const b = tensor('float32', [0, 2]);
    const bias = tensor('float32', [2], [1, -1]);
    expect(values(run(kernels, 'MatMul', [a, b, bias], 'float32', [2, 2], plain))).toEqual([1, -1, 1, -1]);
    expect(values(run(kernels, 'MatMul', [b, a], 'float32', [0, 0], plain))).toEqual([]);
  });

  it('lets NaN through a relu', () => {
    const one = tensor('float32', [1, 1], [1]);
    const nan = tensor('float32', [1, 1], [NaN]);
    expect(
      values(run(kernels, 'MatMul', [one, nan], 'float32', [1, 1], { ...plain, activation: 1 })),
    ).toEqual([NaN]);
  });

  it('needs no list of its batches', () => {
    const n = 2 ** 24;
    const a = tensor('int32', [n, 1, 1]);
    const b = tensor('int32', [1, 1, 1], [2]);
    const before = process.memoryUsage().heapUsed;
    const y = view(run(kernels, 'MatMul', [a, b], 'int32', [n, 1, 1], plain));
    expect([y[0], y[n - 1]]).toEqual([154, 154]);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100e6);
  });

  it('broadcasts axes on both sides', () => {
    const a = tensor('int32', [2, 1, 2, 1, 1], [1, 2, 3, 4]);
    const b = tensor('int32', [3, 1, 1, 1], [1, 10, 100]);
    const products = [1, 2, 10, 20, 100, 200, 3, 4, 30, 40, 300, 400];
    expect(values(run(kernels, 'MatMul', [a, b], 'int32', [2, 3, 2, 1, 1], plain))).toEqual(products);
  });
});
