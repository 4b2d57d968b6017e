import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-optimizers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const names = [
  'SGD',
  'RMSprop',
  'Adam',
  'AdamW',
  'Adamax',
  'Nadam',
  'Adagrad',
  'Adadelta',
  'Adafactor',
  'Ftrl',
  'Lion',
  'Lamb',
  'Muon',
  'ScheduleFreeAdamW',
  'LazyAdam',
];

/** A little regression: what changes in a step, and a step. */
function problem(optimizer: tf.optimizers.Optimizer, dtype: 'float32' | 'float64') {
  const w = new tf.Variable(
    [
      [0.5, -1],
      [-0.25, 2],
      [1, 0.125],
    ],
    { name: 'w', dtype },
  );
  const b = new tf.Variable([0.1, 0.2], { name: 'b', dtype });
  const x = tf.constant(
    [
      [1, 2, 0.5],
      [3, -1, 0.25],
      [-0.5, 0.75, 1],
      [2, 1, -1],
    ],
    dtype,
  );
  const y = tf.constant(
    [
      [1, 0],
      [0, 1],
      [0.5, 0.5],
      [-1, 1],
    ],
    dtype,
  );
  const step = (): void => {
    const tape = new tf.GradientTape();
    const loss = x.matmul(w).add(b).sub(y).square().mean();
    optimizer.applyGradients(tape.gradient(loss, [w, b]), [w, b]);
  };
  return { w, b, step, values: (): number[] => [...w.data(), ...b.data()] as number[] };
}

test.each(names)('each variable of %s has a name of its own', (name) => {
  const optimizer = new tf.optimizers[name as 'Adam']({ useEma: true });
  problem(optimizer, 'float32').step();
  const given = optimizer.variables.map((v) => v.path);
  expect(new Set(given).size, given.join(' ')).toBe(given.length);
});

describe.each(names)('%s', (name) => {
  const make = (learningRate: tf.optimizers.LearningRate = 0.05): tf.optimizers.Optimizer =>
    tf.optimizers.deserialize({ class_name: name, config: { learning_rate: learningRate } });

  test.each(['float32', 'float64'] as const)('a traced step does what an eager one does, in %s', (dtype) => {
    const [eager, traced] = [problem(make(), dtype), problem(make(), dtype)];
    const step = tf.function(traced.step);
    for (let i = 0; i < 5; i++) {
      eager.step();
      step();
      // The learning rate is a float32 in a trace.
      traced.values().forEach((v, k) => expect(v).toBeCloseTo(eager.values()[k] as number, 5));
    }
    // The first trace makes the slots, as in TensorFlow.
    expect(step.experimentalGetTracingCount()).toBeLessThanOrEqual(2);
  });

  test('it makes the loss smaller', () => {
    const { step, w, b } = problem(make(name === 'Adadelta' ? 1 : 0.05), 'float32');
    const x = tf.constant([
      [1, 2, 0.5],
      [3, -1, 0.25],
      [-0.5, 0.75, 1],
      [2, 1, -1],
    ]);
    const y = tf.constant([
      [1, 0],
      [0, 1],
      [0.5, 0.5],
      [-1, 1],
    ]);
    const loss = (): number => x.matmul(w).add(b).sub(y).square().mean().item();
    const before = loss();
    const steps = tf.function(step);
    for (let i = 0; i < 100; i++) steps();
    expect(loss()).toBeLessThan(before * (['Adagrad', 'Adadelta'].includes(name) ? 0.8 : 0.3));
  });

  test('from a checkpoint it goes on as if nothing had happened', () => {
    const optimizer = make();
    const first = problem(optimizer, 'float32');
    for (let i = 0; i < 3; i++) first.step();
    const path = new tf.train.Checkpoint({ optimizer, w: first.w, b: first.b }).write(join(folder, name));
    const other = make(0.9);
    const second = problem(other, 'float32');
    const status = new tf.train.Checkpoint({ optimizer: other, w: second.w, b: second.b }).read(path);
    for (let i = 0; i < 3; i++) {
      first.step();
      second.step();
    }
    status.assertConsumed();
    expect(second.values()).toEqual(first.values());
    expect(other.learningRate).toBe(0.05);
  });
});

describe('moving averages of the variables', () => {
  const make = (): tf.optimizers.Optimizer =>
    new tf.optimizers.Adam(0.05, { useEma: true, emaMomentum: 0.5, emaOverwriteFrequency: 3 });

  test('a traced step does what an eager one does', () => {
    const [eager, traced] = [problem(make(), 'float32'), problem(make(), 'float32')];
    const step = tf.function(traced.step);
    for (let i = 0; i < 7; i++) {
      eager.step();
      step();
      traced.values().forEach((v, k) => expect(v).toBeCloseTo(eager.values()[k] as number, 5));
    }
  });

  test('they are in checkpoints, and take the place of the variables in the end', () => {
    const optimizer = new tf.optimizers.SGD(0.1, { useEma: true, emaMomentum: 0.5 });
    const first = problem(optimizer, 'float32');
    for (let i = 0; i < 3; i++) first.step();
    const path = new tf.train.Checkpoint({ optimizer, w: first.w, b: first.b }).write(join(folder, 'ema'));
    const other = new tf.optimizers.SGD(0.1, { useEma: true, emaMomentum: 0.5 });
    const second = problem(other, 'float32');
    const status = new tf.train.Checkpoint({ optimizer: other, w: second.w, b: second.b }).read(path);
    second.step();
    first.step();
    status.assertConsumed();
    const before = first.values();
    for (const [o, { w, b }] of [
      [optimizer, first],
      [other, second],
    ] as const)
      o.finalizeVariableValues([w, b]);
    expect(second.values()).toEqual(first.values());
    expect(first.values()).not.toEqual(before);
  });

  test('wrong options', () => {
    expect(() => new tf.optimizers.SGD({ useEma: true, emaMomentum: 2 })).toThrow(
      'emaMomentum must be between 0 and 1, got 2',
    );
    expect(() => new tf.optimizers.SGD({ useEma: true, emaOverwriteFrequency: 0.5 })).toThrow(
      'emaOverwriteFrequency must be an integer of at least 1, got 0.5',
    );
  });
});

test('MultiOptimizer trains a model, and goes on from a checkpoint and a configuration', async () => {
  const { Adam, MultiOptimizer, OptimizerMap, SGD } = tf.optimizers;
  const make = (): tf.Model => {
    tf.random.setSeed(3);
    const model = new tf.Sequential([
      tf.Input({ shape: [2] }),
      new tf.layers.Dense(4, { name: 'first', activation: 'tanh' }),
      new tf.layers.Dense(1, { name: 'last' }),
    ]);
    model.compile({
      optimizer: new MultiOptimizer(new OptimizerMap(new SGD(0.05), { '.*/last/.*': new Adam(0.05) })),
      loss: 'mse',
    });
    return model;
  };
  const x = tf.random.normal([32, 2], { seed: 1 });
  const y = tf.matmul(x, [[1], [-2]]);
  const options = { verbose: 0, shuffle: false } as const;
  const model = make();
  const callbacks = [new tf.keras.callbacks.TensorBoard(join(folder, 'logs'))];
  const { history } = await model.fit(x, y, { ...options, epochs: 3, callbacks });
  expect(history.loss?.[2]).toBeLessThan(history.loss?.[0] as number);
  const { optimizer } = model;
  expect(optimizer).toBeInstanceOf(MultiOptimizer);
  const steps = optimizer.variables.filter((v) => v.path.endsWith('/iteration')).map((v) => v.item());
  expect(steps).toEqual([3, 3, 3]);

  const path = new tf.train.Checkpoint({ model }).write(join(folder, 'multi'));
  const other = make();
  other.compile({ optimizer: tf.optimizers.deserialize(tf.optimizers.serialize(optimizer)), loss: 'mse' });
  const status = new tf.train.Checkpoint({ model: other }).read(path);
  await Promise.all([model.fit(x, y, options), other.fit(x, y, options)]);
  status.assertConsumed();
  other.weights.forEach((w, i) => {
    expect(w.array()).toEqual(model.weights[i]?.array());
  });
});
