import type { Tensor, Variable } from '@eagre/core';
import { takesOptions } from '@eagre/core/internal';
import type { Update } from './gradients.ts';
import { Moments, momentsOptions } from './moments.ts';
import { type OptimizerOptions, optimizerSchema } from './options.ts';
import { add, div, mul, pow, type Scalar, sub } from './scalars.ts';

/** Options of `Nadam`. */
export interface NadamOptions extends OptimizerOptions {
  /** How much of the gradients' average stays at each step; 0.9 unless given. */
  readonly beta1?: number;
  /** How much of the squared gradients' average stays at each step; 0.999 unless given. */
  readonly beta2?: number;
  /** Added to the root; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Adam with Nesterov's momentum, whose weight `uₜ = beta1 · (1 − 0.96ᵗ / 2)` grows:
 * `m += (g − m)(1 − beta1); v += (g² − v)(1 − beta2); w -= learningRate · m̂ / (√(v / (1 − beta2ᵗ)) + epsilon)` with
 * `m̂ = uₜ₊₁ · m / (1 − u₁ ⋯ uₜ₊₁) + (1 − uₜ) · g / (1 − u₁ ⋯ uₜ)`. Dozat, "Incorporating Nesterov Momentum into Adam", 2015.
 * The learning rate is 0.001 unless given.
 */
export class Nadam extends Moments<NadamOptions> {
  /** u₁ ⋯ uₜ */
  #product: Variable | null = null;

  protected override addAllSlots(variables: readonly Variable[]): void {
    this.addSlots(variables, 'momentum', 'velocity');
    this.#product = this.addVariable({
      shape: [],
      dtype: variables[0]?.dtype ?? 'float32',
      name: 'u_product',
      initial: 1,
    });
  }

  protected override checkpointName(name: string): string {
    return { momentum: 'm', velocity: 'v' }[name] ?? name;
  }

  /** The momentum's weight at a step, counted from 1. */
  #weight(step: Scalar): Scalar {
    return mul(this.beta1, sub(1, mul(0.5, pow(0.96, step))));
  }

  protected override updateAll(updates: readonly Update[], learningRate: number | Tensor): void {
    const product = this.#product as Variable;
    const { u } = this.momentaryScalars(product, (_, step) => ({ u: this.#weight(step) }));
    product.assign(product.mul(u));
    super.updateAll(updates, learningRate);
  }

  override updateStep(gradient: Tensor, variable: Variable): void {
    const { beta1, beta2, epsilon } = this;
    const now = this.momentaryScalars(variable, (lr, step) => ({
      next: this.#weight(add(step, 1)),
      ofMomentum: mul(lr, this.#weight(add(step, 1))),
      ofGradient: mul(lr, sub(1, this.#weight(step))),
      correction: div(1, sub(1, pow(beta2, step))),
    }));
    const product = (this.#product as Variable).cast(variable.dtype);
    const m = this.slot(variable, 'momentum');
    const v = this.slot(variable, 'velocity');
    m.assignAdd(gradient.sub(m).mul(1 - beta1));
    v.assignAdd(
      gradient
        .square()
        .sub(v)
        .mul(1 - beta2),
    );
    const step = m
      .mul(product.mul(now.next).sub(1).reciprocal().neg().mul(now.ofMomentum))
      .add(gradient.mul(product.sub(1).reciprocal().neg().mul(now.ofGradient)));
    variable.assignSub(step.div(v.mul(now.correction).sqrt().add(epsilon)));
  }
}

takesOptions<NadamOptions, Nadam>(optimizerSchema<NadamOptions, Nadam>(momentsOptions), Nadam);
