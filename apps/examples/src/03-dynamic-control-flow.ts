// The host language's control flow works on the values of tensors; in tf.function, tf.cond and tf.whileLoop do.
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
console.log('Collatz:', collatz(12).join(' '));

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
console.log('line search:', search);

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
console.log('gradient through a loop:', gradientThroughLoop(3));

// ---- The same in tf.function: tf.cond and tf.whileLoop become branches and loops of the graph.

console.log('\nIn tf.function:');

/** fizzbuzz: the branches print at each run. */
export const fizzbuzzFunction = tf.function((maxNum: tf.Tensor) => {
  const [counter] = tf.whileLoop(
    (i) => i.lessEqual(maxNum),
    (i) => {
      const [by3, by5] = [i.mod(3).equal(0), i.mod(5).equal(0)];
      tf.case(
        [
          [by3.logicalAnd(by5), () => tf.print('FizzBuzz')],
          [by3, () => tf.print('Fizz')],
          [by5, () => tf.print('Buzz')],
        ],
        { default: () => tf.print(i) },
      );
      return [i.add(1)];
    },
    [tf.constant(1, 'int32')],
  );
  return counter.sub(1);
});
console.log(`${fizzbuzzFunction(tf.constant(15, 'int32'))} numbers`);

/** The Collatz sequence, in an array that has room for the longest one, and its length. */
export const collatzFunction = tf.function((start: tf.Tensor) => {
  const [, length, seen] = tf.whileLoop(
    (a, i) => a.notEqual(1).logicalAnd(i.less(200)),
    (a, i, seen) => {
      const next = tf.cond(
        a.mod(2).equal(0),
        () => a.floorDiv(2),
        () => a.mul(3).add(1),
      );
      return [next, i.add(1), seen.write(i, next)];
    },
    [start, tf.constant(1, 'int32'), new tf.TensorArray('int32', { size: 200 }).write(0, start)],
  );
  return { length, seen: seen.stack() };
});
const { length, seen } = collatzFunction(tf.constant(12, 'int32'));
console.log('Collatz:', seen.slice([0], [length.item()]));

/** The line search: how often the step is halved depends on values, in one call of the graph. */
export const lineSearchFunction = tf.function((initX: tf.Tensor, rate: tf.Tensor) => {
  const tape = new tf.GradientTape();
  tape.watch(initX);
  const initValue = bowl(initX);
  const grad = tape.gradient(initValue, initX, { unconnectedGradients: 'zero' });
  const gradNorm = grad.square().sum();
  return tf.whileLoop(
    ({ value, step }) => value.greater(initValue.sub(gradNorm.mul(step))),
    ({ step, tries }) => {
      const x = initX.sub(grad.mul(step));
      return { x, value: bowl(x), step: step.div(2), tries: tries.add(1) };
    },
    { x: initX, value: initValue, step: rate, tries: tf.constant(0, 'int32') },
  );
});
console.log('line search:', lineSearchFunction(tf.constant([3, -4]), tf.constant(1)));

/** The gradient through a loop, with a tape inside of the function. */
export const gradientThroughLoopFunction = tf.function((x: tf.Tensor) => {
  const tape = new tf.GradientTape();
  tape.watch(x);
  const y = tf.whileLoop(
    (y) => y.less(100),
    (y) => y.mul(y),
    x,
  );
  return tape.gradient(y, x, { unconnectedGradients: 'zero' });
});
console.log('gradient through a loop:', gradientThroughLoopFunction(tf.constant(3)));
