import { InvalidArgumentError } from '@eagre/core';
import type { Logs } from './callback.ts';

export interface MonitorOptions {
  /** Name in the logs; `val_loss` unless given. */
  readonly monitor?: string;
  /** Whether smaller (`min`) or larger (`max`) is better; `auto` decides by the name (accuracy and AUC grow). */
  readonly mode?: 'auto' | 'min' | 'max';
  /** A smaller change does not count as better. */
  readonly minDelta?: number;
}

/** Watches one number of the logs for its best value. */
export class Monitor {
  readonly name: string;
  best: number;
  readonly #sign: 1 | -1;
  readonly #minDelta: number;

  constructor(options: MonitorOptions) {
    const { monitor = 'val_loss', mode = 'auto', minDelta = 0 } = options;
    this.name = monitor;
    const grows = mode === 'max' || (mode === 'auto' && /acc|auc|precision|recall|f1|fscore/i.test(monitor));
    this.#sign = grows ? 1 : -1;
    this.#minDelta = Math.abs(minDelta);
    this.best = -this.#sign * Number.POSITIVE_INFINITY;
  }

  /** The number now. @throws InvalidArgumentError when the logs lack it. */
  value(logs: Logs): number {
    const value = logs[this.name];
    if (value === undefined) {
      throw new InvalidArgumentError(
        `there is no '${this.name}' to watch; the logs have ${Object.keys(logs).join(', ')}`,
      );
    }
    return value;
  }

  better(value: number, than: number = this.best): boolean {
    return this.#sign * (value - than) > this.#minDelta;
  }
}
