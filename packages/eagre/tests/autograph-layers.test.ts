// Layers of users with control flow and operators in `call`, in models.
import { convert } from '@eagre/autograph';
import * as helpers from '@eagre/autograph/internal';
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const source = `import * as tf from 'eagre';
class Gate extends tf.layers.Layer {
  call(x) {
    if (x.sum() > 0) return x * 2;
    return x * 0;
  }
}
class Net extends tf.Model {
  gate = new Gate();
  dense = new tf.layers.Dense(1, { kernelInitializer: 'ones' });
  call(x) { return this.dense(this.gate(x)); }
}
const net = new Net();
`;

test('a layer decides by a tensor, eagerly, in traces and in training', async () => {
  const code = convert(source, { filename: 'user.js' }).code.replace(/^import .*$/gm, '');
  const net = new Function('tf', 'ag$', `${code}\nreturn net;`)(tf, helpers) as tf.Model;
  const call = (x: tf.Tensor): tf.Tensor => net(x) as tf.Tensor;
  const traced = tf.function(call);
  for (const f of [call, traced]) {
    expect(f(tf.constant([[1, 2]])).array()).toEqual([[6]]);
    expect(Math.abs(f(tf.constant([[1, -2]])).item<number>())).toBe(0);
  }
  net.compile({ optimizer: new tf.optimizers.SGD(0.01), loss: new tf.losses.MeanSquaredError() });
  const { history } = await net.fit(tf.constant([[1, 2]]), tf.constant([[5]]), { epochs: 3, verbose: 0 });
  const loss = history['loss'] as readonly number[];
  expect(loss[0]).toBeCloseTo(1);
  expect(loss[2]).toBeLessThan(loss[0] as number);
});

test('a layer runs as it is written where code around it asks for that', () => {
  const code = convert(
    `import * as tf from 'eagre';
class Sign extends tf.layers.Layer { call(x) { return x.sum().less(0) ? x.mul(0) : x; } }
const sign = new Sign();
const asked = (x) => { 'use autograph'; return sign(x); };`,
    { filename: 'user.js' },
  ).code.replace(/^import .*$/gm, '');
  const made: unknown = new Function('tf', 'ag$', `${code}\nreturn { sign, asked };`)(tf, helpers);
  const { sign, asked } = made as Readonly<Record<'sign' | 'asked', (x: tf.Tensor) => tf.Tensor>>;
  const x = tf.constant([3]);
  const of = (f: (x: tf.Tensor) => tf.Tensor): unknown => f(x).array();
  // A tensor is an object, and counts as true there.
  expect(of(tf.autograph.doNotConvert((x) => sign(x)))).toEqual([0]);
  expect(of(tf.function((x: tf.Tensor) => sign(x), { autograph: false }))).toEqual([0]);
  // What is asked for by name is converted everywhere.
  expect(of(tf.autograph.doNotConvert((x) => asked(x)))).toEqual([3]);
  expect(of(sign)).toEqual([3]);
  expect(of(tf.function((x: tf.Tensor) => sign(x)))).toEqual([3]);
  tf.config.runFunctionsEagerly(true);
  try {
    expect(of(tf.function((x: tf.Tensor) => sign(x), { autograph: false }))).toEqual([0]);
    expect(of(tf.function((x: tf.Tensor) => sign(x)))).toEqual([3]);
  } finally {
    tf.config.runFunctionsEagerly(false);
  }
});
