import type { Tensor } from '@eagre/core';
import { checkFlag, checkNumber, checkOneOf, checkOptionNames, type OptionNames } from '@eagre/core/internal';
import { Callback, type Logs, VERBOSITY } from './callback.ts';
import { Monitor, type MonitorOptions, monitorNames } from './monitor.ts';

export interface EarlyStoppingOptions extends MonitorOptions {
  /** Epochs without a better value before training stops; 0 unless given. */
  readonly patience?: number;
  /** Training also stops when this value is not reached. */
  readonly baseline?: number;
  /** Go back to the weights of the best epoch. */
  readonly restoreBestWeights?: boolean;
  /** Epochs to wait before watching. */
  readonly startFromEpoch?: number;
  /** 1: say when training stops, and which weights are taken back. */
  readonly verbose?: 0 | 1;
}

const names: OptionNames<EarlyStoppingOptions> = {
  ...monitorNames,
  patience: true,
  baseline: true,
  restoreBestWeights: true,
  startFromEpoch: true,
  verbose: true,
};

/** Stops training when a number no longer gets better. */
export class EarlyStopping extends Callback {
  /** The epoch that stopped training, or -1. */
  stoppedEpoch = -1;
  bestEpoch = -1;
  readonly #options: EarlyStoppingOptions;
  #monitor: Monitor;
  #wait = 0;
  #weights: Tensor[] | undefined;

  /** @throws InvalidArgumentError for what is no option, or a wrong value of one. */
  constructor(options: EarlyStoppingOptions = {}) {
    super();
    const owner = 'EarlyStopping';
    checkOptionNames(options, names, owner);
    const { patience = 0, startFromEpoch = 0, baseline = 0, restoreBestWeights, verbose = 0 } = options;
    checkNumber(patience, 'patience', owner, 0);
    checkNumber(startFromEpoch, 'startFromEpoch', owner, 0);
    checkNumber(baseline, 'baseline', owner);
    checkFlag(restoreBestWeights, 'restoreBestWeights', owner);
    checkOneOf(verbose, VERBOSITY, 'verbose', owner);
    this.#options = options;
    this.#monitor = new Monitor(options, 'EarlyStopping');
  }

  override onTrainBegin(): void {
    this.#monitor = new Monitor(this.#options, 'EarlyStopping');
    this.#wait = 0;
    this.#weights = undefined;
    this.stoppedEpoch = -1;
    this.bestEpoch = -1;
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const { patience = 0, baseline, restoreBestWeights = false, startFromEpoch = 0 } = this.#options;
    const value = this.#monitor.value(logs);
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
      if (baseline === undefined || this.#monitor.better(value, baseline)) this.#wait = 0;
      return;
    }
    if (this.#wait >= patience && epoch > 0) {
      this.stoppedEpoch = epoch;
      this.model.stopTraining = true;
    }
  }

  override onTrainEnd(): void {
    const { verbose = 0 } = this.#options;
    if (verbose > 0 && this.stoppedEpoch >= 0) console.log(`Epoch ${this.stoppedEpoch + 1}: early stopping`);
    if (this.#weights !== undefined) {
      if (verbose > 0)
        console.log(`Restoring model weights from the end of the best epoch: ${this.bestEpoch + 1}.`);
      this.model.setWeights(this.#weights);
    }
    this.#weights = undefined;
  }
}
