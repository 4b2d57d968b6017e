import { numberOption, type Option } from '@eagre/core/internal';
import type { Callback, Logs } from './callback.ts';
import { oneOf, text } from './options.ts';

/** What callbacks take that watch a number of the logs. */
export interface MonitorOptions {
  /** Name in the logs; `val_loss` unless given. */
  readonly monitor?: string;
  /** Whether smaller (`min`) or larger (`max`) is better; `auto` decides by the name (accuracy and AUC grow). */
  readonly mode?: 'auto' | 'min' | 'max';
  /** A smaller change does not count as better. */
  readonly minDelta?: number;
}

/** What all that watch a number have. */
export type Watching = Callback & Required<MonitorOptions>;

export const monitor: Option<string> = text('val_loss');
export const mode: Option<'auto' | 'min' | 'max'> = oneOf('auto', 'min', 'max');
/** A change; `otherwise` unless given. */
export const minDelta = (otherwise = 0): Option<number> => numberOption(otherwise);

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

  constructor(callback: Watching) {
    const { monitor, mode, minDelta } = callback;
    this.name = monitor;
    this.#owner = callback.constructor.name;
    this.#sign = mode === 'max' || (mode === 'auto' && GROWING.test(monitor)) ? 1 : -1;
    this.#minDelta = Math.abs(minDelta);
  }

  /** The number now. Undefined, with one warning, when the logs lack it: it may be there after later epochs. */
  value(logs: Logs): number | undefined {
    const value = Object.hasOwn(logs, this.name) ? logs[this.name] : undefined;
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
