import { IndexedSlices, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';

/** Options of `Adagrad`. */
export interface AdagradOptions extends OptimizerOptions {
  /** Where the sum of squared gradients begins; 0.1 unless given. */
  readonly initialAccumulatorValue?: number;
  /** Added to the sum below the root; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Adagrad: `a += g²; w -= learningRate · g / √(a + epsilon)`. Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online
 * Learning and Stochastic Optimization", 2011. The learning rate is 0.001 unless given.
 */
export class Adagrad extends Optimizer {
  /** Where the sum of squared gradients begins. */
  declare readonly initialAccumulatorValue: number;
  /** Added to the sum below the root. */
  declare readonly epsilon: number;

  constructor(...args: [learningRate?: LearningRate | null | AdagradOptions, options?: AdagradOptions]) {
    const all = argumentsOf<AdagradOptions>(Adagrad, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    for (const variable of variables)
      this.addVariableFromReference(variable, 'accumulator', this.initialAccumulatorValue);
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return { decay: 0 };
  }

  /** @internal */
  protected override get updatesRows(): boolean {
    return true;
  }
  protected override updateRows(
    gradient: Tensor,
    rows: Tensor,
    variable: Variable,
    rate: number | Tensor,
  ): void {
    const accumulator = this.slot(variable, 'accumulator');
    accumulator.scatterAdd(new IndexedSlices(gradient.square(), rows));
    const sums = accumulator.gather(rows, 0);
    const values = gradient.mul(rate).div(sums.add(this.epsilon).sqrt());
    variable.scatterSub(new IndexedSlices(values, rows));
  }

  override updateStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    const accumulator = this.slot(variable, 'accumulator');
    accumulator.assignAdd(gradient.square());
    variable.assignSub(gradient.mul(learningRate).div(accumulator.add(this.epsilon).sqrt()));
  }
}

takesOptions<AdagradOptions, Adagrad>(
  optimizerSchema<AdagradOptions, Adagrad>({ initialAccumulatorValue: number(0.1), epsilon: number(1e-7) }),
  Adagrad,
);
