import type { Tensor } from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  numberOption,
  orNull,
  setOptions,
  takesOptions,
} from '@eagre/core/internal';
import { printMessage } from '../utils/messages.ts';
import { Callback, type Logs } from './callback.ts';
import { Monitor, type MonitorOptions, minDelta, mode, monitor } from './monitor.ts';
import { verbose } from './options.ts';

/** Options of `EarlyStopping`. */
export interface EarlyStoppingOptions extends MonitorOptions {
  /** Epochs without a better value before training stops; 0 unless given. */
  readonly patience?: number;
  /** Training also stops when this value is not reached. */
  readonly baseline?: number | null;
  /** Whether training ends with the weights of the best epoch instead of the last one; false unless given. */
  readonly restoreBestWeights?: boolean;
  /** Epochs to wait before watching; 0 unless given. */
  readonly startFromEpoch?: number;
  /** 1: say when training stops, and which weights are taken back. */
  readonly verbose?: 0 | 1;
}

/** Stops training when a number no longer gets better. */
export class EarlyStopping extends Callback {
  /** The epoch that stopped training, or -1. */
  stoppedEpoch = -1;
  bestEpoch = -1;
  /** Name in the logs. */
  declare readonly monitor: string;
  /** A smaller change does not count as better. */
  declare readonly minDelta: number;
  /** Epochs without a better value before training stops. */
  declare readonly patience: number;
  /** 1: say when training stops, and which weights are taken back. */
  declare readonly verbose: 0 | 1;
  /** Whether smaller (`min`) or larger (`max`) is better; `auto` decides by the name (accuracy and AUC grow). */
  declare readonly mode: 'auto' | 'min' | 'max';
  /** Training also stops when this value is not reached. */
  declare readonly baseline: number | null;
  /** Whether training ends with the weights of the best epoch instead of the last one. */
  declare readonly restoreBestWeights: boolean;
  /** Epochs to wait before watching. */
  declare readonly startFromEpoch: number;
  #monitor: Monitor;
  #wait = 0;
  #weights: Tensor[] | undefined;
  /** The best number so far; null before the first epoch that has it. */
  get best(): number | null {
    return this.#monitor.best ?? null;
  }
  /** How many epochs it has not become better. */
  get wait(): number {
    return this.#wait;
  }
  /** With `restoreBestWeights`, while the model trains: the weights of the best epoch; otherwise null. */
  get bestWeights(): readonly Tensor[] | null {
    return this.#weights ?? null;
  }
  /** The watched number of the logs. A class of one's own may compute another one. Undefined, with one warning, when the logs lack it. */
  getMonitorValue(logs: Logs): number | undefined {
    return this.#monitor.value(logs);
  }

  /** @throws InvalidArgumentError for an unknown option or a wrong value. */
  constructor(...args: [monitor?: string | EarlyStoppingOptions, options?: EarlyStoppingOptions]) {
    super();
    setOptions(this, argumentsOf<EarlyStoppingOptions>(EarlyStopping, new.target, args));
    this.#monitor = new Monitor(this);
  }

  override onTrainBegin(): void {
    this.#monitor = new Monitor(this);
    this.#wait = 0;
    this.#weights = undefined;
    this.stoppedEpoch = -1;
    this.bestEpoch = -1;
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const { patience, baseline, restoreBestWeights, startFromEpoch } = this;
    const value = this.getMonitorValue(logs);
    if (value === undefined || epoch < startFromEpoch) return;
    // Something to go back to even if nothing ever counts as better.
    if (restoreBestWeights && this.#weights === undefined) {
      this.#weights = this.model.getWeights();
      this.bestEpoch = epoch;
    }
    this.#wait++;
    if (this.#monitor.better(value)) {
      this.#monitor.best = value;
      this.bestEpoch = epoch;
      if (restoreBestWeights) this.#weights = this.model.getWeights();
      if (baseline === null || this.#monitor.better(value, baseline)) this.#wait = 0;
      return;
    }
    if (this.#wait >= patience && epoch > 0) {
      this.stoppedEpoch = epoch;
      this.model.stopTraining = true;
    }
  }

  override onTrainEnd(): void {
    const { verbose } = this;
    if (verbose > 0 && this.stoppedEpoch >= 0) printMessage(`Epoch ${this.stoppedEpoch + 1}: early stopping`);
    if (this.#weights !== undefined) {
      if (verbose > 0)
        printMessage(`Restoring model weights from the end of the best epoch: ${this.bestEpoch + 1}.`);
      this.model.setWeights(this.#weights);
    }
    this.#weights = undefined;
  }
}
takesOptions<EarlyStoppingOptions, EarlyStopping>(
  {
    positional: ['monitor'],
    required: 0,
    options: {
      monitor,
      minDelta: minDelta(),
      patience: numberOption(0, 0),
      verbose,
      mode,
      baseline: orNull(numberOption(0)),
      restoreBestWeights: flagOption(false),
      startFromEpoch: numberOption(0, 0),
    },
  },
  EarlyStopping,
);
