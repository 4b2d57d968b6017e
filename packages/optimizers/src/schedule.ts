import { InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import { argumentsOf, Callable, takesArguments } from '@eagre/core/internal';

/** A step number, or something that holds one, such as `optimizer.iterations`. */
export type Step = number | bigint | Tensor | Variable;

/** A learning rate that depends on the step. Call it, `schedule(step)`; to make your own, extend it and write `call`. */
export abstract class LearningRateSchedule extends Callable {
  constructor();
  constructor(...args: readonly unknown[]) {
    super();
    argumentsOf(LearningRateSchedule, new.target, args);
  }
  /** The learning rate at a step; the first step is 0. */
  abstract call(step: number): number;
  /** What makes it again, with Keras's names: `new Class(...)` by `schedules.deserialize`. */
  abstract getConfig(): Record<string, unknown>;

  protected override invoke(step: Step): number {
    if (typeof step !== 'object') return this.call(Number(step));
    if (!(step instanceof Tensor || step instanceof Variable))
      throw new InvalidArgumentError('expected a step, a number or a scalar tensor', this.constructor.name);
    return this.call(Number(step.item()));
  }
}
takesArguments<object>({ names: {} }, LearningRateSchedule);
export interface LearningRateSchedule {
  (step: Step): number;
}

/** A number. @throws InvalidArgumentError */
export function checkNumber(value: number, argument: string, schedule: string): number {
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new InvalidArgumentError(`${argument} must be a number, got ${String(value)}`, schedule);
  return value;
}

/** A number above 0. @throws InvalidArgumentError */
export function checkPositive(value: number, argument: string, schedule: string): number {
  if (!(checkNumber(value, argument, schedule) > 0))
    throw new InvalidArgumentError(`${argument} must be above 0, got ${value}`, schedule);
  return value;
}
