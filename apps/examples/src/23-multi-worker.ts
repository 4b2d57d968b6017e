// One model in several processes: each trains on its part of every batch, and the copies stay equal. Start it with `npx eagre run -n 2`, or alone.
// With `--max-restarts 3` and BACKUP=folder, a process that dies comes back, and all go on from the last epoch.
import * as tf from 'eagre';

const EPOCHS = Number(process.env.EPOCHS ?? 8);
const BATCH = 64;

const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
await strategy.connect();

// All processes have the same data; the strategy gives each its part of a batch.
const x = tf.random.statelessUniform([1024, 2], [1, 2], { minval: -2, maxval: 2 });
const y = x.prod(1, { keepdims: true });
const data = tf.data.Dataset.fromTensorSlices([x, y]).batch(BATCH);

const model = strategy.scope(() => {
  const dense = (units: number, seed: number, activation: string | null = null): tf.layers.Dense =>
    new tf.layers.Dense(units, {
      activation,
      kernelInitializer: new tf.initializers.GlorotUniform({ seed }),
    } as never);
  const model = new tf.Sequential([
    tf.Input({ shape: [2] }),
    dense(32, 1, 'tanh'),
    dense(32, 2, 'tanh'),
    dense(1, 3),
  ]);
  model.compile({ optimizer: new tf.optimizers.Adam(0.01), loss: 'mse', metrics: ['mae'] });
  return model;
});

const folder = process.env.BACKUP;
const callbacks = folder === undefined ? [] : [new tf.keras.callbacks.BackupAndRestore(folder)];
// One process tells what all of them reached.
const { history } = await model.fit(data, { epochs: EPOCHS, verbose: strategy.isChief ? 2 : 0, callbacks });
const weights = tf.addN(model.trainableVariables.map((v) => v.read().square().sum())).item();
console.log(JSON.stringify({ replicas: strategy.numReplicasInSync, losses: history.loss, weights }));
await strategy.close();
