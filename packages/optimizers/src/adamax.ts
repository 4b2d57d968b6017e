import type { Tensor, Variable } from '@eagre/core';
import { takesOptions } from '@eagre/core/internal';
import { Moments, momentsOptions } from './moments.ts';
import { type OptimizerOptions, optimizerSchema } from './options.ts';
import { div, pow, sub } from './scalars.ts';

/** Options of `Adamax`. */
export interface AdamaxOptions extends OptimizerOptions {
  /** How much of the gradients' average stays at each step; 0.9 unless given. */
  readonly beta1?: number;
  /** How much of the largest gradient stays at each step; 0.999 unless given. */
  readonly beta2?: number;
  /** Added to the divisor; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Adam with the largest gradient in the place of the root mean square: `m += (g − m)(1 − beta1); u = max(beta2 · u, |g|);
 * w -= learningRate / (1 − beta1ᵗ) · m / (u + epsilon)`. Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2014,
 * section 7. The learning rate is 0.001 unless given.
 */
export class Adamax extends Moments<AdamaxOptions> {
  protected override addAllSlots(variables: readonly Variable[]): void {
    this.addSlots(variables, 'momentum', 'norm');
  }

  protected override checkpointName(name: string): string {
    return { momentum: 'm', norm: 'v' }[name] ?? name;
  }

  protected override checkpointList(name: string): string | null {
    return { momentum: '_m', norm: '_u' }[name] ?? super.checkpointList(name);
  }

  override updateStep(gradient: Tensor, variable: Variable): void {
    const { beta1, beta2, epsilon } = this;
    const { rate } = this.momentaryScalars(variable, (lr, step) => ({
      rate: div(lr, sub(1, pow(beta1, step))),
    }));
    const m = this.slot(variable, 'momentum');
    const u = this.slot(variable, 'norm');
    m.assignAdd(gradient.sub(m).mul(1 - beta1));
    u.assign(u.mul(beta2).maximum(gradient.abs()));
    variable.assignSub(m.mul(rate).div(u.add(epsilon)));
  }
}

takesOptions<AdamaxOptions, Adamax>(optimizerSchema<AdamaxOptions, Adamax>(momentsOptions), Adamax);
