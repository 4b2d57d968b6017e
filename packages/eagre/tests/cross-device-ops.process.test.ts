// How the values of the devices of one process are added up.
import '@eagre/testing';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { HierarchicalCopyAllReduce, MirroredStrategy, NcclAllReduce, ReductionToOneDevice } = tf.distribute;
const two = ['/remote:0', '/remote:1'];

/** The losses and weights of a model that trains for a few steps. */
async function train(devices: readonly string[], crossDeviceOps: tf.distribute.CrossDeviceOps | null) {
  const strategy = new MirroredStrategy({ devices, crossDeviceOps });
  const model = strategy.scope(() => {
    tf.keras.utils.setRandomSeed(3);
    const model = new tf.keras.Sequential([
      new tf.keras.layers.Dense(4, { activation: 'tanh' }),
      new tf.keras.layers.Dense(1),
    ]);
    model.compile({ optimizer: new tf.keras.optimizers.SGD(0.1), loss: 'mse' });
    return model;
  });
  const x = tf.random.statelessNormal([24, 3], [1, 2]);
  const y = x.sum(1, { keepdims: true });
  const { history } = await model.fit(x, y, { batchSize: 8, epochs: 3, shuffle: false, verbose: 0 });
  return [
    ...history.loss,
    ...model.getWeights().flatMap((w) => [...(tf.constant(w).data() as Float32Array)]),
  ];
}

describe('cross-device ops', () => {
  test.each([
    ['to the first device', two, null],
    ['to one device', two, new ReductionToOneDevice({ reduceToDevice: '/remote:1' })],
    ['by a function', two, new ReductionToOneDevice({ accumulationFn: (t) => t.reduce((a, b) => a.add(b)) })],
    ['in pairs', two, new HierarchicalCopyAllReduce()],
  ] as const)('add gradients up %s', async (_, devices, ops) => {
    const expected = await train(['/cpu:0'], null);
    const got = await train(devices, ops);
    got.forEach((v, i) => expect(v).toBeCloseTo(expected[i], 5));
  });

  test('in pairs, each sum is made on the device of the first of its values', () => {
    const values = [1, 2, 3].map((v, i) => tf.device(two[i % 2], () => tf.fill([2], v)));
    const sum = new HierarchicalCopyAllReduce().sum(values, ['/remote:1', '/remote:0', '/remote:0']);
    expect(sum.array()).toEqual([6, 6]);
    expect(sum.device).toBe('/device:REMOTE:1');
  });

  test('refuse what they do not do', () => {
    // @ts-expect-error tensors are not packed
    expect(() => new HierarchicalCopyAllReduce({ numPacks: 2 })).toThrow(tf.errors.InvalidArgumentError);
    // As TensorFlow's op, which has no kernel for other devices.
    const nccl = new MirroredStrategy({ devices: two, crossDeviceOps: new NcclAllReduce() });
    const sum = tf.function(() =>
      nccl.run(() => tf.distribute.getReplicaContext()?.allReduce('SUM', tf.constant(1))),
    );
    expect(sum).toThrow(/GPUs of NVIDIA .*REMOTE:0 is none/);
    expect(sum).toThrow(tf.errors.InvalidArgumentError);
    // @ts-expect-error not a number
    expect(() => new NcclAllReduce({ numPacks: 'all' })).toThrow(tf.errors.InvalidArgumentError);
    expect(() => new ReductionToOneDevice({ reduceToDevice: '/nothing:0' })).toThrow();
    // @ts-expect-error no function
    expect(() => new ReductionToOneDevice({ accumulationFn: 3 })).toThrow(tf.errors.InvalidArgumentError);
    // @ts-expect-error none of ours
    expect(() => new MirroredStrategy({ devices: two, crossDeviceOps: {} })).toThrow(/CrossDeviceOps/);
  });
});
