// Gradients in buckets, reduced while the backward pass goes on; held against local replicas, bit by bit.
import { describe, expect, it } from 'vitest';
import { heads, runWorkers, withoutGloo } from '../testing/processes.ts';
import { fromBfloat16, toBfloat16 } from './memory.ts';

const head = `${await heads.tf()}
const { CommunicationOptions } = tf.distribute.experimental;
const print = (value) => console.log(JSON.stringify(value));
const connected = async (options, more) => {
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions: new CommunicationOptions(options) });
  await strategy.connect({ timeoutSeconds: 60, ...more });
  return strategy;
};
const x = tf.random.statelessNormal([32, 6], [1, 2]);
const y = x.sum(1, { keepdims: true }).sin();
const dense = (units, more) => new tf.layers.Dense(units, { kernelInitializer: new tf.initializers.GlorotUniform({ seed: units }), ...more });
const build = (optimizer) => () => {
  const model = new tf.Sequential([dense(8, { activation: 'tanh', inputShape: [6] }), dense(7, { activation: 'tanh' }), dense(1)]);
  model.compile({ optimizer: optimizer(), loss: 'mse' });
  return model;
};
const optimizers = {
  sgd: () => new tf.optimizers.SGD(0.1, { momentum: 0.9 }), adam: () => new tf.optimizers.Adam(0.01),
  clipped: () => new tf.optimizers.SGD(0.1, { globalClipnorm: 0.1 }), decayed: () => new tf.optimizers.AdamW(0.01, { weightDecay: 0.1 }),
  accumulated: () => new tf.optimizers.SGD(0.1, { gradientAccumulationSteps: 2 }),
};
const trained = async (scope, optimizer, runEagerly = false) => {
  const model = scope(build(optimizer));
  if (runEagerly) scope(() => model.compile({ optimizer: optimizer(), loss: 'mse', runEagerly }));
  const { history } = await model.fit(x, y, { batchSize: 8, epochs: 3, shuffle: false, verbose: 0 });
  return [history.loss, ...model.getWeights().map((w) => Array.from(w.data()))];
};
const local = (count) => {
  const [cpu] = tf.config.listPhysicalDevices('CPU');
  tf.config.setLogicalDeviceConfiguration(cpu, Array.from({ length: count }, () => new tf.config.LogicalDeviceConfiguration()));
  const strategy = new tf.distribute.MirroredStrategy(Array.from({ length: count }, (_, i) => '/cpu:' + i));
  return (fn) => strategy.scope(fn);
};
`;

it('rounds to bfloat16 as hardware does, and back', () => {
  const x = Float32Array.of(1, 1.00390625, 1.01171875, -3.1419, Infinity, NaN, 1e-45, 0, 3.4e38);
  const back = fromBfloat16(toBfloat16(x));
  expect([...back]).toEqual([1, 1, 1.015625, -3.140625, Infinity, NaN, 0, 0, Infinity]);
});

// Programs of several processes take their time where a machine is busy.
describe.skipIf(withoutGloo !== undefined)('gradients in buckets', { timeout: 240_000 }, () => {
  it('are bit by bit those of two local replicas, however they are packed', async () => {
    const out = await runWorkers(
      2,
      `${head}
      const small = await connected({ bytesPerPack: 40 });
      const results = [];
      for (const optimizer of Object.values(optimizers)) results.push(await trained((fn) => small.scope(fn), optimizer));
      results.push(await trained((fn) => small.scope(fn), optimizers.adam, true));
      const model = small.scope(() => build(optimizers.sgd)());
      const step = tf.function((x, y) => small.run((x, y) => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => model(x).sub(y).square().mean());
        const variables = model.trainableVariables;
        model.optimizer.applyGradients(tape.gradient(loss, variables), variables);
      }, { args: [x, y] }));
      const lines = String(step.getConcreteFunction(x, y).graph).split('\\n');
      print(lines.map((line) => /CollectiveReduce\\w*|MatMul/.exec(line)?.[0]).filter(Boolean));
      await small.close();
      const whole = await connected({});
      for (const optimizer of [optimizers.sgd, optimizers.adam]) results.push(await trained((fn) => whole.scope(fn), optimizer));
      await whole.close();
      const two = local(2);
      const expected = [];
      for (const optimizer of Object.values(optimizers)) expected.push(await trained(two, optimizer));
      expected.push(expected[1], expected[0], expected[1]);
      print(results.map((one, i) => JSON.stringify(one) === JSON.stringify(expected[i])));
      print(results[0][0]);`,
    );
    for (const text of out) {
      const [kinds, equal, losses] = text.split('\n').map((line) => JSON.parse(line)) as [
        string[],
        boolean[],
        number[],
      ];
      expect(equal).toEqual(Array(8).fill(true));
      expect(losses[2]).toBeLessThan(losses[0] as number);
      // Sums start between the products of the backward pass, and one ends them all.
      const first = kinds.indexOf('CollectiveReduceStart');
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(kinds.lastIndexOf('MatMul'));
      expect(kinds.filter((kind) => kind === 'CollectiveReduceStart')).toHaveLength(2);
      expect(kinds.at(-1)).toBe('CollectiveReduceV2');
    }
  });

  it('are bit by bit those of four local replicas in deterministic mode', async () => {
    const out = await runWorkers(
      4,
      `${head}
      const strategy = await connected({ bytesPerPack: 100 }, { deterministic: true });
      const results = [];
      for (const optimizer of [optimizers.sgd, optimizers.adam]) results.push(await trained((fn) => strategy.scope(fn), optimizer));
      const four = local(4);
      const expected = [];
      for (const optimizer of [optimizers.sgd, optimizers.adam]) expected.push(await trained(four, optimizer));
      print(results.map((one, i) => JSON.stringify(one) === JSON.stringify(expected[i])));
      await strategy.close();`,
    );
    expect(out).toEqual(Array(4).fill('[true,true]'));
  });

  it('may travel as 16-bit floats: alike in all processes, and near', async () => {
    const out = await runWorkers(
      2,
      `${head}
      const strategy = await connected({ compression: 'BFLOAT16' });
      const results = await trained((fn) => strategy.scope(fn), optimizers.sgd);
      const expected = await trained(local(2), optimizers.sgd);
      print(results);
      print(expected);
      await strategy.close();`,
    );
    expect(out[1]).toBe(out[0]);
    const [found, exact] = (out[0] as string)
      .split('\n')
      .map((line) => (JSON.parse(line) as number[][]).flat()) as [number[], number[]];
    expect(found).not.toEqual(exact);
    found.forEach((value, i) => {
      expect(Math.abs(value - (exact[i] as number))).toBeLessThan(0.02);
    });
  });

  it('say on all processes that one is lost, and leave the weights as they were', async () => {
    const out = await runWorkers(
      2,
      `${head}
      const strategy = await connected({ bytesPerPack: 40 });
      const model = strategy.scope(build(optimizers.sgd));
      const fit = () => model.fit(x, y, { batchSize: 32, shuffle: false, verbose: 0 });
      await fit();
      const before = JSON.stringify(model.getWeights().map((w) => w.array()));
      if (strategy.collectives.rank === 1) await strategy.close();
      try { await fit(); print('no error'); } catch (error) { print(error.name); }
      print(JSON.stringify(model.getWeights().map((w) => w.array())) === before);`,
    );
    expect(out).toEqual(['"UnavailableError"\ntrue', '"FailedPreconditionError"\ntrue']);
  });
});
