import { type AnyFunction, Arguments, fuzz, parameters, show } from '@eagre/testing';
import { expect, it } from 'vitest';
import * as tf from '../src/index.ts';

// As bad-input.deep.test.ts of the ops: whatever constructors, and the objects that they make, are given, there is a value or one of Eagre's
// own errors. Names of options come from the errors that list them.

const ROUNDS = 100;

type Class = new (...args: unknown[]) => object;

const { schedules } = tf.optimizers;
const spaces = {
  layers: tf.layers,
  optimizers: tf.optimizers,
  schedules,
  losses: tf.losses,
  metrics: tf.metrics,
  initializers: tf.initializers,
  regularizers: tf.keras.regularizers,
  constraints: tf.keras.constraints,
  activations: tf.keras.activations,
};

const isClass = (value: unknown): value is Class =>
  typeof value === 'function' && /^class\b/.test(String(value));

/** Bases for classes of users, and what gives a class. */
const skipped = new Set(['Layer', 'Loss', 'Metric', 'Optimizer', 'LearningRateSchedule', 'resolveAccuracy']);

/** The parameters of a class's constructor, or of the one that it inherits. */
function constructorParameters(c: Class): string[] {
  for (let at: unknown = c; isClass(at); at = Object.getPrototypeOf(at)) {
    const source = /\n\s*constructor(\([\s\S]*)/.exec(String(at))?.[1];
    if (source !== undefined) return parameters({ toString: () => source } as unknown as AnyFunction);
  }
  return [];
}

/** The names of the options of a class, from the error for one that is not. */
function optionNames(c: Class, names: readonly string[]): readonly string[] {
  const args = names.map((name) => (/options|rest/.test(name) ? { nonsense: 1 } : 1));
  try {
    new c(...args, { nonsense: 1 });
  } catch (error) {
    return /known are (.*)/.exec(String(error))?.[1]?.split(', ') ?? [];
  }
  return [];
}

const words = ['relu', 'same', 'valid', 'zeros', 'l2', 'sum', 'none', 'micro', 'ROC', 'mine', 'concat'];

class ClassArguments extends Arguments {
  value(name: string): unknown {
    if (this.chance(0.15)) return this.anything();
    if (/shape|dims/i.test(name)) return this.shape();
    if (/use|return|center|amsgrad|nesterov|trainable|from|stateful|keepdims|goBackwards/.test(name))
      return this.chance(0.5);
    if (/nitializer|egularizer|onstraint|ctivation|padding|mode|name|reduction|average|curve/i.test(name))
      return this.pick(words);
    if (/layer|cell/i.test(name)) return this.pick([new tf.layers.Dense(2), new tf.layers.LSTM(2)]);
    if (/fn|call/.test(name)) return (x: tf.Tensor) => x;
    return this.chance(0.7) ? this.number() : this.chance(0.5) ? this.numbers() : this.anything();
  }
  optionsOf(known: readonly string[]): unknown {
    if (this.chance(0.05)) return this.anything();
    const made: Record<string, unknown> = {};
    if (known.length > 0)
      for (let i = this.pick([0, 0, 1, 2]); i > 0; i--) {
        const name = this.pick(known);
        made[name] = this.value(name);
      }
    return made;
  }
  /** Rows for layers: small numbers, sometimes integers. */
  inputs(): unknown {
    return this.chance(0.1) ? this.anything() : this.tensor();
  }
}

/** What makes a weight. */
const weight = (a: ClassArguments): Readonly<Record<string, unknown>> => ({
  shape: a.value('shape'),
  name: a.value('name'),
  dtype: a.named('dtype'),
  initial: a.chance(0.7) ? a.number() : a.anything(),
});

/** What is done with an object, beside making it. */
function use(object: object, a: ClassArguments): unknown {
  if (object instanceof tf.keras.Layer) {
    const y = object(a.inputs() as tf.Tensor, a.chance(0.5) ? { training: a.chance(0.5) } : {});
    object.getConfig();
    return y;
  }
  if (object instanceof tf.optimizers.Optimizer) {
    const v = new tf.Variable([1, 2]);
    const gradient = a.chance(0.5) ? tf.constant([0.5, 1]) : a.inputs();
    object.applyGradients([[gradient as tf.Tensor, v]]);
    object.getConfig();
    const { shape, name, dtype, initial } = weight(a);
    const loose = object as unknown as Record<string, AnyFunction>;
    return a.pick([
      () => loose.addVariable?.({ shape, name, dtype, initial }),
      () => loose.addVariableFromReference?.(a.chance(0.8) ? v : a.anything(), name, initial),
      () => loose.minimize?.(() => v.square().sum(), a.chance(0.5) ? [v] : a.anything()),
      () => loose.build?.(a.anything()),
      () => loose.finalizeVariableValues?.(a.anything()),
      () => loose.excludeFromWeightDecay?.({ varList: a.anything(), varNames: a.anything() }),
      () => v,
    ])();
  }
  if (object instanceof tf.metrics.Metric) {
    const alone = object instanceof tf.metrics.Mean || object instanceof tf.metrics.Sum;
    if (alone) object.updateState(a.inputs() as tf.Tensor);
    else object.updateState(a.inputs(), a.inputs());
    object.getConfig();
    const { shape, name, dtype, initial } = weight(a);
    if (a.chance(0.1)) (object.addWeight as AnyFunction)({ shape, name, dtype, initializer: initial });
    return object.result();
  }
  if (typeof object === 'function') return (object as AnyFunction)(a.inputs(), a.inputs());
  return object;
}

it('classes and what they make give a value or one of our errors', () => {
  const made = Object.entries(spaces).flatMap(([space, members]) =>
    Object.entries(members as Record<string, unknown>)
      .filter(([name, member]) => typeof member === 'function' && !skipped.has(name))
      .map(([name, member]) => {
        const names = isClass(member) ? constructorParameters(member) : parameters(member as AnyFunction);
        const options = isClass(member) ? optionNames(member, names) : [];
        return { name: `${space}.${name}`, member: member as AnyFunction, names, options };
      }),
  );
  expect(made.length).toBeGreaterThan(120);
  const findings = fuzz(made, ROUNDS, ({ name, member, names, options }, random, found) => {
    const a = new ClassArguments(random, { textless: true, revoked: true });
    const args = names.map((n) =>
      /^(options|rest|config)$/.test(n) ? a.optionsOf(options) : a.chance(0.6) ? a.value(n) : a.named(n),
    );
    try {
      if (isClass(member)) use(new member(...args), a);
      else use(member(...args) as object, a);
      found.values++;
    } catch (error) {
      found.isOwn(error, name, () => `${name}(${args.map(show).join(', ')})`);
    }
  });
  expect(findings.list('classes').slice(0, 30)).toEqual([]);
  // Most are refused, but not all.
  expect(findings.values).toBeGreaterThan(findings.calls / 50);
});
