import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const backends = ['native', 'js'] as const;

describe.each(backends)('runs on another thread, %s', (name) => {
  const on = <T>(fn: () => T): T => tf.experimental.withBackend(name, fn);
  const later = <T>(fn: () => Promise<T>): Promise<T> => on(() => [fn()])[0] as Promise<T>;
  const spin = (turns: number): ((x: tf.Tensor) => tf.Tensor) =>
    tf.function((x: tf.Tensor) => {
      const [, y] = tf.whileLoop(
        (i) => i.less(turns),
        (i, y) => [i.add(1), y.mul(0.999).add(1)] as const,
        [tf.constant(0, 'int32'), x] as const,
      );
      return y;
    });

  test('give what runs on this thread give', async () => {
    const w = on(() => new tf.Variable(tf.range(12).reshape([3, 4]).cast('float32')));
    const f = tf.function((x: tf.Tensor, scale: number) => ({ y: x.matmul(w).mul(scale), same: x }));
    const x = on(() => tf.ones([2, 3]));
    const expected = on(() => f(x, 2).y.array());
    const result = await later(() => f.runAsync(x, 2));
    expect(result.y.array()).toEqual(expected);
    expect(result.same.array()).toEqual(x.array());
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  test('leave this thread free, and may be many', async () => {
    const f = tf.function(spin(name === 'native' ? 100_000 : 2000));
    const x = on(() => tf.zeros([500]));
    const expected = on(() => f(x).data());
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const runs = on(() => [f.runAsync(x), f.runAsync(x), f.runAsync(x)]);
    for (const y of await Promise.all(runs)) expect(y.data()).toEqual(expected);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(0);
  });

  test('change variables at their end, one run after the other', async () => {
    const v = on(() => new tf.Variable([0, 0]));
    const f = tf.function((x: tf.Tensor) => {
      v.assignAdd(x);
      return v.read();
    });
    const runs = on(() => [1, 2, 3].map((n) => f.runAsync(tf.constant([n, n]))));
    expect(v.array()).toEqual([0, 0]);
    expect((await Promise.all(runs)).map((t) => t.array())).toEqual([
      [1, 1],
      [3, 3],
      [6, 6],
    ]);
    expect(v.array()).toEqual([6, 6]);
  });

  test('end when they are aborted, and change nothing then', async () => {
    const v = on(() => new tf.Variable(1));
    const f = tf.function((x: tf.Tensor) => {
      v.assign(7);
      const [y] = tf.whileLoop(
        (y) => y.greater(-1),
        (y) => [y.add(1).minimum(100)] as const,
        [x] as const,
      );
      return y;
    });
    const abort = new AbortController();
    const run = later(() => f.runAsync(tf.constant(0), abort.signal));
    setTimeout(() => abort.abort(), 20);
    await expect(run).rejects.toThrow(tf.errors.CancelledError);
    expect(v.item()).toBe(1);
    await expect(later(() => f.runAsync(tf.constant(0), AbortSignal.abort()))).rejects.toThrow(
      tf.errors.CancelledError,
    );
  });

  test('fail as others do, at the line of the op, and change nothing', async () => {
    const v = on(() => new tf.Variable(1));
    const f = tf.function((i: tf.Tensor) => {
      v.assign(2);
      return tf.gather([1, 2, 3], i);
    });
    await expect(later(() => f.runAsync(tf.constant(5, 'int32')))).rejects.toThrow(/function-async\.test/);
    expect(v.item()).toBe(1);
    expect((await later(() => f.runAsync(tf.constant(1, 'int32')))).item()).toBe(2);
    expect(v.item()).toBe(2);
  });

  const scaled = tf.function((x: tf.Tensor) => x.mul(2));
  const weighted = (w: tf.Variable) => tf.function((x: tf.Tensor) => x.mul(w));
  // Its sizes depend on values, so it runs in parts.
  const measured = tf.function((x: tf.Tensor) => tf.booleanMask(x, x.greater(0)).mul(2));

  test.each<[string, () => tf.TracedFunction<(x: tf.Tensor) => tf.Tensor>]>([
    ['of an argument', () => scaled],
    ['in parts', () => measured],
  ])('refuse a gradient that would have to pass through them: %s', async (_, of) => {
    const x = tf.constant([1, 2]);
    const tape = new tf.GradientTape({ persistent: true });
    tape.watch(x);
    const y = await of().runAsync(x);
    const other = x.mul(3);
    expect(y.array()).toEqual([2, 4]);
    expect(() => tape.gradient(y.sum(), x)).toThrow(tf.errors.FailedPreconditionError);
    expect(tape.gradient(other, x)?.array()).toEqual([3, 3]);
    tape.dispose();
  });

  test('refuse a gradient by a variable that they read, and only what reads it', async () => {
    const w = new tf.Variable(3);
    const tape = new tf.GradientTape({ persistent: true });
    const y = await weighted(w).runAsync(tf.constant(2));
    expect(y.item()).toBe(6);
    expect(() => tape.gradient(y, w)).toThrow(/no gradient passes through runAsync/);
    tape.dispose();
  });

  test('go on after a step that threw with its tape open', async () => {
    const w = new tf.Variable([1, 2]);
    const f = weighted(w);
    for (let i = 0; i < 3; i++) {
      const tape = new tf.GradientTape();
      expect(() => w.matmul(w)).toThrow(tf.errors.InvalidArgumentError);
      expect((await f.runAsync(tf.constant([2, 2]))).array()).toEqual([2, 4]);
      expect((await measured.runAsync(tf.constant([1, -1]))).array()).toEqual([2]);
      if (i > 0) tape.dispose();
    }
    const tape = new tf.GradientTape();
    expect(tape.gradient(w.square().sum(), w)?.array()).toEqual([2, 4]);
  });

  test('are refused while another function is traced', async () => {
    const results: Promise<unknown>[] = [];
    const outer = tf.function((x: tf.Tensor) => {
      results.push(scaled.runAsync(x).catch((error: unknown) => error));
      return x.add(1);
    });
    outer(tf.constant(1));
    expect(await results[0]).toBeInstanceOf(tf.errors.FailedPreconditionError);
  });
});
