import { expect, it } from 'vitest';
import { heads, runWorkers, withoutGloo } from '../testing/processes.ts';

const tf = await heads.tf();

it.skipIf(withoutGloo !== undefined)(
  'logs of batches are those of all processes, come in one exchange, and only where a callback looks',
  async () => {
    const out = await runWorkers(
      2,
      `${tf}
      import { mkdtempSync, rmSync } from 'node:fs';
      const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
      await strategy.connect({ timeoutSeconds: 240 });
      const second = strategy.collectives.rank === 1;
      const counts = {};
      for (const key of ['allReduce', 'fromOwners', 'allGather']) {
        const made = strategy.collectives[key];
        strategy.collectives[key] = function (...args) {
          const { name } = args.at(-1);
          counts[name] = (counts[name] ?? 0) + 1;
          return made.apply(this, args);
        };
      }
      const folder = mkdtempSync('/tmp/eagre-logs-');
      const x = tf.zeros([8, 1]);
      const y = tf.range(8).cast('float32').expandDims(1);
      const make = (Class = tf.Sequential) => strategy.scope(() => {
        const model = new Class([new tf.layers.Dense(1, { kernelInitializer: 'zeros', inputShape: [1] })]);
        model.compile({ optimizer: new tf.optimizers.SGD(0), loss: 'mse', metrics: ['mae', 'mape'] });
        return model;
      });
      const attempt = async (callbacks, fit = {}) => {
        const model = make();
        for (const name of Object.keys(counts)) delete counts[name];
        await model.fit(x, y, { batchSize: 2, shuffle: false, verbose: 0, ...fit, callbacks });
        return [counts['Variable.read'], counts.agree];
      };
      const print = (value) => console.log(JSON.stringify(value));
      const seen = [];
      const looking = (at) => new tf.keras.callbacks.LambdaCallback({ onTrainBatchEnd: (batch, logs) => { if (at(batch)) seen.push(logs.mae); } });
      print(await attempt([]));
      const idle = [
        new tf.keras.callbacks.ModelCheckpoint({ filepath: folder + '/{epoch}.keras' }),
        new tf.keras.callbacks.TensorBoard({ logDir: folder, writeGraph: false }),
      ];
      print((await attempt([...idle, new tf.keras.callbacks.CallbackList([new tf.keras.callbacks.BackupAndRestore(folder + "/backup")])], { verbose: 2 })).slice(0, 1));
      // One of them looks, at one batch.
      print(await attempt(second ? [looking((batch) => batch === 2)] : []));
      print(second ? seen.splice(0) : [2.5]);
      print(await attempt([looking(() => true)]));
      print(seen.splice(0));
      print(await attempt([second ? looking(() => true) : new tf.keras.callbacks.TerminateOnNaN()], { validationData: [x, y], validationBatchSize: 4 }));
      seen.length = 0;
      // A step of the user's: what it gives is of its own rows.
      class Own extends tf.Sequential {
        trainStep(x, y) { return { mine: y.mean() }; }
      }
      const own = make(Own);
      const [rows, targets] = [x.slice([0, 0], [7, 1]), y.slice([0, 0], [7, 1])];
      const mine = new tf.keras.callbacks.LambdaCallback({ onTrainBatchEnd: (batch, logs) => seen.push(logs.mine) });
      const { history } = await own.fit(rows, targets, { batchSize: 3, shuffle: false, verbose: 0, callbacks: second ? [mine] : [] });
      print(second ? seen : [1, 4, 6]);
      print(history.mine);
      rmSync(folder, { recursive: true });
      await strategy.close();`,
    );
    const [first, second] = out.map((text) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('['))
        .map((line) => JSON.parse(line) as unknown),
    );
    expect(second).toEqual(first);
    expect(first).toEqual([
      [1, 1],
      [1],
      [4, 1],
      [2.5],
      [4, 1],
      [0.5, 1.5, 2.5, 3.5],
      // The validation keeps what training has counted, and reads its own once.
      [6, 2],
      [1, 4, 6],
      [6],
    ]);
  },
);
