// Functions whose loops and branches on tensors become parts of graphs.
import * as tf from 'eagre';

/** How many steps Collatz's rule takes to 1. */
export const collatz = tf.function((start: tf.Tensor) => {
  let n = start;
  let steps = tf.constant(0, 'int32');
  while (n.notEqual(1)) {
    n = n.mod(2).equal(0) ? n.floorDiv(2) : n.mul(3).add(1);
    steps = steps.add(1);
  }
  return steps;
});

export const sumEven = tf.function((items: tf.Tensor) => {
  let sum = tf.constant(0, 'int32');
  for (const item of items) {
    if (item.mod(2).greater(0)) continue;
    sum = sum.add(item);
  }
  return sum;
});

/** For each point, in how many steps of z² + c it leaves the disc of radius 2: at most `limit`. */
export const mandelbrot = tf.function((cx: tf.Tensor, cy: tf.Tensor, limit: number) => {
  let [x, y, steps] = [tf.zerosLike(cx), tf.zerosLike(cx), tf.zerosLike(cx)];
  let turn = tf.constant(0, 'int32');
  while (turn.less(limit)) {
    const inside = x.mul(x).add(y.mul(y)).less(4);
    if (inside.logicalNot().all()) break;
    const next = x.mul(x).sub(y.mul(y)).add(cx);
    y = tf.where(inside, x.mul(y).mul(2).add(cy), y);
    x = tf.where(inside, next, x);
    steps = steps.add(inside.cast('float32'));
    turn = turn.add(1);
  }
  return steps;
});
