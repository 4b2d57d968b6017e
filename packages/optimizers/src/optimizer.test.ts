import { inspect } from 'node:util';
import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  nameScope,
  scope,
  type Tensor,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import { expect, expectTypeOf, test, vi } from 'vitest';
import {
  Adam,
  AdamW,
  get,
  type LearningRate,
  Optimizer,
  RMSprop,
  SGD,
  type SGDOptions,
  schedules,
} from './index.ts';

test('both forms of the constructor', () => {
  expect(new SGD().learningRate).toBe(0.01);
  expect(new SGD(0.5).learningRate).toBe(0.5);
  expect(new SGD(0.5, { momentum: 0.9 }).momentum).toBe(0.9);
  expect(new SGD({ learningRate: 0.25, momentum: 0.9 }).learningRate).toBe(0.25);
  expect(new Adam({ learningRate: 1e-3 }).learningRate).toBe(1e-3);
  expect(new Adam(1e-3, { name: 'mine' }).name).toBe('mine');
  expect(new RMSprop().learningRate).toBe(0.001);
  expect(new AdamW().weightDecay).toBe(0.004);
  expect(new AdamW(0.1, { weightDecay: 0.1 }).weightDecay).toBe(0.1);
  expect([new SGD(), new RMSprop(), new Adam(), new AdamW()].map((o) => o.name)).toEqual([
    'sgd',
    'rm_sprop',
    'adam',
    'adam_w',
  ]);
});

test('a schedule is an object, not a class', () => {
  expect(() => new SGD(schedules.ExponentialDecay as never)).toThrow(
    'the learning rate must be a function, got the class ExponentialDecay',
  );
});

test('gradients and variables, or pairs', () => {
  const a = new Variable(1);
  const b = new Variable([1, 2]);
  const sgd = new SGD(0.5);
  expect(sgd.applyGradients([constant(1), constant([1, 1])], [a, b])).toBe(sgd.iterations);
  expect([a.array(), b.array()]).toEqual([0.5, [0.5, 1.5]]);
  sgd.applyGradients([
    [1, a],
    [[1, 1], b],
  ]);
  expect([a.array(), b.array()]).toEqual([0, [0, 1]]);
  sgd.applyGradients(new Map([[constant(1), a]]));
  expect(a.item()).toBe(-0.5);
  expect(sgd.iterations.item()).toBe(3);
  expect(sgd.iterations.dtype).toBe('int64');
});

test('a variable without a gradient stays, with one warning; none at all is an error', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const a = new Variable(1, { name: 'a' });
  const b = new Variable(2, { name: 'b' });
  const adam = new Adam(0.5);
  adam.applyGradients([null, constant(1)], [a, b]);
  adam.applyGradients([null, constant(1)], [a, b]);
  expect(warn.mock.calls).toEqual([["adam: no gradients for 'a'; they stay as they are"]]);
  warn.mockRestore();
  expect(a.item()).toBe(1);
  expect(b.item()).not.toBe(2);
  // It has slots nevertheless, so that the order of what is saved does not depend on the first step.
  expect(adam.variables.map((v) => v.path)).toContain('adam/a_momentum');
  expect(() => adam.applyGradients([null, null], [a, b])).toThrow('No gradients provided for any variable');
  expect(() => adam.applyGradients([])).toThrow(InvalidArgumentError);
  expect(adam.iterations.item()).toBe(2);
});

test('what does not fit is refused, naming the variable', () => {
  const w = new Variable([1, 2], { name: 'w' });
  const v = new Variable([1, 2], { name: 'v' });
  const make = () => new SGD();
  expect(() => make().applyGradients([constant([1, 2, 3])], [w])).toThrow(
    /'w' is float32 \[3\], the variable float32 \[2\]/,
  );
  expect(() => make().applyGradients([constant([1, 2], 'float64')], [w])).toThrow(/'w' is float64/);
  expect(() => make().applyGradients([constant([1, 2]), constant([1, 2])], [w, w])).toThrow(
    /'w' is listed twice/,
  );
  expect(() => make().applyGradients([constant([1, 2])], [w, v])).toThrow(
    '1 gradients were given for 2 variables',
  );
  const sgd = make();
  sgd.applyGradients([constant([0, 0])], [w]);
  expect(() => sgd.applyGradients([constant([1, 2])], [v])).toThrow(
    /'v' is not one of those the optimizer was built for/,
  );
  const gone = constant([1, 2]);
  gone.dispose();
  expect(() => sgd.applyGradients([gone], [w])).toThrow(FailedPreconditionError);
  expect(() => make().build([new Variable(1, { dtype: 'int32' })])).toThrow(/int32/);
  expect(() => new SGD({ clipnorm: 1, clipvalue: 1 })).toThrow(/only one of/);
  expect(() => new SGD({ momentum: 2 })).toThrow(/momentum/);
  expect(() => new SGD(-1)).toThrow(/learning rate/);
});

test('gradients of variables that live elsewhere are checked before they go there', () => {
  const sent: unknown[] = [];
  class Served extends Variable {
    override get home() {
      return {
        inScope: <T>(fn: () => T): T => fn(),
        update: (gradients: readonly unknown[]): void => void sent.push(...gradients),
      };
    }
  }
  const w = new Served([1, 2], { name: 'w' });
  const make = () => new SGD();
  const gradient = constant([1, 2]);
  expect(() => make().applyGradients([gradient, gradient], [w, w])).toThrow(/'w' is listed twice/);
  expect(() => make().applyGradients([gradient, gradient], [w, 'v' as never])).toThrow(
    'expected variables after the gradients',
  );
  expect(() => make().applyGradients([null], [w])).toThrow('No gradients provided');
  class Late extends SGD {
    override build(): never {
      return Promise.resolve() as never;
    }
  }
  expect(() => new Late().applyGradients([gradient], [w])).toThrow('build()');
  expect(sent).toEqual([]);
  make().applyGradients([gradient], [w]);
  expect(sent).toHaveLength(1);
});

test('tensors read before an update keep their values', () => {
  const w = new Variable([1, 2]);
  const before = w.read();
  const view = w.reshape([2, 1]);
  new SGD(1).applyGradients([constant([1, 1])], [w]);
  expect(w.array()).toEqual([0, 1]);
  expect(before.array()).toEqual([1, 2]);
  expect(view.array()).toEqual([[1], [2]]);
});

test('a gradient that is a variable’s own value does not change during the update', () => {
  const a = new Variable([1]);
  const b = new Variable([2]);
  new SGD(1).applyGradients([a.taken(), a.taken()], [a, b]);
  expect([a.array(), b.array()]).toEqual([[0], [1]]);
});

test('variables of several dtypes in one step', () => {
  const a = new Variable([1, 2]);
  const b = new Variable([3], { dtype: 'float64' });
  const sgd = new SGD(1, { globalClipnorm: 1 });
  sgd.applyGradients([constant([0, 3]), constant([4], 'float64')], [a, b]);
  expect(Array.from(a.data() as Float32Array, (x) => Number(x.toFixed(6)))).toEqual([1, 1.4]);
  expect(b.item()).toBeCloseTo(2.2, 12);
});

test('minimize computes gradients, of given variables or of those used', () => {
  const w = new Variable(3);
  const u = new Variable(5);
  const loss = () => w.mul(w).add(u);
  const sgd = new SGD(0.25);
  expect(sgd.minimize(loss, [w]).item()).toBe(14);
  expect(w.item()).toBe(1.5);
  expect(u.item()).toBe(5);
  const other = new SGD(0.25);
  expectTypeOf(other.minimize(loss)).toEqualTypeOf<Tensor>();
  expect(w.item()).toBe(0.75);
  expect(u.item()).toBe(4.75);
  other.minimize(loss, () => [w, u]);
  expect(u.item()).toBe(4.5);
});

test('a linear model learns 3x + 2', () => {
  const x = constant(Array.from({ length: 64 }, (_, i) => i / 32 - 1));
  const y = x.mul(3).add(2);
  const W = new Variable(5, { name: 'W' });
  const B = new Variable(0, { name: 'B' });
  const optimizer = new SGD({ learningRate: 0.1 });
  let loss = 0;
  for (let i = 0; i < 200; i++) {
    scope(() => {
      const tape = new GradientTape();
      const error = W.mul(x).add(B).sub(y);
      const value = error.square().mean();
      loss = value.item();
      optimizer.applyGradients(tape.gradient(value, [W, B]), [W, B]);
    });
  }
  expect(loss).toBeLessThan(1e-4);
  expect(W.item()).toBeCloseTo(3, 1);
  expect(B.item()).toBeCloseTo(2, 2);
});

test('the learning rate: set, restored from a variable, scheduled', () => {
  const sgd = new SGD(0.1);
  expect(sgd.variables.map((v) => v.path)).toEqual(['sgd/iteration', 'sgd/learning_rate']);
  sgd.learningRate = 0.3;
  expect(sgd.learningRate).toBe(0.3);
  expect(sgd.variables[1]?.item()).toBe(Math.fround(0.3));
  sgd.variables[1]?.assign(0.7);
  expect(sgd.learningRate).toBe(0.7);
  const w = new Variable(1);
  const schedule = new schedules.ExponentialDecay({
    initialLearningRate: 0.5,
    decaySteps: 1,
    decayRate: 0.5,
  });
  sgd.learningRate = schedule;
  expect(sgd.learningRateSchedule).toBe(schedule);
  expect(sgd.variables.map((v) => v.path)).toEqual(['sgd/iteration']);
  sgd.applyGradients([[1, w]]);
  expect(w.item()).toBe(0.5);
  expect(sgd.learningRate).toBe(0.25);
  sgd.applyGradients([[1, w]]);
  expect(w.item()).toBe(0.25);
  expect(() => {
    sgd.learningRate = 0.1;
  }).toThrow(/schedule/);
  const stepped = new SGD((step) => (step === 0 ? 1 : 0));
  expect(stepped.learningRate).toBe(1);
  expect(() => stepped.getConfig()).toThrow(/plain function/);
});

test('slots are named after the optimizer, wherever they are made', () => {
  const w = nameScope('dense', () => new Variable([1], { name: 'kernel' }));
  const adam = new Adam();
  nameScope('elsewhere', () => adam.applyGradients([[[1], w]]));
  expect(adam.variables.map((v) => v.path)).toEqual([
    'adam/iteration',
    'adam/learning_rate',
    'adam/dense_kernel_momentum',
    'adam/dense_kernel_velocity',
  ]);
  expect(adam.trainableVariables).toEqual([]);
});

test('weight decay can leave variables out', () => {
  for (const make of [SGD, AdamW] as const) {
    const w = new Variable([1], { name: 'w' });
    const bias = new Variable([1], { name: 'bias' });
    const gamma = new Variable([1], { name: 'gamma' });
    const optimizer = new make({ learningRate: 1, weightDecay: 0.5 });
    optimizer.excludeFromWeightDecay({ varList: [gamma], varNames: ['^b.a', 's$'] });
    optimizer.applyGradients([
      [[0], w],
      [[0], bias],
      [[0], gamma],
    ]);
    expect([w, bias, gamma].map((v) => v.item())).toEqual([0.5, 1, 1]);
    expect(() => optimizer.excludeFromWeightDecay({})).toThrow(FailedPreconditionError);
  }
});

test('a variable’s constraint holds after each update', () => {
  const w = new Variable([1, -1]);
  Object.assign(w, { constraint: (v: Variable) => v.clipByValue(0, 1) });
  new SGD(1).applyGradients([[[2, -2], w]]);
  expect(w.array()).toEqual([0, 1]);
});

test('an optimizer of one’s own', () => {
  class Signed extends Optimizer {
    counts: Variable[] = [];
    constructor(options: SGDOptions = {}) {
      super({ learningRate: 0.5, ...options });
    }
    override build(variables: readonly Variable[]): void {
      if (this.built) return;
      super.build(variables);
      [this.counts] = this.addSlots(variables, 'count');
    }
    override updateStep(gradient: Tensor, variable: Variable, learningRate: number): void {
      this.counts[this.indexOf(variable)]?.assignAdd(1);
      variable.assignSub(gradient.sign().mul(learningRate));
    }
  }
  const w = new Variable([1, 1], { name: 'w' });
  const optimizer = new Signed({ learningRate: 0.25 });
  optimizer.applyGradients([[[7, -7], w]]);
  expect(w.array()).toEqual([0.75, 1.25]);
  expect(optimizer.variables.at(-1)?.path).toBe('signed/w_count');
  expect(optimizer.counts[0]?.array()).toEqual([1, 1]);
  class Bare extends Optimizer {}
  expect(() => new Bare({ learningRate: 1 }).applyGradients([[[1, 1], w]])).toThrow(UnimplementedError);
});

test('get and configs', () => {
  expect(get('adam')).toBeInstanceOf(Adam);
  expect(get('RMSprop')).toBeInstanceOf(RMSprop);
  expect(get('adamw')).toBeInstanceOf(AdamW);
  const sgd = new SGD();
  expect(get(sgd)).toBe(sgd);
  expect(() => get('lamp')).toThrow(/there is no optimizer 'lamp'; expected one of SGD/);
  expect(() => get(7 as never)).toThrow(InvalidArgumentError);
  const copy = Adam.fromConfig(
    new Adam({ learningRate: 0.3, beta1: 0.5, amsgrad: true, clipnorm: 2 }).getConfig(),
  );
  expectTypeOf(copy).toEqualTypeOf<Adam>();
  expect([copy.learningRate, copy.beta1, copy.amsgrad, copy.clipnorm]).toEqual([0.3, 0.5, true, 2]);
  expect(SGD.fromConfig({ loss_scale_factor: 2 }).lossScaleFactor).toBe(2);
  expect(() => new SGD({ lossScaleFactor: -1 })).toThrow('lossScaleFactor must be a positive number, got -1');
});

test('schedules: called with a step or a variable, made by oneself, shown', () => {
  class Warmup extends schedules.LearningRateSchedule {
    readonly peak: number;
    constructor(options: { peak: number }) {
      super();
      this.peak = options.peak;
    }
    override call(step: number): number {
      return Math.min(1, (step + 1) / 4) * this.peak;
    }
    override getConfig(): Record<string, unknown> {
      return { peak: this.peak };
    }
  }
  const schedule = new Warmup({ peak: 2 });
  expect(schedule(1)).toBe(1);
  expect(schedule(new Variable(3n))).toBe(2);
  expect(schedule(1n)).toBe(1);
  expectTypeOf(schedule).toExtend<LearningRate>();
  const sgd = new SGD(schedule);
  expect(sgd.learningRate).toBe(0.5);
  const config = sgd.getConfig();
  const copy = SGD.fromConfig(config, { Warmup });
  expect(copy.learningRateSchedule).toBeInstanceOf(Warmup);
  expect(() => SGD.fromConfig(config)).toThrow(/there is no learning rate schedule 'Warmup'/);
  expect(inspect(schedule)).toBe('Warmup { peak: 2 }');
  expect(() => new schedules.CosineDecay({ initialLearningRate: 1, decaySteps: 0 })).toThrow(
    /decaySteps must be above 0/,
  );
  expect(() => new schedules.ExponentialDecay({ initialLearningRate: 1, decaySteps: 1 } as never)).toThrow(
    'ExponentialDecay: decayRate must be given',
  );
  expect(() => new schedules.CosineDecay({ initialLearningRate: '1' as never, decaySteps: 1 })).toThrow(
    "CosineDecay: initialLearningRate must be a number, got '1'",
  );
  expect(
    () => new schedules.CosineDecayRestarts({ initialLearningRate: 1, firstDecaySteps: 5, tMul: 0.5 }),
  ).toThrow('CosineDecayRestarts: tMul must be at least 1, got 0.5');
  expect(() => new schedules.PiecewiseConstantDecay({ boundaries: [1], values: [1] })).toThrow(
    /need 2 values/,
  );
});

test('updates of values leave the variables as they are', () => {
  const w = new Variable([1, 2]);
  const other = new Variable([1, 2]);
  const [adam, same] = [new Adam(0.1), new Adam(0.1)];
  expect(() => adam.statelessApply([], [[1, 1]], [[1, 2]])).toThrow('not built');
  adam.build([w]);
  let state = adam.variables.map((v) => v.read());
  let values = [w.read()];
  for (const gradient of [
    [1, -1],
    [0.5, 2],
  ]) {
    [values, state] = adam.statelessApply(state, [gradient], values);
    same.apply([gradient], [other]);
  }
  expect(values[0].array()).toEqual(other.array());
  expect(state.map((v) => v.array())).toEqual(same.variables.map((v) => v.array()));
  expect([w.array(), adam.iterations.item()]).toEqual([[1, 2], 0]);
  expect(() => adam.statelessApply([], [[1, 1]], values)).toThrow('values for');
});

test('applyGradients calls the apply of a class that overrides it, once, as in Keras', () => {
  class Centralized extends SGD {
    override apply(gradients: unknown, variables?: unknown): Variable {
      const centered = (gradients as Tensor[]).map((g) => g.sub(g.mean(0, { keepdims: true })));
      return super.apply(centered, variables as Variable[]);
    }
  }
  const gradient = constant([
    [1, 2],
    [3, 6],
  ]);
  const updates: ((optimizer: SGD, w: Variable) => unknown)[] = [
    (optimizer, w) => optimizer.applyGradients([[gradient, w]]),
    (optimizer, w) => optimizer.apply([gradient], [w]),
  ];
  for (const update of updates) {
    const w = new Variable([
      [1, 2],
      [3, 4],
    ]);
    const optimizer = new Centralized(0.5);
    update(optimizer, w);
    expect(w.array()).toEqual([
      [1.5, 3],
      [2.5, 3],
    ]);
    expect(optimizer.iterations.item()).toBe(1);
  }
});

test('a variable whose shape may change has no slots', () => {
  const v = new Variable([[1, 2, 3]], { shape: [null, 3], name: 'rows' });
  const gradient = constant([[1, 1, 1]]);
  new SGD(0.5).applyGradients([[gradient, v]]);
  expect(v.array()).toEqual([[0.5, 1.5, 2.5]]);
  for (const optimizer of [new SGD({ momentum: 0.9 }), new Adam()])
    expect(() => optimizer.applyGradients([[gradient, v]])).toThrow("'rows' may change its shape");
  expect(v.array()).toEqual([[0.5, 1.5, 2.5]]);
});
