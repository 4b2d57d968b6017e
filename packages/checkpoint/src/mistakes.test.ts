// Arguments that checkpoints refuse, and what they say then.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { EagreError, ones, Variable } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import {
  Checkpoint,
  CheckpointManager,
  type CheckpointManagerOptions,
  CheckpointOptions,
  checkpointsIterator,
  getCheckpointState,
  latestCheckpoint,
  listVariables,
  loadCheckpoint,
} from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-mistakes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string): string => join(folder, name);
const bad = (value: unknown): never => value as never;
const checkpoint = new Checkpoint({ v: new Variable([1, 2]) });
const path = checkpoint.write(file('known'));
const manager = (options: Partial<CheckpointManagerOptions>): CheckpointManager =>
  new CheckpointManager(checkpoint, file('managed'), { maxToKeep: 1, ...options });

const mistakes: Readonly<Record<string, readonly [() => unknown, string]>> = {
  'attaching a number': [() => new Checkpoint([new Variable(1)], bad(3)), 'expected objects by name, got 3'],
  'options in a map': [
    () => new CheckpointOptions(bad(new Map())),
    'expected options, such as { enableAsync, experimentalSkipSlotVariables }, got an object of class Map',
  ],
  'an unknown option': [
    () => new CheckpointOptions(bad({ async: true })),
    "'async' is not an option; the options are enableAsync",
  ],
  'a switch as text': [
    () => new CheckpointOptions({ enableAsync: bad('no') }),
    "enableAsync is 'no', expected true or false",
  ],
  'a callback that is none': [
    () => new CheckpointOptions({ experimentalWriteCallbacks: bad([undefined]) }),
    'experimentalWriteCallbacks[0] must be a function, got undefined',
  ],
  'no data files': [
    () => new CheckpointOptions({ shards: 0 }),
    'shards must be an integer of at least 1, got 0',
  ],
  'too many data files': [() => new CheckpointOptions({ shards: 1e6 }), 'at most 1000 are possible'],
  'options as they are': [
    () => checkpoint.write(file('a'), bad({ shards: 2 })),
    'expected new tf.train.CheckpointOptions({ … }), got an object',
  ],
  'reading with other options': [
    () => checkpoint.read(path, bad(ones([]))),
    'expected new tf.train.CheckpointOptions',
  ],
  'an empty prefix': [() => checkpoint.save(''), "Checkpoint.save: the path must be a path, got ''"],
  'a path with a zero byte': [() => checkpoint.write('a\0b'), 'Checkpoint.write: the path must be a path'],
  'listing no path': [
    () => listVariables(bad(undefined)),
    'path must be given: write tf.train.listVariables(path)',
  ],
  'a name that is none': [() => loadCheckpoint(path).getTensor(bad(3)), 'the name must be a string, got 3'],
  'the latest of no folder': [() => latestCheckpoint(bad(null)), 'the folder must be a path, got null'],
  'a state file without a name': [
    () => getCheckpointState(folder, ''),
    'the name of the state file must be a path',
  ],
  'managing what is no checkpoint': [
    () => new CheckpointManager(bad(3), folder, { maxToKeep: 1 }),
    'expected a tf.train.Checkpoint, got 3',
  ],
  'managing without options': [
    () => new CheckpointManager(checkpoint, folder, bad(undefined)),
    'maxToKeep must be given: write new CheckpointManager(',
  ],
  'an interval that is no number': [
    () => manager({ checkpointInterval: Number.NaN, stepCounter: new Variable(1) }),
    'checkpointInterval must be a number of at least 0, got NaN',
  ],
  'a counter that is no variable': [
    () => manager({ checkpointInterval: 1, stepCounter: bad(3) }),
    'stepCounter must be a variable with one number, got 3',
  ],
  'a clock without a time': [
    () => manager({ clock: () => bad('now') }),
    "what clock returns must be a number, got 'now'",
  ],
  'an unknown option of a save': [() => manager({}).save(bad({ number: 3 })), "'number' is not an option"],
  'a number of a checkpoint that is none': [
    () => manager({}).save({ checkpointNumber: 1.5 }),
    'checkpointNumber must be an integer, got 1.5',
  ],
  'waiting for ever for a promise': [
    () => checkpointsIterator(file('none'), { timeout: 0.01, timeoutFn: bad(async () => true) }).next(),
    'what timeoutFn returns is [object Promise], expected true or false',
  ],
  'waiting for ever by mistake': [
    () => checkpointsIterator(folder, { timeout: Number.NaN }).next(),
    'timeout must be a number of at least 0, got NaN',
  ],
};

test.each(Object.entries(mistakes))('%s', async (_, [run, message]) => {
  let caught: unknown;
  try {
    await run();
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(EagreError);
  expect((caught as Error).message).toContain(message);
});

test('a save that is refused counts for nothing', () => {
  const before = Number(checkpoint.saveCounter.item());
  expect(() => manager({}).save({ checkpointNumber: 1.5 })).toThrow(EagreError);
  expect(Number(checkpoint.saveCounter.item())).toBe(before);
});
