import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

afterEach(() => vi.restoreAllMocks());
type Fn = (x: tf.Tensor) => tf.Tensor;

/** One trace gives for all sizes what the function itself gives, and its gradient. */
function agree(fn: Fn, shape: readonly (number | null)[]): void {
  const warn = vi.spyOn(console, 'warn');
  const step: Fn = (x) => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    return tape.gradient(fn(x).sum(), x) as tf.Tensor;
  };
  for (const f of [fn, step]) {
    const sized = tf.function({ inputSignature: [new tf.TensorSpec(shape)] })(f);
    for (const n of [3, 1, 2, 7, 32]) {
      const x = tf.random.uniform(
        shape.map((d) => d ?? n),
        { minval: 0.1, maxval: 2 },
      );
      const eager = f(x).data() as Float32Array;
      const y = sized(x);
      expect(y.shape).toEqual(f(x).shape);
      (y.data() as Float32Array).forEach((v, i) => expect(v).toBeCloseTo(eager[i] as number, 4));
    }
    expect(sized.experimentalGetTracingCount()).toBe(1);
  }
  expect(warn.mock.calls).toEqual([]);
}

describe('branches and loops in one trace for all sizes', () => {
  test('a branch', () => {
    agree(
      (x) =>
        tf.cond(
          x.sum().greater(4),
          () => x.mul(2).sub(x.mean()),
          () => x.square(),
        ) as tf.Tensor,
      [null, 3],
    );
  });

  test('a loop that carries a value of unknown size', () => {
    agree(
      (x) => {
        const [, y] = tf.whileLoop(
          (i: tf.Tensor) => i.less(3),
          (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.mul(1.1).add(x.mean())],
          [tf.constant(0, 'int32'), x],
        ) as unknown as [tf.Tensor, tf.Tensor];
        return y;
      },
      [null, 2],
    );
  });

  test('a loop as often as there are rows', () => {
    agree(
      (x) => {
        const n = tf.shape(x).at(0) as tf.Tensor;
        const [, sum] = tf.whileLoop(
          (i: tf.Tensor) => i.less(n),
          (i: tf.Tensor, sum: tf.Tensor) => [i.add(1), sum.mul(0.5).add(tf.gather(x, i))],
          [tf.constant(0, 'int32'), tf.zeros([2])],
        ) as unknown as [tf.Tensor, tf.Tensor];
        return sum;
      },
      [null, 2],
    );
  });

  test('a map over rows', () => {
    agree((x) => tf.mapFn((row: tf.Tensor) => row.mul(row.sum()), x) as tf.Tensor, [null, 3]);
  });

  test('scans and folds', () => {
    agree((x) => tf.scan((s: tf.Tensor, row: tf.Tensor) => s.mul(0.5).add(row), x) as tf.Tensor, [null, 3]);
    agree((x) => tf.foldr((s: tf.Tensor, row: tf.Tensor) => s.mul(row), x) as tf.Tensor, [null, 3]);
  });

  test('the jacobians of a batch', () => {
    agree(
      (x) => {
        const tape = new tf.GradientTape();
        tape.watch(x);
        return tape.batchJacobian(x.square().mul(x.sum(1, { keepdims: true })), x);
      },
      [null, 3],
    );
  });

  test('the jacobian of what has a known size', () => {
    agree(
      (x) => {
        const tape = new tf.GradientTape();
        tape.watch(x);
        return tape.jacobian(x.square().sum(0), x) as tf.Tensor;
      },
      [null, 2],
    );
  });
});
