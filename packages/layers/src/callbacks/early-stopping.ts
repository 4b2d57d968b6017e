import type { Tensor } from '@eagre/core';
import {
  argumentsOf,
  checkFlag,
  checkNumber,
  checkOneOf,
  type OptionNames,
  takesArguments,
} from '@eagre/core/internal';
import { Callback, type Logs, VERBOSITY } from './callback.ts';
import { Monitor, type MonitorOptions } from './monitor.ts';

export interface EarlyStoppingOptions extends MonitorOptions {
  /** Epochs without a better value before training stops; 0 unless given. */
  readonly patience?: number;
  /** Training also stops when this value is not reached. */
  readonly baseline?: number | null;
  /** Go back to the weights of the best epoch. */
  readonly restoreBestWeights?: boolean;
  /** Epochs to wait before watching. */
  readonly startFromEpoch?: number;
  /** 1: say when training stops, and which weights are taken back. */
  readonly verbose?: 0 | 1;
}

const names: OptionNames<EarlyStoppingOptions> = {
  monitor: true,
  minDelta: true,
  patience: true,
  verbose: true,
  mode: true,
  baseline: true,
  restoreBestWeights: true,
  startFromEpoch: true,
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
  constructor(monitor?: string | EarlyStoppingOptions, options?: EarlyStoppingOptions);
  constructor(...args: readonly unknown[]) {
    super();
    const owner = 'EarlyStopping';
    const { baseline: given, ...rest } = argumentsOf<EarlyStoppingOptions>(EarlyStopping, new.target, args);
    const options = given === undefined || given === null ? rest : { ...rest, baseline: given };
    const {
      patience = 0,
      startFromEpoch = 0,
      baseline = 0,
      restoreBestWeights,
      verbose = 0,
    } = options as EarlyStoppingOptions;
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
    const { patience = 0, baseline = null, restoreBestWeights = false, startFromEpoch = 0 } = this.#options;
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
      if (baseline === null || this.#monitor.better(value, baseline)) this.#wait = 0;
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
takesArguments<EarlyStoppingOptions>({ positional: ['monitor'], required: 0, names }, EarlyStopping);
