import { FailedPreconditionError, InvalidArgumentError, type Tensor, type Variable } from '@eagre/core';
import { shown } from '@eagre/core/internal';
import { rateOf } from './schedule.ts';

/** A fixed rate, or a schedule: one of `schedules`, or any function of the step. */
export type LearningRate = number | ((step: number) => number | Tensor);

/** The learning rate of an optimizer: fixed, in a variable that is saved, or following a schedule. */
export class Rate {
  /** Holds a fixed rate; null with a schedule. */
  variable: Variable | null = null;
  schedule: ((step: number) => number | Tensor) | null = null;
  // As it was given: the variable holds it as float32, and 0.1 should read back as 0.1.
  #given = 0;
  readonly #optimizer: string;
  readonly #make: (value: number) => Variable;

  constructor(value: LearningRate, optimizer: string, make: (value: number) => Variable) {
    this.#optimizer = optimizer;
    this.#make = make;
    this.set(value);
  }

  /**
   * The rate of a step, counted from 0.
   * @param held what holds a fixed rate: its variable unless given.
   */
  at(step: number | Variable, held: Variable | Tensor | null = this.variable): number {
    if (this.schedule !== null) {
      const now = typeof step === 'number' ? step : Number(step.item());
      return rateOf(this.schedule(now), this.#optimizer);
    }
    const stored = (held as Variable | Tensor).item();
    // Restored from a file: take the shortest number that is this float32.
    if (stored !== Math.fround(this.#given)) this.#given = shortest(stored);
    return this.#given;
  }

  /**
   * @throws InvalidArgumentError for what is neither a number of at least 0 nor a function, FailedPreconditionError for a number
   * in the place of a schedule
   */
  set(value: LearningRate): void {
    if (typeof value === 'function') {
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
        'the learning rate follows a schedule and can only be replaced by another one',
        this.#optimizer,
      );
    }
    this.#given = value;
    if (this.variable === null) this.variable = this.#make(value);
    else this.variable.assign(value);
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
