import '@eagre/backend-js';
import { constant, InvalidArgumentError, Variable } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import * as optimizers from './index.ts';
import { get, Optimizer } from './index.ts';
import * as schedules from './schedules.ts';

type Class = new (options: object) => Optimizer;

const classes = Object.entries(optimizers as Record<string, unknown>).filter(
  (entry): entry is [string, Class] =>
    typeof entry[1] === 'function' && entry[1].prototype instanceof Optimizer,
);

describe('optimizers take options by the names that they know', () => {
  test.each(classes)('%s', (name, Class) => {
    expect(() => new Class({ learning_rate: 1 })).toThrow(`${name}: 'learning_rate' is no option; known are`);
    expect(new Class({ learningRate: 0.5, name: 'mine' }).learningRate).toBe(0.5);
    const copy = get({ class_name: name, config: new Class({ clipnorm: 2 }).getConfig() });
    expect(copy.clipnorm).toBe(2);
  });

  test('and values of their kinds', () => {
    for (const fn of [
      () => new optimizers.AdamW({ epsilon: [1, 2] as never }),
      () => new optimizers.RMSprop({ momentum: '0.9' as never }),
      () => new optimizers.SGD({ nesterov: 1 as never }),
      () => new optimizers.Adam({ weightDecay: NaN }),
      () => get('constructor'),
      () => optimizers.deserialize(undefined as never),
      () => optimizers.serialize({} as never),
      () => schedules.serialize(0 as never),
      () => new schedules.PiecewiseConstantDecay({ boundaries: [1], values: [1, 'x' as never] }),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
  });

  test('what Keras 2 writes, where it is off', () => {
    const config = { learning_rate: 0.5, decay: 0, jit_compile: true, is_legacy_optimizer: false };
    expect(get({ class_name: 'SGD', config }).learningRate).toBe(0.5);
    const decayed = { class_name: 'SGD', config: { ...config, decay: 0.1 } };
    expect(() => get(decayed)).toThrow("SGD: 'decay' is no option");
  });

  test('those of users take others, and pass on what is not theirs', () => {
    class Own extends optimizers.SGD {
      constructor({ mine, ...options }: { mine: number } & optimizers.SGDOptions) {
        super(options);
        expect(mine).toBe(1);
      }
    }
    expect(new Own({ learningRate: 0.5, mine: 1 }).learningRate).toBe(0.5);
    expect(() => new Own({ lr: 0.5, mine: 1 } as never)).toThrow("Own: 'lr' is no option");
  });
});

test('what a schedule gives is a finite number, or a scalar tensor', async () => {
  class Mine extends schedules.LearningRateSchedule {
    readonly given: unknown;
    constructor(given: unknown) {
      super();
      this.given = given;
    }
    override call(): number {
      return this.given as number;
    }
    override getConfig(): Record<string, unknown> {
      return {};
    }
  }
  expect(new Mine(constant(0.5))(0)).toBe(0.5);
  expect(new optimizers.SGD(() => constant(0.25)).learningRate).toBe(0.25);
  const rejected = Promise.reject(new Error('later'));
  for (const given of [NaN, Infinity, '0.1', undefined, constant([1, 2]), rejected]) {
    expect(() => new Mine(given)(0)).toThrow(InvalidArgumentError);
    expect(() => new optimizers.SGD((() => given) as never).learningRate).toThrow(InvalidArgumentError);
  }
  // A promise that was refused does not end the process when it fails.
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(() => new optimizers.Adam({ beta1: Infinity })).toThrow('beta1 must be a number, got Infinity');
  expect(() => new optimizers.Adam(Infinity)).toThrow(
    'the learning rate must be a finite number of at least 0',
  );
  expect(() => new optimizers.Adam({ name: 5 as never })).toThrow('Adam: name must be a string');
});

test('schedules as well', () => {
  const first = { initialLearningRate: 1, decaySteps: 10 };
  for (const fn of [
    () => new schedules.ExponentialDecay({ ...first, decayRate: 0.5, stairs: true } as never),
    () => new schedules.InverseTimeDecay({ ...first, decayRate: 0.5, stairs: true } as never),
    () => new schedules.PolynomialDecay({ ...first, exponent: 2 } as never),
    () => new schedules.CosineDecay({ ...first, warmup: 2 } as never),
    () => new schedules.PiecewiseConstantDecay({ boundaries: [1], values: [1, 2], value: 3 } as never),
    () => new schedules.CosineDecay(undefined as never),
  ])
    expect(fn, String(fn)).toThrow(InvalidArgumentError);
  expect(new schedules.CosineDecay({ ...first, alpha: 0.5 })(10)).toBe(0.5);
  expect(new schedules.ExponentialDecay(0.1, 10, 0.9, { staircase: true })(25)).toBeCloseTo(0.081);
  expect(new schedules.PiecewiseConstantDecay([1], [1, 2])(5)).toBe(2);
  expect(() => new schedules.ExponentialDecay(0.1, 10, 0.9, true as never)).toThrow(
    'ExponentialDecay: only initialLearningRate and decaySteps and decayRate can be given by position; write { staircase: true }',
  );
});

test('an asynchronous updateStep is refused, and its failure does not end the process', async () => {
  class Own extends optimizers.Optimizer {
    override async updateStep(): Promise<void> {
      throw new Error('later');
    }
    override getConfig(): Record<string, unknown> {
      return {};
    }
  }
  const own = new Own({ learningRate: 0.1, name: 'own' } as never);
  expect(() => own.applyGradients([constant(1)], [new Variable(1)])).toThrow(
    'updateStep() gave a promise; it must not be async',
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
});

test('gradients and variables may be given by name', () => {
  const v = new Variable(1);
  const optimizer = new optimizers.SGD(1);
  optimizer.applyGradients({ gradients: [0.5], variables: [v] });
  expect(v.read().item()).toBe(0.5);
  // @ts-expect-error
  expect(() => optimizer.applyGradients([0.5], [v], { name: 'a' })).toThrow("'name' is no option");
  expect(() => optimizer.applyGradients(...([] as unknown as [[]]))).toThrow('gradients must be given');
});
