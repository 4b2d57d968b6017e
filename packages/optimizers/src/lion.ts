import { InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';

/** Options of `Lion`. */
export interface LionOptions extends OptimizerOptions {
  /** The share of the average in the step, above 0 and at most 1; 0.9 unless given. */
  readonly beta1?: number;
  /** How much of the gradients' average stays at each step; 0.99 unless given. */
  readonly beta2?: number;
}

/**
 * Lion: `w -= learningRate · sign(beta1 · m + (1 − beta1) · g); m = beta2 · m + (1 − beta2) · g`. Chen et al., "Symbolic Discovery of
 * Optimization Algorithms", 2023. The learning rate is 0.001 unless given; it wants to be 3 to 10 times smaller than for AdamW.
 */
export class Lion extends Optimizer {
  /** The share of the average in the step, above 0 and at most 1. */
  declare readonly beta1: number;
  /** How much of the gradients' average stays at each step. */
  declare readonly beta2: number;

  constructor(...args: [learningRate?: LearningRate | null | LionOptions, options?: LionOptions]) {
    const all = argumentsOf<LionOptions>(Lion, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
    if (!(this.beta1 > 0 && this.beta1 <= 1)) {
      throw new InvalidArgumentError(`beta1 must be above 0 and at most 1, got ${this.beta1}`, this.name);
    }
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    this.addSlots(variables, 'momentum');
  }

  protected override checkpointList(name: string): string | null {
    return name === 'momentum' ? 'momentums' : super.checkpointList(name);
  }

  override updateStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    const { beta1, beta2 } = this;
    const m = this.slot(variable, 'momentum');
    variable.assignSub(
      m
        .mul(beta1)
        .add(gradient.mul(1 - beta1))
        .sign()
        .mul(learningRate),
    );
    m.assign(m.mul(beta2).add(gradient.mul(1 - beta2)));
  }
}

takesOptions<LionOptions, Lion>(
  optimizerSchema<LionOptions, Lion>({ beta1: number(0.9, 'beta_1'), beta2: number(0.99, 'beta_2') }),
  Lion,
);
