import type { OptionNames } from '@eagre/core/internal';
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
  readonly name?: string;
}

/** @internal */
export const optimizerOptions: OptionNames<OptimizerOptions> = {
  learningRate: true,
  weightDecay: true,
  clipnorm: true,
  clipvalue: true,
  globalClipnorm: true,
  name: true,
};

/** @internal Both forms of an optimizer's arguments, `(0.1, { … })` and `({ learningRate: 0.1, … })`, as the latter. */
export function withLearningRate<O extends OptimizerOptions>(
  first: LearningRate | O | undefined,
  rest: O | undefined,
): O {
  if (typeof first === 'object' || first === undefined) return { ...first, ...rest } as O;
  return { ...rest, learningRate: first } as O;
}
