import { InvalidArgumentError } from '@eagre/core';
import { checkText, shown } from '@eagre/core/internal';
import type { SingleBar } from 'cli-progress';
import { Callback, type Logs } from './callback.ts';

const WIDTH = 24;
const NARROW = 8;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** What `ProgressBar` needs of a stream; a stream of Node, as `process.stderr`, has it. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * What `fit` shows: a bar with speed, time left and metrics on a terminal, one line per epoch elsewhere (`verbose` 2 asks for
 * the lines).
 */
export class ProgressBar extends Callback {
  readonly #out: NodeJS.WriteStream | undefined;
  readonly #label: string;
  #bar: SingleBar | undefined;
  #start = 0;
  #seen = 0;

  /**
   * @param label before the bar: `Epoch 1/5` for training unless given.
   * @param out where to write; the console in browsers.
   */
  constructor(label = 'Epoch', out: ProgressStream | undefined = globalThis.process?.stdout) {
    super();
    checkText(label, 'the label', 'ProgressBar');
    if (out !== undefined && typeof (out as Partial<ProgressStream> | null)?.write !== 'function')
      throw new InvalidArgumentError(`expected a stream to write to, got ${shown(out)}`, 'ProgressBar');
    this.#label = label;
    this.#out = out as NodeJS.WriteStream | undefined;
  }

  override async onEpochBegin(epoch: number): Promise<void> {
    this.#start = performance.now();
    this.#seen = 0;
    const out = this.#out;
    if (!this.#live || out === undefined) return;
    out.write(`${this.#title(epoch)}\n`);
    // Only for those who look: loading the library costs more than importing all of Eagre.
    const { default: progress } = await import('cli-progress');
    this.#bar = new progress.SingleBar({
      stream: out,
      fps: 15,
      hideCursor: true,
      linewrap: false,
      // Its handler would swallow the signal, and training would go on.
      gracefulExit: false,
      format: (_options, _params, payload: { line?: () => string }) => payload.line?.() ?? '',
    });
    for (const signal of SIGNALS) process.once(signal, this.#interrupted);
    this.#bar.start(this.params.steps ?? 0, 0, { line: () => this.#line({}) });
  }

  override onTrainBatchEnd(batch: number, logs: Logs): void {
    this.#seen = batch + 1;
    this.#bar?.update(this.#seen, { line: () => this.#line(logs) });
  }

  override onEpochEnd(epoch: number, logs: Logs): void {
    const final = this.#line(logs, true);
    if (this.#bar !== undefined) {
      this.#bar.update(this.#seen, { line: () => final });
      this.close();
    } else this.#write(`${this.#title(epoch)} - ${final}`);
  }

  /** Stops drawing and gives the terminal back as it was. */
  override close(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    for (const signal of SIGNALS) globalThis.process?.off(signal, this.#interrupted);
  }

  #write(line: string): void {
    if (this.#out === undefined) console.log(line);
    else this.#out.write(`${line}\n`);
  }

  readonly #interrupted = (signal: NodeJS.Signals): void => {
    this.close();
    // Nobody else handles the signal, so it does what it would have done.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };

  #title(epoch: number): string {
    return this.#label === 'Epoch' ? `Epoch ${epoch + 1}/${this.params.epochs}` : this.#label;
  }

  get #live(): boolean {
    return this.params.verbose === 1 && this.#out?.isTTY === true;
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

function drawn(width: number, steps: number | undefined, seen: number): string {
  const filled = steps === undefined ? 0 : Math.round((width * Math.min(seen, steps)) / Math.max(1, steps));
  return `${'━'.repeat(filled)}${'─'.repeat(width - filled)}`;
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}s`;
  const two = (n: number): string => String(n).padStart(2, '0');
  const m = Math.floor(whole / 60);
  const rest = two(whole % 60);
  return m < 60 ? `${m}:${rest}` : `${Math.floor(m / 60)}:${two(m % 60)}:${rest}`;
}

function rate(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(1)}s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toFixed(seconds >= 1e-2 ? 0 : 1)}ms`;
  return `${Math.round(seconds * 1e6)}us`;
}

function number(value: number): string {
  return Math.abs(value) >= 1e-3 || value === 0 ? value.toFixed(4) : value.toExponential(4);
}
