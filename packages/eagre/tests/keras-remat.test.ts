// `tf.keras.remat` of layers: what a layer is called with holds for the second run, too.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

test.each([false, true])('of layers in a layer that trains; traced: %s', (traced) => {
  tf.random.setSeed(2);
  const dense = new tf.keras.layers.Dense(4, { activation: 'tanh' });
  const dropout = new tf.keras.layers.Dropout(0.5);
  const trains: boolean[] = [];
  class Block extends tf.keras.layers.Layer {
    readonly dense: typeof dense = dense;
    override call(x: tf.Tensor): tf.Tensor {
      const inner = tf.keras.remat((a: tf.Tensor) => {
        const y = dropout(dense(a) as tf.Tensor) as tf.Tensor;
        if (!traced) trains.push((y.array() as number[][]).flat().includes(0));
        return y;
      });
      return inner(x);
    }
  }
  const block = new Block();
  const step = (x: tf.Tensor): tf.Tensor[] => {
    using tape = new tf.GradientTape();
    const y = block(x, { training: true }) as tf.Tensor;
    const [bias] = tape.gradient(y.sum(), [dense.bias as tf.Variable]) as [tf.Tensor];
    return [y, bias];
  };
  dense.build([null, 3]);
  const [y, bias] = (traced ? tf.function(step) : step)(tf.ones([8, 3])) as [tf.Tensor, tf.Tensor];
  // tanh(u) has the slope 1 - tanh(u)^2; what is kept is doubled.
  const slopes = tf.where(y.equal(0), 0, tf.subtract(1, y.div(2).square()).mul(2)).sum(0);
  expect(bias.array()).toEqual((slopes.array() as number[]).map((v) => expect.closeTo(v, 4)));
  if (!traced) expect(trains).toEqual([true, true]);
});
