import {
  constant,
  equal,
  FailedPreconditionError,
  InvalidArgumentError,
  type Tensor,
  type Variable,
  where,
} from '@eagre/core';
import { atRunTime, checkFunction, shown } from '@eagre/core/internal';
import { rateOf, scheduleInGraph } from './schedule.ts';

/** A fixed rate, or a schedule: one of `schedules`, or any function of the step. */
export type LearningRate = number | ((step: number) => number | Tensor);

/** The learning rate of an optimizer: fixed, in a variable that is saved, or following a schedule. */
export class Rate {
  /** Holds a fixed rate; null with a schedule. */
  variable: Variable | null = null;
  schedule: ((step: number) => number | Tensor) | null = null;
  // As it was given: the variable holds it as float32, and 0.1 should read back as 0.1.
  #given = 0;
  // The same for graphs. It is not saved: it says no more than the variable that is.
  exact: Variable | null = null;
  readonly #optimizer: string;
  readonly #make: (value: number) => { readonly saved: Variable; readonly exact: Variable };

  constructor(
    value: LearningRate,
    optimizer: string,
    make: (value: number) => { readonly saved: Variable; readonly exact: Variable },
  ) {
    this.#optimizer = optimizer;
    this.#make = make;
    this.set(value);
  }

  /** The rate of a step, counted from 0. */
  at(step: number | Variable): number {
    if (this.schedule !== null) {
      const now = typeof step === 'number' ? step : Number(step.item());
      return rateOf(this.schedule(now), this.#optimizer);
    }
    const stored = (this.variable as Variable).item();
    if (stored !== Math.fround(this.#given)) {
      // Restored from a file: take the shortest number that is this float32.
      this.#given = shortest(stored);
      this.exact?.assign(this.#given);
    }
    return this.#given;
  }

  /** The rate of a step that is a float scalar, counted from 0: one of its dtype. A schedule that no graph can hold is asked on the host. */
  in(step: Tensor): Tensor {
    const { schedule, variable } = this;
    const dtype = step.dtype as 'float32' | 'float64';
    if (schedule !== null) {
      const inGraph = scheduleInGraph(schedule, step, this.#optimizer);
      if (inGraph !== null) return inGraph;
      const ask = (now: Tensor): Tensor =>
        constant(rateOf(schedule(Number(now.item())), this.#optimizer), dtype);
      return atRunTime('LearningRate', ask, [step], [{ dtype, shape: [] }])[0];
    }
    const stored = (variable as Variable).read();
    if (dtype === 'float32') return stored;
    const exact = (this.exact as Variable).read();
    return where(equal(exact.cast('float32'), stored), exact, stored.cast('float64'));
  }

  /**
   * @throws InvalidArgumentError for what is neither a number of at least 0 nor a function, FailedPreconditionError for a number
   * in the place of a schedule
   */
  set(value: LearningRate): void {
    if (typeof value === 'function') {
      checkFunction(value, 'the learning rate', this.#optimizer);
      this.schedule = value;
      this.variable = null;
      return;
    }
    if (typeof value !== 'number' || !(value >= 0 && value < Number.POSITIVE_INFINITY)) {
      throw new InvalidArgumentError(
        `the learning rate must be a finite number of at least 0 or a schedule, got ${shown(value)}`,
        this.#optimizer,
      );
    }
    if (this.schedule !== null) {
      throw new FailedPreconditionError(
        'the learning rate follows a schedule and can only be replaced by another schedule',
        this.#optimizer,
      );
    }
    this.#given = value;
    if (this.variable === null) {
      const { saved, exact } = this.#make(value);
      this.variable = saved;
      this.exact = exact;
    } else {
      this.variable.assign(value);
      this.exact?.assign(value);
    }
  }
}

/** The shortest decimal that is this number when rounded to float32. */
export function shortest(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
