// What steps of several processes exchange: gradients in buckets, reduced while the backward pass goes on, and variables whose state is divided. Held
// against local replicas, bit by bit.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { heads, runWorkers, withoutGloo } from '../testing/processes.ts';
import { fromBfloat16, toBfloat16 } from './memory.ts';

const head = `${await heads.tf()}
const { CommunicationOptions } = tf.distribute.experimental;
const print = (value) => console.log(JSON.stringify(value));
const connected = async (options, more, shardOptimizerState = false) => {
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions: new CommunicationOptions(options), shardOptimizerState });
  await strategy.connect({ timeoutSeconds: 240, ...more });
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
describe.skipIf(withoutGloo !== undefined)('gradients in buckets', () => {
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

describe.skipIf(withoutGloo !== undefined)('state of optimizers in parts', () => {
  it('gives bit by bit what whole state gives', async () => {
    const out = await runWorkers(
      2,
      `${head}
      // One of a user's own, with a constraint on what it updates.
      class Signs extends tf.optimizers.Optimizer {
        build(variables) { if (this.built) return; super.build(variables); this.sums = new Map(variables.map((v) => [v, this.addVariableFromReference(v, 'sum')])); }
        updateStep(gradient, variable, rate) { const sum = this.sums.get(variable); sum.assign(sum.mul(0.5).add(gradient)); variable.assignSub(sum.sign().mul(rate)); }
      }
      const { SGD, Adam, Nadam, Adafactor, Lamb, LossScaleOptimizer, MultiOptimizer } = tf.optimizers;
      const all = {
        ...optimizers,
        averaged: () => new Adam(0.01, { useEma: true, emaMomentum: 0.8, emaOverwriteFrequency: 2, amsgrad: true }),
        nadam: () => new Nadam(0.01), adafactor: () => new Adafactor(0.1), lamb: () => new Lamb(0.01), own: () => new Signs(0.01),
        accumulatedAdam: () => new Adam(0.1, { gradientAccumulationSteps: 2, globalClipnorm: 0.1 }),
        scaled: () => new LossScaleOptimizer(new Adam(0.01), { dynamicGrowthSteps: 2 }),
        several: () => new MultiOptimizer((v) => (v.shape.length === 2 ? large : small)),
      };
      let large, small;
      const results = [];
      for (const sharded of [false, true]) {
        const strategy = await connected({ bytesPerPack: 100 }, {}, sharded);
        const scope = (fn) => strategy.scope(fn);
        const list = [];
        for (const [name, optimizer] of Object.entries(all)) {
          scope(() => { large = new Adam(0.01); small = new SGD(0.1, { momentum: 0.9 }); });
          list.push([name, await trained(scope, optimizer)]);
        }
        list.push(['eager', await trained(scope, all.adam, true)], ['eager, accumulated', await trained(scope, all.accumulatedAdam, true)]);
        for (const wrap of [(f) => f, tf.function]) {
          const [v, unit, optimizer] = scope(() => [
            new tf.Variable([3, 4]), Object.assign(new tf.Variable([3, 4]), { constraint: (v) => v.div(v.square().sum().sqrt()) }), new SGD(0.1, { momentum: 0.5 })]);
          const step = wrap((x) => strategy.run((x) => { optimizer.applyGradients([v.mul(x), unit.mul(x)], [v, unit]); }, { args: [x] }));
          for (let i = 0; i < 3; i++) step(tf.constant(i + strategy.collectives.rank));
          list.push(['loop', [v.array(), unit.array(), ...optimizer.variables.map((slot) => slot.sum().item())]]);
        }
        await strategy.close();
        results.push(list);
      }
      const [whole, parts] = results;
      print(whole.filter((one, i) => JSON.stringify(one) !== JSON.stringify(parts[i])).map(([name], i) => name));
      print(whole.length);
      print(parts);`,
    );
    for (const text of out) {
      const [different, count] = text.split('\n').map((line) => JSON.parse(line) as unknown);
      expect([different, count]).toEqual([[], 17]);
    }
    expect(out[1]).toBe(out[0]);
  });

  it('takes a part of the memory, is whole in checkpoints, and is refused where it cannot be divided', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-sharded-'));
    try {
      const out = await runWorkers(
        2,
        `${head}
        const failed = async (fn) => { try { await fn(); return 'nothing'; } catch (error) { return [error.name, error.message]; } };
        const path = (strategy) => process.env.FOLDER + '/' + (strategy.isChief ? 'whole' : 'other');
        const make = () => {
          const variables = Array.from({ length: 8 }, (_, i) => new tf.Variable(tf.ones([64, 256]).mul(i)));
          return { variables, optimizer: new tf.optimizers.Adam(0.1) };
        };
        const stepOf = (strategy, { variables, optimizer }) => (x) => strategy.run(() => {
          optimizer.applyGradients(variables.map((v) => v.sub(x)), variables);
        });
        // The bytes of slots whose memory is here.
        const kept = [];
        const isHere = (copy) => { try { return copy.read().size > 0; } catch { return false; } };
        const bytes = ({ optimizer }) => optimizer.variables.slice(2).flatMap((slot) => slot.values).filter(isHere).reduce((sum, { size }) => sum + 4 * size, 0);
        const sums = ({ variables, optimizer }) => [...variables, ...optimizer.variables].map((v) => v.sum().item());
        for (const sharded of [false, true]) {
          const strategy = await connected({}, {}, sharded);
          const one = strategy.scope(make);
          one.optimizer.build(one.variables);
          kept.push(bytes(one));
          const step = stepOf(strategy, one);
          step(2);
          if (sharded) {
            const { optimizer, variables } = one;
            print(await failed(() => optimizer.applyGradients(variables.map((v) => v.read()), variables)));
            print(await failed(() => optimizer.variables[2].assign([1])));
            print(String(optimizer.variables[2].describe()).slice(0, 24));
          }
          // Of parts into a whole, and of a whole into parts.
          const prefix = await new tf.train.Checkpoint(one).write(path(strategy));
          strategy.barrier();
          step(2);
          const expected = sums(one);
          await strategy.close();
          const next = await connected({}, {}, !sharded);
          const other = next.scope(make);
          other.optimizer.build(other.variables);
          await new tf.train.Checkpoint(other).read(process.env.FOLDER + '/whole');
          stepOf(next, other)(2);
          print(JSON.stringify(sums(other)) === JSON.stringify(expected));
          // Values that come when slots are made.
          const late = next.scope(make);
          await new tf.train.Checkpoint(late).read(process.env.FOLDER + '/whole');
          tf.function(stepOf(next, late))(2);
          print(JSON.stringify(sums(late)) === JSON.stringify(expected));
          next.barrier();
          await next.close();
        }
        print(kept);
        class Mixed extends tf.optimizers.Optimizer {
          build(variables) { if (this.built) return; super.build(variables); this.slots = variables.map((v) => this.addVariableFromReference(v, 'sum')); }
          updateStep(gradient, variable) { variable.assignSub(this.slots[0].add(this.slots[1]).add(gradient)); }
        }
        const strategy = await connected({}, {}, true);
        const [u, v, mixed] = strategy.scope(() => [new tf.Variable([1, 2]), new tf.Variable([1, 2]), new Mixed(0.1)]);
        print(await failed(() => strategy.run(() => { mixed.applyGradients([u.mul(1), v.mul(1)], [u, v]); })));
        print(await failed(() => new tf.distribute.MultiWorkerMirroredStrategy({ shardOptimizerState: 1 })));
        await strategy.close();`,
        { FOLDER: folder },
      );
      for (const text of out) {
        const lines = text.split('\n').map((line) => JSON.parse(line) as unknown);
        const [back, late, outside, shape, described, again, lateAgain, kept, mixed, wrong] = lines;
        expect([back, late, again, lateAgain]).toEqual([true, true, true, true]);
        expect(outside).toEqual(['FailedPreconditionError', expect.stringContaining('strategy.run')]);
        expect(shape).toEqual(['InvalidArgumentError', expect.stringContaining('assign')]);
        expect(described).toBe('OwnedVariable(process 0)');
        // Two slots of 64 KB for each of eight variables; four of them are here.
        expect(kept).toEqual([16 * 2 ** 16, 8 * 2 ** 16]);
        expect(mixed).toEqual(['UnimplementedError', expect.stringContaining('shardOptimizerState')]);
        expect(wrong).toEqual(['InvalidArgumentError', expect.stringContaining('true or false')]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
