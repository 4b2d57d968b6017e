import { InvalidArgumentError } from '@eagre/core';
import { Callback, type Logs } from './callback.ts';
import { Monitor, type MonitorOptions } from './monitor.ts';

export interface ModelCheckpointOptions extends MonitorOptions {
  /** Write only when the watched number is the best so far. */
  readonly saveBestOnly?: boolean;
}

/**
 * Saves the weights after each epoch. The path may hold `{epoch}` (from 1, `{epoch:02d}` pads) and names of the logs with
 * decimals: `weights-{epoch:02d}-{val_loss:.2f}.safetensors`.
 */
export class ModelCheckpoint extends Callback {
  readonly #path: string;
  readonly #options: ModelCheckpointOptions;
  readonly #monitor: Monitor;

  constructor(path: string, options: ModelCheckpointOptions = {}) {
    super();
    this.#path = path;
    this.#options = options;
    this.#monitor = new Monitor(options);
  }

  override async onEpochEnd(epoch: number, logs: Logs): Promise<void> {
    if (this.#options.saveBestOnly === true) {
      const value = this.#monitor.value(logs);
      if (!this.#monitor.better(value)) return;
      this.#monitor.best = value;
    }
    await this.model.saveWeights(fillIn(this.#path, { ...logs, epoch: epoch + 1 }));
  }
}

function fillIn(path: string, values: Readonly<Record<string, number>>): string {
  return path.replace(
    /\{(\w+)(?::0?(\d*)(?:\.(\d+))?([df]?))?\}/g,
    (_, name: string, width: string, decimals: string, kind: string) => {
      const value = values[name];
      if (value === undefined) {
        throw new InvalidArgumentError(
          `the path ${path} names '${name}'; there are ${Object.keys(values).join(', ')}`,
          'ModelCheckpoint',
        );
      }
      const text =
        decimals !== undefined || kind === 'f' ? value.toFixed(Number(decimals ?? 6)) : String(value);
      return text.padStart(Number(width ?? 0), '0');
    },
  );
}
