import { InvalidArgumentError } from '@eagre/core';
import { argumentsOf, checkNoPromise, setOptions, shown, takesOptions } from '@eagre/core/internal';
import { printMessage } from '../utils/messages.ts';
import { Callback } from './callback.ts';
import { fn, verbose } from './options.ts';

/** Options of `LearningRateScheduler`. */
export interface LearningRateSchedulerOptions {
  /** 1: say what the rate is. */
  readonly verbose?: 0 | 1;
}

/** All arguments of `LearningRateScheduler`, by name. */
export interface LearningRateSchedulerArguments extends LearningRateSchedulerOptions {
  /** Gives the learning rate of an epoch, counted from 0; told the epoch and the rate so far. */
  readonly schedule: (epoch: number, learningRate: number) => number;
}

/** Sets the optimizer's learning rate before each epoch: `new LearningRateScheduler((epoch, rate) => rate * 0.9)`. */
export class LearningRateScheduler extends Callback {
  /** Gives the learning rate of an epoch, counted from 0; told the epoch and the rate so far. */
  declare readonly schedule: (epoch: number, learningRate: number) => number;
  /** 1: say what the rate is. */
  declare readonly verbose: 0 | 1;

  /** @param schedule gets the epoch, from 0, and the rate as it is. */
  constructor(
    ...args: [
      schedule: ((epoch: number, learningRate: number) => number) | LearningRateSchedulerArguments,
      options?: LearningRateSchedulerOptions,
    ]
  ) {
    super();
    setOptions(this, argumentsOf<LearningRateSchedulerArguments>(LearningRateScheduler, new.target, args));
  }

  /** @throws InvalidArgumentError unless the function gives a number of at least 0. */
  override onEpochBegin(epoch: number): void {
    const { optimizer } = this.model;
    const rate = this.schedule(epoch, optimizer.learningRate);
    checkNoPromise(rate, 'the schedule', 'LearningRateScheduler');
    if (typeof rate !== 'number' || !(rate >= 0)) {
      throw new InvalidArgumentError(
        `the schedule must return a number of at least 0, got ${shown(rate)}`,
        'LearningRateScheduler',
      );
    }
    optimizer.learningRate = rate;
    if (this.verbose > 0) printMessage(`\nEpoch ${epoch + 1}: setting learning rate to ${rate}.`);
  }

  /** The rate is one of the epoch's numbers from here on. */
  override onEpochEnd(_epoch: number, logs: Record<string, number>): void {
    logs.learning_rate = this.model.optimizer.learningRate;
  }
}
takesOptions<LearningRateSchedulerArguments, LearningRateScheduler>(
  { positional: ['schedule'], options: { schedule: fn('the schedule'), verbose } },
  LearningRateScheduler,
);
