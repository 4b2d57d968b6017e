import { InvalidArgumentError } from '@eagre/core';
import { argumentsOf, type Option, setOptions, shown, takesOptions } from '@eagre/core/internal';
import type { SingleBar } from 'cli-progress';
import { isInteractiveLoggingEnabled, printMessage } from '../utils/messages.ts';
import { Callback, type Logs } from './callback.ts';
import { text } from './options.ts';
import { drawn, duration, number, rate } from './progress-text.ts';

const WIDTH = 24;
const NARROW = 8;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** What `ProgressBar` needs of a stream; a stream of Node, as `process.stderr`, has it. */
export interface ProgressStream {
  /** Shows a text. */
  write(text: string): unknown;
  /** Whether it is a terminal, where a line can be drawn anew. */
  readonly isTTY?: boolean;
  /** How many characters a line of the terminal has. */
  readonly columns?: number;
}

/**
 * What `fit` shows: a bar with speed, time left and metrics on a terminal, one line per epoch elsewhere (`verbose` 2 asks for
 * the lines).
 */
export class ProgressBar extends Callback {
  readonly #out: NodeJS.WriteStream | undefined;
  /** What is before the bar. */
  declare readonly label: string;
  /** As it was given. */
  declare readonly out: ProgressStream | undefined;
  #bar: SingleBar | undefined;
  /** Ends what lets others print above the bar. */
  #unshare: (() => void) | undefined;
  /** The line of the bar now. */
  #current: () => string = () => '';
  #start = 0;
  #seen = 0;

  /**
   * @param label before the bar: `Epoch 1/5` for training unless given.
   * @param out where to write; unless given a bar to the terminal, lines to the console.
   */
  constructor(options: {
    /** What is before the bar: `Epoch 1/5` for training by default. */
    readonly label?: string;
    /** Where to write; by default a bar to the terminal, lines to the console. */
    readonly out?: ProgressStream;
  });
  constructor(
    label?: string,
    out?:
      | ProgressStream
      | {
          /** Where to write; by default a bar to the terminal, lines to the console. */
          readonly out: ProgressStream;
        },
  );
  constructor(...args: readonly unknown[]) {
    super();
    setOptions(this, argumentsOf<ProgressArguments>(ProgressBar, new.target, args));
    this.#out = (this.out as NodeJS.WriteStream | undefined) ?? globalThis.process?.stdout;
  }

  override async onEpochBegin(epoch: number): Promise<void> {
    this.#start = performance.now();
    this.#seen = 0;
    const out = this.#out;
    if (!this.#live || out === undefined) return;
    out.write(`${this.#title(epoch)}\n`);
    // Only for those who look: loading the library costs more than importing all of Eagre.
    const { default: progress } = await import('cli-progress');
    const shared = shareTerminal(out, () => this.#bar?.render());
    this.#unshare = shared.end;
    this.#bar = new progress.SingleBar({
      stream: shared.stream,
      fps: 15,
      hideCursor: true,
      linewrap: false,
      // Others may have written to its line.
      forceRedraw: true,
      // What stays is written behind it, and may be longer than the terminal is wide.
      clearOnComplete: true,
      // Its handler would swallow the signal, and training would go on.
      gracefulExit: false,
      format: (_options, _params, payload: { line?: () => string }) => payload.line?.() ?? '',
    });
    for (const signal of SIGNALS) process.once(signal, this.#interrupted);
    this.#current = () => this.#line({});
    this.#bar.start(this.params.steps ?? 0, 0, { line: this.#current });
  }

  /** @internal */
  override readsBatches(kind: 'train' | 'test' | 'predict'): boolean {
    return super.readsBatches(kind, ProgressBar.prototype) || (kind === 'train' && this.#live);
  }
  override onTrainBatchEnd(batch: number, logs: Logs): void {
    // A last go of several batches may be short.
    this.#seen = Math.min(batch + 1, this.params.steps ?? Number.POSITIVE_INFINITY);
    this.#current = () => this.#line(logs);
    this.#bar?.update(this.#seen, { line: this.#current });
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const final = this.#line(logs, true);
    if (this.#bar !== undefined) {
      this.#current = () => final;
      this.close();
    } else this.#write(`${this.#title(epoch)} - ${final}`);
  }

  /** Stops drawing and gives the terminal back as it was. */
  override close(): void {
    if (this.#bar !== undefined) {
      this.#bar.stop();
      this.#bar = undefined;
      this.#unshare?.();
      this.#out?.write(`${this.#current()}\n`);
    }
    for (const signal of SIGNALS) globalThis.process?.off(signal, this.#interrupted);
  }

  #write(line: string): void {
    // Notebooks show nothing but what goes to the console.
    if (this.out === undefined || this.#out === undefined) printMessage(line);
    else this.#out.write(`${line}\n`);
  }

  readonly #interrupted = (signal: NodeJS.Signals): void => {
    this.close();
    // Nobody else handles the signal, so it does what it would have done.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };

  #title(epoch: number): string {
    return this.label === 'Epoch' ? `Epoch ${epoch + 1}/${this.params.epochs}` : this.label;
  }

  get #live(): boolean {
    return this.params.verbose === 1 && this.#out?.isTTY === true && isInteractiveLoggingEnabled();
  }

  #line(logs: Logs, done = false): string {
    const { steps } = this.params;
    const elapsed = (performance.now() - this.#start) / 1000;
    const perStep = this.#seen === 0 ? 0 : elapsed / this.#seen;
    const left = steps === undefined || done ? undefined : perStep * (steps - this.#seen);
    const time = left === undefined ? duration(elapsed) : `ETA ${duration(left)}`;
    const numbers = Object.entries(logs).map(([name, value]) => ` - ${name}: ${number(value)}`);
    const count = `${this.#seen}/${steps ?? '?'}`;
    const rest = ` ${time} ${rate(perStep)}/step${numbers.join('')}`;
    if (!this.#live) return count + rest;
    // The bar gives way to the numbers, which a narrow terminal would otherwise cut off.
    const room = (this.#out?.columns ?? 80) - count.length - rest.length - 2;
    return room < NARROW
      ? count + rest
      : `${count} ${drawn(Math.min(WIDTH, room), steps, this.#seen)}${rest}`;
  }
}

interface ProgressArguments {
  readonly label?: string;
  readonly out?: ProgressStream;
}
const stream: Option<ProgressStream | undefined> = {
  read: (given) => {
    if (given === undefined || typeof (given as Partial<ProgressStream> | null)?.write === 'function')
      return given as ProgressStream | undefined;
    throw new InvalidArgumentError(`expected a stream to write to, got ${shown(given)}`, 'ProgressBar');
  },
};
takesOptions<ProgressArguments, ProgressBar>(
  {
    positional: ['label', 'out'],
    required: 0,
    objects: ['out'],
    options: { label: text('Epoch', 'the label'), out: stream },
  },
  ProgressBar,
);

// Back to the start of the line, and clear it.
const CLEAR = '\r\x1b[K';
// A bar remembers where it began, and lets no line wrap while it is drawn.
const [REMEMBER, WRAP, NO_WRAP] = ['\x1b7', '\x1b[?7h', '\x1b[?7l'];

/**
 * Has what others write to a terminal meanwhile appear above the last line, in whole lines.
 * @param redraw draws the last line again.
 * @returns a stream for who draws the last line, and what ends it all.
 */
function shareTerminal(
  out: NodeJS.WriteStream,
  redraw: () => void,
): { readonly stream: NodeJS.WriteStream; readonly end: () => void } {
  const write = out.write;
  const stream = Object.create(out, {
    write: { value: (...args: Parameters<typeof write>) => write.apply(out, args) },
  }) as NodeJS.WriteStream;
  const errors = globalThis.process?.stderr;
  const both = out === globalThis.process?.stdout && errors?.isTTY === true ? [out, errors] : [out];
  const ends = both.map((target) => above(target, redraw));
  const end = (): void => {
    for (const one of ends) one();
  };
  return { stream, end };
}

/** Has whole lines written to `target` replace the last line of the terminal, which is drawn again behind them. */
function above(target: NodeJS.WriteStream, redraw: () => void): () => void {
  const write = target.write as (...args: unknown[]) => boolean;
  const own = Object.hasOwn(target, 'write');
  let open = true;
  let begun = '';
  const wrapper = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    if (!open) return write.call(target, chunk, ...rest);
    begun += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
    const end = begun.lastIndexOf('\n') + 1;
    if (end > 0) {
      write.call(target, `${CLEAR}${WRAP}${begun.slice(0, end)}${REMEMBER}${NO_WRAP}`);
      begun = begun.slice(end);
      redraw();
    }
    const done = rest.at(-1);
    if (typeof done === 'function') queueMicrotask(() => done());
    return true;
  };
  target.write = wrapper as typeof target.write;
  return () => {
    open = false;
    // Somebody who wraps it too keeps what is a way through now.
    if (target.write === (wrapper as typeof target.write)) {
      if (own) target.write = write as typeof target.write;
      else Reflect.deleteProperty(target, 'write');
    }
    if (begun !== '') write.call(target, `${begun}\n`);
  };
}
