// Traced functions that use tensors of the traced function around them.
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { constant, ones, type Tensor, Variable } from '@eagre/core';
import { afterEach, expect, test, vi } from 'vitest';
import { cond } from '../control/cond.ts';
import { whileLoop } from '../control/while-loop.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { tfFunction } from './function.ts';

afterEach(() => vi.restoreAllMocks());

/** x + y of an inner function that takes y and captures x. */
const outer = tfFunction((x: Tensor): Tensor => {
  const inner = tfFunction((y: Tensor) => x.add(y));
  return inner(x.mul(2)).add(inner(x));
});

test('an inner function uses tensors of the outer one', () => {
  expect(outer(constant(3)).item()).toBe(15);
  expect(outer(constant(4)).item()).toBe(20);
  expect(outer.experimentalGetTracingCount()).toBe(1);
});

test('gradients flow through what is captured', () => {
  const x = constant(3);
  const tape = new GradientTape();
  tape.watch(x);
  expect(tape.gradient(outer(x), x)?.item()).toBe(5);
  const inside = tfFunction((x: Tensor) => {
    const inner = tfFunction((y: Tensor): Tensor => {
      const tape = new GradientTape();
      tape.watch(x);
      return tape.gradient(x.square().mul(y), x) as Tensor;
    });
    return inner(x.add(1));
  });
  expect(inside(constant(3)).item()).toBe(24);
});

test('it is traced once for each outer trace, however often it is called, in branches and loops too', () => {
  const counts: number[] = [];
  const run = tfFunction((x: Tensor) => {
    const add = tfFunction((y: Tensor) => y.add(x));
    const first = add(x);
    const [sum] = whileLoop(
      (s) => s.less(10),
      (s) => [
        cond(
          s.less(4),
          () => add(s),
          () => add(s).add(1),
        ),
      ],
      [first],
    );
    counts.push(add.experimentalGetTracingCount());
    return sum;
  });
  expect(run(constant(3)).item()).toBe(10);
  expect(run(constant(1)).item()).toBe(10);
  expect(counts).toEqual([1]);
});

test('tensors of branches and loops are captured inside of these', () => {
  const run = tfFunction((x: Tensor) =>
    cond(
      x.greater(0),
      () => {
        const k = x.add(1);
        const f = tfFunction((z: Tensor) => z.mul(k).add(x));
        return f(f(x));
      },
      () => x.neg(),
    ),
  );
  expect(run(constant(2)).item()).toBe(26);
  expect(run(constant(-2)).item()).toBe(2);
});

test('a function of all outer ones is traced anew in each', () => {
  const holder: { by?: Tensor } = {};
  const scale = tfFunction((y: Tensor) => y.mul(holder.by as Tensor));
  const run = tfFunction((x: Tensor, k: number) => {
    holder.by = x.add(k);
    return scale(x);
  });
  expect(run(constant(2), 1).item()).toBe(6);
  expect(run(constant(2), 2).item()).toBe(8);
  expect(scale.experimentalGetTracingCount()).toBe(2);
  expect(() => scale(constant(2))).toThrow(/out of scope: it belongs to the traced function 'function'/);
});

test('variables are read and assigned beside', () => {
  const v = new Variable(1);
  const run = tfFunction((x: Tensor) => {
    const step = tfFunction((y: Tensor) => {
      v.assignAdd(x.mul(y));
      return v.read();
    });
    return step(x).add(step(x.add(1)));
  });
  // 1 + 4 = 5, 5 + 6 = 11
  expect(run(constant(2)).item()).toBe(16);
  expect(v.item()).toBe(11);
});

test('one trace serves all sizes of the outer function', () => {
  const warn = vi.spyOn(console, 'warn');
  const run = tfFunction({ inputSignature: [new TensorSpec([null, 2])] })((x: Tensor) => {
    const inner = tfFunction({ inputSignature: [new TensorSpec([null])] })((r: Tensor) => x.add(r));
    return inner(x.sum(0));
  });
  expect(run(ones([3, 2])).array()).toEqual([
    [4, 4],
    [4, 4],
    [4, 4],
  ]);
  expect(run(ones([1, 2])).array()).toEqual([[2, 2]]);
  expect(run.experimentalGetTracingCount()).toBe(1);
  expect(warn).not.toHaveBeenCalled();
});

test('a concrete function shows what it captured, and is of use in the outer function only', () => {
  let text = '';
  let kept: ((y: Tensor) => Tensor) | undefined;
  const run = tfFunction({ name: 'run' })((x: Tensor) => {
    const f = tfFunction({ name: 'f' })((y: Tensor) => x.sub(y)).getConcreteFunction(x);
    text = String(f.graph);
    kept = f;
    return f(x.mul(3));
  });
  expect(run(constant(2)).item()).toBe(-4);
  expect(text).toContain('f(%args_0: float32[], %outside: float32[])');
  expect(() => kept?.(constant(1))).toThrow(/out of scope: it belongs to the traced function 'run'/);
});
