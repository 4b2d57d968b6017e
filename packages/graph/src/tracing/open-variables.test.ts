// Variables whose shape may change, in traced functions. The numbers are TensorFlow's.
import { GradientTape } from '@eagre/autodiff';
import * as tf from '@eagre/core';
import { expect, test } from 'vitest';
import { cond } from '../control/cond.ts';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from '../function/function.ts';

const rows = (): tf.Variable => new tf.Variable([[1, 2, 3]], { shape: [null, 3], name: 'rows' });
const two = [
  [1, 2, 3],
  [4, 5, 6],
];

test('one trace reads it whatever its sizes are', () => {
  const v = rows();
  const read = tfFunction((x: tf.Tensor) => v.mul(x));
  const x = tf.constant([[1, 2, 3]]);
  expect(read(x).array()).toEqual([[1, 4, 9]]);
  v.assign(two);
  expect(read(x).array()).toEqual([
    [1, 4, 9],
    [4, 10, 18],
  ]);
  v.assign(tf.zeros([0, 3]));
  expect(read(x).shape).toEqual([0, 3]);
  expect(read.experimentalGetTracingCount()).toBeLessThanOrEqual(2);
});

test('a function gives it another size', () => {
  const v = rows();
  v.assign(two);
  const append = tfFunction((x: tf.Tensor) => {
    const before = tf.shapeOf(v).slice([0], [1]);
    v.assign(tf.concat([v.read(), x], 0));
    return [before, v.sum()];
  });
  expect(append(tf.ones([1, 3])).map((t) => t.array())).toEqual([[2], 24]);
  expect(append(tf.ones([2, 3])).map((t) => t.array())).toEqual([[3], 30]);
  expect(v.shape).toEqual([5, 3]);
  const replace = tfFunction((x: tf.Tensor) => {
    v.assign(x);
  });
  replace(tf.ones([4, 3]));
  expect([v.shape, v.sum().item()]).toEqual([[4, 3], 12]);
  expect(() => tfFunction(() => v.assign(tf.ones([4, 2])).read())()).toThrow(tf.InvalidArgumentError);
});

test('variables change places, and what was read stays', () => {
  const a = rows();
  const b = new tf.Variable(two);
  const c = new tf.Variable(two, { shape: null });
  const swap = tfFunction(() => {
    const [was, other] = [a.read(), b.read()];
    a.assign(b);
    c.assign(was);
    b.assignAdd(b);
    return [was, other];
  });
  const [was, other] = swap() as [tf.Tensor, tf.Tensor];
  expect([was.array(), other.array()]).toEqual([[[1, 2, 3]], two]);
  expect([a.array(), c.array()]).toEqual([two, [[1, 2, 3]]]);
  expect(b.sum().item()).toBe(42);
});

test('gradients of it have its shape', () => {
  const v = rows();
  const loss = (): tf.Tensor => v.mul(v).sum();
  const inside = tfFunction(() => {
    const tape = new GradientTape();
    const y = tape.record(loss);
    return tape.gradient(y, v) as tf.Tensor;
  });
  const traced = tfFunction(loss);
  for (const value of [[[1, 2, 3]], two]) {
    v.assign(value);
    const wanted = value.map((row) => row.map((x) => 2 * x));
    expect(inside().array()).toEqual(wanted);
    const tape = new GradientTape();
    const y = tape.record(() => traced());
    expect((tape.gradient(y, v) as tf.Tensor).array()).toEqual(wanted);
  }
});

test('a loop gives it another size in each turn', () => {
  const v = rows();
  const loop = tfFunction((n: tf.Tensor) => {
    whileLoop(
      (i) => i.less(n),
      (i) => {
        v.assign(tf.concat([v.read(), v.read().slice([0, 0], [1, 3]).mul(2)], 0));
        return [i.add(1)];
      },
      [tf.constant(0, 'int32')],
    );
    return v.sum();
  });
  expect(loop(tf.constant(2, 'int32')).item()).toBe(30);
  expect(v.array()).toEqual([
    [1, 2, 3],
    [2, 4, 6],
    [2, 4, 6],
  ]);
  expect(loop(tf.constant(0, 'int32')).item()).toBe(30);
  expect(v.shape).toEqual([3, 3]);
});

test('a loop reads it, and has a gradient', () => {
  const v = rows();
  const gradient = tfFunction((n: tf.Tensor) => {
    const tape = new GradientTape();
    const [, total] = tape.record(() =>
      whileLoop(
        (i) => i.less(n),
        (i, s) => [i.add(1), s.add(v.mul(v).sum().mul(i.add(1).cast('float32')))],
        [tf.constant(0, 'int32'), tf.constant(0)],
      ),
    );
    return tape.gradient(total, v) as tf.Tensor;
  });
  expect(gradient(tf.constant(3, 'int32')).array()).toEqual([[12, 24, 36]]);
  v.assign(two);
  expect(gradient(tf.constant(1, 'int32')).array()).toEqual([
    [2, 4, 6],
    [8, 10, 12],
  ]);
});

test('a branch gives it a size of its own', () => {
  const v = rows();
  v.assign(two);
  const branch = tfFunction((p: tf.Tensor) => {
    cond(
      p,
      () => {
        v.assign(v.read().slice([0, 0], [1, 3]));
      },
      () => {
        v.assign(tf.ones([4, 3]));
      },
    );
    return [v.sum(), tf.shapeOf(v)];
  });
  expect(branch(tf.constant(true)).map((t: tf.Tensor) => t.array())).toEqual([6, [1, 3]]);
  expect(branch(tf.constant(false)).map((t: tf.Tensor) => t.array())).toEqual([12, [4, 3]]);
  expect(v.shape).toEqual([4, 3]);
  const fixed = tfFunction((p: tf.Tensor) => {
    cond(
      p,
      () => {
        v.assign(tf.ones([2, 3]));
      },
      () => {
        v.assign(tf.ones([5, 3]));
      },
    );
    return v.sum();
  });
  expect([fixed(tf.constant(true)).item(), fixed(tf.constant(false)).item()]).toEqual([6, 15]);
});

test('sums and rows keep its shape', () => {
  const v = rows();
  v.assign(two);
  const add = tfFunction((x: tf.Tensor) => v.assignAdd(x).add(0));
  expect(add(tf.constant(two)).array()).toEqual([
    [2, 4, 6],
    [8, 10, 12],
  ]);
  const scatter = tfFunction((x: tf.Tensor) =>
    v.scatterAdd(new tf.IndexedSlices(x, tf.constant([1], 'int32'))).read(),
  );
  expect(scatter(tf.constant([[1, 1, 1]])).array()).toEqual([
    [2, 4, 6],
    [9, 11, 13],
  ]);
  v.assign(tf.zeros([3, 3]));
  expect(
    scatter(tf.constant([[1, 1, 1]]))
      .sum()
      .item(),
  ).toBe(3);
});

test('one of any shape may change its rank between calls', () => {
  const any = new tf.Variable(1, { shape: null });
  const double = tfFunction(() => [any.mul(2), tf.rank(any)]);
  expect(double().map((t: tf.Tensor) => t.array())).toEqual([2, 0]);
  any.assign([[1, 2]]);
  expect(double().map((t: tf.Tensor) => t.array())).toEqual([[[2, 4]], 2]);
  any.assign(3);
  expect(double().map((t: tf.Tensor) => t.array())).toEqual([6, 0]);
  const change = tfFunction((x: tf.Tensor) => any.assign(x).sum());
  expect(change(tf.ones([2, 2])).item()).toBe(4);
  expect(any.shape).toEqual([2, 2]);
  expect(() =>
    tfFunction((p: tf.Tensor) => {
      cond(
        p,
        () => {
          any.assign(1);
        },
        () => {
          any.assign([1]);
        },
      );
    })(tf.constant(true)),
  ).toThrow(tf.UnimplementedError);
});

test('functions inside of functions, and off the event loop', async () => {
  const v = rows();
  const inner = tfFunction((x: tf.Tensor) => {
    v.assign(tf.concat([v.read(), x], 0));
    return v.sum();
  });
  const outer = tfFunction((x: tf.Tensor) => inner(x).add(v.sum()));
  expect(outer(tf.ones([1, 3])).item()).toBe(18);
  expect(v.shape).toEqual([2, 3]);
  expect((await inner.runAsync(tf.ones([2, 3]))).item()).toBe(15);
  expect(v.shape).toEqual([4, 3]);
});

test('a shape in a trace is that of each run', () => {
  const v = rows();
  const count = tfFunction(() => tf.zeros([v.shape[0] as number, 2]));
  expect(count().shape).toEqual([1, 2]);
  v.assign(two);
  expect(count().shape).toEqual([2, 2]);
});
