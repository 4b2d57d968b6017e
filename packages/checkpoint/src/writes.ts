// When the values of a checkpoint are written: at once, or while the program goes on, one after the other.
import { FailedPreconditionError } from '@eagre/core';
import { type Values, writeBundle, writeBundleAsync } from './bundle.ts';
import type { CheckpointOptions } from './options.ts';

/** What is done with the path of a checkpoint that is complete. */
export type Then = (path: string) => void;

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
