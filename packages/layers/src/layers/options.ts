// The kinds of options that layers have: how they are read, what they are unless given, and what configurations say of them.
import { isPlain, type Option } from '@eagre/core/internal';
import type { Activation, ActivationName } from '../activations.ts';
import { type ConstraintFunction, get as getConstraint } from '../constraints.ts';
import {
  get as getInitializer,
  type InitializerFunction,
  type InitializerName,
} from '../initializers/initializers.ts';
import type { Layer } from '../layer/layer.ts';
import { show } from '../layer/show.ts';
import { get as getRegularizer, type RegularizerFunction } from '../regularizers.ts';
import { functionConfig } from '../saving/keras-object.ts';
import { activationConfig, fail, type Padding, resolveActivation } from './common.ts';
import type { Rank, Sizes } from './spatial.ts';

type Given<V> = V | ((layer: never) => V);

/**
 * @param check gives the value of what was given.
 * @param otherwise what is as if given where nothing is; of the options before it where it is a function of the layer.
 */
export function option<T, V = T>(
  check: (value: V, name: string, layer: Layer) => T,
  otherwise?: Given<V>,
  write?: (value: T) => unknown,
): Option<T> {
  const read = (given: unknown, name: string, layer: object): T => {
    const value =
      given ?? (typeof otherwise === 'function' ? (otherwise as (of: object) => V)(layer) : otherwise);
    return check(value as V, name, layer as Layer);
  };
  return write === undefined ? { read } : { read, write };
}

/** An integer of at least `least`. */
export function integer(otherwise?: Given<number>, least = 1): Option<number> {
  return option((value, name, layer) => {
    if (!Number.isSafeInteger(value) || value < least)
      fail(layer, `needs ${name} to be an integer of at least ${least}, got ${show(value)}`);
    return value;
  }, otherwise);
}

/** A number of at least 0. */
export function notNegative(otherwise?: number): Option<number> {
  return option((value, name, layer) => {
    if (typeof value !== 'number' || !(value >= 0))
      fail(layer, `needs ${name} to be a number of at least 0, got ${show(value)}`);
    return value;
  }, otherwise);
}

/** A finite number above 0. */
export function positive(otherwise?: number): Option<number> {
  return option((value, name, layer) => {
    if (typeof value !== 'number' || !(value > 0 && Number.isFinite(value)))
      fail(layer, `needs ${name} to be a number above 0, got ${show(value)}`);
    return value;
  }, otherwise);
}

/** A number that is not NaN. */
export function number(otherwise: number): Option<number> {
  return option((value, name, layer) => {
    if (typeof value !== 'number' || Number.isNaN(value))
      fail(layer, `needs ${name} to be a number, got ${show(value)}`);
    return value;
  }, otherwise);
}

/** A share between 0 and 1. */
export function rate(otherwise?: number): Option<number> {
  return option((value, _, layer) => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 1))
      fail(layer, `needs a rate between 0 and 1, got ${show(value)}`);
    return value;
  }, otherwise);
}

/** True or false. */
export function flag(otherwise: boolean): Option<boolean> {
  return option((value, name, layer) => {
    if (typeof value !== 'boolean') fail(layer, `needs ${name} to be true or false, got ${show(value)}`);
    return value;
  }, otherwise);
}

const orMore = { 1: '', 2: ' or two of them', 3: ' or three of them' } as const;

/** @throws InvalidArgumentError unless it is one integer, or one for each direction. */
export function readSizes(
  value: Sizes,
  rank: Rank,
  name: string,
  layer: Layer,
  least: number,
): readonly number[] {
  const list: readonly number[] = typeof value === 'number' ? new Array<number>(rank).fill(value) : value;
  if (
    isPlain(list) ||
    !Array.isArray(list) ||
    list.length !== rank ||
    !list.every((n) => Number.isSafeInteger(n) && n >= least)
  ) {
    fail(layer, `needs ${name} to be an integer of at least ${least}${orMore[rank]}, got ${show(value)}`);
  }
  return [...list];
}

/** One integer for all directions, or one for each. */
export function sizes(rank: Rank, otherwise?: Given<Sizes>, least = 1): Option<readonly number[]> {
  return option((value, name, layer) => readSizes(value, rank, name, layer, least), otherwise);
}

/** One of some ways of padding, in any case; `valid` unless given. */
function paddings<P extends string>(...ways: readonly P[]): Option<P> {
  return option<P, string>((value, _, layer) => {
    const found = typeof value === 'string' ? value.toLowerCase() : value;
    if (!ways.includes(found as P)) {
      const all = ways.map((way) => `'${way}'`);
      fail(layer, `needs padding ${all.slice(0, -1).join(', ')} or ${all.at(-1)}, got ${show(value)}`);
    }
    return found as P;
  }, 'valid');
}
export const padding: Option<Padding> = paddings('valid', 'same');
/** Of convolutions over sequences. */
export const causalPadding: Option<Padding | 'causal'> = paddings('valid', 'same', 'causal');

/** Of a generator of random numbers. */
export const seed: Option<number | null> = option<number | null>((value) => value, null);

/** One axis; the last unless given. */
export const axis: Option<number> = option((value, _, layer) => {
  if (!Number.isInteger(value)) fail(layer, `needs one integer as axis, got ${show(value)}`);
  return value;
}, -1);

/** One axis or several; the last unless given. */
export const axes: Option<number | readonly number[]> = option<number | readonly number[]>(
  (value, _, layer) => {
    const list = typeof value === 'number' ? [value] : value;
    if (!Array.isArray(list) || list.length === 0 || !list.every((a) => Number.isInteger(a)))
      fail(layer, `needs an integer or a list of them as axis, got ${show(value)}`);
    return value;
  },
  -1,
);

/** One of some words. */
export function word<W extends string>(
  words: readonly W[],
  otherwise: W,
  message: (value: string) => string,
): Option<W> {
  return option((value, _, layer) => {
    if (!words.includes(value)) fail(layer, message(show(value)));
    return value;
  }, otherwise);
}

/** Of strings. */
export const encoding: Option<'utf-8'> = word(
  ['utf-8'],
  'utf-8',
  (value) => `knows the encoding 'utf-8' only, got ${value}`,
);

/** A function of a tensor, or the name of one. */
export function activation(otherwise: ActivationName): Option<Activation> {
  return option(resolveActivation, otherwise, activationConfig);
}

const function_ = <T>(get: (like: never) => T, otherwise: InitializerName | null): Option<T> => ({
  read: (given) => ((given ?? otherwise) === null ? (null as T) : get((given ?? otherwise) as never)),
  write: functionConfig,
  hidden: true,
});

/** How a weight begins. */
export const initializer = (otherwise: InitializerName): Option<InitializerFunction> =>
  function_(getInitializer, otherwise);
/** A penalty on a weight, or on an output. */
export const regularizer: Option<RegularizerFunction | null> = function_(getRegularizer, null);
/** What a weight must be after each update. */
export const constraint: Option<ConstraintFunction | null> = function_(getConstraint, null);
/** A penalty on the output, of layers which write nothing where there is none. */
export const activityRegularizer: Option<RegularizerFunction | null> = {
  ...regularizer,
  write: (value) => (value === null ? undefined : functionConfig(value)),
};

type WeightKinds<W extends string> = Readonly<
  Record<`${W}Initializer`, Option<InitializerFunction>> &
    Record<`${W}Regularizer`, Option<RegularizerFunction | null>> &
    Record<`${W}Constraint`, Option<ConstraintFunction | null>>
>;

/** The options of weights in Keras's order: their initializers, then their regularizers, then their constraints. */
export function weights<W extends string>(
  initializers: Readonly<Record<W, InitializerName>>,
): WeightKinds<W> {
  const all = Object.entries(initializers) as [W, InitializerName][];
  return Object.fromEntries([
    ...all.map(([weight, name]) => [`${weight}Initializer`, initializer(name)]),
    ...all.map(([weight]) => [`${weight}Regularizer`, regularizer]),
    ...all.map(([weight]) => [`${weight}Constraint`, constraint]),
  ]) as WeightKinds<W>;
}

/** How a weight is made: what `addWeight` takes beside name and shape. */
export interface Recipe {
  readonly initializer: InitializerFunction;
  readonly regularizer: RegularizerFunction | null;
  readonly constraint: ConstraintFunction | null;
}

/** What the options of a layer say of a weight. */
export function recipe(layer: Layer, weight: string): Recipe {
  const options = layer as unknown as Readonly<Record<string, never>>;
  return {
    initializer: options[`${weight}Initializer`],
    regularizer: options[`${weight}Regularizer`],
    constraint: options[`${weight}Constraint`],
  };
}
