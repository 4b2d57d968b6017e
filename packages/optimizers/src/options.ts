import type { OptionNames, Parameters } from '@eagre/core/internal';
import type { LearningRate } from './rate.ts';

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
export function optimizerParameters<O extends OptimizerOptions>(
  own: OptionNames<Omit<O, keyof OptimizerOptions>>,
): Parameters<O> {
  const names = Object.assign({ learningRate: true }, own, optimizerOptions) as unknown as OptionNames<O>;
  return { positional: ['learningRate'], required: 0, names };
}
