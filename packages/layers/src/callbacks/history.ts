import { Callback, type Logs } from './callback.ts';

/** Collects the logs of each epoch; `fit` returns it. */
export class History extends Callback {
  /** Numbers of the epochs, from 0. */
  readonly epoch: number[] = [];
  /** For each name the values of the epochs. */
  readonly history: Record<string, number[]> = {};

  override onEpochEnd(epoch: number, logs: Logs): void {
    this.epoch.push(epoch);
    for (const [name, value] of Object.entries(logs)) {
      let list = this.history[name];
      if (list === undefined) this.history[name] = list = [];
      list.push(value);
    }
  }
}
