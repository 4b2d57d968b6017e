import '@eagre/backend-js';
import '@eagre/backend-native';
import type { Tensor } from '@eagre/core';
import { losses } from '@eagre/metrics';
import { Adam, type Optimizer, SGD } from '@eagre/optimizers';
import { expect, test } from 'vitest';
import { BatchNormalization, Concatenate, Dense } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { l2 } from '../regularizers.ts';
import { assertClose, readGolden, tensorOf, type Values } from '../testing/golden.ts';
import type { CompileOptions } from './compile.ts';
import type { FitOptions, ValidationData } from './training-options.ts';

interface Case {
  readonly name: string;
  readonly model: keyof typeof models;
  readonly optimizer: { readonly class: 'SGD' | 'Adam'; readonly options: { readonly learningRate: number } };
  readonly loss: string;
  readonly x: string | string[];
  readonly y: string;
  readonly compile: Pick<CompileOptions, 'metrics' | 'weightedMetrics'>;
  readonly fit: Record<string, unknown>;
  readonly before: Values[];
  readonly history: Record<string, number[]>;
  readonly after: Values[];
  readonly evaluated: Record<string, number>;
  readonly predicted: Values;
}
const golden = readGolden<{
  readonly data: Record<string, Values>;
  readonly cases: readonly Case[];
  readonly on_batch: {
    readonly before: Values[];
    readonly parts: readonly (readonly [start: number, stop: number])[];
    readonly logs: readonly Record<string, number>[];
    readonly after: Values[];
    readonly predicted: Values;
  };
}>('training');

const data = (name: string): Tensor => {
  return tensorOf(golden.data[name] as Values, /abels|column/.test(name) ? 'int32' : 'float32');
};

const classifier = (between: BatchNormalization[], penalty: number | null): Sequential =>
  new Sequential([
    Input({ shape: [3] }),
    new Dense(4, { activation: 'tanh', kernelRegularizer: penalty === null ? null : l2(penalty) }),
    ...between,
    new Dense(3),
  ]);
const regressor = (activation: 'sigmoid' | 'linear'): Sequential =>
  new Sequential([Input({ shape: [3] }), new Dense(4, { activation: 'tanh' }), new Dense(1, { activation })]);

const models = {
  classifier: (): Model => classifier([], null),
  normalized: (): Model => classifier([new BatchNormalization()], null),
  penalized: (): Model => classifier([], 0.1),
  binary: (): Model => regressor('sigmoid'),
  regressor: (): Model => regressor('linear'),
  two_inputs: (): Model => {
    const inputs = [Input({ shape: [3] }), Input({ shape: [2] })] as const;
    const joined = new Concatenate()([new Dense(2, { activation: 'tanh' })(inputs[0]), inputs[1]]);
    return new Model({ inputs, outputs: new Dense(1)(joined) });
  },
};

function optimizerOf({ class: name, options }: Case['optimizer']): Optimizer {
  return name === 'SGD' ? new SGD(options) : new Adam(options);
}
function lossOf(name: string): losses.LossLike {
  if (name === 'sparse') return new losses.SparseCategoricalCrossentropy({ fromLogits: true });
  if (name === 'categorical') return new losses.CategoricalCrossentropy({ fromLogits: true });
  return losses.get(name);
}

const close = (got: ArrayLike<number | bigint>, expected: readonly number[], what: string): void =>
  assertClose(got, expected, what, 1e-5);

test.each(golden.cases.map((c) => [c.name, c] as const))('as Keras trains: %s', async (_, c) => {
  const model = models[c.model]();
  model.setWeights(c.before.map((w) => tensorOf(w)));
  model.compile({ optimizer: optimizerOf(c.optimizer), loss: lossOf(c.loss), ...c.compile });
  const options: Record<string, unknown> = { ...c.fit };
  if (c.fit['sampleWeight'] !== undefined) options['sampleWeight'] = data(c.fit['sampleWeight'] as string);
  if (c.fit['validationData'] !== undefined)
    options['validationData'] = (c.fit['validationData'] as string[]).map(data) as unknown as ValidationData;
  const x = Array.isArray(c.x) ? c.x.map(data) : data(c.x);

  const { history } = await model.fit(x, data(c.y), {
    batchSize: 4,
    epochs: 2,
    shuffle: false,
    verbose: 0,
    ...(options as FitOptions),
  });
  expect(Object.keys(history).sort()).toEqual(Object.keys(c.history).sort());
  for (const [name, values] of Object.entries(c.history)) close(history[name] as number[], values, name);
  const { weights } = model;
  c.after.forEach(({ values }, i) => {
    close((weights[i] as (typeof weights)[number]).data(), values, `weight ${i} after training`);
  });
  const evaluated = await model.evaluate(x, data(c.y), { batchSize: 5, verbose: 0 });
  expect(Object.keys(evaluated).sort()).toEqual(Object.keys(c.evaluated).sort());
  for (const [name, value] of Object.entries(c.evaluated)) close([evaluated[name] as number], [value], name);
  const predicted = await model.predict(x, { batchSize: 5 });
  expect(predicted.shape).toEqual(c.predicted.shape);
  close(predicted.data(), c.predicted.values, 'predictions');
});

test('single batches, as in Keras', () => {
  const { before, parts, logs, after, predicted } = golden.on_batch;
  const model = models.classifier();
  model.setWeights(before.map((w) => tensorOf(w)));
  model.compile({
    optimizer: new SGD(0.1),
    loss: lossOf('sparse'),
    metrics: ['accuracy'],
    weightedMetrics: ['accuracy'],
  });
  const part = (name: string, [start, stop]: readonly [number, number]): Tensor =>
    data(name).at(`${start}:${stop}`);
  const [x, labels] = [data('x'), data('labels')];
  const found = [
    ...parts.map((p) =>
      model.trainOnBatch(part('x', p), part('labels', p), { sampleWeight: part('weight', p) }),
    ),
    model.trainOnBatch(x, labels, { classWeight: { 0: 2, 2: 0.5 } }),
    ...parts.map((p) => model.testOnBatch(part('x', p), part('labels', p))),
  ];
  expect(found.length).toBe(logs.length);
  logs.forEach((log, i) => {
    expect(Object.keys(found[i] as object).sort()).toEqual(Object.keys(log).sort());
    for (const [name, value] of Object.entries(log))
      close([found[i]?.[name] as number], [value], `${i}: ${name}`);
  });
  after.forEach(({ values }, i) => close(model.weights[i]?.data() ?? [], values, `weight ${i}`));
  close(model.predictOnBatch(x).data(), predicted.values, 'predictions');
  model.resetMetrics();
  expect(model.metrics.map((m) => m.result().item())).toEqual([0, 0, 0]);
});

test('single batches of several inputs, and mistakes', () => {
  const model = models.two_inputs();
  model.compile({ loss: 'mse' });
  expect(model.predictOnBatch([data('x'), data('second')]).shape).toEqual([13, 1]);
  expect(Object.keys(model.testOnBatch([data('x'), data('second')], data('target')))).toEqual(['loss']);
  const wrong = { epochs: 1 } as never;
  expect(() => model.trainOnBatch([data('x'), data('second')], data('target'), wrong)).toThrow(
    "Model.trainOnBatch: 'epochs' is not an option; the options are x, y, sampleWeight, returnDict, classWeight",
  );
  expect(() => model.trainOnBatch([data('x'), data('second')])).toThrow('the loss needs targets: pass y');
  expect(() => models.regressor().testOnBatch(data('x'), data('target'))).toThrow('call model.compile');
});
