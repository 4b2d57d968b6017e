import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  checkCount,
  defineMethods,
  integerOption,
  isPlain,
  numberOption,
  type Option,
  setOptions,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { oneOf, text } from '../callbacks/options.ts';
import { drawn, duration, number, rate } from '../callbacks/progress-text.ts';
import { isInteractiveLoggingEnabled, printMessage } from './messages.ts';

/** Numbers by name. */
export type ProgbarValues =
  | Readonly<Record<string, number>>
  | readonly (readonly [name: string, value: number])[];

/** Options of `Progbar`. */
export interface ProgbarOptions {
  /** The length of the bar; 20 unless given. */
  readonly width?: number;
  /** 0 silent, 1 a bar on a terminal and a line at the end elsewhere, 2 a line at the end; 1 unless given. */
  readonly verbose?: 0 | 1 | 2;
  /** The least time between two drawings, in seconds; 0.05 unless given. */
  readonly interval?: number;
  /** Metrics that are shown as they are; of others the mean over the steps. Not beside `statelessMetrics`. */
  readonly statefulMetrics?: readonly string[] | null;
  /** The only metrics of which the mean is shown. */
  readonly statelessMetrics?: readonly string[] | null;
  /** What a step is called; `step` unless given. */
  readonly unitName?: string;
}
/** All arguments of `Progbar`, by name. */
export interface ProgbarArguments extends ProgbarOptions {
  /** How many steps there will be; null where nobody knows. */
  readonly target: number | null;
}

/**
 * A progress bar with metrics, for loops of your own.
 *
 *     const bar = new tf.keras.utils.Progbar(100);
 *     for (let i = 0; i < 100; i++) bar.add(1, { loss: trainStep() });
 */
export class Progbar {
  /** How many steps there will be; null where nobody knows. */
  declare readonly target: number | null;
  /** The length of the bar. */
  declare readonly width: number;
  /** 0 silent, 1 a bar on a terminal and a line at the end elsewhere, 2 a line at the end. */
  declare readonly verbose: 0 | 1 | 2;
  /** The least time between two drawings, in seconds. */
  declare readonly interval: number;
  /** Metrics that are shown as they are; of others the mean over the steps. Not beside `statelessMetrics`. */
  declare readonly statefulMetrics: readonly string[] | null;
  /** The only metrics of which the mean is shown. */
  declare readonly statelessMetrics: readonly string[] | null;
  /** What a step is called. */
  declare readonly unitName: string;
  readonly #start: number = performance.now();
  readonly #sums = new Map<string, { sum: number; count: number }>();
  #seen = 0;
  #drawn = Number.NEGATIVE_INFINITY;
  #length = 0;

  /** @throws InvalidArgumentError for both kinds of metrics. */
  constructor(...args: [target: number | null | ProgbarArguments, options?: ProgbarOptions]) {
    setOptions(this, argumentsOf<ProgbarArguments>(Progbar, new.target, args));
    if (this.statefulMetrics !== null && this.statelessMetrics !== null)
      throw new InvalidArgumentError(
        'only one of statefulMetrics and statelessMetrics can be given',
        'Progbar',
      );
  }

  /**
   * Says that so many steps are done.
   * @param values numbers of the steps since the last call
   * @param finalize whether this is the last call; unless given, when all steps are done
   */
  update(current: number, values?: ProgbarValues | null, finalize?: boolean | null): void;
  update(options: {
    /** How many steps are done. */
    readonly current: number;
    /** Numbers of the steps since the last call by name: `{ loss: 0.3 }`. None by default. */
    readonly values?: ProgbarValues | null;
    /** Whether this is the last call; unless given, when all steps are done. */
    readonly finalize?: boolean | null;
  }): void;
  update(given: unknown, values?: ProgbarValues | null, finalize?: boolean | null): void {
    checkCount(given, 'current', 'Progbar.update', 0);
    const current = given as number;
    const { target, verbose } = this;
    const last = finalize ?? (target !== null && current >= target);
    for (const [name, value] of entriesOf(values ?? [])) this.#take(name, value, current - this.#seen, last);
    this.#seen = current;
    if (verbose === 0 || !isInteractiveLoggingEnabled()) return;
    const out = verbose === 1 ? globalThis.process?.stdout : undefined;
    const now = performance.now();
    if (out?.isTTY !== true) {
      if (last) printMessage(this.#line(now, last, false));
      return;
    }
    if (!last && now - this.#drawn < this.interval * 1000) return;
    const line = this.#line(now, last, true);
    out.write(`\r${line.padEnd(this.#length)}${last ? '\n' : ''}`);
    this.#drawn = now;
    this.#length = line.length;
  }
  /** Says that so many more steps are done. */
  add(n: number, values?: ProgbarValues | null): void;
  add(options: {
    /** How many steps were done since the last call. */
    readonly n: number;
    /** Numbers of these steps by name: `{ loss: 0.3 }`. None by default. */
    readonly values?: ProgbarValues | null;
  }): void;
  add(n: unknown, values?: ProgbarValues | null): void {
    checkCount(n, 'n', 'Progbar.add', 0);
    this.update(this.#seen + (n as number), values);
  }

  #take(name: string, value: number, steps: number, last: boolean): void {
    const { statefulMetrics, statelessMetrics } = this;
    const averages =
      statelessMetrics === null ? !(statefulMetrics ?? []).includes(name) : statelessMetrics.includes(name);
    const weight = Math.max(1, steps);
    const before = averages && !last ? this.#sums.get(name) : undefined;
    this.#sums.set(name, {
      sum: (before?.sum ?? 0) + value * weight,
      count: (before?.count ?? 0) + weight,
    });
  }

  #line(now: number, last: boolean, withBar: boolean): string {
    const { target, width, unitName } = this;
    const seen = this.#seen;
    const elapsed = (now - this.#start) / 1000;
    const perStep = elapsed / Math.max(1, seen);
    const bar = withBar && target !== null ? ` ${drawn(width, target, seen)}` : '';
    const time = last || target === null ? elapsed : perStep * (target - seen);
    const numbers = [...this.#sums].map(([name, { sum, count }]) => ` - ${name}: ${number(sum / count)}`);
    return `${seen}/${target ?? 'Unknown'}${bar} ${duration(time)} ${rate(perStep)}/${unitName}${numbers.join('')}`;
  }
}

/** @throws InvalidArgumentError for what are no numbers by name */
function entriesOf(values: ProgbarValues): readonly (readonly [string, number])[] {
  const entries: unknown = isPlain(values) ? Object.entries(values) : values;
  const isPair = (pair: unknown): boolean =>
    Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string' && typeof pair[1] === 'number';
  if (Array.isArray(entries) && entries.every(isPair)) return entries as (readonly [string, number])[];
  throw new InvalidArgumentError(`values must be numbers by name, got ${shown(values)}`, 'Progbar');
}

const names: Option<readonly string[] | null> = {
  read: (given, name) => {
    if (given === undefined || given === null) return null;
    if (Array.isArray(given) && given.every((value) => typeof value === 'string')) return given;
    throw new InvalidArgumentError(`${name} must be a list of names, got ${shown(given)}`, 'Progbar');
  },
};
const target: Option<number | null> = {
  read: (given) => {
    if (given !== null) checkCount(given, 'target', 'Progbar', 0);
    return given as number | null;
  },
};
takesOptions<ProgbarArguments, Progbar>(
  {
    positional: ['target'],
    options: {
      target,
      width: integerOption(20, 1),
      verbose: { ...oneOf<0 | 1 | 2>(1, 0, 2) },
      interval: numberOption(0.05, 0),
      statefulMetrics: names,
      statelessMetrics: names,
      unitName: text('step'),
    },
  },
  Progbar,
);
defineMethods(Progbar.prototype, 'Progbar', {
  update: { positional: ['current', 'values', 'finalize'], required: 1, objects: ['values'] },
  add: { positional: ['n', 'values'], required: 1, objects: ['values'] },
});
