import { context } from '@eagre/core/internal';
import { afterEach, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const numbers = (x: tf.Tensor | null): number[] => Array.from(x?.data() as Float32Array);

// A tape that is still there has the next function run op by op.
afterEach(() => {
  expect(context.tapes).toHaveLength(0);
});

describe('a tape outside of a traced function', () => {
  test('gets the gradients of arguments and variables from one graph, as of eager code', () => {
    const w = new tf.Variable(tf.random.normal([4, 3]));
    const b = new tf.Variable([0.1, 0.2, 0.3]);
    const code = (x: tf.Tensor): tf.Tensor[] => {
      const y = x.matmul(w).add(b).tanh();
      return [y.square().sum(), y.mean(0)];
    };
    const f = tf.function(code);
    const x = tf.random.normal([5, 4]);
    for (let i = 0; i < 3; i++) {
      const gradients = (fn: typeof code): (tf.Tensor | null)[] => {
        const tape = new tf.GradientTape();
        tape.watch(x);
        const [a, m] = fn(x) as [tf.Tensor, tf.Tensor];
        return tape.gradient(a.mul(2).add(m.exp().sum()), [x, w, b]);
      };
      const expected = gradients(code);
      gradients(f).forEach((g, k) => {
        numbers(g).forEach((v, j) => {
          expect(v).toBeCloseTo(numbers(expected[k] as tf.Tensor)[j] as number, 5);
        });
      });
      w.assign(w.mul(0.5));
    }
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('sees one op, and asks for what it needs', () => {
    const f = tf.function((x: tf.Tensor, y: tf.Tensor) => x.mul(y).sin());
    const [x, y] = [tf.constant(2), tf.constant(3)];
    const tape = new tf.GradientTape({ persistent: true });
    tape.watch(x);
    const z = f(x, y).mul(10);
    expect(tape.gradient(z, x)?.item()).toBeCloseTo(30 * Math.cos(6), 4);
    expect(tape.gradient(z, y)?.item()).toBeCloseTo(20 * Math.cos(6), 4);
    expect(tape.gradient(z, new tf.Variable(1))).toBe(null);
    tape.dispose();
  });

  test('leaves results that the gradient needs to the caller, also after the gradient', () => {
    const f = tf.function((x: tf.Tensor) => [x.exp(), x.exp().square(), x]);
    const x = tf.constant([0, 1]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const results = f(x) as tf.Tensor[];
    const dx = tape.gradient(tf.addN(results), x);
    [0, 1].forEach((v, i) => {
      expect(numbers(dx)[i]).toBeCloseTo(Math.exp(v) + 2 * Math.exp(2 * v) + 1, 4);
      [Math.exp(v), Math.exp(2 * v), v].forEach((expected, k) => {
        expect((results[k] as tf.Tensor).array()).toHaveProperty([i], expect.closeTo(expected, 4));
      });
    });
  });

  test('counts what is returned several times once for each use', () => {
    const v = new tf.Variable(3);
    const f = tf.function((x: tf.Tensor) => {
      const y = x.mul(v);
      return { a: y, b: [y, x], c: v.read(), d: v };
    });
    const x = tf.constant(2);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const { a, b, c, d } = f(x) as unknown as { a: tf.Tensor; b: tf.Tensor[]; c: tf.Tensor; d: tf.Tensor };
    const [again, same] = b as [tf.Tensor, tf.Tensor];
    const [dx, dv] = tape.gradient(tf.addN([a, again.mul(10), same.mul(100), c.mul(1000), d.mul(10000)]), [
      x,
      v,
    ]);
    expect([dx?.item(), dv?.item()]).toEqual([3 * 11 + 100, 2 * 11 + 11000]);
    expect([a, again, same, c, d].map((t) => t.item())).toEqual([6, 6, 2, 3, 3]);
  });

  test('reaches tensors that the function uses from outside, and what they come from', () => {
    const k = tf.constant(3);
    const f = tf.function((x: tf.Tensor) => x.mul(k));
    const x = tf.constant(2);
    f(x);
    const tape = new tf.GradientTape();
    tape.watch([x, k]);
    expect(tape.gradient(f(x), [x, k]).map((g) => g?.item())).toEqual([3, 2]);

    const w = new tf.Variable(5);
    const outer = new tf.GradientTape();
    const squared = w.square();
    const g = tf.function((x: tf.Tensor) =>
      tf.cond(
        x.greater(0),
        () => x.mul(squared),
        () => x,
      ),
    );
    expect(outer.gradient(g(x), w)?.item()).toBe(20);
  });

  test('gradients are those of the values at the call, though variables change in it and after it', () => {
    const v = new tf.Variable(3);
    const f = tf.function((x: tf.Tensor) => {
      const y = x.mul(v).mul(v);
      v.assignAdd(1);
      return y;
    });
    const x = tf.constant(2);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = f(x);
    v.assign(100);
    const [dx, dv] = tape.gradient(y, [x, v]);
    expect([y.item(), dx?.item(), dv?.item(), v.item()]).toEqual([18, 9, 12, 100]);
  });

  test('random numbers are drawn once', () => {
    const f = tf.function((x: tf.Tensor) => x.mul(tf.random.uniform([3])));
    const x = tf.constant([1, 2, 3]);
    const tape = new tf.GradientTape();
    tape.watch(x);
    const y = f(x);
    const dx = tape.gradient(y, x);
    numbers(dx?.mul(x) as tf.Tensor).forEach((v, i) => {
      expect(v).toBeCloseTo(numbers(y)[i] as number, 6);
    });
  });

  test('branches, loops, and higher orders', () => {
    const f = tf.function((x: tf.Tensor) =>
      tf.cond(
        x.greater(0),
        () => x.pow(3),
        () => x.neg(),
      ),
    );
    for (const [at, first, second] of [
      [2, 12, 12],
      [-2, -1, 0],
    ] as const) {
      const x = tf.constant(at);
      const outer = new tf.GradientTape();
      outer.watch(x);
      const tape = new tf.GradientTape();
      tape.watch(x);
      const dx = tape.gradient(f(x), x) as tf.Tensor;
      expect(dx.item()).toBe(first);
      expect(outer.gradient(dx, x, { unconnectedGradients: 'zero' })?.item()).toBe(second);
      const single = new tf.GradientTape();
      single.watch(x);
      expect(single.gradient(f(x), x)?.item()).toBe(first);
    }
  });

  test('leaves no tensors behind', () => {
    const w = new tf.Variable(tf.ones([50, 50]));
    const f = tf.function((x: tf.Tensor) => x.matmul(w).relu().sum());
    const x = tf.ones([50, 50]);
    const step = (): void => {
      const tape = new tf.GradientTape();
      const y = f(x);
      const g = tape.gradient(y, w);
      y.dispose();
      g?.dispose();
    };
    step();
    const before = tf.experimental.memory().numTensors;
    for (let i = 0; i < 10; i++) step();
    expect(tf.experimental.memory().numTensors).toBe(before);
  });
});
