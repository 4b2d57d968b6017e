import type { Module } from '@eagre/core';
import type { Option, OptionNames, Schema } from '@eagre/core/internal';
import type { LearningRate } from './rate.ts';
import { checkNumber } from './schedule.ts';

/** What all optimizers take. */
export interface OptimizerOptions {
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
  readonly name?: string | null;
}

/** @internal */
export const optimizerOptions: OptionNames<OptimizerOptions> = {
  learningRate: true,
  weightDecay: true,
  clipnorm: true,
  clipvalue: true,
  globalClipnorm: true,
  useEma: true,
  emaMomentum: true,
  emaOverwriteFrequency: true,
  name: true,
};

/** @internal What an optimizer takes: the learning rate, what is its own in Keras's order, and what all of them take. */
export function optimizerSchema<O extends OptimizerOptions, C>(
  own: Omit<Schema<O, C>['options'], keyof OptimizerOptions>,
): Schema<O, C> {
  const options = Object.assign({ learningRate: true }, own, optimizerOptions);
  return { positional: ['learningRate'], required: 0, options: options as Schema<O, C>['options'] };
}

/** @internal A finite number. @param key what Keras calls it, where that is not the name in snake_case */
export function number(otherwise: number, key?: string): Option<number> {
  const read: Option<number>['read'] = (given, name, of) =>
    checkNumber((given ?? otherwise) as number, name, (of as Module).name);
  return key === undefined ? { read } : { read, key };
}
