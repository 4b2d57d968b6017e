import type { Tensor, Variable } from '@eagre/core';
import { argumentsOf, takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';

/** Options of `Adadelta`. */
export interface AdadeltaOptions extends OptimizerOptions {
  /** How much of the averages stays at each step; 0.95 unless given. */
  readonly rho?: number;
  /** Added below both roots; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Adadelta: `s = rho · s + (1 − rho) · g²; step = g · √(d + epsilon) / √(s + epsilon); d = rho · d + (1 − rho) · step²;
 * w -= learningRate · step`. Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012, in which the learning rate is 1; here it is
 * 0.001 unless given.
 */
export class Adadelta extends Optimizer {
  /** How much of the averages stays at each step. */
  declare readonly rho: number;
  /** Added below both roots. */
  declare readonly epsilon: number;

  constructor(...args: [learningRate?: LearningRate | null | AdadeltaOptions, options?: AdadeltaOptions]) {
    const all = argumentsOf<AdadeltaOptions>(Adadelta, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    this.addSlots(variables, 'accumulated_grad', 'accumulated_delta_var');
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { rho: this.rho, decay: 0 };
  }

  protected override checkpointName(name: string): string {
    return { accumulated_grad: 'accum_grad', accumulated_delta_var: 'accum_var' }[name] ?? name;
  }

  override updateStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    const { rho, epsilon } = this;
    const squares = this.slot(variable, 'accumulated_grad');
    const steps = this.slot(variable, 'accumulated_delta_var');
    squares.assign(squares.mul(rho).add(gradient.square().mul(1 - rho)));
    const step = gradient.mul(steps.add(epsilon).sqrt()).div(squares.add(epsilon).sqrt());
    steps.assign(steps.mul(rho).add(step.square().mul(1 - rho)));
    variable.assignSub(step.mul(learningRate));
  }
}

takesOptions<AdadeltaOptions, Adadelta>(
  optimizerSchema<AdadeltaOptions, Adadelta>({ rho: number(0.95), epsilon: number(1e-7) }),
  Adadelta,
);
