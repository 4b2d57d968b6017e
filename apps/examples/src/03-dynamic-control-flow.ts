// The host language's control flow works on the values of tensors.
import * as tf from 'eagre';

/** fizzbuzz with tensors as numbers. */
export function fizzbuzz(maxNum: tf.TensorLike): string[] {
  const lines: string[] = [];
  let counter = tf.constant(0, 'int32');
  const limit = tf.constant(maxNum);
  for (let i = 1; i <= limit.item(); i++) {
    const num = tf.constant(i, 'int32');
    if (num.mod(3).item() === 0 && num.mod(5).item() === 0) lines.push('FizzBuzz');
    else if (num.mod(3).item() === 0) lines.push('Fizz');
    else if (num.mod(5).item() === 0) lines.push('Buzz');
    else lines.push(String(num));
    counter = counter.add(1);
  }
  lines.push(`${counter} numbers`);
  return lines;
}
console.log(fizzbuzz(15).join(' '));

/** The Collatz sequence: halve what is even, triple and add one otherwise, until 1. */
export function collatz(start: number): number[] {
  let a = tf.constant(start, 'int32');
  const seen = [a.item()];
  while (a.notEqual(1).item<boolean>()) {
    a = a.mod(2).equal(0).item<boolean>() ? a.floorDiv(2) : a.mul(3).add(1);
    seen.push(a.item());
  }
  return seen;
}
console.log(collatz(12).join(' '));

/** A backtracking line search: the step is halved until the value falls enough. */
export function lineSearchStep(
  fn: (x: tf.Tensor) => tf.Tensor,
  initX: tf.Tensor,
  rate = 1,
): { x: tf.Tensor; value: tf.Tensor; tries: number } {
  using tape = new tf.GradientTape();
  tape.watch(initX);
  const initValue = fn(initX);
  const grad = tape.gradient(initValue, initX, { unconnectedGradients: 'zero' });
  const gradNorm = grad.mul(grad).sum();
  let x = initX;
  let value = initValue;
  let step = rate;
  let tries = 0;
  while (value.greater(initValue.sub(gradNorm.mul(step))).item<boolean>()) {
    x = initX.sub(grad.mul(step));
    value = fn(x);
    step /= 2;
    tries++;
  }
  return { x, value, tries };
}
const bowl = (x: tf.Tensor): tf.Tensor => x.square().sum();
export const search = lineSearchStep(bowl, tf.constant([3, -4]));
console.log(search);

/** And a gradient through such a loop. */
export function gradientThroughLoop(start: number): number {
  const x = tf.constant(start);
  using tape = new tf.GradientTape();
  tape.watch(x);
  let y = x;
  while (y.less(100).item<boolean>()) y = y.mul(y);
  return tape.gradient(y, x)?.item() ?? Number.NaN;
}
// 3 → 9 → 81 → 6561 = x⁸, so the derivative is 8x⁷.
console.log(gradientThroughLoop(3));
