import '@eagre/backend-js';
import '@eagre/backend-native';
import '../index.ts';
import { constant, InvalidArgumentError, random, type Tensor } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { losses } from '@eagre/metrics';
import { Adam, SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Sequential } from '../models/sequential.ts';
import { deserializeLayer, serializeLayer } from '../saving/serialization.ts';
import { assertClose, readGolden } from '../testing/golden.ts';
import {
  DistillationLoss,
  Distiller,
  type DistillerOptions,
  FeatureDistillation,
  LogitsDistillation,
} from './index.ts';

interface Written {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
}
const golden = readGolden<{
  teacher: number[][];
  student: number[][];
  cases: Readonly<Record<string, { loss: number; config: Readonly<Record<string, unknown>> }>>;
  trained: Readonly<
    Record<
      string,
      {
        history: Readonly<Record<string, number[]>>;
        evaluated: Readonly<Record<string, number>>;
        trainable: number;
        module: string;
        config_keys: string[];
        losses: Written[];
      }
    >
  >;
}>('distillation');
const json = (value: unknown): Record<string, unknown> => JSON.parse(JSON.stringify(value));

const made: Readonly<Record<string, () => DistillationLoss>> = {
  default: () => new LogitsDistillation(),
  ...Object.fromEntries(
    ['kl_divergence', 'kld', 'KLDivergence', 'mse', 'mean_absolute_error', 'categorical_crossentropy'].map(
      (loss) => [`logits ${loss}`, () => new LogitsDistillation({ temperature: 2.5, loss })],
    ),
  ),
  'logits KLDivergence object': () => new LogitsDistillation(4, new losses.KLDivergence()),
  'logits crossentropy object': () =>
    new LogitsDistillation({
      temperature: 2,
      loss: new losses.CategoricalCrossentropy({ fromLogits: true }),
    }),
  features: () => new FeatureDistillation(),
  'features cosine_similarity': () => new FeatureDistillation({ loss: 'cosine_similarity' }),
  'features object': () => new FeatureDistillation(new losses.Huber({ delta: 0.5 }), 'a', 'b'),
};

test('every case of the golden file is made here', () => {
  expect(Object.keys(made)).toEqual(Object.keys(golden.cases));
});
test.each(Object.entries(golden.cases))('%s is as in Keras, also read from a file', (name, keras) => {
  const loss = (made[name] as () => DistillationLoss)();
  const [teacher, student] = [constant(golden.teacher), constant(golden.student)];
  assertClose([loss.computeLoss(teacher, student).item() as number], [keras.loss], name, 1e-5);
  const config = json(loss.getConfig());
  // Keras forgets Huber's delta.
  const inner = config['loss'] as Written;
  if (name === 'features object') delete (inner.config as Record<string, unknown>)['delta'];
  expect(config).toEqual(keras.config);
  const Class = loss.constructor as typeof LogitsDistillation;
  if (name === 'features object') return;
  for (const given of [keras.config, loss.getConfig()]) {
    const again = Class.fromConfig(given);
    expect(again.computeLoss(teacher, student).item()).toBe(loss.computeLoss(teacher, student).item());
  }
});

test('the name kl_divergence is not the class KLDivergence', () => {
  const [named, object] = ['logits kl_divergence', 'logits KLDivergence'].map(
    (name) => golden.cases[name]?.loss,
  );
  expect(named).not.toBeCloseTo(object as number, 3);
});

test('several outputs have losses of their own, or none', () => {
  const [teacher, student] = [constant(golden.teacher), constant(golden.student)];
  const one = new FeatureDistillation('mse').computeLoss(teacher, student).item();
  const loss = new FeatureDistillation({ loss: ['mse', null] });
  expect(loss.computeLoss([teacher, teacher], [student, student]).item()).toBe(one);
  expect(FeatureDistillation.fromConfig(json(loss.getConfig())).getConfig()).toEqual(loss.getConfig());
  expect(() => loss.validateOutputs(teacher, student)).toThrow();
  const byName = new LogitsDistillation({ temperature: 1, loss: { a: 'mse', b: 'mse' } });
  const twice = byName.computeLoss({ a: teacher, b: teacher }, { a: student, b: student }).item() as number;
  expect(twice).toBeCloseTo(2 * (one as number), 5);
});

function values(rows: number, columns: number, shift = 0): Tensor {
  const flat = Array.from({ length: rows * columns }, (_, n) => Math.sin(n * 0.7 + shift));
  return constant(flat, 'float32', { shape: [rows, columns] });
}
function model(units: number, name: string): Sequential {
  const m = new Sequential(
    [
      Input({ shape: [3] }),
      new Dense(units, { activation: 'tanh', name: 'first' }),
      new Dense(4, { activation: 'tanh', name: 'middle' }),
      new Dense(2, { name: 'last' }),
    ],
    { name },
  );
  m.weights.forEach((w, i) => {
    w.assign(
      constant(Array.from({ length: w.size }, (_, n) => 0.3 * Math.cos(n * 1.3 + i))).reshape(w.shape),
    );
  });
  return m;
}
const features = (): DistillationLoss => new FeatureDistillation('mse', 'middle', 'middle');
const trainings: Readonly<
  Record<string, () => [DistillationLoss | readonly DistillationLoss[], DistillerOptions]>
> = {
  logits: () => [new LogitsDistillation({ loss: new losses.KLDivergence() }), {}],
  both: () => [[new LogitsDistillation(2, 'mse'), features()], { distillationLossWeights: [1, 0.5] }],
  'features only': () => [features(), { studentLossWeight: 0 }],
  'student only': () => [[features()], { studentLossWeight: 1 }],
};

describe.each(Object.entries(golden.trained))('training of %s', (name, keras) => {
  test.each([false, true])('is as in Keras, runEagerly: %s', async (runEagerly) => {
    const [loss, options] = (trainings[name] as (typeof trainings)[string])();
    const teacher = model(6, 'teacher');
    const before = teacher.getWeights().map((w) => w.array());
    const distiller = new Distiller(teacher, model(5, 'student'), loss, options);
    distiller.compile({ optimizer: new SGD(0.1), loss: 'mse', metrics: ['mae'], runEagerly });
    const [x, y] = [values(10, 3), values(10, 2, 2)];
    const { history } = await distiller.fit(x, y, { epochs: 3, batchSize: 4, shuffle: false, verbose: 0 });
    expect(Object.keys(history).sort()).toEqual(Object.keys(keras.history).sort());
    for (const [key, numbers] of Object.entries(keras.history))
      assertClose(history[key] as number[], numbers, `${name}: ${key}`, 2e-5);
    const evaluated = await distiller.evaluate(x, y, { batchSize: 4, verbose: 0 });
    for (const [key, number] of Object.entries(keras.evaluated))
      assertClose([(evaluated as unknown as Record<string, number>)[key]], [number], `${name}: ${key}`, 2e-5);
    expect(distiller.trainableVariables.length).toBe(keras.trainable);
    expect(teacher.getWeights().map((w) => w.array())).toEqual(before);
    const written = json(serializeLayer(distiller));
    expect(written['module']).toBe(keras.module);
    const config = written['config'] as Record<string, unknown>;
    expect(Object.keys(config).sort()).toEqual(keras.config_keys);
    expect(config['distillation_losses']).toEqual(keras.losses);
    const again = deserializeLayer(written) as Distiller;
    expect(again).toBeInstanceOf(Distiller);
    expect(json(again.getConfig())).toEqual(config);
  });
});

test('a student learns from its teacher alone', async () => {
  random.setSeed(3);
  const x = random.normal([64, 3]);
  const teacher = model(6, 'teacher');
  const student = new Sequential([Input({ shape: [3] }), new Dense(8, { activation: 'tanh' }), new Dense(2)]);
  const distance = (): number => teacher(x).sub(student(x)).square().mean().item() as number;
  const distiller = new Distiller(teacher, student, new LogitsDistillation(1, 'mse'), {
    studentLossWeight: 0,
  });
  distiller.compile({ optimizer: new Adam(0.02), loss: 'mse' });
  const before = distance();
  await distiller.fit(x, constant(0).broadcastTo([64, 2]), { epochs: 30, batchSize: 16, verbose: 0 });
  expect(distance()).toBeLessThan(before / 20);
  expect(distiller(x).array()).toEqual(student(x).array());
});

test('a loss of one s own is used, and read from a file where it is registered', () => {
  class Far extends DistillationLoss {
    override computeLoss(teacher: Tensor, student: Tensor): Tensor {
      return teacher.sub(student).abs().max();
    }
  }
  const distiller = new Distiller(model(6, 'teacher'), model(5, 'student'), new Far());
  const written = json(serializeLayer(distiller));
  expect(() => deserializeLayer(written)).toThrow('registerKerasSerializable');
  registerKerasSerializable(Far);
  const own = json(serializeLayer(distiller));
  expect((deserializeLayer(own) as Distiller).distillationLosses[0]).toBeInstanceOf(Far);
});

test('what does not fit is refused', () => {
  const [teacher, student] = [model(6, 'teacher'), model(5, 'student')];
  const loss = new LogitsDistillation();
  const other = new Sequential([Input({ shape: [3] }), new Dense(3)]);
  const make =
    (...args: unknown[]) =>
    () =>
      new Distiller(...(args as [never, never, never]));
  expect(make(teacher, other, loss)).toThrow(/outputs of the teacher/);
  expect(make(teacher, 1, loss)).toThrow(/student must be a model/);
  expect(make(teacher, student, 'mse')).toThrow(/distillation losses/);
  expect(make(teacher, student, [loss], { distillationLossWeights: [1, 2] })).toThrow(/1 numbers/);
  expect(make(teacher, student, loss, { studentLossWeight: 2 })).toThrow(/from 0 to 1/);
  expect(make(teacher, student, new FeatureDistillation('mse', 'nowhere'))).toThrow(/nowhere/);
  expect(() => new Distiller(teacher, student, loss).compile({ optimizer: 'sgd' })).toThrow(
    InvalidArgumentError,
  );
  expect(() => new LogitsDistillation(0)).toThrow(/above 0/);
  expect(() => new LogitsDistillation({ loss: null })).toThrow(/not be null/);
  expect(() => new FeatureDistillation('nothing')).toThrow(InvalidArgumentError);
  expect(() => new DistillationLoss().computeLoss(values(1, 2), values(1, 2))).toThrow(/computeLoss/);
  const distiller = new Distiller(teacher, student, loss);
  distiller.compile({ loss: 'mse' });
  expect(() =>
    distiller.trainOnBatch(values(2, 3), values(2, 2), { sampleWeight: constant([1, 2]) }),
  ).toThrow(/sample weights/);
});
