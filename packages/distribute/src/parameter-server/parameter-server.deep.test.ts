import { afterEach, describe, expect, it } from 'vitest';
import { heads, type ServedCluster, startServed } from '../testing/processes.ts';

const tf = await heads.tf();
const head = `
const print = (value) => console.log(JSON.stringify(value));
const failed = async (fn) => { try { await fn(); return 'nothing'; } catch (error) { return [error.name, error.message]; } };
`;
const connect = `${head}
const shards = Number(process.env.SHARDS ?? 0);
const variablePartitioner = shards > 0 ? new tf.distribute.experimental.partitioners.FixedShardsPartitioner(shards) : null;
const strategy = new tf.distribute.ParameterServerStrategy({ variablePartitioner });
await strategy.connect({ timeoutSeconds: 240 });
const coordinator = new tf.distribute.coordinator.ClusterCoordinator(strategy);
`;

let cluster: ServedCluster | undefined;
afterEach(async () => {
  await cluster?.end();
  cluster = undefined;
});

/** Runs a program in a cluster. @returns what it printed */
async function lines(program: string, options: Parameters<typeof startServed>[2] = {}): Promise<unknown[]> {
  cluster = await startServed(tf, `${connect}${program}\nawait strategy.close();`, options);
  const { code, out, err } = await cluster.coordinator.ended;
  if (code !== 0) throw new Error(`ended with ${code}\n${out}\n${err}`);
  // What the program ends, the servers end too.
  for (const [name, { ended }] of Object.entries(cluster.servers)) {
    const outcome = await ended;
    if (outcome.code !== 0) throw new Error(`${name} ended with ${outcome.code}: ${outcome.err}`);
  }
  return out.split('\n').map((line) => JSON.parse(line) as unknown);
}

describe('a coordinator', () => {
  it('makes, reads and changes variables of parameter servers', async () => {
    const out = await lines(
      `
      const v = strategy.scope(() => new tf.Variable([1, 2, 3]));
      print(v.array());
      v.assignAdd([1, 1, 1]).assignSub(2);
      print(v.mul(2).array());
      v.scatterUpdate(new tf.IndexedSlices([7], [1]));
      print(v.array());
      print(await failed(() => v.assign([1, 2])));
      const f = coordinator.schedule((x) => { v.assignAdd(x); return { sum: v.sum(), name: 'f' }; }, [tf.ones([3])]);
      await coordinator.join();
      const { sum, name } = await f.fetch();
      print([sum.array(), name, v.array(), v.device]);
      `,
      { ps: 2 },
    );
    expect(out).toEqual([
      [1, 2, 3],
      [0, 2, 4],
      [0, 7, 2],
      ['InvalidArgumentError', expect.stringContaining('cannot assign')],
      [12, 'f', [1, 8, 3], '/job:ps/task:0/device:CPU:0'],
    ]);
  });

  it('trains as one process does where nothing runs at once: the update is made next to each variable', async () => {
    const out = await lines(
      `
      const x = tf.random.statelessNormal([6, 8, 3], [1, 2]);
      const y = x.sum(-1, { keepdims: true });
      const make = (Optimizer, options) => ({
        w: new tf.Variable(tf.ones([3, 1]).mul(0.5)), b: new tf.Variable([0.1]), optimizer: new Optimizer(options) });
      const stepOf = ({ w, b, optimizer }) => (x, y) => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => x.matmul(w).add(b).sub(y).square().mean());
        optimizer.applyGradients(tape.gradient(loss, [w, b]), [w, b]);
        return loss;
      };
      for (const [Optimizer, options] of [
        [tf.optimizers.SGD, { learningRate: 0.1 }],
        [tf.optimizers.SGD, { learningRate: 0.1, momentum: 0.9 }],
        [tf.optimizers.Adam, { learningRate: 0.1, globalClipnorm: 0.5 }],
        [tf.optimizers.Adam, { learningRate: new tf.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5) }],
        [tf.optimizers.RMSprop, { learningRate: 0.01, weightDecay: 0.01 }],
        [tf.optimizers.Adagrad, { learningRate: 0.1 }],
      ]) {
        const one = make(Optimizer, options);
        const step = stepOf(one);
        const expected = [];
        for (let i = 0; i < 6; i++) expected.push(step(x.gather(i), y.gather(i)).item());
        const served = strategy.scope(() => make(Optimizer, options));
        const there = tf.function(stepOf(served));
        const losses = [];
        for (let i = 0; i < 6; i++) {
          const loss = coordinator.schedule(there, [x.gather(i), y.gather(i)]);
          await coordinator.join();
          losses.push((await loss.fetch()).item());
        }
        print([losses, served.w.array(), served.optimizer.iterations.item(), served.optimizer.variables.map((v) => v.device.split('/')[2])]);
        print([expected, one.w.array()]);
      }
      `,
      { ps: 2 },
    );
    for (let i = 0; i < out.length; i += 2) {
      const [losses, w, iterations, devices] = out[i] as [number[], number[][], number, string[]];
      const [expected, single] = out[i + 1] as [number[], number[][]];
      losses.forEach((loss, k) => expect(loss).toBeCloseTo(expected[k] as number, 5));
      w.flat().forEach((value, k) => expect(value).toBeCloseTo(single.flat()[k] as number, 5));
      expect(iterations).toBe(6);
      expect(devices.length).toBeGreaterThan(0);
    }
  });

  it('divides variables, reads datasets for workers, and keeps what workers hold', async () => {
    const out = await lines(
      `
      const [t, e] = strategy.scope(() => [
        new tf.Variable(tf.range(14).reshape([7, 2]).cast('float32')),
        new tf.layers.Embedding(7, 2, { embeddingsInitializer: 'ones' }),
      ]);
      print([t instanceof tf.distribute.ShardedVariable, t.variables.map((v) => [v.shape, v.device.split('/')[2]]), t.array()[6]]);
      t.scatterAdd(new tf.IndexedSlices([[1, 1], [2, 2]], [6, 0]));
      t.scatterUpdate(new tf.IndexedSlices([[9, 9]], [3]));
      t.assignSub(1);
      print(t.array());
      const optimizer = strategy.scope(() => new tf.optimizers.Adagrad(0.5));
      const step = (rows) => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => e(rows).sum());
        optimizer.applyGradients(tape.gradient(loss, e.trainableVariables), e.trainableVariables);
      };
      coordinator.schedule(tf.function(step), [tf.constant([1, 5, 5], 'int32')]);
      await coordinator.join();
      const alone = new tf.layers.Embedding(7, 2, { embeddingsInitializer: 'ones' });
      const single = new tf.optimizers.Adagrad(0.5);
      const tape = new tf.GradientTape();
      const loss = tape.record(() => alone(tf.constant([1, 5, 5], 'int32')).sum());
      single.applyGradients(tape.gradient(loss, alone.trainableVariables), alone.trainableVariables);
      print([e.getWeights()[0].array(), alone.getWeights()[0].array()]);

      const sum = strategy.scope(() => new tf.Variable(0));
      const dataset = coordinator.createPerWorkerDataset((context) =>
        tf.data.Dataset.range(6).shard(context.numInputPipelines, context.inputPipelineId).map((x) => x.cast('float32')));
      const iterator = dataset.iterator();
      const base = coordinator.createPerWorkerResource(() => tf.constant(100));
      const both = (it, base) => { const a = it.next().value; const b = it.getNext(); sum.assignAdd(a.add(b)); return base.add(a); };
      const values = [coordinator.schedule(both, [iterator, base]), coordinator.schedule(both, [iterator, base])];
      await coordinator.join();
      const fetched = (await coordinator.fetch(values)).map((x) => x.item());
      print([sum.item(), fetched.toSorted()]);
      for (let i = 0; i < 4; i++) { try { coordinator.schedule(both, [iterator, base]); } catch {} }
      print(await failed(() => coordinator.join()));
      print(await failed(() => iterator.next()));

      const cases = [
        () => { throw new RangeError('own'); },
        () => { tf.cond(sum.less(1e9), () => { sum.assign(0); return 1; }, () => 2); },
        () => new tf.Variable(1).read(),
        () => tf.reshape(sum, [2]),
        (x) => tf.debugging.assertLess(x, 0),
        (x) => tf.pyFunction((v) => v, [x], 'float32'),
        (x) => tf.constant([1, 2]).gather(x.cast('int32').add(7)),
        () => tf.constant(sum.item()),
        () => tf.constant(t.array()),
      ];
      for (const fn of cases) {
        const first = coordinator.schedule(fn, [tf.constant(1)]);
        await failed(() => first.fetch());
        print([await failed(() => coordinator.join()), await failed(() => first.fetch()), await failed(() => coordinator.join())]);
      }
      const late = Array.from({ length: 5 }, () => coordinator.schedule(cases[0]));
      print([await failed(() => coordinator.join()), await failed(() => late[4].fetch())]);
      print([coordinator.done(), String(late[0])]);
      `,
      {
        ps: 2,
        env: { SHARDS: '3' },
      },
    );
    expect(out[0]).toEqual([
      true,
      [
        [[3, 2], 'task:0'],
        [[2, 2], 'task:1'],
        [[2, 2], 'task:0'],
      ],
      [12, 13],
    ]);
    expect(out[1]).toEqual([
      [1, 2],
      [1, 2],
      [3, 4],
      [8, 8],
      [7, 8],
      [9, 10],
      [12, 13],
    ]);
    const [there, here] = out[2] as [number[][], number[][]];
    there.flat().forEach((value, i) => expect(value).toBeCloseTo(here.flat()[i] as number, 6));
    // Each worker has three elements: two are taken by a call.
    expect([6, 9, 12, 15]).toContain((out[3] as [number])[0]);
    expect(out[4]).toEqual(['OutOfRangeError', expect.stringContaining('End of sequence')]);
    expect(out[5]).toEqual(['FailedPreconditionError', expect.stringContaining('coordinator.schedule')]);
    const errors = out.slice(6, 15) as [string, string][][];
    for (const [joined, fetched, again] of errors) {
      expect(fetched).toEqual(joined);
      expect(again).toBe('nothing');
    }
    expect(errors.map(([joined]) => joined?.[0])).toEqual([
      'RangeError',
      'FailedPreconditionError',
      'InvalidArgumentError',
      'InvalidArgumentError',
      // Workers look at values, but have no code of the coordinator's.
      'InvalidArgumentError',
      'UnimplementedError',
      expect.stringMatching(/^(OutOfRange|InvalidArgument)Error$/),
      // While it is traced, a variable has no value.
      'OperatorNotAllowedInGraphError',
      'OperatorNotAllowedInGraphError',
    ]);
    expect(out[15]).toEqual([
      ['RangeError', 'own'],
      ['CancelledError', expect.stringContaining('another')],
    ]);
    expect(out[16]).toEqual([true, 'RemoteValue(done)']);
  });
});
