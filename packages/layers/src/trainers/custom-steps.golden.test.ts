// Models with steps of their own, as Keras's guides and examples write them.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { concat, constant, ones, type Tensor, Variable, zeros } from '@eagre/core';
import { losses, metrics } from '@eagre/metrics';
import { Adam, type Optimizer, SGD } from '@eagre/optimizers';
import { describe, expect, test, vi } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { assertClose, readGolden } from '../testing/golden.ts';
import type { CompileOptions, StepLogs } from './compile.ts';
import type { LossArguments } from './steps.ts';

interface Case {
  readonly history: Readonly<Record<string, number[]>>;
  readonly evaluated?: Readonly<Record<string, number>>;
}
const { cases } = readGolden<{ cases: Readonly<Record<string, Case>> }>('custom-steps');

/** Numbers that Python makes too. */
function values(rows: number, columns: number, shift = 0): Tensor {
  const flat = Array.from({ length: rows * columns }, (_, n) => Math.sin(n * 0.7 + shift));
  return constant(flat, 'float32', { shape: [rows, columns] });
}
function fill<M extends Model>(model: M): M {
  model.weights.forEach((w, i) => {
    w.assign(
      constant(Array.from({ length: w.size }, (_, n) => 0.3 * Math.cos(n * 1.3 + i))).reshape(w.shape),
    );
  });
  return model;
}
const [x, y] = [values(10, 3), values(10, 1, 2)];
const weight = Float32Array.from({ length: 10 }, (_, i) => 0.5 + i / 9);
const options = { epochs: 3, batchSize: 4, shuffle: false, verbose: 0 } as const;

function check(name: string, history: Readonly<Record<string, number[]>>, evaluated?: object): void {
  const expected = cases[name] as Case;
  expect(Object.keys(history).sort()).toEqual(Object.keys(expected.history).sort());
  for (const [key, numbers] of Object.entries(expected.history))
    assertClose(history[key] as number[], numbers, `${name}: ${key}`, 2e-5);
  if (expected.evaluated === undefined) return;
  expect(Object.keys(evaluated ?? {})).toEqual(Object.keys(expected.evaluated));
  assertClose(Object.values(evaluated ?? {}) as number[], Object.values(expected.evaluated), name, 2e-5);
}

/** How often code of the host ran: twice at most for each of two sizes of batches. */
let runs = 0;

function functional<M extends Model>(Class: new (inputs: never, outputs: never) => M): M {
  const inputs = Input({ shape: [3] });
  const hidden = new Dense(4, { activation: 'tanh' })(inputs);
  return fill(new Class(inputs as never, new Dense(1)(hidden) as never));
}
const dense = (sizes: readonly number[], columns: number): Sequential =>
  fill(
    new Sequential([
      Input({ shape: [columns] }),
      ...sizes.map((n, i) => new Dense(n, { activation: i + 1 < sizes.length ? 'tanh' : 'linear' })),
    ]),
  );

class WithComputeLoss extends Model {
  override trainStep(a: Tensor, b: Tensor, sampleWeight: Tensor | undefined): StepLogs {
    runs++;
    const tape = new GradientTape();
    const yPred = this(a, { training: true });
    const loss = this.computeLoss({ x: a, y: b, yPred, sampleWeight });
    const variables = this.trainableVariables;
    this.optimizer.applyGradients(tape.gradient(loss, variables), variables);
    return this.computeMetrics(a, b, yPred, sampleWeight);
  }
}

class ByHand extends Model {
  readonly lossTracker = new metrics.Mean('loss');
  readonly maeMetric = new metrics.MeanAbsoluteError('mae');
  readonly lossFn = new losses.MeanSquaredError();
  override trainStep(a: Tensor, b: Tensor): StepLogs {
    const tape = new GradientTape();
    const yPred = this(a, { training: true });
    const loss = this.lossFn(b, yPred);
    this.optimizer.applyGradients(tape.gradient(loss, this.trainableVariables), this.trainableVariables);
    this.lossTracker.updateState(loss);
    this.maeMetric.updateState(b, yPred);
    return { loss: this.lossTracker.result(), mae: this.maeMetric.result() };
  }
  override testStep(a: Tensor, b: Tensor): StepLogs {
    const yPred = this(a, { training: false });
    this.lossTracker.updateState(this.lossFn(b, yPred));
    this.maeMetric.updateState(b, yPred);
    return Object.fromEntries(this.metrics.map((m) => [m.name, m.result()]));
  }
  override get metrics(): metrics.Metric[] {
    return [this.lossTracker, this.maeMetric];
  }
}

class OverMetrics extends Model {
  account(b: Tensor, yPred: Tensor): Tensor {
    const loss = this.computeLoss({ y: b, yPred });
    for (const metric of this.metrics) {
      if (metric.name === 'loss') metric.updateState(loss);
      else metric.updateState(b, yPred);
    }
    return loss;
  }
  override trainStep(a: Tensor, b: Tensor): StepLogs {
    const tape = new GradientTape();
    const loss = this.account(b, this(a, { training: true }));
    this.optimizer.applyGradients(tape.gradient(loss, this.trainableVariables), this.trainableVariables);
    return Object.fromEntries(this.metrics.map((m) => [m.name, m.result()]));
  }
  override testStep(a: Tensor, b: Tensor): StepLogs {
    this.account(b, this(a, { training: false }));
    return Object.fromEntries(this.metrics.map((m) => [m.name, m.result()]));
  }
}

class OwnLoss extends Model {
  override computeLoss({ y: b, yPred }: LossArguments): Tensor {
    const [target, prediction] = [b as Tensor, yPred as Tensor];
    return prediction.sub(target).square().mean().add(prediction.abs().mean().mul(0.1));
  }
}

interface GanOptions extends CompileOptions {
  readonly dOptimizer: Optimizer;
  readonly gOptimizer: Optimizer;
  readonly lossFn: losses.Loss;
}
class Gan extends Model {
  readonly dLossTracker = new metrics.Mean('d_loss');
  readonly gLossTracker = new metrics.Mean('g_loss');
  declare dOptimizer: Optimizer;
  declare gOptimizer: Optimizer;
  declare lossFn: losses.Loss;
  readonly discriminator: Model;
  readonly generator: Model;
  constructor(discriminator: Model, generator: Model) {
    super();
    this.discriminator = discriminator;
    this.generator = generator;
  }
  override compile({ dOptimizer, gOptimizer, lossFn, ...more }: GanOptions): void {
    super.compile(more);
    Object.assign(this, { dOptimizer, gOptimizer, lossFn });
  }
  override get metrics(): metrics.Metric[] {
    return [this.dLossTracker, this.gLossTracker];
  }
  override trainStep([real, noise]: readonly [Tensor, Tensor]): StepLogs {
    const n = real.shape[0] as number;
    const combined = concat([this.generator(noise), real], 0);
    const labels = concat([ones([n, 1]), zeros([n, 1])], 0);
    const tape = new GradientTape();
    const dLoss = this.lossFn(labels, this.discriminator(combined));
    const ofD = this.discriminator.trainableVariables;
    this.dOptimizer.applyGradients(tape.gradient(dLoss, ofD), ofD);
    const second = new GradientTape();
    const gLoss = this.lossFn(zeros([n, 1]), this.discriminator(this.generator(noise)));
    const ofG = this.generator.trainableVariables;
    this.gOptimizer.applyGradients(second.gradient(gLoss, ofG), ofG);
    this.dLossTracker.updateState(dLoss);
    this.gLossTracker.updateState(gLoss);
    return { d_loss: this.dLossTracker.result(), g_loss: this.gLossTracker.result() };
  }
}

class Vae extends Model {
  readonly totalLossTracker = new metrics.Mean('total_loss');
  readonly reconstructionLossTracker = new metrics.Mean('reconstruction_loss');
  readonly klLossTracker = new metrics.Mean('kl_loss');
  readonly encoder: Model;
  readonly decoder: Model;
  constructor(encoder: Model, decoder: Model) {
    super();
    this.encoder = encoder;
    this.decoder = decoder;
  }
  override get metrics(): metrics.Metric[] {
    return [this.totalLossTracker, this.reconstructionLossTracker, this.klLossTracker];
  }
  override trainStep([a, epsilon]: readonly [Tensor, Tensor]): StepLogs {
    const tape = new GradientTape();
    const [zMean, zLogVar] = this.encoder(a).split(2, -1) as [Tensor, Tensor];
    const z = zMean.add(zLogVar.mul(0.5).exp().mul(epsilon));
    const reconstruction = a.sub(this.decoder(z)).square().sum(1).mean();
    const kl = zLogVar.add(1).sub(zMean.square()).sub(zLogVar.exp()).mul(-0.5).sum(1).mean();
    const total = reconstruction.add(kl);
    this.optimizer.applyGradients(tape.gradient(total, this.trainableVariables), this.trainableVariables);
    this.totalLossTracker.updateState(total);
    this.reconstructionLossTracker.updateState(reconstruction);
    this.klLossTracker.updateState(kl);
    return Object.fromEntries(this.metrics.map((m) => [m.name, m.result()]));
  }
}

const noise = values(10, 2, 5);
const pairs = [0, 4, 8].map((at) => [[x, noise].map((t) => t.at(`${at}:${Math.min(at + 4, 10)}`))] as const);
const batches = { [Symbol.iterator]: () => pairs[Symbol.iterator]() } as never;
const passes = { epochs: 3, verbose: 0 } as const;

describe.each([false, true])('runEagerly: %s', (runEagerly) => {
  test('computeLoss and computeMetrics', async () => {
    runs = 0;
    const model = functional(WithComputeLoss);
    model.compile({
      optimizer: new SGD(0.1),
      loss: 'mse',
      metrics: ['mae'],
      weightedMetrics: ['mse'],
      runEagerly,
    });
    check('compute_loss', (await model.fit(x, y, { ...options, sampleWeight: weight })).history);
    expect(runs).toBeLessThan(runEagerly ? 10 : 4);
    expect(model.loss).toBe('mse');
  });
  test('a loop by hand', async () => {
    const model = functional(ByHand);
    model.compile({ optimizer: new Adam(0.01), runEagerly });
    const validationData = [x.at(':5'), y.at(':5')] as const;
    const { history } = await model.fit(x, y, { ...options, validationData });
    check('by_hand', history, await model.evaluate(x, y, { batchSize: 4, verbose: 0 }));
  });
  test('a loop over the metrics, which were given by name', async () => {
    const model = functional(OverMetrics);
    model.compile({ optimizer: new SGD(0.1), loss: 'mse', metrics: ['mae', 'accuracy'], runEagerly });
    const signs = y.greater(0).cast('float32');
    const validationData = [x.at(':5'), signs.at(':5')] as const;
    const { history } = await model.fit(x, signs, { ...options, validationData });
    const { loss, mae, accuracy } = await model.evaluate(x, signs, { batchSize: 4, verbose: 0 });
    // Keras's list has the metrics of compile as one object, so its order is another.
    check('over_metrics', history, { accuracy, mae, loss });
    expect(model.metrics.map((m) => m.constructor.name)).toEqual([
      'Mean',
      'MeanAbsoluteError',
      'BinaryAccuracy',
    ]);
  });
  test('a loss of its own', async () => {
    const model = functional(OwnLoss);
    model.compile({ optimizer: new SGD(0.1), metrics: ['mae'], runEagerly });
    const { history } = await model.fit(x, y, options);
    check('own_loss', history, await model.evaluate(x, y, { batchSize: 4, verbose: 0 }));
  });
  test('two networks with an optimizer each', async () => {
    const gan = new Gan(dense([5, 1], 3), dense([4, 3], 2));
    gan.compile({
      dOptimizer: new Adam(0.02),
      gOptimizer: new Adam(0.01),
      lossFn: new losses.BinaryCrossentropy({ fromLogits: true }),
      runEagerly,
    });
    check('gan', (await gan.fit(batches, passes)).history);
  });
  test('an autoencoder with trackers of its own', async () => {
    const vae = new Vae(dense([5, 4], 3), dense([4, 3], 2));
    vae.compile({ optimizer: new Adam(0.01), runEagerly });
    check('vae', (await vae.fit(batches, passes)).history);
  });
});

test('a step of prediction', async () => {
  let traces = 0;
  class Doubles extends Sequential {
    override predictStep(a: Tensor): Tensor {
      traces++;
      return this(a).mul(2);
    }
  }
  const model = new Doubles([new Dense(2, { inputShape: [3] })]);
  const expected = model(x).mul(2).array();
  expect((await model.predict(x, { batchSize: 5 })).array()).toEqual(expected);
  expect(model.predictOnBatch(x.at(':5')).shape).toEqual([5, 2]);
  expect(traces).toBe(1);
});

test('what a step returns', async () => {
  class Own extends Sequential {
    result: unknown;
    override trainStep(): StepLogs {
      return this.result as StepLogs;
    }
  }
  const model = new Own([new Dense(1)]);
  const shown = async (result: unknown): Promise<unknown> => {
    model.result = result;
    model.compile();
    return (await model.fit(x, y, { ...options, epochs: 1 })).history;
  };
  expect(await shown({ a: 2, b: constant(3), c: { d: constant([4]) } })).toEqual({ a: [2], b: [3], d: [4] });
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  model.result = { a: constant(3) };
  for (const verbose of [1, 2] as const) await model.fit(x, y, { epochs: 1, verbose });
  expect(
    log.mock.calls
      .flat()
      .join('\n')
      .match(/a: 3\.0000/g),
  ).toHaveLength(2);
  log.mockRestore();
  await expect(shown(undefined)).rejects.toThrow('trainStep must return an object of numbers');
  await expect(shown({ a: 'x' })).rejects.toThrow("trainStep returned 'x' as 'a'");
  await expect(shown({ a: constant([1, 2]) })).rejects.toThrow("'a' returns several numbers");
  await expect(shown(new Variable(1))).rejects.toThrow('trainStep must return an object');
});
