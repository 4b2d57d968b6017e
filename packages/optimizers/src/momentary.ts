import type { Variable } from '@eagre/core';
import { context } from '@eagre/core/internal';
import type { Rate } from './rate.ts';
import { add, div, equal, type Flag, floor, mod, type Scalar } from './scalars.ts';

/**
 * Numbers of one update that depend on its step: known now or, while `tf.function` traces, float64 scalars that the graph computes from
 * the variables that hold the step and the learning rate.
 */
export class Momentary {
  readonly #iterations: Variable;
  readonly #rate: Rate;
  readonly #every: number;

  /** @param every how many steps make an update */
  constructor(iterations: Variable, rate: Rate, every: number) {
    this.#iterations = iterations;
    this.#rate = rate;
    this.#every = every;
  }

  /** The learning rate of the update at hand. */
  rate(): Scalar {
    return context.tracer === null ? this.#rate.at(this.#iterations) : this.#rate.traced(this.#iterations);
  }

  /** The number of the update at hand, from 1 on. */
  step(): Scalar {
    const done = this.#done();
    return add(this.#every === 1 ? done : floor(div(done, this.#every)), 1);
  }

  /** Whether this step is the last one of an update. */
  isLast(): Flag {
    return equal(mod(add(this.#done(), 1), this.#every), 0);
  }

  #done(): Scalar {
    return context.tracer === null ? Number(this.#iterations.item()) : this.#iterations.cast('float64');
  }
}
