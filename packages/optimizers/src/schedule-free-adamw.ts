import { InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, integerOption, takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import { div, min, mul, pow, sub } from './scalars.ts';

/** Options of `ScheduleFreeAdamW`. */
export interface ScheduleFreeAdamWOptions extends OptimizerOptions {
  /** The share of the average in the point where gradients are taken, above 0; 0.9 unless given. */
  readonly beta1?: number;
  /** How much of the squared gradients' average stays at each step; 0.999 unless given. */
  readonly beta2?: number;
  /** Added to the root; 1e-8 unless given. */
  readonly epsilon?: number;
  /** Over that many steps the learning rate grows from 0; 0 unless given. */
  readonly warmupSteps?: number;
}

/**
 * AdamW that needs no learning rate schedule: steps move a point `z` (the slot `momentum`), `x` is the mean of all `z`, and the variable is
 * `y = (1 − beta1) · z + beta1 · x` between them. With `v += (g² − v)(1 − beta2)` each step does
 * `z -= learningRate · g / (√(v / (1 − beta2ᵗ)) + epsilon); x += (z − x) / t`. Defazio et al., "The Road Less Scheduled", 2024. The learning
 * rate is 0.0025 unless given.
 */
export class ScheduleFreeAdamW extends Optimizer {
  /** The share of the average in the point where gradients are taken, above 0. */
  declare readonly beta1: number;
  /** How much of the squared gradients' average stays at each step. */
  declare readonly beta2: number;
  /** Added to the root. */
  declare readonly epsilon: number;
  /** Over that many steps the learning rate grows from 0. */
  declare readonly warmupSteps: number;

  constructor(
    ...args: [
      learningRate?: LearningRate | null | ScheduleFreeAdamWOptions,
      options?: ScheduleFreeAdamWOptions,
    ]
  ) {
    const all = argumentsOf<ScheduleFreeAdamWOptions>(ScheduleFreeAdamW, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.0025 });
    if (!(this.beta1 > 0 && this.beta1 <= 1))
      throw new InvalidArgumentError(`beta1 must be above 0 and at most 1, got ${this.beta1}`, this.name);
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    for (const variable of variables) {
      this.addSlot(variable, 'momentum', { shape: variable.shape, initial: variable.read() });
      this.addSlots([variable], 'velocity');
    }
  }

  override updateStep(gradient: Tensor, variable: Variable): void {
    const { beta1, beta2, epsilon, warmupSteps } = this;
    const { rate, correction, share } = this.momentaryScalars(variable, (lr, step) => ({
      rate: warmupSteps > 0 ? mul(lr, min(div(step, warmupSteps), 1)) : lr,
      correction: div(1, sub(1, pow(beta2, step))),
      share: div(1, step),
    }));
    const z = this.slot(variable, 'momentum');
    const v = this.slot(variable, 'velocity');
    v.assignAdd(
      gradient
        .square()
        .sub(v)
        .mul(1 - beta2),
    );
    const x = variable.sub(z.mul(1 - beta1)).div(beta1);
    z.assignSub(gradient.mul(rate).div(v.mul(correction).sqrt().add(epsilon)));
    const mean = x.add(z.sub(x).mul(share));
    variable.assign(z.mul(1 - beta1).add(mean.mul(beta1)));
  }
}

takesOptions<ScheduleFreeAdamWOptions, ScheduleFreeAdamW>(
  optimizerSchema<ScheduleFreeAdamWOptions, ScheduleFreeAdamW>({
    beta1: number(0.9, 'beta_1'),
    beta2: number(0.999, 'beta_2'),
    epsilon: number(1e-8),
    warmupSteps: integerOption(0, 0),
  }),
  ScheduleFreeAdamW,
);
