import type { Variable } from '@eagre/core';
import { context } from '@eagre/core/internal';
import type { Rate } from './rate.ts';
import { add, type Scalar } from './scalars.ts';

/**
 * Numbers of one update that depend on its step: known now or, while `tf.function` traces, float64 scalars that the graph computes from
 * the variables that hold the step and the learning rate.
 */
export class Momentary {
  readonly #iterations: Variable;
  readonly #rate: Rate;

  constructor(iterations: Variable, rate: Rate) {
    this.#iterations = iterations;
    this.#rate = rate;
  }

  /** The learning rate of the update at hand. */
  rate(): Scalar {
    return context.tracer === null ? this.#rate.at(this.#iterations) : this.#rate.traced(this.#iterations);
  }

  /** The number of the update at hand, from 1 on. */
  step(): Scalar {
    return context.tracer === null
      ? Number(this.#iterations.item()) + 1
      : add(this.#iterations.cast('float64'), 1);
  }
}
