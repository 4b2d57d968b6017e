import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from './index.ts';

const numbers = (x: unknown): number[] => Array.from((x as tf.Tensor).data() as Float32Array);
const spec = (...shape: (number | null)[]): tf.TensorSpec => new tf.TensorSpec(shape);
afterEach(() => vi.restoreAllMocks());

/** Runs quietly; fails if something was warned of. */
function silently<T>(fn: () => T): T {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const result = fn();
  expect(warn.mock.calls).toEqual([]);
  return result;
}

describe('a size that may be any', () => {
  test('has one trace, and the code runs once', () => {
    let runs = 0;
    const f = tf.function({ inputSignature: [spec(null, 3)] })((x: tf.Tensor) => {
      runs++;
      return x.mul(2).sum(1);
    });
    silently(() => {
      for (const n of [1, 2, 3, 7, 32, 2])
        expect(f(tf.ones([n, 3])).data()).toEqual(new Float32Array(n).fill(6));
    });
    expect(runs).toBe(1);
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('tf.shape is that of the run', () => {
    const f = tf.function({ inputSignature: [spec(null, 3)] })((x: tf.Tensor) => [tf.shape(x), x.mean()]);
    silently(() => {
      for (const n of [1, 5, 4]) {
        const [shape, mean] = f(tf.ones([n, 3]));
        expect(numbers(shape)).toEqual([n, 3]);
        expect((mean as tf.Tensor).item()).toBe(1);
      }
    });
    expect(f.experimentalGetTracingCount()).toBe(1);
  });
});
