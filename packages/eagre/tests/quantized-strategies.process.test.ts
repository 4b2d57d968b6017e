// Layers of 8 bits and with low-rank updates, in replicas: what one device computes.
import '@eagre/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { MirroredStrategy, OneDeviceStrategy } = tf.distribute;
const strategies = {
  one: () => new OneDeviceStrategy('/cpu:0'),
  two: () => new MirroredStrategy(['/cpu:0', '/cpu:1']),
  three: () => new MirroredStrategy(['/cpu:0', '/cpu:1', '/cpu:2']),
};
beforeAll(() => {
  const cpu = tf.config.listPhysicalDevices('CPU')[0];
  tf.config.setLogicalDeviceConfiguration(
    cpu,
    [0, 1, 2].map(() => new tf.config.LogicalDeviceConfiguration()),
  );
});

interface Kind {
  readonly quantize?: 'float8' | 'int8';
  readonly lora?: boolean;
  readonly optimizer?: Record<string, unknown>;
  readonly runEagerly?: boolean;
}

/** Losses and all variables of a model that trains. */
async function train(strategy: tf.distribute.Strategy, kind: Kind): Promise<readonly number[]> {
  const { quantize, lora = false, optimizer = {}, runEagerly = false } = kind;
  const model = strategy.scope(() => {
    tf.keras.utils.setRandomSeed(3);
    const first = new tf.layers.Dense(16, { activation: 'relu' });
    const made = new tf.Sequential([tf.Input({ shape: [16] }), first, new tf.layers.Dense(1)]);
    if (lora) first.enableLora(2);
    if (quantize !== undefined) made.quantize(quantize);
    made.compile({
      optimizer: new tf.optimizers.SGD({ learningRate: 0.05, ...optimizer }),
      loss: 'mse',
      runEagerly,
    });
    return made;
  });
  // The last rows of each batch, which are those of the last replica, are the largest.
  const rows = tf.linspace(1, 3, 24).reshape([24, 1]);
  const x = tf.random.statelessNormal([24, 16], [1, 2]).mul(rows);
  const y = x.sum(1, { keepdims: true }).div(4);
  const { history } = await model.fit(x, y, { batchSize: 12, epochs: 3, shuffle: false, verbose: 0 });
  return [
    ...history.loss,
    ...model.variables.flatMap((v) => [...(v.read().cast('float32').data() as Float32Array)]),
  ];
}

describe('in replicas', () => {
  test.each<[string, Kind]>([
    ['float8', { quantize: 'float8' }],
    ['float8, eagerly', { quantize: 'float8', runEagerly: true }],
    [
      'float8 with accumulated gradients',
      { quantize: 'float8', optimizer: { gradientAccumulationSteps: 2 } },
    ],
    ['int8 with low-rank updates', { quantize: 'int8', lora: true }],
    ['low-rank updates', { lora: true }],
    ['int8', { quantize: 'int8' }],
  ])('%s', async (_, kind) => {
    const expected = await train(strategies.one(), kind);
    // Each replica rounds the gradient of a bias to 16 bits. What it gives to scales would differ by more.
    const digits = kind.quantize === 'float8' ? 2 : 4;
    for (const name of ['two', 'three'] as const) {
      const got = await train(strategies[name](), kind);
      expect(got.length).toBe(expected.length);
      got.forEach((v, i) => expect(v, `${name} ${i}`).toBeCloseTo(expected[i], digits));
    }
  });
});
