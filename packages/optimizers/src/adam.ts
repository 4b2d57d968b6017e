import type { Variable } from '@eagre/core';
import { argumentsOf, flagOption, type Schema, takesOptions } from '@eagre/core/internal';
import type { Update } from './gradients.ts';
import { Moments, momentsOptions } from './moments.ts';
import { type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import { div, mul, pow, type Scalar, sqrt, sub } from './scalars.ts';

/** Options of `Adam`. */
export interface AdamOptions extends OptimizerOptions {
  /** How much of the gradients' average stays at each step; 0.9 unless given. */
  readonly beta1?: number;
  /** How much of the squared gradients' average stays at each step; 0.999 unless given. */
  readonly beta2?: number;
  /** Added to the root; 1e-7 unless given. This is the paper's "epsilon hat". */
  readonly epsilon?: number;
  /** Use the largest second moment so far: Reddi et al., "On the Convergence of Adam and Beyond", 2018. */
  readonly amsgrad?: boolean;
}

/** @internal The learning rate of a step with the corrections of the moments' bias. */
export function stepSize({ beta1, beta2 }: Adam, learningRate: Scalar, step: Scalar): Scalar {
  return div(mul(learningRate, sqrt(sub(1, pow(beta2, step)))), sub(1, pow(beta1, step)));
}

/**
 * Adam: `m += (g − m)(1 − beta1); v += (g² − v)(1 − beta2); w -= learningRate · √(1 − beta2ᵗ) / (1 − beta1ᵗ) · m / (√v +
 * epsilon)`. Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2014. The learning rate is 0.001 unless given.
 */
export class Adam extends Moments<AdamOptions> {
  /** Use the largest second moment so far: Reddi et al., "On the Convergence of Adam and Beyond", 2018. */
  declare readonly amsgrad: boolean;
  protected momentums: Variable[] = [];
  protected velocities: Variable[] = [];
  protected velocityHats: Variable[] = [];

  constructor(...args: [learningRate?: LearningRate | null | AdamOptions, options?: AdamOptions]) {
    const all = argumentsOf<AdamOptions>(Adam, new.target, args);
    super(all);
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    [this.momentums, this.velocities] = this.addSlots(variables, 'momentum', 'velocity');
    if (this.amsgrad) [this.velocityHats] = this.addSlots(variables, 'velocity_hat');
  }

  protected override checkpointName(name: string): string {
    return { momentum: 'm', velocity: 'v', velocity_hat: 'vhat' }[name] ?? name;
  }

  // The kernel shrinks the variables itself.
  protected override applyWeightDecay(): void {}

  protected override updateAll(updates: readonly Update[], learningRate: Scalar): void {
    const { beta1, beta2, epsilon, amsgrad } = this;
    const step = this.momentaryStep();
    const alpha = stepSize(this, learningRate, step);
    const slots = [this.momentums, this.velocities, ...(amsgrad ? [this.velocityHats] : [])];
    const run = (some: readonly Update[], weightDecay: number): void => {
      if (some.length === 0) return;
      const attrs = { beta1, beta2, epsilon, weightDecay, amsgrad };
      this.runKernel('ApplyAdam', some, slots, attrs, [alpha, learningRate]);
    };
    const decay = this.weightDecay ?? 0;
    run(
      updates.filter((u) => this.decayOf(u.variable) === decay),
      decay,
    );
    if (decay !== 0)
      run(
        updates.filter((u) => this.decayOf(u.variable) === 0),
        0,
      );
  }
}

/**
 * Adam with decoupled weight decay: before each update `w -= w · weightDecay · learningRate`, with 0.004 unless given.
 * Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019.
 */
export class AdamW extends Adam {
  constructor(...args: [learningRate?: LearningRate | null | AdamOptions, options?: AdamOptions]) {
    super({ weightDecay: 0.004, ...argumentsOf<AdamOptions>(AdamW, new.target, args) });
  }
}

/** @internal The options of Adam. */
export const adamSchema: Schema<AdamOptions, Adam> = optimizerSchema<AdamOptions, Adam>({
  ...momentsOptions,
  amsgrad: flagOption(false),
});
takesOptions<AdamOptions, Adam>(adamSchema, Adam);
takesOptions<AdamOptions, AdamW>(
  {
    ...adamSchema,
    options: Object.assign({ learningRate: true, weightDecay: true } as const, adamSchema.options),
  },
  AdamW,
);
