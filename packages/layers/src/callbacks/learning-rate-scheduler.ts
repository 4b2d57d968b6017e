import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  checkFunction,
  checkNoPromise,
  checkOneOf,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { Callback, VERBOSITY } from './callback.ts';

export interface LearningRateSchedulerOptions {
  /** 1: say what the rate is. */
  readonly verbose?: 0 | 1;
}

/** All arguments of `LearningRateScheduler`, by name. */
export interface LearningRateSchedulerArguments extends LearningRateSchedulerOptions {
  readonly schedule: (epoch: number, learningRate: number) => number;
}

/** Sets the optimizer's learning rate before each epoch: `new LearningRateScheduler((epoch, rate) => rate * 0.9)`. */
export class LearningRateScheduler extends Callback {
  readonly #schedule: (epoch: number, learningRate: number) => number;
  readonly #verbose: 0 | 1;

  /** @param schedule gets the epoch, from 0, and the rate as it is. */
  constructor(
    schedule: ((epoch: number, learningRate: number) => number) | LearningRateSchedulerArguments,
    options?: LearningRateSchedulerOptions,
  );
  constructor(...args: readonly unknown[]) {
    super();
    const owner = 'LearningRateScheduler';
    const { schedule, ...options } = argumentsOf<LearningRateSchedulerArguments>(
      LearningRateScheduler,
      new.target,
      args,
    );
    checkFunction(schedule, 'the schedule', owner);
    checkOneOf(options.verbose ?? 0, VERBOSITY, 'verbose', owner);
    this.#schedule = schedule;
    this.#verbose = options.verbose ?? 0;
  }

  /** @throws InvalidArgumentError unless the function gives a number of at least 0. */
  override onEpochBegin(epoch: number): void {
    const { optimizer } = this.model;
    const rate = this.#schedule(epoch, optimizer.learningRate);
    checkNoPromise(rate, 'the schedule', 'LearningRateScheduler');
    if (typeof rate !== 'number' || !(rate >= 0)) {
      throw new InvalidArgumentError(
        `the schedule must return a number of at least 0, got ${shown(rate)}`,
        'LearningRateScheduler',
      );
    }
    optimizer.learningRate = rate;
    if (this.#verbose > 0) console.log(`\nEpoch ${epoch + 1}: setting learning rate to ${rate}.`);
  }

  /** The rate is one of the epoch's numbers from here on. */
  override onEpochEnd(_epoch: number, logs: Record<string, number>): void {
    logs.learning_rate = this.model.optimizer.learningRate;
  }
}
takesArguments<LearningRateSchedulerArguments>(
  { positional: ['schedule'], names: { schedule: true, verbose: true } },
  LearningRateScheduler,
);
