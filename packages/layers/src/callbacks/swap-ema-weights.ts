import { FailedPreconditionError, type Variable } from '@eagre/core';
import { argumentsOf, flagOption, setOptions, takesOptions } from '@eagre/core/internal';
import { Callback } from './callback.ts';

/** Options of `SwapEMAWeights`. */
export interface SwapEMAWeightsOptions {
  /**
   * Swap at the end of each epoch as well, and back at the start of the next one, so that callbacks behind this one, such as
   * `ModelCheckpoint`, find the averages in the model; false unless given.
   */
  readonly swapOnEpoch?: boolean;
}

/**
 * Evaluates, validates and predicts with the averages that an optimizer with `useEma` keeps: they swap places with the weights meanwhile.
 * Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992.
 *
 *     model.compile({ optimizer: new tf.optimizers.SGD(0.1, { useEma: true }), loss: 'mse' });
 *     await model.fit(x, y, { validationSplit: 0.2, callbacks: [new tf.keras.callbacks.SwapEMAWeights()] });
 */
export class SwapEMAWeights extends Callback {
  /**
   * Swap at the end of each epoch as well, and back at the start of the next one, so that callbacks behind this one, such as
   * `ModelCheckpoint`, find the averages in the model.
   */
  declare readonly swapOnEpoch: boolean;
  /** Whether the averages are in the model now. */
  #swapped = false;

  constructor(...args: [swapOnEpoch?: boolean | SwapEMAWeightsOptions, options?: SwapEMAWeightsOptions]) {
    super();
    setOptions(this, argumentsOf<SwapEMAWeightsOptions>(SwapEMAWeights, new.target, args));
  }

  /** @throws FailedPreconditionError where the optimizer keeps no averages. */
  #averages(): ReadonlyMap<Variable, Variable> {
    const averages = this.model.optimizer.averages;
    if (averages !== null) return averages;
    throw new FailedPreconditionError('the optimizer must be made with useEma: true', 'SwapEMAWeights');
  }
  #swap(swapped: boolean): void {
    if (this.#swapped === swapped) return;
    for (const [variable, average] of this.#averages()) {
      const value = variable.read();
      variable.assign(average.read());
      average.assign(value);
    }
    this.#swapped = swapped;
  }

  override onEpochBegin(): void {
    if (this.swapOnEpoch) this.#swap(false);
  }
  override onEpochEnd(epoch: number): void {
    if (!this.swapOnEpoch) return;
    this.#swap(true);
    if (epoch < this.params.epochs - 1 && !this.model.stopTraining) return;
    // Training ends with the averages in the places of the weights, which is where they are.
    for (const [variable, average] of this.#averages()) average.assign(variable.read());
    this.#swapped = false;
  }
  override onTestBegin(): void {
    this.#swap(true);
  }
  override onTestEnd(): void {
    this.#swap(false);
  }
  override onPredictBegin(): void {
    this.#swap(true);
  }
  override onPredictEnd(): void {
    this.#swap(false);
  }
  /** @internal An error leaves the weights in their places. */
  override close(): void {
    this.#swap(false);
  }
}
takesOptions<SwapEMAWeightsOptions, SwapEMAWeights>(
  { positional: ['swapOnEpoch'], required: 0, options: { swapOnEpoch: flagOption(false) } },
  SwapEMAWeights,
);
