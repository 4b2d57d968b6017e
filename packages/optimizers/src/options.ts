// Types in a circle: the schema of the options reads them from an optimizer, which is made of them.
import { InvalidArgumentError, type Module } from '@eagre/core';
import {
  flagOption,
  integerOption,
  numberOption,
  type Option,
  orNull,
  type Schema,
  shown,
} from '@eagre/core/internal';
import type { Optimizer } from './optimizer.ts';
import type { LearningRate } from './rate.ts';
import { checkNumber } from './schedule.ts';

/** What all optimizers take. */
export interface OptimizerOptions {
  /** How far a step goes: a number, one of `schedules`, or a function of the step; 0.001 unless given, of SGD 0.01. */
  readonly learningRate?: LearningRate;
  /** Before each update, `variable -= variable · weightDecay · learningRate`. */
  readonly weightDecay?: number | null;
  /** The largest norm of each gradient; longer ones are shortened. Only one of the three kinds of clipping can be given. */
  readonly clipnorm?: number | null;
  /** The largest absolute value of an element of a gradient. */
  readonly clipvalue?: number | null;
  /** The largest norm of all gradients together. */
  readonly globalClipnorm?: number | null;
  /**
   * Keep an average of each variable over the steps; `finalizeVariableValues`, which `fit` calls at its end, puts the averages in the
   * place of the variables. Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992.
   */
  readonly useEma?: boolean;
  /** `average = emaMomentum · average + (1 − emaMomentum) · variable` after each update; 0.99 unless given. */
  readonly emaMomentum?: number;
  /** Puts the averages in the place of the variables after every that many steps, too. */
  readonly emaOverwriteFrequency?: number | null;
  /** The loss is multiplied by it (`scaleLoss`, which `fit` calls), and gradients divided, so that small ones do not vanish in 16 bits. */
  readonly lossScaleFactor?: number | null;
  /**
   * Updates the variables in every that many steps only, at least 2, with the means of the gradients since then. Schedules and `iterations`
   * count all steps.
   */
  readonly gradientAccumulationSteps?: number | null;
  /** Part of the names of its variables; the class's name unless given. */
  readonly name?: string | null;
}

/** @internal A finite number. @param key what Keras calls it, where that is not the name in snake_case */
export function number(otherwise: number, key?: string): Option<number> {
  const read: Option<number>['read'] = (given, name, of) =>
    checkNumber((given ?? otherwise) as number, name, (of as Module).name);
  return key === undefined ? { read } : { read, key };
}

/** A factor above 0. */
const factor: Option<number | null> = orNull({
  read: (given, name, of) => {
    if (typeof given === 'number' && given > 0 && Number.isFinite(given)) return given;
    throw new InvalidArgumentError(
      `${name} must be a positive number, got ${shown(given)}`,
      (of as Module).name,
    );
  },
});
/** A share. */
const momentum: Option<number> = {
  read: (given = 0.99, name, of) => {
    if (typeof given !== 'number' || !(given >= 0 && given <= 1))
      throw new InvalidArgumentError(
        `${name} must be between 0 and 1, got ${shown(given)}`,
        (of as Module).name,
      );
    return given;
  },
};
const limit: Option<number | null> = orNull(numberOption(0, 0));

/** @internal What all optimizers take, in Keras's order. */
export const optimizerOptions: Schema<OptimizerOptions, Optimizer>['options'] = {
  learningRate: true,
  weightDecay: orNull(number(0)),
  clipnorm: limit,
  clipvalue: limit,
  globalClipnorm: limit,
  useEma: flagOption(false),
  emaMomentum: momentum,
  emaOverwriteFrequency: orNull(integerOption(1, 1)),
  lossScaleFactor: factor,
  gradientAccumulationSteps: orNull(integerOption(2, 2)),
  name: true,
};

/** @internal What an optimizer takes: the learning rate, what is its own in Keras's order, and what all of them take. */
export function optimizerSchema<O extends OptimizerOptions, C>(
  own: Omit<Schema<O, C>['options'], keyof OptimizerOptions>,
): Schema<O, C> {
  const options = Object.assign({ learningRate: true }, own, optimizerOptions);
  return { positional: ['learningRate'], required: 0, options: options as Schema<O, C>['options'] };
}
