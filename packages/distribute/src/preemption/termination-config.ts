import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, checkFunction, shown, takesArguments } from '@eagre/core/internal';

/** Options of `TerminationConfig`. */
export interface TerminationOptions {
  /** Asked before each step whether the process is to end; SIGTERM counts too. */
  readonly terminationWatcherFn?: (() => boolean) | null;
  /** Ends the process when the checkpoint is saved; `process.exit(42)` by default. */
  readonly exitFn?: (() => unknown) | null;
  /** For how many seconds training goes on after the signal; 0 by default. */
  readonly gracePeriod?: number | null;
  /** Saves instead of the checkpoint, in the first process. */
  readonly saveFn?: (() => unknown) | null;
}

/** The exit code of a process that has saved and is to be started again, as TensorFlow's. */
export const RESTART_CODE = 42;

/** What `PreemptionCheckpointHandler` does when a process is to end. */
export class TerminationConfig {
  /** Asked before each step whether the process is to end; SIGTERM counts too. */
  readonly terminationWatcherFn: (() => boolean) | null;
  /** Ends the process when the checkpoint is saved. */
  readonly exitFn: (() => unknown) | null;
  /** For how many seconds training goes on after the signal. */
  readonly gracePeriod: number;
  /** Saves instead of the checkpoint, in the first process. */
  readonly saveFn: (() => unknown) | null;

  /** @throws InvalidArgumentError for a grace period that is no number from 0 on */
  constructor(...args: [options?: TerminationOptions | null]) {
    const op = 'TerminationConfig';
    const { terminationWatcherFn, exitFn, gracePeriod, saveFn } = argumentsOf<TerminationOptions>(
      TerminationConfig,
      new.target,
      args,
    );
    for (const [name, fn] of Object.entries({ terminationWatcherFn, exitFn, saveFn }))
      if (fn !== undefined && fn !== null) checkFunction(fn as () => unknown, name, op);
    this.terminationWatcherFn = terminationWatcherFn ?? null;
    this.exitFn = exitFn ?? null;
    this.saveFn = saveFn ?? null;
    this.gracePeriod = gracePeriod ?? 0;
    if (typeof this.gracePeriod !== 'number' || !(this.gracePeriod >= 0) || this.gracePeriod > 1e6)
      throw new InvalidArgumentError(
        `gracePeriod must be a number of seconds from 0 on, got ${shown(gracePeriod)}`,
        op,
      );
  }
}
takesArguments<TerminationOptions>(
  { names: { terminationWatcherFn: true, exitFn: true, gracePeriod: true, saveFn: true } },
  TerminationConfig,
);
