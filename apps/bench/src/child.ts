import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A process that is asked in lines and answers each with one line of JSON. */
export class Child {
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];
  #waiting: ((line: string | null) => void) | null = null;
  #ended = false;
  #stderr = '';

  constructor(
    command: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
  ) {
    this.#process = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    const end = (): void => {
      this.#ended = true;
      this.#waiting?.(null);
    };
    this.#process.on('error', (error) => {
      this.#stderr += error.message;
      end();
    });
    // Writing to a process that has died is an event of its own; `next` reports the death.
    this.#process.stdin!.on('error', () => undefined);
    this.#process.stderr!.on('data', (text) => {
      this.#stderr = (this.#stderr + text).slice(-2000);
    });
    const lines = createInterface({ input: this.#process.stdout! });
    lines.on('line', (line) => {
      if (this.#waiting === null) this.#lines.push(line);
      else this.#waiting(line);
    });
    lines.on('close', end);
  }

  /** Sends a line and waits for the answer. @throws ChildError */
  async ask<T>(line: string, timeoutSeconds: number): Promise<T> {
    this.#process.stdin!.write(`${line}\n`);
    return this.next(timeoutSeconds);
  }

  /** The next line. @throws ChildError when the process ends or takes too long, which kills it. */
  async next<T>(timeoutSeconds: number): Promise<T> {
    const line = await this.#line(timeoutSeconds);
    return JSON.parse(line) as T;
  }

  #line(timeoutSeconds: number): Promise<string> {
    const waiting = this.#lines.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.kill();
        finish(() => reject(new ChildError(`no answer within ${timeoutSeconds} s`)));
      }, timeoutSeconds * 1000);
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.#waiting = null;
        settle();
      };
      this.#waiting = (line) => {
        if (line !== null) finish(() => resolve(line));
        // What it wrote to stderr last may come in after stdout has closed.
        else setTimeout(() => finish(() => reject(new ChildError(this.#lastWords()))), 50);
      };
      if (this.#ended) this.#waiting(null);
    });
  }

  get alive(): boolean {
    return !this.#ended;
  }
  kill(): void {
    this.#ended = true;
    this.#process.kill('SIGKILL');
  }
  /** Lets the process end by itself. */
  close(): void {
    this.#process.stdin!.end();
  }

  #lastWords(): string {
    const last = this.#stderr.trim().split('\n').at(-1);
    return last === undefined || last === '' ? 'the process ended' : last;
  }
}

export class ChildError extends Error {}
