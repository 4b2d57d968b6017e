import '@eagre/backend-js';
import { constant, InvalidArgumentError, Variable } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import * as optimizers from './index.ts';
import { get, Optimizer } from './index.ts';
import * as schedules from './schedules.ts';

type Class = new (options: object) => Optimizer;

const classes = Object.entries(optimizers as Record<string, unknown>).filter(
  (entry): entry is [string, Class] =>
    typeof entry[1] === 'function' &&
    entry[1].prototype instanceof Optimizer &&
    // They have no learning rate of their own.
    !['MultiOptimizer', 'LossScaleOptimizer'].includes(entry[0]),
);

describe('optimizers take options by the names that they know', () => {
  test.each(classes)('%s', (name, Class) => {
    expect(() => new Class({ learning_rate: 1 })).toThrow(
      `${name}: 'learning_rate' is not an option; the options are`,
    );
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
    expect(() => get(decayed)).toThrow("SGD: 'decay' is not an option");
  });

  test('those of users take others, and pass on what is not theirs', () => {
    class Own extends optimizers.SGD {
      constructor({ mine, ...options }: { mine: number } & optimizers.SGDOptions) {
        super(options);
        expect(mine).toBe(1);
      }
    }
    expect(new Own({ learningRate: 0.5, mine: 1 }).learningRate).toBe(0.5);
    expect(() => new Own({ lr: 0.5, mine: 1 } as never)).toThrow("Own: 'lr' is not an option");
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
    'updateStep() returned a promise; it must not be async',
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
});

test('gradients and variables may be given by name', () => {
  const v = new Variable(1);
  const optimizer = new optimizers.SGD(1);
  optimizer.applyGradients({ gradients: [0.5], variables: [v] });
  expect(v.read().item()).toBe(0.5);
  // @ts-expect-error
  expect(() => optimizer.applyGradients([0.5], [v], { name: 'a' })).toThrow("'name' is not an option");
  expect(() => optimizer.applyGradients(...([] as unknown as [[]]))).toThrow('gradients must be given');
});

test('methods take every argument by name, and refuse what they do not take', () => {
  const v = new Variable(1);
  const adam = new optimizers.Adam(0.1);
  adam.build({ variables: [v] });
  expect(adam.variables).toHaveLength(4);
  const sgd = new optimizers.SGD(1);
  sgd.minimize({ loss: () => v.mul(0.5), varList: [v] });
  sgd.minimize(() => v.mul(0.25), { varList: () => [v] });
  expect(v.read().item()).toBe(0.25);
  const config = adam.getConfig();
  expect(optimizers.Adam.fromConfig({ config }).learningRate).toBe(0.1);
  expect(optimizers.Adam.fromConfig(config, null).learningRate).toBe(0.1);
  expect(adam.addVariableFromReference({ reference: v, name: 'sum', initial: 2 }).read().item()).toBe(2);
  expect(new schedules.CosineDecay(1, 20, { alpha: 0.5 })({ step: 20 })).toBe(0.5);

  const loose = (object: object): Record<string, (...args: unknown[]) => unknown> => object as never;
  for (const [call, message] of [
    [() => loose(sgd).minimize?.(), 'loss must be given: write Optimizer.minimize(loss, { varList })'],
    [() => loose(sgd).minimize?.(v), 'loss must be a function'],
    [() => loose(sgd).minimize?.(() => v.mul(2), v), 'varList must be a list of variables, got a tensor'],
    [() => loose(sgd).minimize?.(() => v.mul(2), [v], [1]), 'takes at most 2 arguments'],
    [() => loose(new optimizers.Adam()).build?.(v), 'variables must be a list of variables'],
    [() => loose(adam).build?.([v], 1), 'Optimizer.build: takes at most 1 arguments'],
    [() => loose(sgd).excludeFromWeightDecay?.({ varList: v }), 'varList must be a list of variables'],
    [() => loose(sgd).excludeFromWeightDecay?.({ varNames: 'bias' }), 'varNames must be a list of strings'],
    [() => loose(sgd).excludeFromWeightDecay?.({ varNames: ['('] }), 'varNames must be regular expressions'],
    [() => loose(sgd).finalizeVariableValues?.([3]), 'variables must be a list of variables, got [3]'],
    [() => loose(sgd).applyGradients?.([1], [3]), 'expected variables after the gradients'],
    [() => loose(adam).addVariable?.([1], 1), 'only shape can be given by position; write { dtype: 1 }'],
    [() => loose(adam).addVariable?.({ name: 'a' }), 'shape must be given'],
    [() => loose(adam).addVariable?.([1], { name: 3 }), 'name must be a string, got 3'],
    [() => loose(adam).addVariableFromReference?.(v), 'name must be given'],
    [() => loose(optimizers.Adam).fromConfig?.(), 'config must be given'],
    [() => loose({ s: new schedules.CosineDecay(1, 20) }).s?.(1, 2), 'schedule: takes at most 1 arguments'],
    [() => loose(new schedules.CosineDecay(1, 20)).call?.(1, 2), 'CosineDecay.call: takes at most 1'],
  ] as const) {
    expect(call).toThrow(InvalidArgumentError);
    expect(call).toThrow(message);
  }
});

test('hooks of classes of users get what is given', () => {
  const seen: string[] = [];
  class Own extends optimizers.SGD {
    override build(variables: readonly Variable[]): void {
      super.build(variables);
      seen.push(`${variables.length}`);
    }
  }
  const own = new Own(0.1, { momentum: 0.5 });
  own.applyGradients([1], [new Variable(1)]);
  expect(seen).toEqual(['1']);
  expect(own.variables).toHaveLength(3);
});
