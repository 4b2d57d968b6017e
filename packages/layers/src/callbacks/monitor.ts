import { checkNumber, checkOneOf, checkText, type OptionNames } from '@eagre/core/internal';
import type { Logs } from './callback.ts';

export interface MonitorOptions {
  /** Name in the logs; `val_loss` unless given. */
  readonly monitor?: string;
  /** Whether smaller (`min`) or larger (`max`) is better; `auto` decides by the name (accuracy and AUC grow). */
  readonly mode?: 'auto' | 'min' | 'max';
  /** A smaller change does not count as better. */
  readonly minDelta?: number;
}

export const monitorNames: OptionNames<MonitorOptions> = { monitor: true, mode: true, minDelta: true };

// Ends of the names of metrics that get better by growing.
const GROWING =
  /(^|_)(acc|accuracy|auc|precision|recall|f1_score|fbeta_score|cosine_similarity|hits?|iou)(_\d+)?$/i;

/** Watches one number of the logs for its best value. */
export class Monitor {
  readonly name: string;
  best: number | undefined;
  readonly #sign: 1 | -1;
  readonly #minDelta: number;
  readonly #owner: string;
  #warned = false;

  /** @param owner the callback, for messages. */
  constructor(options: MonitorOptions, owner: string) {
    const { monitor = 'val_loss', mode = 'auto', minDelta = 0 } = options;
    checkText(monitor, 'monitor', owner);
    checkOneOf(mode, ['auto', 'min', 'max'], 'mode', owner);
    checkNumber(minDelta, 'minDelta', owner);
    this.name = monitor;
    this.#owner = owner;
    this.#sign = mode === 'max' || (mode === 'auto' && GROWING.test(monitor)) ? 1 : -1;
    this.#minDelta = Math.abs(minDelta);
  }

  /** The number now. Undefined, with one warning, when the logs lack it: it may be there after later epochs. */
  value(logs: Logs): number | undefined {
    const value = logs[this.name];
    if (value === undefined && !this.#warned) {
      this.#warned = true;
      console.warn(
        `${this.#owner}: there is no '${this.name}' to watch; the logs have ${Object.keys(logs).join(', ')}`,
      );
    }
    return value;
  }

  /** Anything is better than nothing. */
  better(value: number, than: number | undefined = this.best): boolean {
    return than === undefined || this.#sign * (value - than) > this.#minDelta;
  }
}
