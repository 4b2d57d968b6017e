// Distributed datasets in fit, evaluate and predict, and in loops of one's own.
import * as tf from 'eagre';
import { describe, expect, test } from 'vitest';
import { mirrored } from './testing/strategies.ts';

const x = tf.random.statelessNormal([22, 3], [1, 2]);
const y = x.sum(1, { keepdims: true }).add(0.5);
const build = (): tf.Model => {
  const model = new tf.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'ones', inputShape: [3] })]);
  model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'mse', metrics: ['mae'] });
  return model;
};
const data = (size = 8): tf.data.Dataset<[tf.Tensor, tf.Tensor]> =>
  tf.data.Dataset.fromTensorSlices([x, y]).batch(size) as never;

describe('fit, evaluate and predict of a DistributedDataset', () => {
  test('are those of the dataset', async () => {
    const two = mirrored(2);
    const [a, b] = [two.scope(build), two.scope(build)];
    const distributed = two.experimentalDistributeDataset(data());
    const options = { epochs: 3, verbose: 0 } as const;
    const { history } = await a.fit(distributed, { ...options, validationData: distributed });
    const expected = await b.fit(data(), { ...options, validationData: data() });
    expect(history).toEqual(expected.history);
    expect(a.getWeights().map((w) => w.array())).toEqual(b.getWeights().map((w) => w.array()));
    expect(await a.evaluate(distributed, { verbose: 0 })).toEqual(await b.evaluate(data(), { verbose: 0 }));
    const found = (await a.predict(distributed, { verbose: 0 })) as tf.Tensor;
    expect(found.array()).toEqual(((await b.predict(x, { verbose: 0 })) as tf.Tensor).array());
  });

  test('take batches of one replica each, also eagerly', async () => {
    for (const runEagerly of [false, true]) {
      const two = mirrored(2);
      const model = two.scope(build);
      two.scope(() => model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'mse', runEagerly }));
      const distributed = two.distributeDatasetsFromFunction((context) =>
        data(context.getPerReplicaBatchSize(8)),
      );
      const { history } = await model.fit(distributed, { epochs: 2, verbose: 0 });
      expect(history['loss']).toHaveLength(2);
      expect(model.optimizer.iterations.item()).toBe(6);
    }
  });

  test('need a model of the strategy', async () => {
    const distributed = mirrored(2).experimentalDistributeDataset(data());
    await expect(build().fit(distributed, { verbose: 0 })).rejects.toThrow(tf.errors.FailedPreconditionError);
    const two = mirrored(2);
    const weighted = two
      .scope(build)
      .fit(two.experimentalDistributeDataset(data()), { classWeight: { 0: 1 }, verbose: 0 });
    await expect(weighted).rejects.toThrow(tf.errors.UnimplementedError);
  });
});

describe('iterators', () => {
  const parts = (value: unknown): unknown =>
    (value as tf.distribute.PerReplica<tf.Tensor>).values.map((t) =>
      Array.from(t.data() as BigInt64Array, Number),
    );
  const range = (): tf.data.Dataset<tf.Tensor> => tf.data.Dataset.range(3).batch(2);

  test('give elements one by one, and optionals', () => {
    const two = mirrored(2);
    const iterator = two.experimentalDistributeDataset(range()).iterator();
    expect([iterator.getNext(), iterator.getNext()].map(parts)).toEqual([
      [[0], [1]],
      [[2], []],
    ]);
    expect(() => iterator.getNext()).toThrow(tf.errors.OutOfRangeError);
    const optionals = two.experimentalDistributeDataset(range()).iterator();
    const seen: unknown[] = [];
    for (;;) {
      const next = optionals.getNextAsOptional();
      if (!next.hasValue().item<boolean>()) {
        expect(() => next.getValue()).toThrow(tf.errors.FailedPreconditionError);
        break;
      }
      seen.push(parts(next.getValue()));
    }
    expect(seen).toEqual([
      [[0], [1]],
      [[2], []],
    ]);
  });

  test('wait where the dataset has to be waited for', async () => {
    const later = tf.data.Dataset.fromGenerator(async function* () {
      for (const i of [0, 1, 2]) yield tf.constant(i);
    });
    const seen: unknown[] = [];
    for await (const batch of mirrored(2).experimentalDistributeDataset(later.batch(2)))
      seen.push((batch as unknown as tf.distribute.PerReplica<tf.Tensor>).values.map((t) => t.array()));
    expect(seen).toEqual([
      [[0], [1]],
      [[2], []],
    ]);
  });

  test('stand in a graph where sizes are known', () => {
    const two = mirrored(2);
    const traced = (size: number, dropRemainder: boolean): tf.Tensor => {
      const whole = tf.data.Dataset.range(8).batch(size, { dropRemainder });
      const distributed = two.experimentalDistributeDataset(whole) as unknown as Record<
        symbol,
        (site: string) => Iterable<tf.Tensor>
      >;
      const all = tf.function(() => {
        let sum = tf.constant(0, 'int64');
        for (const batch of (
          distributed[Symbol.for('eagre.autographIterate')] as (site: string) => Iterable<tf.Tensor>
        )('here'))
          sum = sum.add(
            two.reduce(
              'SUM',
              two.run((x: tf.Tensor) => x.sum(), { args: [batch] }),
            ),
          );
        return sum;
      });
      all();
      return all();
    };
    expect(Number(traced(4, true).item('bigint'))).toBe(28);
    expect(() => traced(3, false)).toThrow(tf.errors.FailedPreconditionError);
  });

  test('one function for each replica', () => {
    const two = mirrored(2);
    const contexts: number[][] = [];
    const options = new tf.distribute.InputOptions({ experimentalReplicationMode: 'PER_REPLICA' });
    const distributed = two.distributeDatasetsFromFunction((c) => {
      contexts.push([c.numInputPipelines, c.inputPipelineId, c.numReplicasInSync]);
      return tf.data.Dataset.range(c.inputPipelineId === 0 ? 5 : 2).batch(2);
    }, options);
    expect([...distributed].map(parts)).toEqual([
      [
        [0, 1],
        [0, 1],
      ],
      [[2, 3], []],
      [[4], []],
    ]);
    expect(contexts).toEqual([
      [2, 0, 2],
      [2, 1, 2],
    ]);
    expect(() => two.experimentalDistributeDataset(range(), options)).toThrow(tf.errors.UnimplementedError);
  });

  test('read ahead as they are told', () => {
    const options = new tf.distribute.InputOptions({ experimentalPerReplicaBufferSize: 3 });
    const distributed = mirrored(2).experimentalDistributeDataset(range(), options);
    expect([...distributed].map(parts)).toEqual([
      [[0], [1]],
      [[2], []],
    ]);
  });

  test('options that make no sense are refused', () => {
    const { InputOptions, RunOptions } = tf.distribute;
    for (const wrong of [
      { experimentalReplicationMode: 'PER_HOST' },
      { experimentalPlaceDatasetOnDevice: true },
      { experimentalPlaceDatasetOnDevice: true, experimentalReplicationMode: 'PER_REPLICA' },
      { experimentalPerReplicaBufferSize: 0 },
      { experimentalFetchToDevice: 1 },
      { more: 1 },
    ])
      expect(() => new InputOptions(wrong as object)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => new RunOptions({ experimentalBucketizingDynamicShape: true })).toThrow(
      tf.errors.UnimplementedError,
    );
    expect(() => mirrored(2).experimentalDistributeDataset(range(), {} as never)).toThrow(
      tf.errors.InvalidArgumentError,
    );
    expect(() => mirrored(2).run(() => 1, { options: 3 as never })).toThrow(tf.errors.InvalidArgumentError);
    expect(mirrored(2).run(() => 1, { options: new RunOptions() })).toBeInstanceOf(tf.distribute.PerReplica);
  });
});
