import { type Axis, type ClassNameOf, type CustomName, InvalidArgumentError, Tensor } from '@eagre/core';
import {
  type Deserialize,
  isPlain,
  kerasDefaults,
  type NamedFunction,
  numberOption,
  type Option,
  shown,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { markOurs } from './ours.ts';
import {
  ClassNames,
  defineGet,
  defineObjectDeserialize,
  defineObjectSerialize,
  type GetOf,
  KerasObject,
  type MakerOf,
  maker,
  type SerializedFunction,
  type SerializedObject,
} from './saving/keras-object.ts';

/** Brings a weight back into a permitted set after each update. */
export type ConstraintFunction = (weight: Tensor) => Tensor;

/** Base of constraints, which are functions of a weight. To make your own, extend it and write `call`; or take any such function. */
export abstract class Constraint extends KerasObject {
  /** The weight as it may be. */
  abstract override call(weight: Tensor): Tensor;
  protected override invoke(weight: Tensor): Tensor {
    return this.call(!isPlain(weight) && weight instanceof Tensor ? weight : toTensor(weight));
  }
  /** @internal */
  protected override get module(): string {
    return 'keras.constraints';
  }
}
export interface Constraint {
  (weight: Tensor): Tensor;
}

/** Norms along `axis`. */
function norms(weight: Tensor, axis: Axis): Tensor {
  return weight.square().sum(axis, { keepdims: true }).sqrt();
}

/** Options of `MaxNorm`. */
export interface MaxNormOptions {
  /** The largest norm of the weights of a unit; 2 unless given. */
  readonly maxValue?: number;
  /** The axes of one vector; the first unless given. */
  readonly axis?: Axis;
}
/** Norms along `axis` of at most `maxValue`. */
export class MaxNorm extends Constraint {
  /** The largest norm of the weights of a unit. */
  declare readonly maxValue: number;
  /** The axes of one vector. */
  declare readonly axis: Axis;

  constructor(...args: [maxValue?: number | MaxNormOptions, options?: MaxNormOptions]) {
    super(...args);
  }
  override call(weight: Tensor): Tensor {
    const length = norms(weight, this.axis);
    return weight.mul(length.clipByValue(0, this.maxValue).div(length.add(kerasDefaults.epsilon)));
  }
}

/** Options of `MinMaxNorm`. */
export interface MinMaxNormOptions {
  /** The smallest norm of the weights of a unit; 0 unless given. */
  readonly minValue?: number;
  /** The largest norm of the weights of a unit; 1 unless given. */
  readonly maxValue?: number;
  /** How much of the way to the bounds each update goes; 1, all of it, unless given. */
  readonly rate?: number;
  /** The axes of one vector; the first unless given. */
  readonly axis?: Axis;
}
/** Norms along `axis` from `minValue` to `maxValue`. */
export class MinMaxNorm extends Constraint {
  /** The smallest norm of the weights of a unit. */
  declare readonly minValue: number;
  /** The largest norm of the weights of a unit. */
  declare readonly maxValue: number;
  /** How much of the way to the bounds each update goes. */
  declare readonly rate: number;
  /** The axes of one vector. */
  declare readonly axis: Axis;

  constructor(...args: [minValue?: number | MinMaxNormOptions, options?: MinMaxNormOptions]) {
    super(...args);
  }
  override call(weight: Tensor): Tensor {
    const length = norms(weight, this.axis);
    const bounded = length.clipByValue(this.minValue, this.maxValue).mul(this.rate);
    const wanted = this.rate === 1 ? bounded : bounded.add(length.mul(1 - this.rate));
    return weight.mul(wanted.div(length.add(kerasDefaults.epsilon)));
  }
}

/** No negative values. */
export class NonNeg extends Constraint {
  override call(weight: Tensor): Tensor {
    return weight.relu();
  }
}

/** Options of `UnitNorm`. */
export interface UnitNormOptions {
  /** The axes of one vector; the first unless given. */
  readonly axis?: Axis;
}
/** Norms along `axis` of 1. */
export class UnitNorm extends Constraint {
  /** The axes of one vector. */
  declare readonly axis: Axis;

  constructor(...args: [axis?: Axis | UnitNormOptions, options?: UnitNormOptions]) {
    super(...args);
  }
  override call(weight: Tensor): Tensor {
    return weight.div(norms(weight, this.axis).add(kerasDefaults.epsilon));
  }
}
markOurs(MaxNorm, MinMaxNorm, NonNeg, UnitNorm);
const limit = (otherwise: number): Option<number> => numberOption(otherwise, 0);
const axis: Option<Axis> = {
  read: (given, name) => {
    const value = given ?? 0;
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!list.every((a) => Number.isSafeInteger(a)))
      throw new InvalidArgumentError(`${name} must be an integer or a list of them, got ${shown(value)}`);
    return value as Axis;
  },
};
takesOptions<MaxNormOptions, MaxNorm>(
  { positional: ['maxValue'], required: 0, options: { maxValue: limit(2), axis } },
  MaxNorm,
);
takesOptions<MinMaxNormOptions, MinMaxNorm>(
  {
    positional: ['minValue'],
    required: 0,
    options: { minValue: limit(0), maxValue: limit(1), rate: limit(1), axis },
  },
  MinMaxNorm,
);
takesOptions<object, NonNeg>({ options: {} }, NonNeg);
takesOptions<UnitNormOptions, UnitNorm>({ positional: ['axis'], required: 0, options: { axis } }, UnitNorm);

/** `new MaxNorm(…)` without `new`. */
export const maxNorm: MakerOf<typeof MaxNorm> = maker(MaxNorm);
/** `new MinMaxNorm(…)` without `new`. */
export const minMaxNorm: MakerOf<typeof MinMaxNorm> = maker(MinMaxNorm);
/** `new NonNeg()` without `new`. */
export const nonNeg: () => NonNeg = maker(NonNeg);
/** `new UnitNorm(…)` without `new`. */
export const unitNorm: MakerOf<typeof UnitNorm> = maker(UnitNorm);

const known = new ClassNames<Constraint>('constraint', { MaxNorm, MinMaxNorm, NonNeg, UnitNorm }, {});

/** Names of constraints; Keras's own (`max_norm`, `MaxNorm`) are understood too. */
export type ConstraintName =
  | ClassNameOf<'maxNorm' | 'minMaxNorm' | 'nonNeg' | 'unitNorm'>
  | CustomName<'constraint'>;

/** A name, a function of a weight, such as a constraint, or what a file holds. */
export type ConstraintLike = ConstraintName | ConstraintFunction | SerializedObject;

/** The constraint of a name, or the function itself; null of null. @throws InvalidArgumentError for an unknown name. */
export const get: GetOf<ConstraintLike, ConstraintFunction> = defineGet('constraints.get', known, Constraint);

/** A constraint, or a registered function, as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [constraint: ConstraintFunction],
  ['constraint'],
  unknown,
  SerializedObject | SerializedFunction
> = defineObjectSerialize('constraints.serialize', 'constraint');

/** The constraint that `serialize`, or Keras, wrote. `customObjects` are classes and functions of your own by name. */
export const deserialize: Deserialize<SerializedObject | SerializedFunction, ConstraintFunction> =
  defineObjectDeserialize('constraints.deserialize', known, Constraint);
