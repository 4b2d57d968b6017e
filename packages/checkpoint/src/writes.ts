// When the values of a checkpoint are written: at once, or while the program goes on, one after the other.
import { FailedPreconditionError, ResourceExhaustedError } from '@eagre/core';
import { type Values, writeBundle, writeBundleAsync } from './bundle.ts';
import type { CheckpointOptions } from './options.ts';

/** What is done with the path of a checkpoint that is complete. */
export type Then = (path: string) => void;

/** As many checkpoints may wait for the disk: each holds values of its own. */
const MOST_WAITING = 16;

/** The writes of one `Checkpoint`. */
export class Writes {
  readonly #capture: (options: CheckpointOptions) => Values;
  /** Ends when all that was begun is written. */
  #running: Promise<void> = Promise.resolve();
  #unfinished = 0;
  #failed: { readonly error: unknown } | null = null;

  /** @param capture the values of now. */
  constructor(capture: (options: CheckpointOptions) => Values) {
    this.#capture = capture;
  }

  /** @throws FailedPreconditionError while something is being written. */
  refuseWhileWriting(what: string, before: string): void {
    if (this.#unfinished === 0) return;
    throw new FailedPreconditionError(
      `a checkpoint is being written: await checkpoint.sync() before ${before}`,
      `Checkpoint.${what}`,
    );
  }

  /** @throws ResourceExhaustedError while too many are being written. */
  refuseWhileFull(): void {
    if (this.#unfinished < MOST_WAITING) return;
    throw new ResourceExhaustedError(
      `${this.#unfinished} checkpoints are still being written, each with values of its own: await what saveAsync() returns, or checkpoint.sync()`,
      'Checkpoint.saveAsync',
    );
  }

  /** Writes the values of now, at once unless the options say otherwise; then what `after` does. */
  write(path: string, options: CheckpointOptions, after: readonly Then[]): void {
    if (options.enableAsync) {
      const written = this.writeAsync(path, options, after);
      const before = this.#running;
      this.#running = (async () => {
        await before;
        await written.catch((error: unknown) => {
          this.#failed ??= { error };
        });
      })();
      return;
    }
    this.#rethrow();
    this.refuseWhileWriting('write', 'writing another one at once');
    const values = this.#capture(options);
    try {
      writeBundle(path, values, options.shards);
    } finally {
      release(values);
    }
    for (const then of [...after, ...options.experimentalWriteCallbacks]) then(path);
  }

  /** The same while the program goes on. */
  async writeAsync(path: string, options: CheckpointOptions, after: readonly Then[]): Promise<void> {
    this.#rethrow();
    this.refuseWhileFull();
    const values = this.#capture(options);
    const before = this.#running;
    this.#unfinished++;
    const written = (async () => {
      try {
        // One after another: a slower early checkpoint must not become the latest.
        await before;
        await writeBundleAsync(path, values, options.shards);
        for (const then of [...after, ...options.experimentalWriteCallbacks]) then(path);
      } finally {
        release(values);
        this.#unfinished--;
      }
    })();
    this.#running = written.catch(() => undefined);
    return written;
  }

  /** Waits for what is still being written. @throws what went wrong there. */
  async sync(): Promise<void> {
    await this.#running;
    this.#rethrow();
  }

  #rethrow(): void {
    const failed = this.#failed;
    if (failed === null) return;
    this.#failed = null;
    throw failed.error;
  }
}

/** Lets go of the values, so that variables are updated in place again. */
function release(values: Values): void {
  for (const [, tensor] of values.tensors) tensor.dispose();
}
