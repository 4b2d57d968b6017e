import { argumentsOf } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import type { OptimizerOptions } from './options.ts';
import type { LearningRate } from './rate.ts';
import { checkNumber } from './schedule.ts';

interface MomentsOptions extends OptimizerOptions {
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
}

/** What Adam, Adamax and Nadam share: an average of the gradients and one of their size, each with its decay. */
export abstract class Moments<O extends MomentsOptions> extends Optimizer {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;

  constructor(learningRate?: LearningRate | null | O, options?: O);
  constructor(...args: readonly unknown[]) {
    const all = argumentsOf<O>(new.target, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
    this.beta1 = checkNumber(all.beta1 ?? 0.9, 'beta1', this.name);
    this.beta2 = checkNumber(all.beta2 ?? 0.999, 'beta2', this.name);
    this.epsilon = checkNumber(all.epsilon ?? 1e-7, 'epsilon', this.name);
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { beta_1: this.beta1, beta_2: this.beta2, decay: 0 };
  }

  override getConfig(): Record<string, unknown> {
    const { beta1, beta2, epsilon } = this;
    return { ...super.getConfig(), beta_1: beta1, beta_2: beta2, epsilon };
  }
}
