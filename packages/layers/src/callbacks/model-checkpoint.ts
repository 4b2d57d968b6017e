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

  /** @throws InvalidArgumentError for a path that does not end in `.safetensors` or holds something else in braces. */
  constructor(path: string, options: ModelCheckpointOptions = {}) {
    super();
    if (!path.endsWith('.safetensors')) {
      throw new InvalidArgumentError(
        `${path}: weights are kept in files that end in .safetensors`,
        'ModelCheckpoint',
      );
    }
    for (const [place] of path.matchAll(/\{[^{}]*\}/g)) {
      if (!new RegExp(`^${PLACE.source}$`).test(place)) {
        throw new InvalidArgumentError(
          `the path ${path} has ${place}; expected forms such as {epoch}, {epoch:02d}, {val_loss:.2f}`,
          'ModelCheckpoint',
        );
      }
    }
    this.#path = path;
    this.#options = options;
    this.#monitor = new Monitor(options, 'ModelCheckpoint');
  }

  override async onEpochEnd(epoch: number, logs: Logs): Promise<void> {
    if (this.#options.saveBestOnly === true) {
      const value = this.#monitor.value(logs);
      if (value === undefined || !this.#monitor.better(value)) return;
      this.#monitor.best = value;
    }
    await this.model.saveWeights(fillIn(this.#path, { ...logs, epoch: epoch + 1 }));
  }
}

// Name, width with or without zeros, decimals, kind: as Python formats.
const PLACE = /\{(\w+)(?::(0?)(\d*)(?:\.(\d+))?([df]?))?\}/g;

function fillIn(path: string, values: Readonly<Record<string, number>>): string {
  return path.replace(
    PLACE,
    (_, name: string, zero?: string, width?: string, decimals?: string, kind?: string) => {
      const value = values[name];
      if (value === undefined) {
        throw new InvalidArgumentError(
          `the path ${path} names '${name}'; there are ${Object.keys(values).join(', ')}`,
          'ModelCheckpoint',
        );
      }
      const fixed = decimals !== undefined || kind === 'f';
      const text = fixed ? value.toFixed(Number(decimals ?? 6)) : String(value);
      return text.padStart(Number(width ?? 0), zero === '0' ? '0' : ' ');
    },
  );
}
