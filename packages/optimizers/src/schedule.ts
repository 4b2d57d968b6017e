import { FailedPreconditionError, InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import {
  argumentsOf,
  Callable,
  camelCaseKeys,
  checkConfig,
  checkNoPromise,
  configOf,
  defineMethods,
  isFloating,
  type Option,
  setOptions,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { asTensor, type Scalar } from './scalars.ts';

/** A step number, or something that holds one, such as `optimizer.iterations`. */
export type Step = number | bigint | Tensor | Variable;

/** A learning rate that depends on the step. Call it, `schedule(step)`; to make your own, extend it and write `call`. */
export abstract class LearningRateSchedule extends Callable {
  constructor(...args: []) {
    super();
    setOptions(this, argumentsOf(new.target, new.target, args));
  }
  /** The learning rate at a step, a number or a scalar tensor; the first step is 0. */
  abstract call(step: number): number | Tensor;
  /**
   * The learning rate as ops on the step, a float64 scalar: what `tf.function` writes into its graph. Where a class has no `trace` beside
   * its `call`, each run of a graph asks `call` on the host.
   */
  trace?(step: Tensor): Tensor;
  /** What makes it again, with Keras's names: `new Class(...)` by `schedules.deserialize`. */
  abstract getConfig(): Record<string, unknown>;
  /** A schedule of the options that `getConfig` gave, here or in Keras. */
  static fromConfig(config: Readonly<Record<string, unknown>>): LearningRateSchedule {
    checkConfig(config, LearningRateSchedule);
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    const Class = this as unknown as new (options: object) => LearningRateSchedule;
    return new Class(camelCaseKeys(config));
  }

  protected override invoke(step: Step): number {
    const { name } = this.constructor;
    if (typeof this.call !== 'function')
      throw new FailedPreconditionError('its class has no call(step) method', name);
    if (typeof step === 'number' || typeof step === 'bigint') return rateOf(this.call(Number(step)), name);
    if (!(step instanceof Tensor || step instanceof Variable))
      throw new InvalidArgumentError(
        `the step must be a number or a scalar tensor, got ${shown(step)}`,
        name,
      );
    return rateOf(this.call(Number(step.item())), name);
  }
}
takesArguments<object>({ names: {} }, LearningRateSchedule);
defineMethods(LearningRateSchedule, 'LearningRateSchedule', {
  fromConfig: { positional: ['config'], objects: ['config'] },
});
defineMethods(LearningRateSchedule.prototype, 'LearningRateSchedule', {
  invoke: { called: 'schedule', positional: ['step'] },
});
export interface LearningRateSchedule {
  (step: Step | { readonly step: Step }): number;
}

/** The `call` methods that compute with scalars of graphs as well. */
const inGraphs = new WeakSet<LearningRateSchedule['call']>();

/** @internal Says that the `call` of this class of the library takes scalars of graphs. */
export function callsInGraphs({ call }: LearningRateSchedule): void {
  inGraphs.add(call);
}

/** A schedule's rate at a step, a scalar of the step's dtype; null where only its code knows it. */
export function scheduleInGraph(schedule: unknown, step: Tensor, optimizer: string): Tensor | null {
  if (!(schedule instanceof LearningRateSchedule)) return null;
  if (inGraphs.has(schedule.call))
    return asTensor((schedule.call as (step: Scalar) => Scalar).call(schedule, step)).cast(step.dtype);
  if (!tracesItsCall(schedule)) return null;
  const rate: unknown = schedule.trace?.(step);
  checkNoPromise(rate, 'trace()', schedule.constructor.name);
  if (typeof rate === 'number') return asTensor(rateOf(rate, optimizer)).cast(step.dtype);
  if ((rate instanceof Tensor || rate instanceof Variable) && rate.size === 1 && isFloating(rate.dtype))
    return rate.cast(step.dtype).reshape([]);
  throw new InvalidArgumentError(
    `trace() of a learning rate schedule must return a float scalar tensor, got ${shown(rate)}`,
    schedule.constructor.name,
  );
}

/** Whether `trace` is as new as `call`: who extends a schedule may have changed only the other one. */
function tracesItsCall(schedule: LearningRateSchedule): boolean {
  for (let at: object | null = schedule; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (Object.hasOwn(at, 'trace')) return true;
    if (Object.hasOwn(at, 'call')) return false;
  }
  return false;
}

/** What a schedule gave, as a number. @throws InvalidArgumentError unless it is one, or a scalar tensor of one */
export function rateOf(given: unknown, schedule: string): number {
  if (Number.isFinite(given)) return given as number;
  checkNoPromise(given, 'a learning rate schedule', schedule);
  const value = given instanceof Tensor || given instanceof Variable ? scalarOf(given) : undefined;
  if (value !== undefined && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(
    `a learning rate schedule must return a finite number, or a scalar tensor with one, got ${shown(given)}`,
    schedule,
  );
}

function scalarOf(given: Tensor | Variable): number | undefined {
  return given.size === 1 && given.dtype !== 'string' ? Number(given.item()) : undefined;
}

/** A finite number. @throws InvalidArgumentError */
export function checkNumber(value: number, argument: string, schedule: string): number {
  if (!Number.isFinite(value))
    throw new InvalidArgumentError(`${argument} must be a number, got ${shown(value)}`, schedule);
  return value;
}

/** A number above 0. @throws InvalidArgumentError */
export function checkPositive(value: number, argument: string, schedule: string): number {
  if (!(checkNumber(value, argument, schedule) > 0))
    throw new InvalidArgumentError(`${argument} must be above 0, got ${value}`, schedule);
  return value;
}

/** @internal What the schedules of the library share. */
export abstract class Decay extends LearningRateSchedule {
  declare readonly name: string;

  override getConfig(): Record<string, unknown> {
    return configOf(this);
  }
}

/** @internal The options of schedules: a finite number, one above 0, a name. */
export function number(otherwise?: number): Option<number> {
  return {
    read: (given, name, of) => checkNumber((given ?? otherwise) as number, name, of.constructor.name),
  };
}
export const positive: Option<number> = {
  read: (given, name, of) => checkPositive(given as number, name, of.constructor.name),
};
export function named(otherwise?: string): Option<string> {
  return { read: (given, _, of) => (given ?? otherwise ?? of.constructor.name) as string };
}
