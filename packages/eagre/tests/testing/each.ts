// Values and gradients of functions, in every way in which they are computed.
import { expect } from 'vitest';
import * as tf from '../../src/index.ts';

/** A value computed at once, in a function, and in one whose sizes are unknown. */
export function each(fn: (...xs: tf.Tensor[]) => tf.Tensor, ...xs: tf.Tensor[]): unknown {
  const value = fn(...xs).array();
  const open = xs.map(
    (x) =>
      new tf.TensorSpec(
        x.shape.map(() => null),
        x.dtype,
      ),
  );
  expect(
    tf
      .function(fn)(...xs)
      .array(),
  ).toEqual(value);
  expect(
    tf
      .function(fn, { inputSignature: open as never })(...xs)
      .array(),
  ).toEqual(value);
  return value;
}

/** The gradients of the sum of a result times 1, 2, 3, … */
export function gradients(fn: (...xs: tf.Tensor[]) => tf.Tensor, ...xs: tf.Tensor[]): unknown[] {
  const tape = new tf.GradientTape();
  tape.watch(xs);
  const y = fn(...xs);
  const loss = y.mul(tf.range(1, y.size + 1, 1, { dtype: 'float32' }).reshape(y.shape)).sum();
  return tape.gradient(loss, xs).map((g) => (g as tf.Tensor).array());
}
