import { argumentsOf, type Option } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions } from './options.ts';
import type { LearningRate } from './rate.ts';

interface MomentsOptions extends OptimizerOptions {
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
}

/** What Adam, Adamax and Nadam share: an average of the gradients and one of their size, each with its decay. */
export abstract class Moments<O extends MomentsOptions> extends Optimizer {
  /** How much of the gradients' average stays at each step. */
  declare readonly beta1: number;
  /** How much of the average of squared or largest gradients stays at each step. */
  declare readonly beta2: number;
  /** Added to what steps are divided by. */
  declare readonly epsilon: number;

  constructor(...args: [learningRate?: LearningRate | null | O, options?: O]) {
    const all = argumentsOf<O>(new.target, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { beta_1: this.beta1, beta_2: this.beta2, decay: 0 };
  }
}

/** @internal The options of such a class. */
export const momentsOptions: {
  readonly beta1: Option<number>;
  readonly beta2: Option<number>;
  readonly epsilon: Option<number>;
} = { beta1: number(0.9, 'beta_1'), beta2: number(0.999, 'beta_2'), epsilon: number(1e-7) };
