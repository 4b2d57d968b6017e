// Functions with gradients of their own that read variables: these have gradients too. Values are those of TensorFlow 2.21.
import * as tf from 'eagre';
import { describe, expect, it } from 'vitest';

const w = new tf.Variable([2, 3], { name: 'w' });
const b = new tf.Variable(1, { name: 'b' });
const still = new tf.Variable(10, { trainable: false });

/** x · w + b, whose gradients are ten times too large. */
const line = tf.customGradient((x: tf.Tensor) => [
  x.mul(w).add(b).add(still.mul(0)),
  (dy: tf.Tensor, { variables }: tf.CustomGradientOptions) => {
    expect(variables.map((v) => v.name)).toEqual(['w', 'b']);
    return [dy.mul(variables[0]).mul(10), [dy.mul(x).mul(10), dy.sum().mul(10)]];
  },
]);

const gradients = (y: (x: tf.Tensor) => tf.Tensor) => (): unknown[] => {
  const x = tf.constant([5, 7]);
  using tape = new tf.GradientTape();
  tape.watch(x);
  const found = tape.gradient(y(x), [x, w, b]) as (tf.Tensor | null)[];
  return found.map((g) => g?.array() ?? null);
};
const wanted = [[40, 60], [100, 140], 40];

describe('gradients of variables', () => {
  it('eagerly', () => {
    expect(line([5, 7]).array()).toEqual([11, 22]);
    expect(gradients((x) => line(x).mul(2))()).toEqual(wanted);
  });
  it('in a traced function, and through one', () => {
    const traced = tf.function((x: tf.Tensor) => line(x).mul(2));
    expect(gradients((x) => traced(x))()).toEqual(wanted);
    const inside = tf.function((x: tf.Tensor) => {
      using tape = new tf.GradientTape();
      tape.watch(x);
      return tape.gradient(line(x).mul(2), [x, w, b]) as tf.Tensor[];
    });
    expect(inside(tf.constant([5, 7])).map((g) => g.array())).toEqual(wanted);
    // The function itself reads them in a traced one.
    const whole = tf.customGradient((x: tf.Tensor) => [
      tf.function(() => x.mul(w))(),
      (dy: tf.Tensor, _: tf.CustomGradientOptions) => [dy, [dy.mul(3)]],
    ]);
    expect(gradients((x) => whole(x))()).toEqual([[1, 1], [3, 3], null]);
  });
  it('of the second order', () => {
    using outer = new tf.GradientTape();
    const square = tf.customGradient((x: tf.Tensor) => [
      x.mul(b).mul(b),
      (dy: tf.Tensor, _: tf.CustomGradientOptions) => [dy.mul(b).mul(b), [dy.mul(x).mul(b).mul(2)]],
    ]);
    const inner = new tf.GradientTape();
    const slope = inner.gradient(square(3), b) as tf.Tensor;
    expect(slope.item()).toBe(6);
    expect((outer.gradient(slope, b) as tf.Tensor).item()).toBe(6);
  });
  it('of several values, by other arguments', () => {
    const two = tf.customGradient((x: tf.Tensor) => [
      [x.mul(b), x.add(1)],
      (d1: tf.Tensor, d2: tf.Tensor, { variables }: tf.CustomGradientOptions) => [
        d1.add(d2),
        variables.map(() => d1.mul(x)),
      ],
    ]);
    using tape = new tf.GradientTape();
    const [y, z] = two(4);
    expect((tape.gradient(y.add(z), b) as tf.Tensor).item()).toBe(4);
    // One gradient needs no list; null is none.
    const none = tf.customGradient((x: tf.Tensor) => [
      x.mul(b),
      (dy: tf.Tensor, _: tf.CustomGradientOptions) => [dy, null],
    ]);
    using other = new tf.GradientTape();
    expect(other.gradient(none(4), b)).toBe(null);
  });
  it('a function that reads none gets an empty list', () => {
    const f = tf.customGradient((x: tf.Tensor) => [
      x.mul(still),
      (dy: tf.Tensor, { variables }: tf.CustomGradientOptions) => [dy.mul(variables.length), []],
    ]);
    expect(gradients((x) => f(x))()).toEqual([[0, 0], null, null]);
  });
});

describe('what is refused', () => {
  const told = (gradient: (...args: never[]) => unknown) => () =>
    gradients((x) =>
      (tf.customGradient as (fn: unknown) => (x: tf.Tensor) => tf.Tensor)((y: tf.Tensor) => [
        y.mul(b),
        gradient,
      ])(x),
    )();
  it('gradient functions that take no variables', () => {
    expect(told((dy: tf.Tensor) => dy)).toThrow(
      "customGradient: the function reads the trainable variable 'b', but its gradient function returns no gradient for it: write (dy, { variables }) =>",
    );
    expect(told((dy: tf.Tensor) => dy)).toThrow(tf.errors.UnimplementedError);
  });
  it.each([
    [
      'must return [gradients of the arguments, gradients of the variables]',
      (dy: tf.Tensor, _: object) => dy,
    ],
    ['must return [gradients of the arguments, gradients of the variables]', (...dys: tf.Tensor[]) => dys[0]],
    ['2 gradients were returned for 1 variables', (dy: tf.Tensor, _: object) => [dy, [dy, dy]]],
    ['2 gradients were returned for 1 arguments', (dy: tf.Tensor, _: object) => [[dy, dy], [dy.sum()]]],
    ['gradient 1 is float32 [2], its argument is float32 []', (dy: tf.Tensor, _: object) => [dy, [dy]]],
  ])('%s', (message, gradient) => {
    expect(told(gradient as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(told(gradient as never)).toThrow(message);
  });
});
