// Rows of a variable that a traced function sets: in the variable's own memory, and nobody who holds an older value sees it.
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const make = (): { v: tf.Variable; set: (at: tf.Tensor, rows: tf.Tensor) => tf.Tensor } => {
  const v = new tf.Variable(tf.zeros([4, 2]));
  return {
    v,
    set: (at, rows) => {
      v.assign(v.read().tensorScatterNdUpdate(at, rows));
      return v.read().sum();
    },
  };
};
const at = (...rows: number[]): tf.Tensor => tf.constant(rows, 'int32').expandDims(1);

describe('rows of a variable', () => {
  test('are set without a copy', () => {
    const { v, set } = make();
    const traced = tf.function(set);
    expect(traced(at(1), tf.ones([1, 2])).item()).toBe(2);
    const plan = traced.getConcreteFunction(at(1), tf.ones([1, 2])).planText();
    expect(plan).toMatch(/ScatterNd/);
    expect(plan).not.toMatch(/Copy/);
    expect(v.array()).toEqual([
      [0, 0],
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
  });

  test('what was read before keeps its values, as do results', async () => {
    const { v, set } = make();
    const traced = tf.function((i: tf.Tensor, rows: tf.Tensor) => {
      const before = v.read();
      set(i, rows);
      return [before, v.read()];
    });
    const held = v.read();
    const view = v.read().reshape([8]);
    const [first, second] = traced(at(0), tf.ones([1, 2]));
    const [third] = await traced.runAsync(at(3), tf.fill([1, 2], 5));
    traced(at(2), tf.fill([1, 2], 7));
    expect([held.sum().item(), view.sum().item(), first!.sum().item()]).toEqual([0, 0, 0]);
    expect([second!.sum().item(), third!.sum().item(), v.sum().item()]).toEqual([2, 2, 26]);
  });

  test('a wrong place is an error, and the variable stays as it was', async () => {
    const { v, set } = make();
    const traced = tf.function(set);
    traced(at(1, 0), tf.ones([2, 2]));
    expect(() => traced(at(2, 4), tf.ones([2, 2]))).toThrow(tf.errors.OutOfRangeError);
    await expect(traced.runAsync(at(2, 4), tf.ones([2, 2]))).rejects.toThrow(/index 4/);
    expect(v.array()).toEqual([
      [1, 1],
      [1, 1],
      [0, 0],
      [0, 0],
    ]);
  });

  test('gradients are those of eager code', () => {
    const run = (traced: boolean): unknown => {
      const { v, set } = make();
      const f = traced ? tf.function(set) : set;
      const rows = new tf.Variable([[1, 2]]);
      const tape = new tf.GradientTape();
      const y = tape.record(() => f(at(1), rows.mul(3)));
      return [tape.gradient(y, rows)?.array(), v.array()];
    };
    expect(run(true)).toEqual(run(false));
  });
});
