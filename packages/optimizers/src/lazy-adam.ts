import { IndexedSlices, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, takesOptions } from '@eagre/core/internal';
import { Adam, type AdamOptions, adamSchema, stepSize } from './adam.ts';
import { areKnownRows, isGivenRow } from './gradients.ts';
import type { LearningRate } from './rate.ts';
import { mul } from './scalars.ts';
import { runUpdateKernelOnRows } from './update-kernel.ts';

/**
 * Adam that leaves rows without a gradient as they are, with their moments, so that a step of a large table costs as much as the rows that
 * were looked up. `Adam` moves all rows at every step, as Keras does, since their moments decay. Gradients of whole variables get Adam's
 * step. Weight decay shrinks the rows that were looked up. It is `SparseAdam` of PyTorch and `LazyAdam` of TensorFlow Addons. The learning
 * rate is 0.001 unless given.
 */
export class LazyAdam extends Adam {
  constructor(...args: [learningRate?: LearningRate | null | AdamOptions, options?: AdamOptions]) {
    super(argumentsOf<AdamOptions>(LazyAdam, new.target, args));
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
    const { beta1, beta2, epsilon, amsgrad } = this;
    const weightDecay = this.decayOf(variable);
    const [m, v] = [this.slot(variable, 'momentum'), this.slot(variable, 'velocity')];
    if (areKnownRows(rows)) {
      const written = [variable, m, v, ...(amsgrad ? [this.slot(variable, 'velocity_hat')] : [])];
      runUpdateKernelOnRows(
        'ApplyAdam',
        { gradient, written },
        rows,
        { beta1, beta2, epsilon, weightDecay, amsgrad },
        [stepSize(this, rate, this.momentaryStep()), rate],
      );
      return;
    }
    const { alpha, decay } = this.momentaryScalars(variable, (learningRate, step) => ({
      alpha: stepSize(this, learningRate, step),
      decay: mul(learningRate, weightDecay),
    }));
    const given = isGivenRow(rows).reshape([-1, ...variable.shape.slice(1).map(() => 1)]);
    const add = (to: Variable, change: Tensor): void => {
      to.scatterAdd(new IndexedSlices(given.where(change, 0), rows));
    };
    const of = (slot: Variable): Tensor => slot.gather(rows, 0);
    add(m, gradient.sub(of(m)).mul(1 - beta1));
    add(
      v,
      gradient
        .square()
        .sub(of(v))
        .mul(1 - beta2),
    );
    let size = v;
    if (amsgrad) {
      size = this.slot(variable, 'velocity_hat');
      size.scatterMax(new IndexedSlices(of(v), rows));
    }
    const step = of(m).mul(alpha).div(of(size).sqrt().add(epsilon));
    add(variable, (weightDecay === 0 ? step : of(variable).mul(decay).add(step)).neg());
  }
}

takesOptions<AdamOptions, LazyAdam>(adamSchema, LazyAdam);
