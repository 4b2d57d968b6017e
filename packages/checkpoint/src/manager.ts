import { InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkFlag,
  checkFunction,
  checkNumber,
  checkPath,
  defineMethods,
  type OptionNames,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { Checkpoint } from './checkpoint.ts';
import { CheckpointOptions, checkOptions } from './options.ts';
import { deleteAbandoned, deleteCheckpoint, getCheckpointState, updateCheckpointState } from './state.ts';

/** What decides which checkpoints a manager keeps. */
export interface CheckpointManagerOptions {
  /** How many checkpoints stay; older ones are deleted. null keeps all. */
  readonly maxToKeep: number | null;
  /** In addition, keeps for good one checkpoint for each span of so many hours. */
  readonly keepCheckpointEveryNHours?: number | null;
  /** The files begin with it; `ckpt` unless given. */
  readonly checkpointName?: string;
  /** The step of training, for `checkpointInterval`. */
  readonly stepCounter?: Variable | null;
  /** `save` does nothing unless the step has grown by so much since the last one. */
  readonly checkpointInterval?: number | null;
  /** Called by `restoreOrInitialize` when there is nothing to restore. */
  readonly initFn?: (() => void) | null;
  /** The time in seconds since 1970, for tests. */
  readonly clock?: () => number;
}

/** Of one save by a manager. */
export interface ManagerSaveOptions {
  /** Instead of the number of saves. */
  readonly checkpointNumber?: number | bigint | Tensor | Variable;
  /** False: save although `checkpointInterval` has not passed, unless this very step is saved already. */
  readonly checkInterval?: boolean;
  /** How this checkpoint is written. */
  readonly options?: CheckpointOptions;
}

interface ManagerArguments extends CheckpointManagerOptions {
  readonly checkpoint: Checkpoint;
  readonly directory: string;
}
const saveNames: OptionNames<ManagerSaveOptions> = {
  checkpointNumber: true,
  checkInterval: true,
  options: true,
};

/** The integer that the number of a checkpoint is. */
function numberOf(given: number | bigint | Tensor | Variable, op: string): number {
  const value = given instanceof Tensor || given instanceof Variable ? given.item() : given;
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (!Number.isSafeInteger(number))
    throw new InvalidArgumentError(`checkpointNumber must be an integer, got ${shown(value)}`, op);
  return number;
}

/**
 * Saves checkpoints into a folder, deletes old ones (and what a process that died has left unfinished an hour ago), and finds the last one
 * after a restart.
 *
 *     const manager = new tf.train.CheckpointManager(checkpoint, 'runs', { maxToKeep: 3 });
 *     checkpoint.restore(manager.latestCheckpoint);
 *     manager.save();
 */
export class CheckpointManager {
  readonly checkpoint: Checkpoint;
  readonly directory: string;
  /** `save` does nothing unless the step has grown by so much since the last one. */
  readonly checkpointInterval: number | null;
  readonly #options: CheckpointManagerOptions;
  readonly #prefix: string;
  readonly #clock: () => number;
  /** Path → time, oldest first: those that may be deleted. */
  readonly #managed = new Map<string, number>();
  #latest: string | null;
  #lastPreserved: number;
  #lastStep: number | null = null;

  /** @throws InvalidArgumentError for a `maxToKeep` that is no positive integer, and an interval without a counter. */
  constructor(
    ...args: Arguments<
      [checkpoint: Checkpoint, directory: string, maxToKeep?: number | null],
      ['checkpoint', 'directory', 'maxToKeep'],
      Omit<CheckpointManagerOptions, 'maxToKeep'>
    >
  );
  constructor(checkpoint: Checkpoint, directory: string, options: CheckpointManagerOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<ManagerArguments>(CheckpointManager, new.target, args);
    const { checkpoint, directory } = options;
    const op = 'CheckpointManager';
    if (!(checkpoint instanceof Checkpoint))
      throw new InvalidArgumentError(`expected a tf.train.Checkpoint, got ${shown(checkpoint)}`, op);
    checkPath(directory, 'the folder', op);
    const { maxToKeep, checkpointInterval = null, stepCounter = null, clock, initFn = null } = options;
    const { checkpointName = 'ckpt', keepCheckpointEveryNHours = null } = options;
    checkPath(checkpointName, 'checkpointName', op);
    if (keepCheckpointEveryNHours !== null)
      checkNumber(keepCheckpointEveryNHours, 'keepCheckpointEveryNHours', op, 0);
    if (checkpointInterval !== null) checkNumber(checkpointInterval, 'checkpointInterval', op, 0);
    if (stepCounter !== null && !(stepCounter instanceof Variable && stepCounter.size === 1))
      throw new InvalidArgumentError(
        `stepCounter must be a variable with one number, got ${shown(stepCounter)}`,
        op,
      );
    if (initFn !== null) checkFunction(initFn, 'initFn', op);
    if (clock !== undefined) checkFunction(clock, 'clock', op);
    if (maxToKeep !== null && !(Number.isInteger(maxToKeep) && maxToKeep > 0)) {
      throw new InvalidArgumentError(
        `Expected a positive integer or \`null\` for \`maxToKeep\`, got ${shown(maxToKeep)}.`,
        op,
      );
    }
    if (checkpointInterval !== null && stepCounter === null) {
      throw new InvalidArgumentError(
        '`stepCounter` should be passed if `checkpointInterval` is given.',
        'CheckpointManager',
      );
    }
    this.checkpoint = checkpoint;
    this.directory = directory;
    this.checkpointInterval = checkpointInterval;
    this.#options = options;
    this.#clock = () => {
      const seconds = clock?.() ?? Date.now() / 1000;
      checkNumber(seconds, 'what clock returns', op);
      return seconds;
    };
    this.#prefix = nodeBuiltin('node:path').join(directory, checkpointName);
    deleteAbandoned(this.#prefix);
    const state = getCheckpointState(directory);
    const now = this.#clock();
    this.#latest = state?.modelCheckpointPath || null;
    // Others are not this manager's to delete, whoever wrote the state file.
    const { relative, isAbsolute, resolve, sep } = nodeBuiltin('node:path');
    const isInside = (path: string): boolean => {
      const way = relative(resolve(directory), resolve(path));
      return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
    };
    // A new folder: the first checkpoint counts as kept a moment ago.
    this.#lastPreserved = state?.lastPreservedTimestamp || now - 1;
    if (this.#lastPreserved > now) {
      console.warn(
        `The clock is ${Math.round(this.#lastPreserved - now)} seconds behind the last checkpoint that was kept in ${directory}: those that are there stay for good.`,
      );
      this.#lastPreserved = now;
    }
    const times = state?.allModelCheckpointTimestamps ?? [];
    (state?.allModelCheckpointPaths ?? []).forEach((path, i) => {
      const time = Math.min(times.length > 0 ? (times[i] ?? 0) : this.#lastPreserved, now);
      if (time > this.#lastPreserved && isInside(path)) this.#managed.set(path, time);
    });
  }

  /** The path of the newest checkpoint in the folder; null while there is none. */
  get latestCheckpoint(): string | null {
    return this.#latest;
  }
  /** The paths of the checkpoints, oldest first, without those that are kept for good. */
  get checkpoints(): string[] {
    return [...this.#managed.keys()];
  }

  /** Saves, and deletes what is too old. @returns the path; null when the interval has not passed. */
  save(options?: ManagerSaveOptions | null): string | null;
  save(how: ManagerSaveOptions = {}): string | null {
    const started = this.#begin(how);
    if (started === null) return null;
    this.checkpoint._write(started, how.options ?? new CheckpointOptions(), [(path) => this.#record(path)]);
    return started;
  }
  /** The same with the values of now, written while the program goes on. */
  saveAsync(options?: ManagerSaveOptions | null): Promise<string | null>;
  async saveAsync(how: ManagerSaveOptions = {}): Promise<string | null> {
    this.checkpoint._state.writes.refuseWhileFull();
    const started = this.#begin(how);
    if (started === null) return null;
    const options = new CheckpointOptions({
      ...how.options,
      experimentalWriteCallbacks: [
        (path) => this.#record(path),
        ...(how.options?.experimentalWriteCallbacks ?? []),
      ],
    });
    return this.checkpoint.writeAsync(started, options);
  }

  /** Restores the newest checkpoint, or calls `initFn` when there is none. @returns its path, or null. */
  restoreOrInitialize(): string | null {
    if (this.#latest !== null) {
      this.checkpoint.restore(this.#latest);
      if (this.checkpointInterval !== null) this.#lastStep = this.#step();
      return this.#latest;
    }
    this.#options.initFn?.();
    return null;
  }

  /** Waits for what is still being written. */
  async sync(): Promise<void> {
    await this.checkpoint.sync();
  }

  #step(): number {
    return Number((this.#options.stepCounter as Variable).item());
  }

  /** The path to write, unless it is too early. */
  #begin(how: ManagerSaveOptions): string | null {
    const op = 'CheckpointManager.save';
    const { checkpointNumber } = how;
    const checkInterval = checkFlag(how.checkInterval ?? true, 'checkInterval', op);
    if (how.options !== undefined) checkOptions(how.options, op);
    const given = checkpointNumber === undefined ? undefined : numberOf(checkpointNumber, op);
    if (this.checkpointInterval !== null) {
      const step = this.#step();
      if (this.#lastStep !== null) {
        if (step === this.#lastStep) return null;
        if (checkInterval && step < this.#lastStep + this.checkpointInterval) return null;
      }
      this.#lastStep = step;
    }
    const count = this.checkpoint._count();
    return `${this.#prefix}-${given ?? count}`;
  }

  #record(path: string): void {
    this.#managed.delete(path);
    this.#managed.set(path, this.#clock());
    this.#latest = path;
    // Before and after: a crash in between leaves files that nobody lists, not a list of files that are gone.
    this.#writeState();
    this.#sweep();
    this.#writeState();
  }

  #writeState(): void {
    updateCheckpointState(this.directory, {
      latest: this.#latest as string,
      all: [...this.#managed.keys()],
      timestamps: [...this.#managed.values()],
      lastPreserved: this.#lastPreserved,
    });
  }

  #sweep(): void {
    const { maxToKeep, keepCheckpointEveryNHours } = this.#options;
    if (maxToKeep === null) return;
    while (this.#managed.size > maxToKeep) {
      const [path, time] = this.#managed.entries().next().value as [string, number];
      this.#managed.delete(path);
      if (keepCheckpointEveryNHours && time - keepCheckpointEveryNHours * 3600 >= this.#lastPreserved) {
        this.#lastPreserved = time;
        continue;
      }
      deleteCheckpoint(path);
    }
  }
}

takesArguments<ManagerArguments>(
  {
    positional: ['checkpoint', 'directory', 'maxToKeep'],
    names: {
      checkpoint: true,
      directory: true,
      maxToKeep: true,
      keepCheckpointEveryNHours: true,
      checkpointName: true,
      stepCounter: true,
      checkpointInterval: true,
      initFn: true,
      clock: true,
    },
  },
  CheckpointManager,
);
defineMethods(CheckpointManager.prototype, 'CheckpointManager', {
  save: { options: saveNames },
  saveAsync: { options: saveNames },
  restoreOrInitialize: {},
  sync: {},
});
