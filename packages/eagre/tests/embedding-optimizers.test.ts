// Tables of an Embedding whose gradients are some rows, held against Keras on TensorFlow and PyTorch's SparseAdam.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { lentBy } from './testing/lent.ts';

interface Golden {
  readonly table: number[][];
  readonly kernel: number[][];
  readonly ids: number[][][];
  readonly cases: readonly {
    readonly optimizer: string;
    readonly options: Record<string, unknown>;
    readonly losses: number[];
    readonly table: number[];
  }[];
  readonly lazy: { readonly ids: number[][][]; readonly losses: number[]; readonly table: number[] };
}
const golden = JSON.parse(
  readFileSync(new URL('../golden/embedding-optimizers.json', import.meta.url), 'utf8'),
) as Golden;

/** The losses and the table after training on one batch of ids after the other. */
async function train(optimizer: tf.optimizers.Optimizer, batches: number[][][], runEagerly: boolean) {
  const model = new tf.Sequential([
    new tf.layers.Embedding(10, 3, { inputShape: [4] }),
    new tf.layers.Flatten(),
    new tf.layers.Dense(1, { useBias: false }),
  ]);
  model.setWeights([tf.constant(golden.table), tf.constant(golden.kernel)]);
  model.compile({ optimizer, loss: 'mse', runEagerly });
  const losses: number[] = [];
  for (const ids of batches) losses.push((await model.trainOnBatch(tf.constant(ids, 'int32'), [[1]])).loss);
  return { losses, table: model.getWeights()[0] as tf.Tensor };
}

function near(got: ArrayLike<number>, expected: readonly number[]): void {
  expect(got.length).toBe(expected.length);
  for (const [i, x] of expected.entries())
    expect(Math.abs(got[i] - x)).toBeLessThan(2e-5 * Math.max(1, Math.abs(x)));
}

describe.each([false, true])('an Embedding trained, runEagerly %s', (runEagerly) => {
  test.each(golden.cases.map((c) => [c.optimizer, JSON.stringify(c.options), c] as const))(
    'by %s %s as in Keras',
    async (name, _, expected) => {
      const optimizer = tf.optimizers.deserialize({
        class_name: name,
        config: { learning_rate: 0.1, ...expected.options },
      });
      const { losses, table } = await train(optimizer, golden.ids, runEagerly);
      near(losses, expected.losses);
      near(table.data() as Float32Array, expected.table);
    },
  );
  test('by LazyAdam as by SparseAdam of PyTorch', async () => {
    const model = new tf.layers.Embedding(10, 3);
    model.build([null, 4]);
    model.setWeights([tf.constant(golden.table)]);
    const optimizer = new tf.optimizers.LazyAdam(0.1);
    const step = (ids: tf.Tensor): tf.Tensor => {
      const tape = new tf.GradientTape();
      const loss = tape.record(() =>
        tf
          .matmul((model.call(ids) as tf.Tensor).reshape([1, -1]), tf.constant(golden.kernel))
          .sub(1)
          .square()
          .mean(),
      );
      optimizer.applyGradients([tape.gradient(loss, model.embeddings)], [model.embeddings]);
      return loss;
    };
    const run = runEagerly ? step : tf.function(step);
    const { ids, losses, table } = golden.lazy;
    near(
      ids.map((batch) => run(tf.constant(batch, 'int32')).item()),
      losses,
    );
    near(model.embeddings.data() as Float32Array, table);
  });
});

describe('LazyAdam', () => {
  test.each([{}, { amsgrad: true }])(
    'is Adam for rows that are looked up at every step %o',
    async (options) => {
      const batches = [[[0, 1, 2, 3]], [[3, 1, 2, 0]], [[2, 0, 3, 1]]];
      const dense = await train(new tf.optimizers.Adam(0.1, options), batches, false);
      for (const runEagerly of [false, true]) {
        const lazy = await train(new tf.optimizers.LazyAdam(0.1, options), batches, runEagerly);
        near(lazy.losses, dense.losses);
        near(lazy.table.data() as Float32Array, [...(dense.table.data() as Float32Array)]);
      }
    },
  );
  test.each([false, true])(
    'shrinks the rows that are looked up, and leaves others, runEagerly %s',
    async (eager) => {
      const { table } = await train(
        new tf.optimizers.LazyAdam(0.1, { weightDecay: 0.5 }),
        [[[0, 1, 1, 3]]],
        eager,
      );
      const adam = await train(new tf.optimizers.Adam(0.1, { weightDecay: 0.5 }), [[[0, 1, 1, 3]]], false);
      const [got, all] = [table.array() as number[][], adam.table.array() as number[][]];
      for (const row of [0, 1, 3]) near(got[row], all[row]);
      expect(got[2]).toEqual(tf.constant(golden.table).array<number[][]>()[2]);
    },
  );
  test.each(['int32', 'int64'] as const)(
    'makes the same of rows of %s at once and in a function',
    (dtype) => {
      const batches = [[7, 0, 3, 0], [0, 0, 0, 0], [9, 3, 8, 3], []];
      const [eager, traced] = [false, true].map((isTraced) => {
        const table = new tf.Variable(tf.range(20).cast('float32').reshape([10, 2]));
        const optimizer = new tf.optimizers.LazyAdam(0.1, { weightDecay: 0.1 });
        const step = (ids: tf.Tensor): void => {
          const rows = tf.oneHot(ids, 2).add(1);
          optimizer.applyGradients([[new tf.IndexedSlices(rows, ids, [10, 2]) as never, table]]);
        };
        const run = isTraced ? tf.function(step) : step;
        for (const batch of batches) run(tf.constant(batch, dtype));
        return table.data() as Float32Array;
      });
      near(eager, [...traced]);
    },
  );
  test('has a config, and a name', () => {
    const optimizer = tf.optimizers.get('lazyadam');
    expect(optimizer).toBeInstanceOf(tf.optimizers.LazyAdam);
    expect(tf.optimizers.deserialize(tf.optimizers.serialize(optimizer)).getConfig()).toEqual(
      optimizer.getConfig(),
    );
  });
  test.each([false, true])('touches the rows of a large table alone, runEagerly %s', async (runEagerly) => {
    const model = new tf.Sequential([
      new tf.layers.Embedding(100_000, 64, { inputShape: [4] }),
      new tf.layers.Flatten(),
      new tf.layers.Dense(1),
    ]);
    model.compile({ optimizer: new tf.optimizers.LazyAdam(0.1), loss: 'mse', runEagerly });
    const x = tf.constant([[1, 2, 2, 99_999]], 'int32');
    const y = tf.constant([[1]]);
    for (let i = 0; i < 3; i++) await model.trainOnBatch(x, y);
    let pending: Promise<unknown> | undefined;
    const bytes = lentBy(() => {
      pending = Promise.resolve(model.trainOnBatch(x, y));
    });
    await pending;
    // A whole gradient, or a copy of the table or a moment, would be 25.6 MB.
    expect(bytes).toBeLessThan(200_000);
  });
});
