import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  numberOption,
  type Option,
  setOptions,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { printMessage } from '../utils/messages.ts';
import { Callback, type Logs } from './callback.ts';
import { Monitor, type MonitorOptions, minDelta, mode, monitor } from './monitor.ts';
import { verbose } from './options.ts';

/** Options of `ReduceLROnPlateau`. */
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

/** What something is multiplied by to become less. */
const factor: Option<number> = {
  read: (given = 0.1, name) => {
    if (typeof given === 'number' && given >= 0 && given < 1) return given;
    throw new InvalidArgumentError(
      `${name} must be at least 0 and less than 1, got ${shown(given)}`,
      'ReduceLROnPlateau',
    );
  },
};

/** Reduces the learning rate when a number no longer gets better, by at least `minDelta`, 1e-4 unless given. */
export class ReduceLROnPlateau extends Callback {
  /** Name in the logs. */
  declare readonly monitor: string;
  /** The rate is multiplied by it. */
  declare readonly factor: number;
  /** Epochs without a better value before the rate is reduced. */
  declare readonly patience: number;
  /** 1: say when the rate is reduced. */
  declare readonly verbose: 0 | 1;
  /** Whether smaller (`min`) or larger (`max`) is better; `auto` decides by the name (accuracy and AUC grow). */
  declare readonly mode: 'auto' | 'min' | 'max';
  /** A smaller change does not count as better. */
  declare readonly minDelta: number;
  /** Epochs to wait after a reduction. */
  declare readonly cooldown: number;
  /** The rate does not fall below it. */
  declare readonly minLr: number;
  #monitor: Monitor;
  #wait = 0;
  #cooling = 0;
  /** The best number so far; null before the first epoch that has it. */
  get best(): number | null {
    return this.#monitor.best ?? null;
  }
  /** How many epochs it has not become better. */
  get wait(): number {
    return this.#wait;
  }
  /** How many epochs it still waits after a reduction. */
  get cooldownCounter(): number {
    return this.#cooling;
  }
  /** Whether it waits after a reduction. */
  inCooldown(): boolean {
    return this.#cooling > 0;
  }

  /** @throws InvalidArgumentError for a factor that is not between 0 and 1, and for unknown options. */
  constructor(...args: [monitor?: string | ReduceLROnPlateauOptions, options?: ReduceLROnPlateauOptions]) {
    super();
    setOptions(this, argumentsOf<ReduceLROnPlateauOptions>(ReduceLROnPlateau, new.target, args));
    this.#monitor = new Monitor(this);
  }

  override onTrainBegin(): void {
    this.#monitor = new Monitor(this);
    this.#wait = 0;
    this.#cooling = 0;
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const { patience, cooldown } = this;
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
    const { minLr, verbose } = this;
    const { optimizer } = this.model;
    if (!(optimizer.learningRate > Math.fround(minLr))) return false;
    const rate = Math.max(optimizer.learningRate * this.factor, minLr);
    optimizer.learningRate = rate;
    if (verbose > 0) printMessage(`\nEpoch ${epoch + 1}: reducing learning rate to ${rate}.`);
    return true;
  }
}
takesOptions<ReduceLROnPlateauOptions, ReduceLROnPlateau>(
  {
    positional: ['monitor'],
    required: 0,
    options: {
      monitor,
      factor,
      patience: numberOption(10, 0),
      verbose,
      mode,
      minDelta: minDelta(1e-4),
      cooldown: numberOption(0, 0),
      minLr: numberOption(0, 0),
    },
  },
  ReduceLROnPlateau,
);
