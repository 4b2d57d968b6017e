// Each option of each public class, and what its objects are called with, replaced by something of another kind: there is a value, or an
// error of Eagre's own, which names the option where the constructor throws it.
import { parametersOf } from '@eagre/core/internal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';
import { isClass } from './testing/arguments.ts';
import { argumentsByName } from './testing/keras-objects.ts';

const ragged = tf.ragged.constant([[1, 2], [3]]);

const kinds: Readonly<Record<string, unknown>> = {
  'a ragged tensor': ragged,
  'a sparse tensor': new tf.SparseTensor([[0, 1]], [2], [2, 2]),
  'ragged tensors': [ragged, ragged],
  'a tensor': tf.ones([2, 3]),
  'tensors of several sizes': [tf.ones([2, 3]), tf.ones([4])],
  'a text tensor': tf.constant(['a', 'b']),
  'a number': 3,
  'no number': Number.NaN,
  null: null,
  'a function': (x: unknown): unknown => x,
  'a class': tf.layers.Dense,
  'a huge number': 2 ** 50,
  'huge numbers': [2 ** 50, 2 ** 50],
  'a bigint': 2n,
  'a symbol': Symbol('s'),
  'a text': 'nonsense',
  'a text with NUL': 'a\0b',
  texts: ['a', 'b\0'],
  'an object': {},
  'what is no configuration': { class_name: 3, config: [] },
  'nothing in a list': [null, undefined],
  'an empty list': [],
  'a map': new Map([['a', 1]]),
  'a promise': Promise.resolve(1),
  'a dataset': tf.data.Dataset.range(2),
  'a variable': new tf.Variable([1, 2]),
  // Made anew each time: a use builds them.
  'a layer': (): object => new tf.layers.Dense(2),
  'a model': (): object => new tf.Sequential([new tf.layers.Dense(2)]),
  'an optimizer': (): object => new tf.optimizers.SGD(),
};
const isMade: ReadonlySet<string> = new Set(['a layer', 'a model', 'an optimizer']);
const given = (kind: string): unknown => (isMade.has(kind) ? (kinds[kind] as () => object)() : kinds[kind]);
/** What messages say in place of an option's name. */
const otherwise =
  /the target class|expected a layer's configuration|the mesh has no axis|was called without an input/;

/** They start servers, meet other processes, make files, or have a base alone. */
const skipped =
  /^(?:distribute\.(?:Server|MultiWorker|ParameterServer|clusterResolver|experimental)|io\.gfile|compat|keras\.Metric$)/;
/** What every layer has; it is tried with one of them. */
const general: ReadonlySet<string> = new Set([
  'name',
  'trainable',
  'dtype',
  'autocast',
  'inputShape',
  'activityRegularizer',
]);

type Class = new (...args: unknown[]) => object;
type Given = Readonly<Record<string, unknown>>;
interface Found {
  readonly name: string;
  readonly Class: Class;
  readonly base: Given;
  readonly options: readonly string[];
}

const isSpace = (value: unknown): value is Record<string, unknown> =>
  Object.prototype.toString.call(value) === '[object Module]' ||
  (typeof value === 'object' &&
    value !== null &&
    Object.values(Object.getOwnPropertyDescriptors(value)).some(({ get }) => get !== undefined));

/** A class is made, and what makes objects as a class does is called. */
const make = (cls: Class, options: object): object =>
  isClass(cls) ? new cls(options) : (cls as unknown as (options: object) => object)(options);

/** Every public class that can be made alone. */
function allClasses(): Found[] {
  const found: Found[] = [];
  const seen = new Set<unknown>();
  const walk = (space: Record<string, unknown>, prefix: string): void => {
    if (seen.has(space)) return;
    seen.add(space);
    for (const [key, value] of Object.entries(space)) {
      const name = `${prefix}${key}`;
      if (skipped.test(name) || seen.has(value)) continue;
      if (isSpace(value)) walk(value, `${name}.`);
      else if (typeof value === 'function') {
        seen.add(value);
        const takes = parametersOf(value);
        if (takes === undefined) continue;
        const base = argumentsByName((value as Class).name, value);
        try {
          make(value as Class, base);
        } catch (error) {
          // Some need more than what is known here.
          if (!(error instanceof tf.errors.EagreError)) throw error;
          continue;
        }
        const options = Object.keys(takes.names).filter((n) => key === 'Dense' || !general.has(n));
        found.push({ name, Class: value as Class, base, options });
      }
    }
  };
  walk(tf as unknown as Record<string, unknown>, '');
  return found;
}
const classes = allClasses();

const letters = (text: string): string => text.replace(/\W/g, '').toLowerCase();
/** Whether a message says which option it is about: that, or another one that it does not go with. */
const isNamed = (message: string, option: string, options: readonly string[]): boolean =>
  options.length === 1 ||
  otherwise.test(message) ||
  [option, ...options].some((name) => name.length > 3 && letters(message).includes(letters(name))) ||
  message.includes(option);

type Loose = Readonly<Record<string, (...args: unknown[]) => unknown>> & ((...args: unknown[]) => unknown);

const inputs: readonly (() => unknown)[] = [
  () => tf.ones([2, 3]),
  () => tf.ones([2, 4, 3]),
  () => tf.ones([2, 6, 6, 3]),
  () => [tf.ones([2, 4, 3]), tf.ones([2, 4, 3])],
];

/** What may be done with an object. */
function uses({ name }: Found, object: object): readonly (() => unknown)[] {
  const made = object as unknown as Loose;
  const config = typeof made['getConfig'] === 'function' ? [() => made['getConfig']?.()] : [];
  if (object instanceof tf.layers.Layer) return [...config, ...inputs.map((input) => () => made(input()))];
  if (object instanceof tf.optimizers.Optimizer)
    return [...config, () => object.applyGradients([[tf.constant([0.5, 1]), new tf.Variable([1, 2])]])];
  if (object instanceof tf.metrics.Mean || object instanceof tf.metrics.Sum)
    return [...config, () => object.updateState([1, 2]), () => object.result()];
  if (object instanceof tf.metrics.Metric) {
    const [t, p] = [tf.eye(2), tf.fill([2, 2], 0.5)];
    return [...config, () => object.updateState(t, p), () => object.result()];
  }
  if (typeof object !== 'function') return config;
  const argument = /losses/.test(name)
    ? [tf.eye(2), tf.fill([2, 2], 0.5)]
    : [/initializers/.test(name) ? [2, 2] : /schedules/.test(name) ? 1 : tf.ones([2, 2])];
  return [...config, () => made(...argument)];
}

/** What objects are called with, in place of tensors and of options. */
function calls(cls: Class, object: object): Readonly<Record<string, (value: unknown) => unknown>> {
  const made = object as unknown as Loose;
  const x = tf.ones([2, 3]);
  const config = (value: unknown): unknown => (cls as unknown as Loose)['fromConfig']?.(value);
  if (object instanceof tf.layers.Layer)
    return {
      input: (value) => made(value),
      inputs: (value) => made([value, value]),
      'second input': (value) => made([x, value]),
      'second argument': (value) => made(x, value),
      'named input': (value) => made({ a: value }),
      training: (value) => made(x, { training: value }),
      mask: (value) => made(x, { mask: value }),
      shape: (value) => made['build']?.(value),
      'shape to compute': (value) => made['computeOutputShape']?.(value),
      weights: (value) => made['setWeights']?.(value),
      data: (value) => made['adapt']?.(value),
      config,
    };
  if (object instanceof tf.metrics.Metric)
    return {
      yTrue: (value) => made['updateState']?.(value, [1, 2]),
      yPred: (value) => made['updateState']?.([1, 2], value),
      sampleWeight: (value) => made['updateState']?.([1, 0], [1, 0], value),
      config,
    };
  if (object instanceof tf.optimizers.Optimizer) {
    const v = new tf.Variable([1, 2]);
    return {
      gradients: (value) => made['applyGradients']?.(value),
      gradient: (value) => made['applyGradients']?.([[value, v]]),
      variable: (value) => made['applyGradients']?.([[x, value]]),
      variables: (value) => made['build']?.(value),
      rate: (value) => Object.assign(object, { learningRate: value }),
      config,
    };
  }
  if (typeof object === 'function')
    return {
      value: (value) => made(value),
      'first of two': (value) => made(value, x),
      'second of two': (value) => made(x, value),
      'third of three': (value) => made(x, x, value),
      config,
    };
  return {};
}

beforeAll(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterAll(() => void vi.restoreAllMocks());

test('most classes are tried', () => expect(classes.length).toBeGreaterThan(250));

describe.each(classes)('$name', (found) => {
  const { Class, base, options } = found;
  test('is made', async () => {
    const wrong: string[] = [];
    for (const option of options)
      for (const kind of Object.keys(kinds)) {
        const value = given(kind);
        const what = `${option} is ${kind}`;
        let made: object;
        try {
          made = make(Class, { ...base, [option]: value });
        } catch (error) {
          const isOwn = error instanceof tf.errors.EagreError;
          if (!isOwn || !isNamed(error.message, option, options)) wrong.push(`${what}: ${String(error)}`);
          continue;
        }
        for (const use of uses(found, made))
          try {
            await use();
          } catch (error) {
            if (!(error instanceof tf.errors.EagreError)) wrong.push(`${what}, later: ${String(error)}`);
          }
      }
    expect(wrong).toEqual([]);
  });
  test('is called', async () => {
    const wrong: string[] = [];
    for (const place of Object.keys(calls(Class, make(Class, base)))) {
      const call = calls(Class, make(Class, base))[place];
      for (const kind of Object.keys(kinds))
        try {
          await call?.(given(kind));
        } catch (error) {
          if (!(error instanceof tf.errors.EagreError)) wrong.push(`${place} is ${kind}: ${String(error)}`);
        }
    }
    expect(wrong).toEqual([]);
  });
});
