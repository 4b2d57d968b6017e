import { clipByValue, InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import { add, div } from './scalars.ts';

/** Options of `Ftrl`. */
export interface FtrlOptions extends OptimizerOptions {
  /** How the learning rate falls, 0 (not at all) or below; -0.5 unless given. */
  readonly learningRatePower?: number;
  /** Where the sum of squared gradients begins; 0.1 unless given. */
  readonly initialAccumulatorValue?: number;
  /** Makes weights that hardly matter exactly 0; 0 unless given. */
  readonly l1RegularizationStrength?: number;
  /** Makes all weights smaller; 0 unless given. */
  readonly l2RegularizationStrength?: number;
  /** The same through the gradient; 0 unless given. */
  readonly l2ShrinkageRegularizationStrength?: number;
  /** Added to the root of the sum; 0 unless given. */
  readonly beta?: number;
}

/**
 * Follow the regularized leader: with `p = −learningRatePower` and `n' = n + g²`,
 * `z += g + 2 · l2Shrinkage · w − (n'ᵖ − nᵖ) / learningRate · w; n = n'`, and the weight is
 * `w = (clip(z, −l1, l1) − z) / (n'ᵖ / learningRate + 2 · l2 + beta / learningRate)`. McMahan et al., "Ad Click Prediction: a View from
 * the Trenches", 2013. The learning rate is 0.001 unless given.
 */
export class Ftrl extends Optimizer {
  /** How the learning rate falls, 0 (not at all) or below. */
  declare readonly learningRatePower: number;
  /** Where the sum of squared gradients begins. */
  declare readonly initialAccumulatorValue: number;
  /** Makes weights that hardly matter exactly 0. */
  declare readonly l1RegularizationStrength: number;
  /** Makes all weights smaller. */
  declare readonly l2RegularizationStrength: number;
  /** The same through the gradient. */
  declare readonly l2ShrinkageRegularizationStrength: number;
  /** Added to the root of the sum. */
  declare readonly beta: number;

  constructor(...args: [learningRate?: LearningRate | null | FtrlOptions, options?: FtrlOptions]) {
    const all = argumentsOf<FtrlOptions>(Ftrl, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
    for (const option of [
      'initialAccumulatorValue',
      'l1RegularizationStrength',
      'l2RegularizationStrength',
      'l2ShrinkageRegularizationStrength',
    ] as const) {
      if (!(this[option] >= 0))
        throw new InvalidArgumentError(`${option} must be at least 0, got ${this[option]}`, this.name);
    }
    if (!(this.learningRatePower <= 0)) {
      throw new InvalidArgumentError(
        `learningRatePower must be at most 0, got ${this.learningRatePower}`,
        this.name,
      );
    }
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    for (const variable of variables) {
      this.addVariableFromReference(variable, 'accumulator', this.initialAccumulatorValue);
      this.addVariableFromReference(variable, 'linear');
    }
  }

  /** @internal Keras 2's decay of the learning rate is a schedule here. */
  protected override get checkpointOptions(): Readonly<Record<string, number>> {
    return {
      learning_rate_power: this.learningRatePower,
      l1_regularization_strength: this.l1RegularizationStrength,
      l2_regularization_strength: this.l2RegularizationStrength,
      beta: this.beta,
      decay: 0,
    };
  }

  override updateStep(gradient: Tensor, variable: Variable): void {
    const { l1RegularizationStrength: l1, l2RegularizationStrength: l2, beta } = this;
    const power = -this.learningRatePower;
    const now = this.momentaryScalars(variable, (lr) => ({
      rate: div(1, lr),
      l2: add(2 * l2, div(beta, lr)),
    }));
    const accumulator = this.slot(variable, 'accumulator');
    const linear = this.slot(variable, 'linear');
    const before = accumulator.pow(power);
    accumulator.assignAdd(gradient.square());
    const after = accumulator.pow(power);
    const shrunk = gradient.add(variable.mul(2 * this.l2ShrinkageRegularizationStrength));
    linear.assignAdd(shrunk.sub(after.sub(before).mul(now.rate).mul(variable)));
    variable.assign(clipByValue(linear, -l1, l1).sub(linear).div(after.mul(now.rate).add(now.l2)));
  }
}

takesOptions<FtrlOptions, Ftrl>(
  optimizerSchema<FtrlOptions, Ftrl>({
    learningRatePower: number(-0.5),
    initialAccumulatorValue: number(0.1),
    l1RegularizationStrength: number(0),
    l2RegularizationStrength: number(0),
    l2ShrinkageRegularizationStrength: number(0),
    beta: number(0),
  }),
  Ftrl,
);
