// Gradients of loops that take rows of a tensor from outside: what a turn adds is rows, not tensors of zeros.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, gatherNd, stack, sub, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { cond } from './cond.ts';
import { whileLoop } from './while-loop.ts';

const ROWS = 6;
const x = constant(Array.from({ length: ROWS }, (_, i) => [0.1 * i, 0.3 - 0.1 * i]));
const int = (n: number): Tensor => constant(n, 'int32');

/** What a turn makes of the sum, the whole tensor and its own number. */
type Turn = (sum: Tensor, x: Tensor, i: Tensor) => Tensor;
const turns: Readonly<Record<string, Turn>> = {
  'a row': (sum, x, i) => sum.add(x.gather(i).exp().sum()),
  'a row twice': (sum, x, i) => sum.mul(x.gather(i).sum()).add(x.gather(i).square().sum()),
  'two rows': (sum, x, i) =>
    sum.mul(x.gather(i).sum()).add(
      x
        .gather(sub(ROWS - 1, i))
        .exp()
        .sum(),
    ),
  'rows by indices': (sum, x, i) =>
    sum.mul(1.5).add(
      x
        .gather(stack([i, int(2), int(2)]))
        .exp()
        .sum(),
    ),
  'an element': (sum, x, i) => sum.mul(gatherNd(x, stack([i, int(1)]))).add(1),
  'a row in a branch': (sum, x, i) =>
    cond(
      i.mod(2).equal(0),
      () => sum.add(x.gather(i).exp().sum()),
      () => sum.mul(2),
    ),
  'rows of a loop': (sum, x, i) =>
    whileLoop(
      (k) => k.less(ROWS),
      (k, s) => [k.add(1), s.add(x.gather(k).mul(x.gather(i)).sum())],
      [int(0), sum],
    )[1],
};

const gradient = (turn: Turn, n: Tensor, x: Tensor): Tensor => {
  const tape = new GradientTape();
  tape.watch(x);
  const [, sum] = whileLoop(
    (i) => i.less(n),
    (i, sum) => [i.add(1), turn(sum, x, i)],
    [int(0), constant(1)],
  );
  return tape.gradient(sum, x) as Tensor;
};

describe.each(Object.entries(turns))('%s', (_, turn) => {
  test('has the gradient that it has without a trace', () => {
    const expected = gradient(turn, int(5), x).array() as number[][];
    const traced = tfFunction((n: Tensor, x: Tensor) => gradient(turn, n, x));
    const got = traced(int(5), x).array() as number[][];
    got.forEach((row, i) =>
      row.forEach((v, k) => expect(v).toBeCloseTo((expected[i] as number[])[k] as number, 4)),
    );
  });

  test('is added to the sum in place', () => {
    const big = tfFunction((n: Tensor, x: Tensor) => gradient(turn, n, x));
    const text = big.getConcreteFunction(int(5), x).planText();
    const whole = text.split('\n').filter((line) => /^ +%\d+ float32\[6,2\] = /.test(line));
    const kernels = whole.map((line) => /= (\w+)/.exec(line)?.[1]);
    expect(kernels).not.toHaveLength(0);
    for (const kernel of kernels) expect(['SetRow', 'ScatterNd', 'Copy', 'Case', 'While']).toContain(kernel);
  });
});
