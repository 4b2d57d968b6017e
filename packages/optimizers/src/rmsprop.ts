import type { Variable } from '@eagre/core';
import { argumentsOf, flagOption, takesOptions } from '@eagre/core/internal';
import type { Update } from './gradients.ts';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import type { Scalar } from './scalars.ts';

/** Options of `RMSprop`. */
export interface RMSpropOptions extends OptimizerOptions {
  /** How much of the average of squared gradients stays at each step; 0.9 unless given. */
  readonly rho?: number;
  /** How much of the last step is taken again; 0, the default, is none. */
  readonly momentum?: number;
  /** Added to the average below the root; 1e-7 unless given. */
  readonly epsilon?: number;
  /** Divide by the estimated variance instead of the second moment. */
  readonly centered?: boolean;
}

/**
 * RMSprop: `s = rho · s + (1 − rho) · g²; w -= learningRate · g / √(s + epsilon)`. With `centered`, s less the square of the
 * gradients' average; with momentum, the steps accumulate: `m = momentum · m + step; w -= m`. Hinton, "Neural Networks for
 * Machine Learning", lecture 6, 2012. The learning rate is 0.001 unless given.
 */
export class RMSprop extends Optimizer {
  /** How much of the average of squared gradients stays at each step. */
  declare readonly rho: number;
  /** How much of the last step is taken again; 0 is none. */
  declare readonly momentum: number;
  /** Added to the average below the root. */
  declare readonly epsilon: number;
  /** Divide by the estimated variance instead of the second moment. */
  declare readonly centered: boolean;
  protected velocities: Variable[] = [];
  protected momentums: Variable[] = [];
  protected averageGradients: Variable[] = [];

  constructor(...args: [learningRate?: LearningRate | null | RMSpropOptions, options?: RMSpropOptions]) {
    const all = argumentsOf<RMSpropOptions>(RMSprop, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    [this.velocities] = this.addSlots(variables, 'velocity');
    if (this.momentum > 0) [this.momentums] = this.addSlots(variables, 'momentum');
    if (this.centered) [this.averageGradients] = this.addSlots(variables, 'average_gradient');
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { rho: this.rho, momentum: this.momentum, decay: 0 };
  }

  protected override checkpointName(name: string): string {
    return { velocity: 'rms', average_gradient: 'mg' }[name] ?? name;
  }

  protected override updateAll(updates: readonly Update[], learningRate: Scalar): void {
    const { rho, momentum, epsilon, centered } = this;
    const slots = [
      this.velocities,
      ...(centered ? [this.averageGradients] : []),
      ...(momentum > 0 ? [this.momentums] : []),
    ];
    this.runKernel('ApplyRMSProp', updates, slots, { rho, momentum, epsilon, centered }, [learningRate]);
  }
}

takesOptions<RMSpropOptions, RMSprop>(
  optimizerSchema<RMSpropOptions, RMSprop>({
    rho: number(0.9),
    momentum: number(0),
    epsilon: number(1e-7),
    centered: flagOption(false),
  }),
  RMSprop,
);
