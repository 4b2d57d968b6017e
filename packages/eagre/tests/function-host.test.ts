import { withBackend } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const scalar = { dtype: 'float32', shape: [] } as const;

/** Takes memory, so that what was given back is somebody else's. */
function fill(size: number): void {
  for (let i = 0; i < 100; i++) tf.constant(new Array(size).fill(7));
}

describe.each(['native', 'js'])('code of the host in traced functions, %s', (backend) => {
  const run = <T>(fn: () => T): T => withBackend(backend, fn);

  test('may call the function', () =>
    run(() => {
      const f: (n: tf.Tensor) => tf.Tensor = tf.function((n: tf.Tensor): tf.Tensor => {
        const before = n.mul(10);
        const rest = tf.experimental.hostFunction((n) => (n.item() > 0 ? f(n.sub(1)) : 1), [n], scalar);
        return rest.mul(2).add(before);
      });
      const plain = (n: number): number => (n > 0 ? plain(n - 1) : 1) * 2 + n * 10;
      for (const n of [0, 3, 5, 3]) expect(f(tf.constant(n)).item()).toBe(plain(n));
    }));

  test('may not call the function where that changes variables', () =>
    run(() => {
      const v = new tf.Variable(1, { name: 'count' });
      const f: (n: tf.Tensor) => tf.Tensor = tf.function((n: tf.Tensor): tf.Tensor => {
        v.assignAdd(1);
        return tf.experimental.hostFunction((n) => (n.item() > 0 ? f(n.sub(1)) : 1), [n], scalar).add(v);
      });
      expect(f(tf.constant(0)).item()).toBe(3);
      expect(() => f(tf.constant(1))).toThrow("during one of its runs, which changes variables ('count')");
      expect(f(tf.constant(0)).item()).toBe(1 + v.item());
    }));

  test('assigns to variables for the next run', () =>
    run(() => {
      const v = new tf.Variable([1, 2]);
      const f = tf.function((x: tf.Tensor) => {
        const before = v.add(0);
        tf.experimental.hostFunction((x) => void v.assign(x.mul(10)), [x]);
        return [before, v.mul(x)] as const;
      });
      const given = [f(tf.constant([1, 1])), f(tf.constant([2, 3]))];
      expect(given.map((pair) => pair.map((t) => t.array()))).toEqual([
        [
          [1, 2],
          [1, 2],
        ],
        [
          [10, 10],
          [20, 30],
        ],
      ]);
      expect(v.array()).toEqual([20, 30]);
    }));

  test('may dispose what the function was given', () =>
    run(() => {
      const f = tf.function((x: tf.Tensor) => {
        tf.experimental.hostFunction(() => {
          x0.dispose();
          fill(3);
        }, [x]);
        return x.add(1);
      });
      const x0 = tf.constant([1, 2, 3]);
      expect(f(x0).array()).toEqual([2, 3, 4]);
    }));
});

test('arguments that were disposed are refused', async () => {
  const f = tf.function((x: tf.Tensor) => x.add(1));
  const x = tf.constant([1, 2, 3]);
  f(x);
  x.dispose();
  fill(3);
  const error = 'argument 0 (float32 [3]) was disposed, so its values are gone';
  expect(() => f(x)).toThrow(error);
  expect(() => f.getConcreteFunction(tf.constant([1, 2, 3]))(x)).toThrow(error);
  await expect(f.runAsync(x)).rejects.toThrow(error);
  const tape = new tf.GradientTape();
  expect(() => f(x)).toThrow(error);
  tape.dispose();
});

test('keys of maps, and symbols, make traces of their own', () => {
  const f = tf.function((m: Map<unknown, tf.Tensor>) => {
    const [[key, value]] = m as unknown as [[unknown, tf.Tensor]];
    return value.add(
      typeof key === 'object' ? (key as { plus: number }).plus : typeof key === 'string' ? 5 : 7,
    );
  });
  const of = (key: unknown): number => f(new Map([[key, tf.constant(1)]])).item();
  expect([{ plus: 1 }, { plus: 2 }, '1', 1].map(of)).toEqual([2, 3, 6, 8]);
  const v = new tf.Variable(1);
  const read = tf.function(
    (m: Map<tf.Variable, tf.Tensor>) => [...m].map(([k, x]) => x.add(k))[0] as tf.Tensor,
  );
  for (const value of [1, 2, 3]) {
    v.assign(value);
    expect(read(new Map([[v, tf.constant(1)]])).item()).toBe(value + 1);
  }
  expect(read.experimentalGetTracingCount()).toBe(1);
  const [a, b] = [Symbol('same'), Symbol('same')];
  const g = tf.function((x: tf.Tensor, s: symbol) => x.add(s === a ? 1 : 2));
  expect([a, b, a].map((s) => g(tf.constant(0), s).item())).toEqual([1, 2, 1]);
});
