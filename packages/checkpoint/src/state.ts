// The file `checkpoint` of a folder, which names its checkpoints.
import { fileError, withFileErrors } from '@eagre/backend';
import { DataLossError, type NamedFunction } from '@eagre/core';
import { checkFlag, checkFunction, checkNumber, checkPath, defineFunction } from '@eagre/core/internal';
import { FormatError, readCheckpointState, recoverBundle, writeCheckpointState } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';

/** Which checkpoints a folder has. */
export interface CheckpointState {
  /** The path of the latest. */
  readonly modelCheckpointPath: string;
  /** Oldest first. */
  readonly allModelCheckpointPaths: readonly string[];
  /** For each path when it was written, in seconds since 1970; empty where nobody wrote them down. */
  readonly allModelCheckpointTimestamps: readonly number[];
  /** When the last checkpoint was written that is kept for good. */
  readonly lastPreservedTimestamp?: number;
}

/** @internal What becomes the state of a folder. */
export interface NewState {
  readonly latest: string;
  readonly all: readonly string[];
  readonly timestamps?: readonly number[];
  readonly lastPreserved?: number;
}

/**
 * What the folder's state file says; null where there is none.
 * @param latestFilename the file's name, `checkpoint` unless given.
 * @throws DataLossError when the file is something else.
 */
export const getCheckpointState: NamedFunction<
  [directory: string, latestFilename?: string],
  ['directory|checkpointDir', 'latestFilename'],
  unknown,
  CheckpointState | null
> = defineFunction(
  'tf.train.getCheckpointState',
  { 'directory|checkpointDir': true, latestFilename: true },
  {},
  (directory, latestFilename = 'checkpoint') => {
    checkPath(directory, 'the folder', 'getCheckpointState');
    checkPath(latestFilename, 'the name of the state file', 'getCheckpointState');
    const { isAbsolute, join } = nodeBuiltin('node:path');
    const file = join(directory, latestFilename);
    try {
      const state = readCheckpointState(file);
      if (state === undefined) return null;
      const absolute = (path: string): string =>
        path === '' || isAbsolute(path) ? path : join(directory, path);
      const preserved = state.last_preserved_timestamp;
      return {
        modelCheckpointPath: absolute(state.model_checkpoint_path ?? ''),
        allModelCheckpointPaths: (state.all_model_checkpoint_paths ?? []).map(absolute),
        allModelCheckpointTimestamps: state.all_model_checkpoint_timestamps ?? [],
        ...(preserved !== undefined && { lastPreservedTimestamp: preserved }),
      };
    } catch (cause) {
      if (cause instanceof FormatError)
        throw new DataLossError(cause.message, 'getCheckpointState', { cause });
      // Below a file there is none.
      if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
      throw fileError(cause, file, 'getCheckpointState');
    }
  },
);

/**
 * The path of the folder's latest checkpoint; null when there is none, or its files are gone.
 * @param latestFilename the name of the state file, `checkpoint` unless given.
 */
export const latestCheckpoint: NamedFunction<
  [directory: string, latestFilename?: string],
  ['directory|checkpointDir', 'latestFilename'],
  unknown,
  string | null
> = defineFunction(
  'tf.train.latestCheckpoint',
  { 'directory|checkpointDir': true, latestFilename: true },
  {},
  (directory, latestFilename = 'checkpoint') => {
    const path = getCheckpointState(directory, latestFilename)?.modelCheckpointPath;
    return path && recoverBundle(path) ? path : null;
  },
);

/** @internal Writes the state file of a folder, with paths relative to it. */
export function updateCheckpointState(
  directory: string,
  state: NewState,
  latestFilename = 'checkpoint',
): void {
  const { join, relative, resolve } = nodeBuiltin('node:path');
  const inside = (path: string): string => relative(resolve(directory), resolve(path));
  const { timestamps, lastPreserved } = state;
  const file = join(directory, latestFilename);
  withFileErrors(file, 'updateCheckpointState', () =>
    writeCheckpointState(file, {
      model_checkpoint_path: inside(state.latest),
      all_model_checkpoint_paths: state.all.map(inside),
      ...(timestamps !== undefined && { all_model_checkpoint_timestamps: timestamps }),
      ...(lastPreserved !== undefined && { last_preserved_timestamp: lastPreserved }),
    }),
  );
}

/** @internal Deletes the files of a checkpoint: its index first, without which the rest counts for nothing. */
export function deleteCheckpoint(path: string): void {
  const { readdirSync, rmSync } = nodeBuiltin('node:fs');
  const { basename, dirname, join } = nodeBuiltin('node:path');
  withFileErrors(path, 'CheckpointManager', () => {
    rmSync(`${path}.index`, { force: true });
    const folder = dirname(path);
    const start = `${basename(path)}.data-`;
    for (const file of readdirSync(folder)) {
      if (file.startsWith(start) && /^\d{5}-of-\d{5}$/.test(file.slice(start.length)))
        rmSync(join(folder, file), { force: true });
    }
  });
}

// A write that nobody has added to for so long is not going on any more.
const ABANDONED_MS = 3_600_000;

/** @internal Deletes what writes of such checkpoints have left behind that never ended, because their process died. */
export function deleteAbandoned(prefix: string): void {
  const { existsSync, readdirSync, rmSync, statSync } = nodeBuiltin('node:fs');
  const { basename, dirname, join } = nodeBuiltin('node:path');
  const folder = dirname(prefix);
  if (!existsSync(folder)) return;
  const start = `.${basename(prefix)}-`;
  for (const name of withFileErrors(folder, 'CheckpointManager', () => readdirSync(folder))) {
    if (!name.startsWith(start)) continue;
    if (!/^\d+\.(index|data-\d{5}-of-\d{5})\.[\w-]+\.tmp$/.test(name.slice(start.length))) continue;
    const file = join(folder, name);
    const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
    if (Date.now() - mtimeMs > ABANDONED_MS) rmSync(file, { force: true });
  }
}

/** How `checkpointsIterator` waits. */
export interface CheckpointsIteratorOptions {
  /** The least number of seconds between two checkpoints. */
  readonly minIntervalSecs?: number;
  /** How many seconds to wait for another checkpoint; null, unless given, waits for ever. */
  readonly timeout?: number | null;
  /** Asked after each wait that was in vain, and after each checkpoint: true ends the iteration. */
  readonly timeoutFn?: () => boolean;
}

/**
 * The latest checkpoint of a folder, each time there is another one: for a program that evaluates while another one trains.
 *
 *     for await (const path of tf.train.checkpointsIterator('runs')) { … }
 */
export const checkpointsIterator: NamedFunction<
  [directory: string],
  ['directory|checkpointDir'],
  CheckpointsIteratorOptions,
  AsyncGenerator<string, void, undefined>
> = defineFunction(
  'tf.train.checkpointsIterator',
  { 'directory|checkpointDir': true },
  { minIntervalSecs: true, timeout: true, timeoutFn: true },
  async function* (directory, options) {
    const op = 'checkpointsIterator';
    const { minIntervalSecs = 0, timeout = null, timeoutFn } = options;
    checkNumber(minIntervalSecs, 'minIntervalSecs', op, 0);
    if (timeout !== null) checkNumber(timeout, 'timeout', op, 0);
    if (timeoutFn !== undefined) checkFunction(timeoutFn, 'timeoutFn', op);
    const sleep = (seconds: number): Promise<void> =>
      new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const pause = Math.min(1, (timeout ?? 10) / 10);
    let last: string | null = null;
    for (;;) {
      const started = Date.now();
      let found = latestCheckpoint(directory);
      while (found === null || found === last) {
        if (timeout !== null && Date.now() - started >= timeout * 1000) break;
        await sleep(pause);
        found = latestCheckpoint(directory);
      }
      if (found !== null && found !== last) {
        const given = Date.now();
        last = found;
        yield found;
        const rest = minIntervalSecs - (Date.now() - given) / 1000;
        if (rest > 0) await sleep(rest);
      } else if (timeoutFn === undefined) {
        return;
      }
      if (checkFlag(timeoutFn?.(), 'what timeoutFn returns', op)) return;
    }
  },
);
