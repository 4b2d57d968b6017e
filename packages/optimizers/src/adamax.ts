import type { Tensor, Variable } from '@eagre/core';
import { takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { type OptimizerOptions, optimizerOptions, withLearningRate } from './options.ts';
import type { LearningRate } from './rate.ts';
import { checkNumber } from './schedule.ts';

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
export class Adamax extends Optimizer {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;

  constructor(learningRate?: LearningRate | AdamaxOptions, options?: AdamaxOptions) {
    const all = withLearningRate(learningRate, options);
    super({ learningRate: 0.001, ...all });
    this.beta1 = checkNumber(all.beta1 ?? 0.9, 'beta1', this.name);
    this.beta2 = checkNumber(all.beta2 ?? 0.999, 'beta2', this.name);
    this.epsilon = checkNumber(all.epsilon ?? 1e-7, 'epsilon', this.name);
  }

  override build(variables: readonly Variable[]): void {
    if (this.built) return;
    super.build(variables);
    this.addSlots(variables, 'momentum', 'norm');
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { beta_1: this.beta1, beta_2: this.beta2, decay: 0 };
  }

  protected override checkpointName(name: string): string {
    return { momentum: 'm', norm: 'v' }[name] ?? name;
  }

  override updateStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    const { beta1, beta2, epsilon } = this;
    const { rate } = this.momentaryScalars(variable, learningRate, (lr, step) => ({
      rate: lr / (1 - beta1 ** step),
    }));
    const m = this.slot(variable, 'momentum');
    const u = this.slot(variable, 'norm');
    m.assignAdd(gradient.sub(m).mul(1 - beta1));
    u.assign(u.mul(beta2).maximum(gradient.abs()));
    variable.assignSub(m.mul(rate).div(u.add(epsilon)));
  }

  override getConfig(): Record<string, unknown> {
    const { beta1, beta2, epsilon } = this;
    return { ...super.getConfig(), beta_1: beta1, beta_2: beta2, epsilon };
  }
}

takesOptions<AdamaxOptions>({ ...optimizerOptions, beta1: true, beta2: true, epsilon: true }, Adamax);
