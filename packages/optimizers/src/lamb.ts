import type { Tensor, Variable } from '@eagre/core';
import { takesOptions } from '@eagre/core/internal';
import { Moments, momentsOptions } from './moments.ts';
import { type OptimizerOptions, optimizerSchema } from './options.ts';
import { div, pow, sub } from './scalars.ts';

/** Options of `Lamb`. */
export interface LambOptions extends OptimizerOptions {
  /** How much of the gradients' average stays at each step; 0.9 unless given. */
  readonly beta1?: number;
  /** How much of the squared gradients' average stays at each step; 0.999 unless given. */
  readonly beta2?: number;
  /** Added to the root; 1e-7 unless given. */
  readonly epsilon?: number;
}

/**
 * Lamb, for large batches: Adam's step `u = m̂ / (√v̂ + epsilon)`, which for each variable gets the length of the variable:
 * `w -= learningRate · ‖w‖ / ‖u‖ · u`, and `w -= learningRate · u` where one of the norms is 0. You et al., "Large Batch Optimization for
 * Deep Learning: Training BERT in 76 Minutes", 2019. The learning rate is 0.001 unless given.
 */
export class Lamb extends Moments<LambOptions> {
  protected override addAllSlots(variables: readonly Variable[]): void {
    this.addSlots(variables, 'momentum', 'velocity');
  }

  protected override checkpointName(name: string): string {
    return { momentum: 'm', velocity: 'v' }[name] ?? name;
  }

  override updateStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    const { beta1, beta2, epsilon } = this;
    const correction = this.momentaryScalars(variable, (_, step) => ({
      m: div(1, sub(1, pow(beta1, step))),
      v: div(1, sub(1, pow(beta2, step))),
    }));
    const m = this.slot(variable, 'momentum');
    const v = this.slot(variable, 'velocity');
    m.assignAdd(gradient.sub(m).mul(1 - beta1));
    v.assignAdd(
      gradient
        .square()
        .sub(v)
        .mul(1 - beta2),
    );
    const update = m.mul(correction.m).div(v.mul(correction.v).sqrt().add(epsilon));
    const ofVariable = variable.square().sum().sqrt();
    const ofUpdate = update.square().sum().sqrt();
    const both = ofVariable.greater(0).logicalAnd(ofUpdate.greater(0));
    const ratio = both.where(ofVariable.div(ofUpdate), 1);
    variable.assignSub(update.mul(ratio).mul(learningRate));
  }
}

takesOptions<LambOptions, Lamb>(optimizerSchema<LambOptions, Lamb>(momentsOptions), Lamb);
