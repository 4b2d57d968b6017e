import { describe, expect, it } from 'vitest';
import { heads, runWorkers, start, tfConfigs, withoutGloo } from '../testing/processes.ts';
import { MultiWorkerMirroredStrategy } from './multi-worker-mirrored.ts';

const head = `${heads.tf}
const strategy = new tf.distribute.MultiWorkerMirroredStrategy();
await strategy.connect({ timeoutSeconds: 30 });
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
      await strategy.close();`,
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
    for (const integers of [true, false]) {
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
      `${heads.tf}
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
