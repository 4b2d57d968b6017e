// MirroredStrategy on two GPUs, on a fake driver: what one device and two CPUs compute.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fakeGpus, withoutNccl } from '../../distribute/src/testing/nccl.ts';
import * as tf from '../src/index.ts';

if (withoutNccl === undefined) Object.assign(process.env, fakeGpus(2));
const { cudaUnavailable } = await import('@eagre/backend-cuda');
const isTested = withoutNccl === undefined && cudaUnavailable === undefined;
if (!isTested) console.warn(`Strategies on GPUs are not tested: ${cudaUnavailable}`);

const folder = mkdtempSync(join(tmpdir(), 'eagre-gpu-strategies-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { MirroredStrategy, NcclAllReduce, OneDeviceStrategy } = tf.distribute;
const cpus = [new tf.config.LogicalDeviceConfiguration(), new tf.config.LogicalDeviceConfiguration()];
tf.config.setLogicalDeviceConfiguration(tf.config.listPhysicalDevices('CPU')[0], cpus);

const kinds = {
  'one device': () => new OneDeviceStrategy('/cpu:0'),
  'two CPUs': () => new MirroredStrategy(['/cpu:0', '/cpu:1']),
  'two GPUs': () => new MirroredStrategy(['/gpu:0', '/gpu:1']),
  'two GPUs by NCCL': () => new MirroredStrategy({ crossDeviceOps: new NcclAllReduce() }),
};
const on = (fn: () => void): void => tf.device('/cpu:0', fn);
let x!: tf.Tensor;
let y!: tf.Tensor;
on(() => {
  x = tf.random.statelessNormal([8, 3], [1, 2]);
  y = x.sum(1, { keepdims: true });
});

function made(): tf.Sequential {
  tf.keras.utils.setRandomSeed(3);
  const model = new tf.Sequential([
    tf.Input({ shape: [3] }),
    new tf.layers.Dense(4, { activation: 'relu' }),
    new tf.layers.BatchNormalization({ synchronized: true }),
    new tf.layers.Dense(1),
  ]);
  model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'mse', metrics: ['mae'] });
  return model;
}
const flat = (model: tf.Model): number[] =>
  model.getWeights().flatMap((w) => [...(w.data() as Float32Array)]);

/** What training gives, and evaluation, prediction, and a checkpoint that is restored. */
async function outcome(kind: keyof typeof kinds): Promise<readonly number[]> {
  const strategy = kinds[kind]();
  const model = strategy.scope(() => made());
  const { history } = await model.fit(x, y, { batchSize: 4, epochs: 2, shuffle: false, verbose: 0 });
  const evaluated = await model.evaluate(x, y, { batchSize: 4, verbose: 0 });
  const predicted = await model.predict(x, { verbose: 0 });
  const path = join(folder, kind);
  const saved = strategy.scope(() => new tf.train.Checkpoint({ model })).write(path);
  const weights = flat(model);
  for (const v of model.variables) v.assign(v.mul(0) as tf.Tensor);
  strategy
    .scope(() => new tf.train.Checkpoint({ model }))
    .read(saved)
    .assertConsumed();
  expect(flat(model)).toEqual(weights);
  const devices = (model.trainableVariables[0] as tf.Variable).copies.map((c) => c.device);
  if (kind.startsWith('two GPUs')) expect(devices).toEqual(['/device:GPU:0', '/device:GPU:1']);
  return [
    ...history.loss,
    ...history.mae,
    evaluated.loss,
    evaluated.mae,
    ...(predicted.data() as Float32Array),
    ...weights,
  ];
}

describe.skipIf(!isTested)('on two GPUs', () => {
  test('fit, evaluate and predict', async () => {
    const expected = await outcome('one device');
    for (const kind of ['two CPUs', 'two GPUs', 'two GPUs by NCCL'] as const) {
      const got = await outcome(kind);
      expect(got.length).toBe(expected.length);
      got.forEach((v, i) => {
        expect(v, `${kind} ${i}`).toBeCloseTo(expected[i], 4);
      });
    }
  });

  test.each([false, true])("a loop of one's own, traced: %s", (isTraced) => {
    const losses = (kind: keyof typeof kinds): readonly number[] => {
      const strategy = kinds[kind]();
      const { model, optimizer, mean } = strategy.scope(() => {
        tf.keras.utils.setRandomSeed(3);
        const model = new tf.Sequential([
          tf.Input({ shape: [3] }),
          new tf.layers.Dense(4, { activation: 'relu' }),
          new tf.layers.Dropout(0.5, { seed: 5 }),
          new tf.layers.Dense(1),
        ]);
        return { model, optimizer: new tf.optimizers.SGD(0.1), mean: new tf.metrics.Mean() };
      });
      const replicaStep = (bx: tf.Tensor, by: tf.Tensor): tf.Tensor => {
        const tape = new tf.GradientTape();
        // Without dropout: each replica would draw its own.
        const loss = tape.record(() =>
          tf
            .square((model(bx, { training: false }) as tf.Tensor).sub(by))
            .sum()
            .div(4),
        );
        optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
        mean.updateState(loss);
        return loss;
      };
      const step = (bx: tf.Tensor, by: tf.Tensor): tf.Tensor =>
        strategy.reduce('SUM', strategy.run(replicaStep, { args: [bx, by] }));
      const run = isTraced ? tf.function(step) : step;
      const dataset = tf.data.Dataset.fromTensorSlices([x, y]).batch(4);
      const all: number[] = [];
      for (let epoch = 0; epoch < 2; epoch++)
        for (const [bx, by] of strategy.experimentalDistributeDataset(dataset)) all.push(run(bx, by).item());
      const dropped = strategy.run((bx: tf.Tensor) => model(bx, { training: true }) as tf.Tensor, {
        args: [x],
      });
      expect(strategy.experimentalLocalResults(dropped).length).toBe(strategy.numReplicasInSync);
      return [...all, mean.result().item() * strategy.numReplicasInSync, ...flat(model)];
    };
    const expected = losses('one device');
    for (const kind of ['two CPUs', 'two GPUs', 'two GPUs by NCCL'] as const)
      losses(kind).forEach((v, i) => expect(v, `${kind} ${i}`).toBeCloseTo(expected[i], 4));
  });
});
