// A function that runs again for its gradient, alone and in traced functions.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape, grad, recomputeGrad } from '@eagre/autodiff';
import {
  constant,
  InvalidArgumentError,
  nn,
  random,
  type Tensor,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { cond } from './cond.ts';

type Wrap = <F extends (...args: never[]) => unknown>(fn: F) => F;
const modes: readonly (readonly [string, Wrap])[] = [
  ['eager', (fn) => fn],
  ['traced', (fn) => tfFunction(fn)],
];
const x = constant([0.5, -1, 2], 'float64');

describe.each(modes)('%s', (_, wrap) => {
  const w = new Variable([1.5, 2, -0.5], { dtype: 'float64' });
  const f = (a: Tensor): Tensor => a.mul(w).sin().mul(a).exp();
  const gradients = (g: (a: Tensor) => Tensor, a: Tensor): [Tensor, Tensor, Tensor] => {
    using tape = new GradientTape();
    tape.watch(a);
    const y = g(a);
    const [dx, dw] = tape.gradient(y, [a, w]) as [Tensor, Tensor];
    return [y, dx, dw];
  };
  const close = (list: unknown): unknown =>
    Array.isArray(list) ? list.map(close) : expect.closeTo(list as number, 9);

  test('gives the gradients of the function, of arguments and of variables', () => {
    const expected = gradients(f, x).map((t) => t.array());
    const fn = wrap((a: Tensor) => gradients(recomputeGrad(f), a));
    for (let i = 0; i < 2; i++) expect(fn(x).map((t) => t.array())).toEqual(close(expected));
  });

  test('of the second order', () => {
    const once = (a: Tensor): Tensor => a.mul(w).sin().exp().sum();
    const expected = grad((a) => grad(once)(a).square().sum())(x).array();
    const again = recomputeGrad(once);
    const fn = wrap((a: Tensor) => grad((b) => grad(again)(b).square().sum())(a));
    expect(fn(x).array()).toEqual(close(expected));
  });

  test('where the tape is outside', () => {
    const expected = gradients(f, x).map((t) => t.array());
    expect(gradients(wrap(recomputeGrad(f)), x).map((t) => t.array())).toEqual(close(expected));
  });

  test('of several results, arguments in lists, and options', () => {
    const two = ([a, b]: readonly [Tensor, Tensor], { by }: { by: number }): [Tensor, Tensor] => [
      a.mul(b).sin(),
      b.mul(by).mul(w),
    ];
    const of =
      (g: typeof two) =>
      (a: Tensor, b: Tensor): Tensor[] => {
        using tape = new GradientTape();
        tape.watch([a, b]);
        const [p, q] = g([a, b], { by: 3 });
        return tape.gradient(p.mul(q), [a, b, w]) as Tensor[];
      };
    const b = constant([2, 0.25, 1], 'float64');
    const expected = of(two)(x, b).map((t) => t.array());
    const fn = wrap(of(recomputeGrad(two)));
    expect(fn(x, b).map((t) => t.array())).toEqual(close(expected));
  });

  test('draws the same numbers again', () => {
    const dropped = recomputeGrad((a: Tensor) =>
      nn.dropout(a, 0.5).mul(random.normal([64], { dtype: 'float64' })),
    );
    const fn = wrap((a: Tensor) => {
      using tape = new GradientTape();
      tape.watch(a);
      const y = dropped(a);
      return [y, tape.gradient(y, a) as Tensor];
    });
    const ones = constant(new Array<number>(64).fill(1), 'float64');
    const [y, dx] = fn(ones);
    // Negative zeros become zeros.
    expect(dx.add(0).array()).toEqual(y.add(0).array());
    // Another run draws others.
    expect(fn(ones)[0].array()).not.toEqual(y.array());
  });
});

test('runs the function again for each gradient, and only then', () => {
  let runs = 0;
  const counted = recomputeGrad((a: Tensor) => {
    runs++;
    return a.sin().exp();
  });
  using tape = new GradientTape({ persistent: true });
  tape.watch(x);
  const y = counted(x);
  expect(runs).toBe(1);
  tape.gradient(y, x);
  expect(runs).toBe(2);
  tape.gradient(y, x);
  expect(runs).toBe(3);
});

test('tapes do not hold what is computed on the way', () => {
  const way: Tensor[] = [];
  const long = (a: Tensor): Tensor => {
    way.push(a.sin());
    return (way.at(-1) as Tensor).cos();
  };
  using tape = new GradientTape();
  tape.watch(x);
  long(x);
  recomputeGrad(long)(x);
  const [held, free] = way.map((t) => t.storage.refs) as [number, number];
  expect(free).toBe(1);
  expect(held).toBeGreaterThan(1);
});

test('plans compute again what the gradient needs, after the gradient that comes in', () => {
  const w = new Variable(
    constant([
      [1, 2],
      [3, 4],
    ]),
  );
  const f = (a: Tensor): Tensor => a.matmul(w).tanh().matmul(w);
  const products = (g: (a: Tensor) => Tensor): number => {
    const fn = tfFunction(
      (a: Tensor) => {
        using tape = new GradientTape();
        tape.watch(a);
        const y = g(a);
        return [y, tape.gradient(y.square(), a) as Tensor];
      },
      { inputSignature: [new TensorSpec([2, 2], 'float32')] },
    );
    return fn
      .getConcreteFunction()
      .planText()
      .split('\n')
      .filter((line) => line.includes('MatMul')).length;
  };
  // Two, and two of the gradient.
  expect(products(f)).toBe(4);
  expect(products(recomputeGrad(f))).toBe(5);
});

test('a tensor that is followed and is no argument is refused', () => {
  using tape = new GradientTape();
  const a = constant([1, 2]);
  tape.watch(a);
  expect(() => recomputeGrad((b: Tensor) => b.mul(a))(constant([1, 2]))).toThrow(InvalidArgumentError);
});

test('what is drawn in a branch of a traced function is refused', () => {
  const fn = tfFunction((a: Tensor) =>
    recomputeGrad((b: Tensor) =>
      cond(
        b.sum().greater(0),
        () => b.mul(random.normal([3], { dtype: 'float64' })),
        () => b,
      ),
    )(a),
  );
  expect(() => fn(x)).toThrow(UnimplementedError);
});

test('wrong functions are refused', () => {
  expect(() => recomputeGrad(3 as never)).toThrow(InvalidArgumentError);
  expect(() => recomputeGrad((() => 3) as never)(x)).toThrow(InvalidArgumentError);
});

test('sizes that are not known', () => {
  const fn = tfFunction((a: Tensor) => grad((b) => recomputeGrad((c: Tensor) => c.sin().exp())(b).sum())(a), {
    inputSignature: [new TensorSpec([null], 'float64')],
  });
  for (const a of [x, constant([1], 'float64'), constant([] as number[], 'float64')])
    expect(fn(a).shape).toEqual(a.shape);
});
