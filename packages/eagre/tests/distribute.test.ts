import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';
import { expect, test } from 'vitest';
import { cpus, mirrored } from './testing/strategies.ts';

test.each([false, true])('fit, eagerly %s', async (runEagerly) => {
  const x = tf.linspace(-1, 1, 32).reshape([8, 4]);
  const y = x.sum(1, { keepdims: true });
  const train = async (make: (fn: () => tf.Model) => tf.Model): Promise<number[]> => {
    const model = make(() => {
      const model = new tf.Sequential([
        new tf.layers.Dense(3, { kernelInitializer: 'ones', inputShape: [4] }),
        new tf.layers.Dense(1, { kernelInitializer: 'ones' }),
      ]);
      model.compile({ optimizer: new tf.optimizers.Adam(0.1), loss: 'mse', metrics: ['mae'], runEagerly });
      return model;
    });
    const history = await model.fit(x, y, { batchSize: 4, epochs: 3, shuffle: false, verbose: 0 });
    const evaluated = await model.evaluate(x, y, { verbose: 0 });
    return [
      ...(history.history['loss'] as number[]),
      ...(history.history['mae'] as number[]),
      ...(Object.values(evaluated) as number[]),
    ];
  };
  const one = await train((fn) => fn());
  const two = await train((fn) => mirrored(2).scope(fn));
  two.forEach((v, i) => expect(v).toBeCloseTo(one[i], 5));
});

const id = (): number => tf.distribute.getReplicaContext()?.replicaIdInSyncGroup as number;
const parts = (value: unknown): unknown[] =>
  (value as tf.distribute.PerReplica<tf.Tensor>).values.map((t) => t.array());

const rows = tf.constant(Array.from({ length: 48 }, (_, i) => Math.sin(i * i))).reshape([12, 4]);
const sums = rows.sum(1, { keepdims: true });
const batches = (): tf.data.Dataset<tf.Tensor[]> =>
  tf.data.Dataset.fromTensorSlices([rows, sums]).batch(4) as unknown as tf.data.Dataset<tf.Tensor[]>;

/** A loop of one's own: the loss of each step, and the weights at the end. */
function ownLoop(strategy: tf.distribute.Strategy, traced: boolean): readonly unknown[] {
  const { model, optimizer, mean } = strategy.scope(() => ({
    model: new tf.Sequential([
      new tf.layers.Dense(3, {
        kernelInitializer: new tf.initializers.GlorotUniform({ seed: 4 }),
        activation: 'tanh',
        inputShape: [4],
      }),
      new tf.layers.BatchNormalization({ synchronized: true }),
      new tf.layers.Dense(1, { kernelInitializer: new tf.initializers.GlorotUniform({ seed: 4 }) }),
    ]),
    optimizer: new tf.optimizers.SGD(0.05),
    mean: new tf.metrics.Mean(),
  }));
  const replica = (x: tf.Tensor, y: tf.Tensor): tf.Tensor => {
    using tape = new tf.GradientTape();
    const errors = (model(x, { training: true }) as tf.Tensor).sub(y).square();
    const loss = errors.sum().div(4);
    mean.updateState(errors);
    const { trainableVariables } = model;
    optimizer.applyGradients(tape.gradient(loss, trainableVariables), trainableVariables);
    return loss;
  };
  const step = (batch: readonly tf.Tensor[]): tf.Tensor =>
    strategy.reduce('SUM', strategy.run(replica, { args: [...batch] as [tf.Tensor, tf.Tensor] }));
  const run = traced ? tf.function(step) : step;
  const losses: number[] = [];
  for (let epoch = 0; epoch < 4; epoch++)
    for (const batch of strategy.experimentalDistributeDataset(batches()))
      losses.push(run(batch as tf.Tensor[]).item());
  expect(optimizer.iterations.item('bigint')).toBe(12n);
  return [
    ...losses,
    mean.result().item(),
    ...model.getWeights().flatMap((w) => Array.from(w.data() as Float32Array)),
  ];
}

test('a loop of one’s own trains as on one device', () => {
  const one = ownLoop(tf.distribute.getStrategy(), true) as number[];
  const near = (found: readonly unknown[]): void =>
    found.forEach((v, i) => {
      const expected = one[i] as number;
      expect(Math.abs((v as number) - expected) / Math.max(1, Math.abs(expected))).toBeLessThan(5e-5);
    });
  near(ownLoop(mirrored(2), true));
  near(ownLoop(new tf.distribute.OneDeviceStrategy('/cpu:0'), true));
  near(
    ownLoop(
      new tf.distribute.experimental.CentralStorageStrategy(mirrored(2).replicaDevices as string[]),
      true,
    ),
  );
  // Synchronized normalization needs the other replicas at once.
  expect(() => ownLoop(mirrored(2), false)).toThrow(/tf\.function/);
  near(ownLoop(new tf.distribute.OneDeviceStrategy('/cpu:0'), false));
});

test('replicas run in loops of a traced function, for any batch size', () => {
  const two = mirrored(2);
  const v = two.scope(() => new tf.Variable(0, { aggregation: 'SUM' }));
  const many = tf.function(
    (n: tf.Tensor, x: tf.Tensor) => {
      tf.whileLoop(
        (i) => i.less(n),
        (i) => {
          two.run(
            (own: tf.Tensor) => {
              v.assignAdd(own.sum());
            },
            { args: [new tf.distribute.PerReplica(tf.split(x, 2))] as unknown as [tf.Tensor] },
          );
          return [i.add(1)] as const;
        },
        [tf.constant(0, 'int32')] as const,
      );
      return v.read();
    },
    { inputSignature: [new tf.TensorSpec([], 'int32'), new tf.TensorSpec([null])] },
  );
  expect(many(tf.constant(3, 'int32'), tf.constant([1, 2, 3, 4])).item()).toBe(30);
  expect(many(tf.constant(2, 'int32'), tf.constant([1, 1])).item()).toBe(34);
});

test('functions of tf.function inside of replicas have traces of their own', () => {
  const two = mirrored(2);
  const w = two.scope(() => new tf.Variable(1, { synchronization: 'ON_READ', aggregation: 'SUM' }));
  const inner = tf.function((x: tf.Tensor) => {
    w.assignAdd(x);
    return w.add(x);
  });
  const step = (): unknown => two.run(() => inner(tf.constant(id() + 1)));
  expect(parts(step())).toEqual([3, 5]);
  expect(w.copies.map((c) => c.item())).toEqual([2, 3]);
  expect(parts(step())).toEqual([4, 7]);
  expect(inner.experimentalGetTracingCount()).toBe(2);
});

test('variables that were not made in the scope', () => {
  const two = mirrored(2);
  const plain = new tf.Variable(0);
  tf.function(() => {
    two.run(() => {
      plain.assignAdd(tf.constant(id() + 1));
    });
  })();
  expect(plain.item()).toBe(3);
  const w = two.scope(() => new tf.Variable(1));
  const optimizer = new tf.optimizers.SGD(0.1);
  const update = (variable: tf.Variable, by: tf.optimizers.Optimizer): unknown =>
    two.run(() => by.applyGradients([tf.constant(1)], [variable]));
  expect(() => update(w, optimizer)).toThrow(/scope of the strategy/);
  expect(() =>
    update(
      plain,
      two.scope(() => new tf.optimizers.SGD(0.1)),
    ),
  ).toThrow(/scope of the strategy/);
  expect([w.item(), optimizer.iterations.item('bigint')]).toEqual([1, 0n]);
});

test('what fails changes nothing', () => {
  const two = mirrored(2);
  const [w, optimizer] = two.scope(() => [new tf.Variable(1), new tf.optimizers.SGD(0.5)]);
  const step = (): unknown =>
    two.run(() => {
      optimizer.applyGradients([tf.constant(1)], [w]);
      if (id() === 1) throw new Error('no');
    });
  expect(step).toThrow('no');
  expect(tf.function(step)).toThrow('no');
  expect([w.item(), optimizer.iterations.item('bigint')]).toEqual([1, 0n]);
  expect(tf.distribute.hasStrategy()).toBe(false);
  two.run(() => optimizer.applyGradients([tf.constant(1)], [w]));
  expect(w.copies.map((c) => c.item())).toEqual([0, 0]);
});

test('checkpoints hold one value of each variable', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'strategies-'));
  const make = (): tf.train.Checkpoint & {
    readonly model: tf.Sequential;
    readonly mean: tf.metrics.Mean;
  } => {
    const model = new tf.Sequential([
      new tf.layers.Dense(2, { inputShape: [3] }),
      new tf.layers.BatchNormalization(),
    ]);
    const optimizer = new tf.optimizers.Adam(0.1);
    optimizer.build(model.trainableVariables);
    const mean = new tf.metrics.Mean();
    return new tf.train.Checkpoint({ model, optimizer, mean }) as never;
  };
  const two = mirrored(2);
  const saved = two.scope(make);
  two.run(() => saved.mean.updateState(tf.constant(id() + 1)));
  const path = await saved.save(join(folder, 'ckpt'));
  const weights = saved.model.getWeights().map((w) => w.array());
  for (const restore of [() => make(), () => two.scope(make), () => mirrored(4).scope(make)]) {
    const other = restore();
    await other.restore(path);
    expect(other.model.getWeights().map((w) => w.array())).toEqual(weights);
    for (const variable of other.model.trainableVariables)
      for (const copy of variable.copies) expect(copy.array()).toEqual(variable.array());
    expect(other.mean.result().item()).toBe(1.5);
  }
  // Before there are variables.
  const later = two.scope(() => {
    const model = new tf.Sequential([new tf.layers.Dense(2), new tf.layers.BatchNormalization()]);
    return { model, checkpoint: new tf.train.Checkpoint({ model }) };
  });
  await later.checkpoint.restore(path);
  const outputs = two.run((x: tf.Tensor) => later.model(x) as tf.Tensor, { args: [tf.ones([1, 3])] });
  expect(later.model.getWeights().map((w) => w.array())).toEqual(weights);
  expect(parts(outputs)[0]).toEqual(parts(outputs)[1]);
  // Keras's files.
  await saved.model.saveWeights(join(folder, 'm.weights.h5'));
  const loaded = two.scope(make);
  await loaded.model.loadWeights(join(folder, 'm.weights.h5'));
  expect(loaded.model.trainableVariables[0]?.copies.map((c) => c.array())).toEqual([weights[0], weights[0]]);
  rmSync(folder, { recursive: true });
});

test('layers that draw, and layers with states', async () => {
  const two = mirrored(2);
  const model = two.scope(() => {
    tf.random.setSeed(3);
    const model = new tf.Sequential([
      new tf.layers.Dense(8, { inputShape: [4] }),
      new tf.layers.Dropout(0.5),
      new tf.layers.SpectralNormalization(new tf.layers.Dense(1)),
    ]);
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    return model;
  });
  const { history } = await model.fit(rows, sums, { batchSize: 5, epochs: 2, verbose: 0 });
  expect((history['loss'] as number[]).every(Number.isFinite)).toBe(true);
  for (const { copies } of model.variables) expect(copies[1]?.array()).toEqual(copies[0].array());
});

test('keras.distribution', async () => {
  const {
    DataParallel,
    DeviceMesh,
    TensorLayout,
    ModelParallel,
    listDevices,
    setDistribution,
    distribution,
  } = tf.keras.distribution;
  const names = cpus(2);
  expect(listDevices()).toEqual(['cpu:0', 'cpu:1']);
  expect(tf.keras.distribution.getDeviceCount('gpu')).toBe(0);
  expect(() => new DeviceMesh([3], ['batch'])).toThrow(tf.errors.InvalidArgumentError);
  expect(() => new ModelParallel()).toThrow(tf.errors.UnimplementedError);
  const data = new DataParallel({ devices: names });
  expect(data.deviceMesh.shape).toEqual([2]);
  expect(data.getDataLayout([null, 3]).axes).toEqual(['batch', null]);
  expect(() => new TensorLayout(['model'], { deviceMesh: data.deviceMesh })).toThrow(/no axis/);
  setDistribution(data);
  try {
    expect(distribution()).toBe(data);
    const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [4] })]);
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    expect(model.trainableVariables[0]?.copies.length).toBe(2);
    const { history } = await model.fit(rows, sums, { batchSize: 4, epochs: 3, verbose: 0 });
    const losses = history['loss'] as number[];
    expect(losses[2]).toBeLessThan(losses[0] as number);
  } finally {
    setDistribution(null);
  }
  expect(tf.distribute.hasStrategy()).toBe(false);
});

test('a last batch of one example leaves a replica without any, and all weights numbers', async () => {
  for (const synchronized of [false, true]) {
    const model = mirrored(2).scope(() => {
      const net = new tf.Sequential([
        new tf.layers.Dense(3, { inputShape: [2] }),
        new tf.layers.BatchNormalization({ synchronized }),
        new tf.layers.LayerNormalization(),
        new tf.layers.Dense(1, { activation: 'sigmoid' }),
      ]);
      net.compile({ optimizer: 'sgd', loss: 'binaryCrossentropy' });
      return net;
    });
    await model.fit(tf.random.normal([5, 2], { seed: 1 }), tf.ones([5, 1]), {
      batchSize: 4,
      epochs: 2,
      verbose: 0,
    });
    for (const w of model.weights) expect([...w.data()].every(Number.isFinite), w.name).toBe(true);
  }
});
