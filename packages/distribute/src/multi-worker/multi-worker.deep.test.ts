import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { heads, runWorkers, start, tfConfigs, withoutGloo } from '../testing/processes.ts';
import { MultiWorkerMirroredStrategy } from './multi-worker-mirrored.ts';

const tf = await heads.tf();
const head = `${tf}
const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
await strategy.connect({ timeoutSeconds: 240 });
const rank = strategy.collectives.rank;
const print = (value) => console.log(JSON.stringify(value));
`;
const parsed = (out: readonly string[]): unknown[][] =>
  out.map((text) => text.split('\n').map((line) => JSON.parse(line)));

describe('one process', () => {
  it('needs no others', async () => {
    const strategy = new MultiWorkerMirroredStrategy();
    expect(await strategy.connect()).toBe(strategy);
    expect([strategy.numReplicasInSync, strategy.isChief, strategy.generation]).toEqual([1, true, 0]);
    strategy.barrier();
    await strategy.close();
  });
});

describe.skipIf(withoutGloo !== undefined)('two processes', () => {
  it('reduce, gather and share first values, in graphs too', async () => {
    const out = await runWorkers(
      2,
      `${head}
      print([strategy.numReplicasInSync, rank, strategy.isChief, strategy.generation]);
      const v = strategy.scope(() => new tf.Variable([rank + 1, 5]));
      print(v.array());
      const x = tf.constant([rank, 2]);
      print(strategy.reduce('SUM', x).array());
      print(strategy.reduce('MEAN', x).array());
      print(strategy.reduce('MEAN', rank === 0 ? tf.constant([1, 2, 3]) : tf.constant([10]), { axis: 0 }).array());
      print(strategy.gather(tf.ones([rank + 1, 2]).mul(rank), 0).array());
      print(strategy.gather(tf.ones([2, rank + 1], 'int32').mul(rank), 1).array());
      const step = (x) => {
        const context = tf.distribute.getReplicaContext();
        const sum = context.allReduce('SUM', x);
        return context.allGather(sum.add(context.replicaIdInSyncGroup), 0);
      };
      print(strategy.run(step, { args: [x] }).array());
      const traced = tf.function((x) => strategy.run(step, { args: [x] }));
      print(traced(x).array());
      print(traced(x.add(1)).array());
      for (const dtype of ['float16', 'bfloat16', 'int64', 'uint8', 'uint32', 'float64', 'complex64'])
        print(String(strategy.reduce('SUM', tf.cast([rank + 1, 3], dtype))));
      try { strategy.reduce('SUM', tf.constant(true)); } catch (error) { print([error.name, error.message]); }
      await strategy.close();
      try { strategy.reduce('SUM', 1); } catch (error) { print([error.name, error.message]); }`,
    );
    const shared = (rank: number): unknown[] => [
      [2, rank, rank === 0, 1],
      [1, 5],
      [1, 4],
      [0.5, 2],
      4,
      [
        [0, 0],
        [1, 1],
        [1, 1],
      ],
      [
        [0, 1, 1],
        [0, 1, 1],
      ],
      [1, 4, 2, 5],
      [1, 4, 2, 5],
      [3, 6, 4, 7],
    ];
    for (const [rank, lines] of parsed(out).entries()) {
      expect(lines.slice(0, 10)).toEqual(shared(rank));
      for (const text of lines.slice(10, 17)) expect(text).toMatch(/\b3.*6/);
      expect(lines[17]).toEqual(['InvalidArgumentError', expect.stringContaining('bool')]);
      expect(lines[18]).toEqual(['FailedPreconditionError', expect.stringContaining('was closed')]);
    }
  });

  it('train as one process does: bit for bit where numbers are integers, and within 1e-6', async () => {
    const program = (steps: number, integers: boolean): string => `
      const data = (n, seed) => tf.cast(tf.random.statelessUniform([n, 4], [seed, 1], { minval: -3, maxval: 4, dtype: 'int32' }), 'float32')${integers ? '' : '.mul(0.31)'};
      const x = data(${steps} * 8, 1).reshape([${steps}, 8, 4]);
      const y = x.sum(-1, { keepdims: true }).mul(2);
      const build = () => {
        const w = new tf.Variable(tf.zeros([4, 1]));
        const optimizer = ${integers ? 'new tf.optimizers.SGD(0.0625)' : 'new tf.optimizers.Adam(0.05)'};
        return { w, optimizer };
      };
      const makeStep = ({ w, optimizer }) => (x, y) => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => x.matmul(w).sub(y).square().sum().div(8));
        optimizer.applyGradients(tape.gradient(loss, [w]), [w]);
        return loss;
      };`;
    const train = async (integers: boolean): Promise<void> => {
      const steps = integers ? 4 : 50;
      const out = await runWorkers(
        2,
        `${head}${program(steps, integers)}
        const results = [];
        for (const wrap of [(f) => f, tf.function]) {
          const model = strategy.scope(build);
          const step = makeStep(model);
          const distributed = wrap((x, y) => strategy.reduce('SUM', strategy.run(step, { args: [x, y] })));
          const losses = [];
          for (let i = 0; i < ${steps}; i++) {
            const half = (t) => t.gather(i).slice([rank * 4, 0], [4, -1]);
            losses.push(distributed(half(x), half(y)).item());
          }
          results.push(losses, model.w.array());
          const alone = build();
          const single = makeStep(alone);
          const expected = [];
          for (let i = 0; i < ${steps}; i++) expected.push(single(x.gather(i), y.gather(i)).item());
          results.push(expected, alone.w.array());
        }
        print(results);
        await strategy.close();`,
      );
      const [[first], [second]] = parsed(out) as number[][][][][];
      expect(second).toEqual(first);
      const flat = (value: unknown): number[] => [value].flat(9) as number[];
      for (const at of [0, 4]) {
        const [losses, weights, expectedLosses, expectedWeights] = first.slice(at, at + 4);
        const got = flat([losses, weights]);
        const expected = flat([expectedLosses, expectedWeights]);
        if (integers) expect(got).toEqual(expected);
        else
          got.forEach((value, i) =>
            expect(Math.abs(value - expected[i])).toBeLessThan(1e-6 * Math.max(1, Math.abs(expected[i]))),
          );
      }
    };
    await Promise.all([train(true), train(false)]);
  });

  it('fit as one process does, also with synchronized batch normalization and batches that leave one process nothing', async () => {
    const out = await runWorkers(
      2,
      `${head}
      const x = tf.random.statelessNormal([25, 3], [1, 2]);
      const y = tf.cast(x.sum(1).greater(0), 'float32').expandDims(1);
      const dense = (units, seed, more) => new tf.layers.Dense(units, { kernelInitializer: new tf.initializers.GlorotUniform({ seed }), ...more });
      const build = () => {
        const model = new tf.Sequential([
          dense(4, 3, { activation: 'relu', inputShape: [3] }), new tf.layers.BatchNormalization({ synchronized: true }), dense(1, 4)]);
        model.compile({ optimizer: new tf.optimizers.Adam(0.05), loss: new tf.losses.BinaryCrossentropy({ fromLogits: true }), metrics: ['accuracy'] });
        return model;
      };
      for (const [rows, more] of [[24, { shuffle: false, batchSize: 8 }], [25, { batchSize: 8 }]]) {
        const model = strategy.scope(build);
        const alone = build();
        const [a, b] = [x.slice([0, 0], [rows, -1]), y.slice([0, 0], [rows, -1])];
        const options = { epochs: 3, verbose: 0, validationData: [x, y], ...more };
        const { history } = await model.fit(a, b, options);
        const expected = await alone.fit(a, b, options);
        const flat = (m) => m.getWeights().map((w) => w.array());
        print([history, expected.history, flat(model), flat(alone), await model.evaluate(x, y, { verbose: 0 })]);
      }
      const sums = [];
      for (const batch of strategy.experimentalDistributeDataset(tf.data.Dataset.range(7).batch(3))) sums.push(batch.array().map(Number));
      print(sums);
      const own = (context) => tf.data.Dataset.range(4).shard(context.numInputPipelines, context.inputPipelineId).batch(context.getPerReplicaBatchSize(4));
      print(Array.from(strategy.distributeDatasetsFromFunction(own), (batch) => batch.array().map(Number)));
      const uneven = tf.data.Dataset.fromTensorSlices([x, y]).take(rank === 0 ? 24 : 8).batch(8);
      const model = strategy.scope(build);
      const seen = [];
      await model.fit(uneven, { verbose: 0, callbacks: [new tf.keras.callbacks.LambdaCallback({ onTrainBatchEnd: (batch) => seen.push(batch) })] });
      print(seen);
      // One process alone looks at the logs of batches, and weighs classes as both do.
      const watched = [strategy.scope(build), build()];
      const reports = [];
      for (const one of watched) {
        const losses = [];
        const looks = rank === 1 || one !== watched[0];
        const callbacks = looks ? [new tf.keras.callbacks.LambdaCallback({ onTrainBatchEnd: (_, logs) => losses.push(logs.loss) })] : [];
        const { history } = await one.fit(x.at(':24'), y.at(':24'), { batchSize: 8, epochs: 2, shuffle: false, verbose: 0, classWeight: { 0: 1, 1: 3 }, callbacks });
        reports.push(losses, history.loss);
      }
      print(reports);
      await strategy.close();`,
    );
    const [first, second] = parsed(out) as unknown[][];
    const flat = (value: unknown): number[] =>
      typeof value === 'number' ? [value] : Object.values(value as object).flatMap(flat);
    const near = (a: unknown, b: unknown, tolerance: number): void => {
      const [x, y] = [flat(a), flat(b)];
      expect(x).toHaveLength(y.length);
      x.forEach((value, i) => expect(Math.abs(value - y[i])).toBeLessThan(tolerance));
    };
    const [history, expected, weights, expectedWeights] = first[0] as unknown[];
    near(history, expected, 1e-5);
    near(weights, expectedWeights, 1e-5);
    // Both report the same, also where examples were shuffled.
    for (const i of [0, 1]) {
      const [a, b] = [first[i], second[i]] as unknown[][];
      expect([b[0], b[2], b[4]]).toEqual([a[0], a[2], a[4]]);
    }
    expect([first[2], second[2]]).toEqual([
      [[0, 1], [3, 4], [6]],
      [[2], [5], []],
    ]);
    expect([first[3], second[3]]).toEqual([[[0, 2]], [[1, 3]]]);
    // The epoch goes on as long as one of them has batches; the other gets batches without rows.
    expect([first[4], second[4]]).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
    const [[none, means], [losses, same, expectedLosses, expectedMeans]] = [
      first[5],
      second[5],
    ] as unknown[][];
    expect([none, same]).toEqual([[], means]);
    near([losses, means], [expectedLosses, expectedMeans], 1e-5);
    expect(losses).toHaveLength(6);
  });

  it('read parts of the files each, and agree when all have ended', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-files-'));
    try {
      [3, 1, 4].forEach((rows, i) => {
        const lines = Array.from({ length: rows }, (_, k) => `${i * 10 + k}\n`);
        writeFileSync(join(folder, `${i}.txt`), lines.join(''));
      });
      const out = await runWorkers(
        2,
        `${head}
        const numbers = (lines) => lines.map((line) => tf.strings.toNumber(line), { runEagerly: true });
        const files = () => numbers(new tf.data.TextLineDataset(tf.data.Dataset.listFiles(process.env.FOLDER + '/*.txt', { shuffle: false })));
        const seen = [];
        const sum = (x) => tf.distribute.getReplicaContext().allReduce('SUM', x.sum());
        for (const wrap of [(f) => f, tf.function]) {
          const step = wrap((x) => strategy.run(sum, { args: [x] }));
          for (const batch of strategy.experimentalDistributeDataset(files().batch(4))) seen.push([batch.array(), step(batch).item()]);
        }
        print(seen);
        const iterator = strategy.experimentalDistributeDataset(files().take(rank === 0 ? 9 : 1).batch(4)).iterator();
        const sizes = [];
        for (let next = iterator.getNextAsOptional(); next.hasValue().item(); next = iterator.getNextAsOptional()) sizes.push(next.getValue().size);
        print(sizes);
        const model = strategy.scope(() => {
          const model = new tf.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'ones', inputShape: [1] })]);
          model.compile({ optimizer: new tf.optimizers.SGD(0), loss: 'mae' });
          return model;
        });
        const pairs = files().map((x) => [x.reshape([1]), x.mul(0).reshape([1])]).batch(4);
        const { history } = await model.fit(pairs, { verbose: 0 });
        const all = await model.predict(strategy.experimentalDistributeDataset(pairs.map((x) => x)), { verbose: 0 });
        print([history.loss, all.array().flat()]);
        try { strategy.experimentalDistributeDataset(tf.data.Dataset.range(4).batch(2).withOptions({ experimentalDistribute: { autoShardPolicy: 'FILE' } })); }
        catch (error) { print(error.name); }
        await strategy.close();`,
        { FOLDER: folder },
      );
      const [first, second] = parsed(out);
      const [steps, sizes, [, predicted], refused] = first as [unknown[], number[], number[][], string];
      const own = [[0, 1], [2, 20], [21, 22], [23]];
      const sums = [11, 22, 43, 23];
      const expected = own.map((batch, i) => [batch, sums[i]]);
      expect(steps).toEqual([...expected, ...expected]);
      const others = [[10], [], [], []].map((batch, i) => [batch, sums[i]]);
      expect(second[0]).toEqual([...others, ...others]);
      expect([sizes, second[1]]).toEqual([
        [2, 2, 2, 1],
        [1, 0, 0, 0],
      ]);
      expect(predicted).toEqual([0, 1, 10, 2, 20, 21, 22, 23]);
      expect(second[2]).toEqual(first[2]);
      expect([refused, second[3]]).toEqual(['NotFoundError', 'NotFoundError']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('go on after one was killed, from the last backup, to the same result', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-elastic-'));
    const program = `${tf}
      const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
      const x = tf.random.statelessNormal([16, 3], [1, 2]);
      const y = x.sum(1, { keepdims: true });
      const [folder, fails] = [process.env.BACKUP, process.env.FAILS === '1'];
      for (;;) {
        await strategy.connect({ timeoutSeconds: 240 });
        try {
          const model = strategy.scope(() => {
            const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [3], kernelInitializer: 'ones' }), new tf.layers.BatchNormalization()]);
            model.compile({ optimizer: new tf.optimizers.Adam(0.05), loss: 'meanSquaredError' });
            return model;
          });
          await model.fit(x, y, { epochs: 4, batchSize: 8, shuffle: false, verbose: 0, callbacks: [
            new tf.keras.callbacks.BackupAndRestore(folder),
            new tf.keras.callbacks.ModelCheckpoint(folder + '-last.weights.h5'),
            new tf.keras.callbacks.LambdaCallback({ onEpochEnd: (epoch) => { if (fails && epoch === 1) process.kill(process.pid, 'SIGKILL'); } }),
          ] });
          console.log(JSON.stringify([strategy.generation, model.getWeights().map((w) => w.array())]));
          break;
        } catch (error) {
          if (!(error instanceof tf.errors.UnavailableError)) throw error;
        }
      }
      await strategy.close();`;
    try {
      const fit = async (fails: boolean): Promise<number[][]> => {
        const configs = await tfConfigs(2);
        const launch = (rank: number, FAILS: string): ReturnType<typeof start> =>
          start(program, { TF_CONFIG: configs[rank], FAILS, BACKUP: join(folder, String(fails)) });
        const running = [launch(0, '0'), launch(1, fails ? '1' : '0')];
        if (fails) {
          expect((await running[1].ended).signal).toBe('SIGKILL');
          running[1] = launch(1, '0');
        }
        const outcomes = await Promise.all(running.map(({ ended }) => ended));
        for (const { code, out, err } of outcomes) expect([code, err, out]).toEqual([0, '', outcomes[0].out]);
        const [generation, weights] = JSON.parse(outcomes[0].out) as [number, number[][]];
        expect(generation).toBe(fails ? 2 : 1);
        return weights;
      };
      const [after, without] = await Promise.all([fit(true), fit(false)]);
      expect(after.slice(0, 4)).toEqual(without.slice(0, 4));
      // What is saved of moving statistics is their mean over the replicas, which rounds.
      after
        .slice(4)
        .flat()
        .forEach((value, i) => {
          expect(Math.abs(value - without.slice(4).flat()[i])).toBeLessThan(1e-6);
        });
      expect(readdirSync(folder).sort()).toEqual(['false-last.weights.h5', 'true-last.weights.h5']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('meet in branches and loops of graphs, with gradients, and say where one takes another way', async () => {
    const out = await runWorkers(
      2,
      `${tf}
      const { CommunicationOptions } = tf.distribute.experimental;
      const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions: new CommunicationOptions({ timeoutSeconds: 1 }) });
      await strategy.connect({ timeoutSeconds: 240 });
      const rank = strategy.collectives.rank;
      const print = (value) => console.log(JSON.stringify(value));
      const failed = async (fn) => { try { return await fn(); } catch (error) { return [error.name, error.message]; } };
      const sum = (x) => tf.distribute.getReplicaContext().allReduce('SUM', x);
      const run = (fn) => tf.function((x) => strategy.run(fn, { args: [x] }));
      const turns = (count, fn) => (x) => tf.whileLoop((i) => i.less(count), (i, y) => [i.add(1), fn(y)], [tf.constant(0), x])[1];
      const gradient = (fn) => run((x) => {
        const tape = new tf.GradientTape();
        tape.watch(x);
        const y = tape.record(() => fn(x));
        return tape.gradient(y, x);
      });
      const positive = run((x) => tf.cond(x.greater(0), () => sum(x), () => x));
      print([2, -2, 3].map((x) => positive(tf.constant(x)).item()));
      print(run(turns(3, sum))(tf.constant(rank)).item());
      print(tf.function(turns(3, (y) => strategy.run(sum, { args: [y] })))(tf.constant(rank)).item());
      const { v, optimizer } = strategy.scope(() => ({ v: new tf.Variable(1), optimizer: new tf.optimizers.SGD(1) }));
      run(turns(3, (y) => { optimizer.applyGradients([y], [v]); return y; }))(tf.constant(rank));
      print(v.item());
      print(gradient((x) => tf.cond(x.greater(0), () => sum(x.mul(x)), () => x))(tf.constant(3 + rank)).item());
      print(gradient(turns(2, (y) => sum(y.mul(2))))(tf.constant(3)).item());
      print(gradient((x) => tf.distribute.getReplicaContext().allGather(turns(2, (y) => y.mul(y))(x).reshape([1]), 0).sum())(tf.constant(2)).item());
      const whole = run((x) => sum(x.mul(x)));
      const tape = new tf.GradientTape();
      const x = tf.constant(3);
      tape.watch(x);
      const y = tape.record(() => whole(x));
      print(tape.gradient(y, x).item());
      // One of them does not come.
      print(await failed(() => run((x) => tf.cond(x.greater(rank), () => sum(x), () => x))(tf.constant(0.5)).item()));
      if (rank === 1) await new Promise((resolve) => setTimeout(resolve, 1500));
      print(await failed(() => strategy.reduce('SUM', tf.constant(1)).item()));
      await strategy.connect({ timeoutSeconds: 240 });
      print(await failed(() => run((x) => tf.cond(x.greater(rank), () => sum(x), () => sum([x, x])[0]))(tf.constant(0.5)).item()));
      await strategy.close();`,
    );
    for (const [rank, lines] of parsed(out).entries()) {
      expect(lines.slice(0, 8)).toEqual([[4, -2, 6], 4, 4, -2, 4 * (3 + rank), 16, 64, 12]);
      const late = ['DeadlineExceededError', expect.stringContaining('worker 1')];
      expect(lines.slice(8, 10)).toEqual(rank === 0 ? [late, late] : [0.5, late]);
      expect(lines[10]).toEqual(['InvalidArgumentError', expect.stringContaining('allReduce of 2 float32')]);
    }
  });

  it('say which of them is gone in the middle of training, and change nothing', async () => {
    const configs = await tfConfigs(2);
    const program = `${head}
      const w = strategy.scope(() => new tf.Variable(tf.ones([3])));
      const optimizer = strategy.scope(() => new tf.optimizers.SGD(1));
      const step = tf.function((x) => strategy.run((x) => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => w.mul(x).sum());
        optimizer.applyGradients(tape.gradient(loss, [w]), [w]);
        return loss;
      }, { args: [x] }));
      step(tf.ones([3]));
      console.log('stepped', w.array());
      if (rank === 1) process.kill(process.pid, 'SIGKILL');
      try { step(tf.ones([3])); } catch (error) { console.log(error.name, error.message); }
      console.log(w.array(), optimizer.iterations.item());`;
    const running = configs.map((TF_CONFIG) => start(program, { TF_CONFIG }));
    const [{ out, err }] = await Promise.all(running.map(({ ended }) => ended));
    expect(`${out}${err}`).toMatch(
      /^stepped \[ -1, -1, -1 \]\nUnavailableError .*worker 1 \(127.*\n\[ -1, -1, -1 \] 1/,
    );
  });

  it('refuse to begin before they have met', async () => {
    const [TF_CONFIG] = await tfConfigs(2);
    const { out } = await start(
      `${tf}
      const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
      try { strategy.scope(() => new tf.Variable(1)); } catch (error) { console.log(error.name, error.message); }
      try { await strategy.connect({ timeoutSeconds: 0.3 }); } catch (error) { console.log(error.name, error.message); }
      for (const options of [{ timeoutSeconds: 0 }, { heartbeatSeconds: 'x' }, { token: 1 }, { deterministic: 1 }, { wait: 1 }])
        try { await strategy.connect(options); console.log('no error'); } catch (error) { console.log(error.name); }`,
      { TF_CONFIG },
    ).ended;
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^FailedPreconditionError .*await strategy.connect\(\)/),
      expect.stringMatching(/^DeadlineExceededError worker 1 .* did not come/),
      ...Array(5).fill('InvalidArgumentError'),
    ]);
  });
});
