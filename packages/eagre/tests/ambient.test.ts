// What is current for code is as it was after whatever fails in it, and does not reach code that stands alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, notAtRest } from '@eagre/core/internal';
import { afterEach, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

afterEach(() => {
  expect(notAtRest()).toEqual([]);
});

const x = tf.constant([1, 2, 3]);

class Calls extends tf.layers.Layer {
  readonly #fn: () => void;
  constructor(fn: () => void) {
    super();
    this.#fn = fn;
  }
  override call(inputs: tf.Tensor): tf.Tensor {
    this.#fn();
    return inputs;
  }
}
const fails = (): never => {
  throw new Error('on purpose');
};

test('a scope that a traced function opens and never ends is over with it', () => {
  tf.function(() => {
    tf.nameScope('left');
    tf.experimental.scope();
    return x.add(1);
  })();
  expect(new tf.Variable(1).name).not.toContain('left');
  const failing = tf.function(() => {
    tf.nameScope('left');
    tf.device('/cpu:0');
    fails();
  });
  expect(() => failing()).toThrow('on purpose');
  expect(new tf.Variable(1).name).not.toContain('left');
});

test('errors deep inside leave nothing behind', () => {
  const layer = new Calls(fails);
  const cases: (() => unknown)[] = [
    () => layer(x, { training: true }),
    () => tf.function((t: tf.Tensor) => layer(t, { training: true }))(x),
    () => tf.function((t: tf.Tensor) => tf.cond(t.sum().greater(0), fails, () => t))(x),
    () => tf.whileLoop(fails as never, (i) => [i], [x]),
    () => tf.function((t: tf.Tensor) => tf.whileLoop(() => true, fails as never, [t]))(x),
    () => new tf.GradientTape().record(fails),
    () => tf.experimental.scope(fails),
    () => tf.nameScope('s', fails),
    () => tf.device('/cpu:0', fails),
    () => tf.keras.saving.customObjectScope({ Calls }, fails),
    () => tf.experimental.hostFunction(fails, [x]),
    () => tf.function(() => tf.experimental.hostFunction(fails, [x]))(),
    () => [...tf.data.Dataset.range(3).map(fails)],
    () => [...tf.data.Dataset.fromGenerator(fails as never)],
    () => tf.autodiff.grad(fails as never)(x),
    () => new tf.compat.v1.Graph().asDefault(fails),
  ];
  for (const run of cases) {
    expect(run).toThrow();
    expect(notAtRest()).toEqual([]);
  }
});

test('a function of the host in a layer that trains stands alone, traced or not', () => {
  const seen: unknown[] = [];
  const inner = new (class extends tf.layers.Layer {
    override call(inputs: tf.Tensor, context: { training?: boolean }): tf.Tensor {
      seen.push(context.training);
      return inputs;
    }
  })();
  const spec = { dtype: 'float32', shape: [3] } as const;
  const layer = new (class extends tf.layers.Layer {
    override call(inputs: tf.Tensor): tf.Tensor {
      return tf.experimental.hostFunction((t) => inner(t) as tf.Tensor, [inputs], spec);
    }
  })();
  layer(x, { training: true });
  tf.function((t: tf.Tensor) => layer(t, { training: true }))(x);
  expect(seen).toEqual([undefined, undefined]);
});

test('a tape does not see what a function of the host computes, traced or not', () => {
  const spec = { dtype: 'float32', shape: [3] } as const;
  const square = (t: tf.Tensor): tf.Tensor => tf.experimental.hostFunction((v) => v.mul(v), [t], spec);
  const gradient = (fn: (t: tf.Tensor) => tf.Tensor): tf.Tensor | null => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    return tape.gradient(fn(x), x);
  };
  expect(gradient(square)).toBeNull();
  expect(gradient(tf.function(square))).toBeNull();
});

test('elements of a dataset are made outside of tapes, scopes of names and layers that train', () => {
  const names: string[] = [];
  const layer = new Calls(() => {
    const made = tf.data.Dataset.fromGenerator(function* () {
      names.push(new tf.Variable(1).name);
      yield 1;
    });
    for (const _ of made);
  });
  tf.nameScope('around', () => layer(x, { training: true }));
  expect(names.length).toBeGreaterThan(0);
  expect(names.every((name) => !name.includes('around'))).toBe(true);
});

test('values that wait for variables stop waiting when a trace makes these', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-ambient-'));
  try {
    const saved = new tf.layers.Dense(2);
    saved(tf.ones([1, 3]));
    const path = new tf.train.Checkpoint({ layer: saved }).save(join(folder, 'c'));
    const layer = new tf.layers.Dense(2);
    new tf.train.Checkpoint({ layer }).restore(path);
    const y = tf.function((t: tf.Tensor) => layer(t))(tf.ones([1, 3]));
    expect(y.array()).toEqual(saved(tf.ones([1, 3])).array());
    expect(context.restoring).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
