import { IndexedSlices, InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, flagOption, takesOptions } from '@eagre/core/internal';
import type { Update } from './gradients.ts';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import type { Scalar } from './scalars.ts';

/** Options of `SGD`. */
export interface SGDOptions extends OptimizerOptions {
  /** From 0, which means none, to 1. */
  readonly momentum?: number;
  /** Whether the gradient counts as if the momentum had been followed already (Nesterov); false by default. */
  readonly nesterov?: boolean;
}

/**
 * Stochastic gradient descent: `w -= learningRate · g`. With momentum: `v = momentum · v − learningRate · g; w += v`, and
 * with `nesterov` `w += momentum · v − learningRate · g` (Sutskever et al., "On the importance of initialization and momentum
 * in deep learning", 2013). The learning rate is 0.01 unless given: `new SGD(0.1)`, `new SGD({ learningRate: 0.1, momentum: 0.9 })`.
 */
export class SGD extends Optimizer {
  /** How much of the last step is taken again, from 0, which means none, to 1. */
  declare readonly momentum: number;
  /** Whether the gradient counts as if the momentum had been followed already (Nesterov). */
  declare readonly nesterov: boolean;
  protected momentums: Variable[] = [];

  constructor(...args: [learningRate?: LearningRate | null | SGDOptions, options?: SGDOptions]) {
    const all = argumentsOf<SGDOptions>(SGD, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.01 });
    if (!(this.momentum >= 0 && this.momentum <= 1)) {
      throw new InvalidArgumentError(`momentum must be between 0 and 1, got ${this.momentum}`, this.name);
    }
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    if (this.momentum !== 0) [this.momentums] = this.addSlots(variables, 'momentum');
  }

  protected override checkpointList(name: string): string | null {
    return name === 'momentum' ? 'momentums' : super.checkpointList(name);
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { momentum: this.momentum, decay: 0 };
  }

  /** @internal Momentum moves rows that have no gradient at a step. */
  protected override get updatesRows(): boolean {
    return this.momentum === 0;
  }

  protected override updateAll(updates: readonly Update[], learningRate: Scalar): void {
    const { momentum, nesterov } = this;
    if (momentum === 0) this.runKernel('ApplyGradientDescent', updates, [], {}, [learningRate]);
    else this.runKernel('ApplyMomentum', updates, [this.momentums], { momentum, nesterov }, [learningRate]);
  }
  protected override updateRows(
    gradient: Tensor,
    rows: Tensor,
    variable: Variable,
    rate: number | Tensor,
  ): void {
    variable.scatterSub(new IndexedSlices(gradient.mul(rate), rows));
  }
}

takesOptions<SGDOptions, SGD>(
  optimizerSchema<SGDOptions, SGD>({ momentum: number(0), nesterov: flagOption(false) }),
  SGD,
);
