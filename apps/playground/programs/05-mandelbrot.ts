// The Mandelbrot set: a loop over all points of a picture at once.
import * as tf from 'eagre';
import { image } from 'playground';

const [width, height, limit] = [420, 300, 60];
const x0 = tf.linspace(-2.2, 0.8, width).reshape([1, width]).broadcastTo([height, width]);
const y0 = tf.linspace(-1.07, 1.07, height).reshape([height, 1]).broadcastTo([height, width]);

/** In how many steps z² + c leaves the disc of radius 2, at most `limit`. */
const steps = tf.function((cx: tf.Tensor, cy: tf.Tensor) => {
  let [x, y, count] = [tf.zerosLike(cx), tf.zerosLike(cx), tf.zerosLike(cx)];
  let turn = tf.constant(0, 'int32');
  while (turn.less(limit)) {
    const inside = x.mul(x).add(y.mul(y)).less(4);
    if (inside.logicalNot().all()) break;
    const next = x.mul(x).sub(y.mul(y)).add(cx);
    y = tf.where(inside, x.mul(y).mul(2).add(cy), y);
    x = tf.where(inside, next, x);
    count = count.add(inside.cast('float32'));
    turn = turn.add(1);
  }
  return count;
});

const share = steps(x0, y0).div(limit);
const glow = share.sqrt();
const picture = tf.stack([share, glow.mul(glow), glow], -1);
await image(tf.where(share.less(1).expandDims(-1), picture, 0), { title: 'Mandelbrot set' });
console.log(
  `${(Number(share.equal(1).cast('float32').mean().item()) * 100).toFixed(1)} % of the points stay inside`,
);
