import type { Tensor, Variable } from '@eagre/core';
import { context } from '@eagre/core/internal';
import type { Rate } from './rate.ts';
import { add, div, equal, type Flag, floor, mod, onDevice, type Scalar } from './scalars.ts';

/**
 * Numbers of one update that depend on its step: known now or, while `tf.function` traces or where the device alone knows the step, scalars
 * that are computed from the variables that hold the step and the learning rate.
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
    const done = this.#doneTensor();
    return done === null ? this.#rate.at(this.#iterations) : this.#rate.in(done);
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
    return this.#doneTensor() ?? Number(this.#iterations.item());
  }

  #doneTensor(): Tensor | null {
    // GPUs count in int32.
    if (onDevice.dtype !== null) return this.#iterations.cast('int32').cast(onDevice.dtype);
    return context.tracer === null ? null : this.#iterations.cast('float64');
  }
}
