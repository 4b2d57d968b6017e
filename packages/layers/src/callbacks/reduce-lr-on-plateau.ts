import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  checkNumber,
  checkOneOf,
  type OptionNames,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { Callback, type Logs, VERBOSITY } from './callback.ts';
import { Monitor, type MonitorOptions } from './monitor.ts';

export interface ReduceLROnPlateauOptions extends MonitorOptions {
  /** The rate is multiplied by it; 0.1 unless given. */
  readonly factor?: number;
  /** Epochs without a better value before the rate is reduced; 10 unless given. */
  readonly patience?: number;
  /** Epochs to wait after a reduction; 0 unless given. */
  readonly cooldown?: number;
  /** The rate does not fall below it; 0 unless given. */
  readonly minLr?: number;
  /** 1: say when the rate is reduced. */
  readonly verbose?: 0 | 1;
}

const names: OptionNames<ReduceLROnPlateauOptions> = {
  monitor: true,
  factor: true,
  patience: true,
  verbose: true,
  mode: true,
  minDelta: true,
  cooldown: true,
  minLr: true,
};

/** Reduces the learning rate when a number no longer gets better, by at least `minDelta`, 1e-4 unless given. */
export class ReduceLROnPlateau extends Callback {
  readonly #options: ReduceLROnPlateauOptions;
  readonly #factor: number;
  #monitor: Monitor;
  #wait = 0;
  #cooling = 0;

  /** @throws InvalidArgumentError for a factor that is not between 0 and 1, and for what is no option. */
  constructor(monitor?: string | ReduceLROnPlateauOptions, options?: ReduceLROnPlateauOptions);
  constructor(...args: readonly unknown[]) {
    super();
    const owner = 'ReduceLROnPlateau';
    const options = argumentsOf<ReduceLROnPlateauOptions>(ReduceLROnPlateau, new.target, args);
    this.#factor = options.factor ?? 0.1;
    if (typeof this.#factor !== 'number' || !(this.#factor >= 0 && this.#factor < 1)) {
      throw new InvalidArgumentError(
        `factor must be at least 0 and less than 1, got ${shown(this.#factor)}`,
        owner,
      );
    }
    const { patience = 10, cooldown = 0, minLr = 0, verbose = 0 } = options;
    checkNumber(patience, 'patience', owner, 0);
    checkNumber(cooldown, 'cooldown', owner, 0);
    checkNumber(minLr, 'minLr', owner, 0);
    checkOneOf(verbose, VERBOSITY, 'verbose', owner);
    this.#options = { minDelta: 1e-4, ...options };
    this.#monitor = new Monitor(this.#options, 'ReduceLROnPlateau');
  }

  override onTrainBegin(): void {
    this.#monitor = new Monitor(this.#options, 'ReduceLROnPlateau');
    this.#wait = 0;
    this.#cooling = 0;
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const { patience = 10, cooldown = 0 } = this.#options;
    logs.learning_rate = this.model.optimizer.learningRate;
    const value = this.#monitor.value(logs);
    if (value === undefined) return;
    if (this.#cooling > 0) {
      this.#cooling--;
      this.#wait = 0;
    }
    if (this.#monitor.better(value)) {
      this.#monitor.best = value;
      this.#wait = 0;
    } else if (this.#cooling === 0 && ++this.#wait >= patience && this.#reduce(epoch)) {
      this.#cooling = cooldown;
      this.#wait = 0;
    }
  }

  /** @returns whether there was anything to reduce. */
  #reduce(epoch: number): boolean {
    const { minLr = 0, verbose = 0 } = this.#options;
    const { optimizer } = this.model;
    if (!(optimizer.learningRate > Math.fround(minLr))) return false;
    const rate = Math.max(optimizer.learningRate * this.#factor, minLr);
    optimizer.learningRate = rate;
    if (verbose > 0) console.log(`\nEpoch ${epoch + 1}: reducing learning rate to ${rate}.`);
    return true;
  }
}
takesArguments<ReduceLROnPlateauOptions>({ positional: ['monitor'], required: 0, names }, ReduceLROnPlateau);
