import * as core from '@eagre/core';
import * as internal from '@eagre/core/internal';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as tf from '../src/index.ts';

describe('the umbrella', () => {
  it('has TensorFlow’s namespaces', () => {
    for (const name of [
      'keras',
      'nn',
      'math',
      'linalg',
      'random',
      'debugging',
      'config',
      'errors',
      'io',
      'layers',
      'losses',
      'metrics',
      'optimizers',
      'initializers',
    ]) {
      expect(tf, name).toHaveProperty(name);
    }
    expect(tf.keras.layers.Dense).toBe(tf.layers.Dense);
    expect(tf.math.reduceSum).toBe(tf.reduceSum);
    expect(tf.keras.optimizers.Adam).toBe(tf.optimizers.Adam);
    expect(tf.keras.models.Sequential).toBe(tf.Sequential);
  });

  it('has the same under each name of the core, whose code is published as its internal module', () => {
    const published: ReadonlyMap<string, unknown> = new Map(Object.entries(internal));
    const others = Object.entries(core).filter(([name, value]) => published.get(name) !== value);
    expect(others.map(([name]) => name)).toEqual([]);
  });

  it('computes on native kernels where they are', () => {
    expect(tf.executingEagerly()).toBe(true);
    expect(tf.matmul([[2]], [[2]]).array()).toEqual([[4]]);
    expect(tf.config.listPhysicalDevices()).toHaveLength(1);
    expect(tf.zeros([1]).backend.name).toBe('native');
  });

  it('has TensorFlow’s names beside NumPy’s', () => {
    expect(tf.reduceMean([1, 2, 3]).item()).toBe(2);
    expect(tf.multiply(2, 3).item()).toBe(6);
    expect(tf.subtract(2, 3).item()).toBe(-1);
    expect(tf.argmax([1, 5, 2]).item()).toBe(1);
  });

  it('tells sizes of the run in traced functions', () => {
    const f = tf.function((x: tf.Tensor) => tf.size(x), {
      inputSignature: [new tf.TensorSpec([null, 2], tf.float32)],
    });
    expect([f(tf.ones([3, 2])).item(), f(tf.ones([5, 2])).item()]).toEqual([6, 10]);
    expect(f.experimentalGetTracingCount()).toBe(1);
  });

  it('infers types', () => {
    const layer = new tf.layers.Dense(2);
    expectTypeOf(layer(tf.zeros([1, 2]))).toEqualTypeOf<tf.Tensor>();
    expectTypeOf(layer(tf.Input({ shape: [2] }))).toEqualTypeOf<tf.keras.KerasTensor>();
    expectTypeOf(tf.constant(1).add(2)).toEqualTypeOf<tf.Tensor>();
    const w = new tf.Variable(1);
    const tape = new tf.GradientTape();
    const grads = tape.gradient(w.square(), { a: w, b: [w] });
    expectTypeOf(grads.a).toEqualTypeOf<tf.Tensor | null>();
    expect(grads.b).toHaveLength(1);
    const { Discrete, HParam, RealInterval } = tf.summary;
    const units = new HParam('units', new Discrete([32, 16]));
    expectTypeOf(units.domain.values).toExtend<readonly number[]>();
    expectTypeOf(new HParam('rate', new RealInterval(0, 1)).domain.maxValue).toEqualTypeOf<number>();
    expect(units.domain.values).toEqual([16, 32]);
  });
});
