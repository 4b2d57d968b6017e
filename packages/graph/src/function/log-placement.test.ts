// Where the calls of traced functions run, as the console tells it.
import '@eagre/backend-js';
import { constant, debugging, mul, type Tensor } from '@eagre/core';
import { expect, test, vi } from 'vitest';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from './function.ts';

test('a traced function tells once where its calls run, those of loops too', () => {
  const said = vi.spyOn(console, 'info').mockImplementation(() => {});
  try {
    debugging.setLogDevicePlacement(true);
    const run = tfFunction((x: Tensor) =>
      whileLoop(
        (y) => y.sum().less(100),
        (y) => [mul(y, 2)],
        [x.matmul(x)],
      ),
    );
    run(
      constant([
        [1, 2],
        [3, 4],
      ]),
    );
    const texts = said.mock.calls.map(([text]) => String(text));
    expect(texts.filter((text) => /: \(MatMul\): \/device:CPU:0$/.test(text))).toHaveLength(1);
    expect(texts.some((text) => /: \(an elementwise function\): \/device:CPU:0$/.test(text))).toBe(true);
    const count = texts.length;
    run(
      constant([
        [1, 2],
        [3, 5],
      ]),
    );
    const later = said.mock.calls.slice(count).map(([text]) => String(text));
    expect(later.filter((text) => text.includes('(MatMul)'))).toEqual([]);
  } finally {
    debugging.setLogDevicePlacement(false);
    said.mockRestore();
  }
});
