import '@eagre/backend-js';
import '@eagre/backend-native';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Variable } from '@eagre/core';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import {
  Checkpoint,
  CheckpointManager,
  type CheckpointManagerOptions,
  checkpointsIterator,
  getCheckpointState,
  latestCheckpoint,
} from './index.ts';

const base = mkdtempSync(join(tmpdir(), 'eagre-manager-'));
afterAll(() => rmSync(base, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(base, String(folders++));
const indexes = (folder: string): string[] =>
  readdirSync(folder)
    .filter((f) => f.endsWith('.index'))
    .sort();
const names = (manager: CheckpointManager): string[] =>
  manager.checkpoints.map((p) => p.slice(manager.directory.length + 1));

describe('what is kept', () => {
  test('the last ones', () => {
    const folder = newFolder();
    const x = new Variable(0);
    const manager = new CheckpointManager(new Checkpoint({ x }), folder, { maxToKeep: 3, clock: () => 50 });
    expect(manager.latestCheckpoint).toBeNull();
    for (let i = 1; i <= 5; i++) {
      x.assign(i);
      expect(manager.save()).toBe(join(folder, `ckpt-${i}`));
    }
    expect(names(manager)).toEqual(['ckpt-3', 'ckpt-4', 'ckpt-5']);
    expect(readdirSync(folder)).toHaveLength(7);
    expect(readFileSync(join(folder, 'checkpoint'), 'utf8').split('\n').slice(0, 4)).toEqual([
      'model_checkpoint_path: "ckpt-5"',
      'all_model_checkpoint_paths: "ckpt-3"',
      'all_model_checkpoint_paths: "ckpt-4"',
      'all_model_checkpoint_paths: "ckpt-5"',
    ]);
    const again = new Checkpoint({ x: new Variable(0) });
    const later = new CheckpointManager(again, folder, { maxToKeep: 2, clock: () => 60 });
    expect(names(later)).toEqual(['ckpt-3', 'ckpt-4', 'ckpt-5']);
    expect(later.restoreOrInitialize()).toBe(join(folder, 'ckpt-5'));
    expect(again.x.item()).toBe(5);
    expect(later.save()).toBe(join(folder, 'ckpt-6'));
    expect(indexes(folder)).toEqual(['ckpt-5.index', 'ckpt-6.index']);
  });

  test('all of them, under another name, numbered from outside', () => {
    const folder = newFolder();
    const checkpoint = new Checkpoint({ x: new Variable(0) });
    const manager = new CheckpointManager(checkpoint, folder, { maxToKeep: null, checkpointName: 'm' });
    for (const checkpointNumber of [100, 200n, new Variable(300n), 100]) manager.save({ checkpointNumber });
    expect(names(manager)).toEqual(['m-200', 'm-300', 'm-100']);
    expect(checkpoint.saveCounter.array()).toBe(4n);
    expect(manager.latestCheckpoint).toBe(join(folder, 'm-100'));
  });

  // As in TensorFlow's `_sweep`: a checkpoint that falls out of the list stays if the last one that stayed is old enough.
  test('one for each span of hours', () => {
    const folder = newFolder();
    let now = 1_000_000;
    const manager = new CheckpointManager(new Checkpoint({ x: new Variable(0) }), folder, {
      maxToKeep: 1,
      keepCheckpointEveryNHours: 2,
      clock: () => now,
    });
    // Started at 1,000,000: kept until then counts 999,999. Saves at +0 h, +1 h, +2 h, …
    for (let i = 0; i < 7; i++, now += 3600) manager.save();
    expect(indexes(folder)).toEqual(['ckpt-3.index', 'ckpt-5.index', 'ckpt-7.index']);
    expect(names(manager)).toEqual(['ckpt-7']);
    expect(getCheckpointState(folder)?.lastPreservedTimestamp).toBe(1_000_000 + 4 * 3600);
    // What was kept for good is not listed after a restart either.
    const later = new CheckpointManager(manager.checkpoint, folder, { maxToKeep: 5, clock: () => now });
    expect(names(later)).toEqual(['ckpt-7']);
  });

  test('a clock that went back deletes nothing by mistake', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const folder = newFolder();
    const checkpoint = new Checkpoint({ x: new Variable(0) });
    const at = (time: number): CheckpointManager =>
      new CheckpointManager(checkpoint, folder, { maxToKeep: 1, clock: () => time });
    at(1_000_000).save();
    const manager = at(900_000);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^The clock is 99999 seconds behind/);
    warn.mockRestore();
    manager.save();
    manager.save();
    expect(names(manager)).toEqual(['ckpt-3']);
    expect(indexes(folder)).toEqual(['ckpt-1.index', 'ckpt-3.index']);
    const foreign = ['notes.txt', 'ckpt-x.index', 'ckpt-3.data-00000-of-00001.bak', 'ckpt-33.index'];
    for (const name of foreign) writeFileSync(join(folder, name), '');
    manager.save();
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(foreign));
    expect(() => new CheckpointManager(checkpoint, folder, { maxToKeep: 1.5 })).toThrow(/positive integer/);
  });

  test('any sequence of saves and restarts leaves the last ones and deletes nothing else', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { maxLength: 12 }),
        (keep, steps) => {
          const folder = newFolder();
          const options: CheckpointManagerOptions = { maxToKeep: keep };
          let checkpoint = new Checkpoint({ x: new Variable(0) });
          let manager = new CheckpointManager(checkpoint, folder, options);
          let saved = 0;
          for (const restart of steps) {
            if (restart) {
              checkpoint = new Checkpoint({ x: new Variable(0) });
              manager = new CheckpointManager(checkpoint, folder, options);
              manager.restoreOrInitialize();
              expect(checkpoint.x.item()).toBe(saved);
            } else {
              checkpoint.x.assign(++saved);
              manager.save();
              const left = Array.from({ length: Math.min(keep, saved) }, (_, i) => saved - i).reverse();
              expect(names(manager)).toEqual(left.map((n) => `ckpt-${n}`));
              expect(indexes(folder)).toHaveLength(left.length);
            }
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

test('unfinished files of a process that died are deleted, when they are old', () => {
  const folder = newFolder();
  mkdirSync(folder);
  const old = ['.ckpt-3.data-00000-of-00001.x1y2.tmp', '.ckpt-3.index.x1y2.tmp'];
  const others = ['.ckpt-4.index.x1y2.tmp', '.other-3.index.x1.tmp', '.ckpt-note.tmp', 'ckpt-3.index'];
  for (const name of [...old, ...others]) writeFileSync(join(folder, name), 'x');
  const past = Date.now() / 1000 - 7200;
  for (const name of [...old, ...others.slice(1)]) utimesSync(join(folder, name), past, past);
  new CheckpointManager(new Checkpoint(), folder, { maxToKeep: 1 });
  expect(readdirSync(folder).sort()).toEqual([...others].sort());
});

describe('when to save', () => {
  test('an interval of steps', () => {
    const stepCounter = new Variable(0n);
    const folder = newFolder();
    const options = { maxToKeep: 10, stepCounter, checkpointInterval: 3 };
    const manager = new CheckpointManager(new Checkpoint({ stepCounter }), folder, options);
    const saved: number[] = [];
    for (let i = 0; i < 8; i++) {
      if (manager.save() !== null) saved.push(Number(stepCounter.item()));
      stepCounter.assignAdd(1n);
    }
    expect(saved).toEqual([0, 3, 6]);
    expect(manager.checkpointInterval).toBe(3);
    expect(manager.save({ checkInterval: false })).not.toBeNull();
    expect(manager.save({ checkInterval: false })).toBeNull();
    expect(
      () => new CheckpointManager(new Checkpoint(), folder, { maxToKeep: 1, checkpointInterval: 1 }),
    ).toThrow(InvalidArgumentError);
  });
  test('initFn only where there is nothing', () => {
    const folder = newFolder();
    let calls = 0;
    const options = { maxToKeep: 1, initFn: () => void calls++ };
    const checkpoint = new Checkpoint({ x: new Variable(0) });
    expect(new CheckpointManager(checkpoint, folder, options).restoreOrInitialize()).toBeNull();
    expect(calls).toBe(1);
    new CheckpointManager(checkpoint, folder, options).save();
    expect(new CheckpointManager(checkpoint, folder, options).restoreOrInitialize()).not.toBeNull();
    expect(calls).toBe(1);
    for (const maxToKeep of [0, -1])
      expect(() => new CheckpointManager(checkpoint, folder, { maxToKeep })).toThrow(/positive integer/);
  });
  test('while the program goes on', async () => {
    const x = new Variable(1);
    const folder = newFolder();
    const manager = new CheckpointManager(new Checkpoint({ x }), folder, { maxToKeep: 2 });
    const saves = [1, 2, 3].map((i) => {
      x.assign(i);
      return manager.saveAsync();
    });
    expect(manager.latestCheckpoint).toBeNull();
    await Promise.all(saves);
    expect(names(manager)).toEqual(['ckpt-2', 'ckpt-3']);
    await manager.sync();
    manager.restoreOrInitialize();
    expect(x.item()).toBe(3);
  });
});

describe('the state file', () => {
  test('latestCheckpoint wants the files too', () => {
    const folder = newFolder();
    expect(latestCheckpoint(folder)).toBeNull();
    expect(getCheckpointState(folder)).toBeNull();
    const path = new Checkpoint({ x: new Variable(1) }).save(join(folder, 'ckpt'));
    expect(latestCheckpoint(folder)).toBe(path);
    rmSync(`${path}.index`);
    expect(latestCheckpoint(folder)).toBeNull();
    expect(existsSync(`${path}.data-00000-of-00001`)).toBe(true);
  });

  test('checkpointsIterator gives each new one', async () => {
    const folder = newFolder();
    const checkpoint = new Checkpoint({ x: new Variable(1) });
    const seen: string[] = [];
    checkpoint.save(join(folder, 'ckpt'));
    const options = { timeout: 0.05, minIntervalSecs: 0 };
    for await (const path of checkpointsIterator(folder, { ...options, timeoutFn: () => seen.length >= 3 })) {
      seen.push(path);
      if (seen.length < 3) setTimeout(() => checkpoint.save(join(folder, 'ckpt')), 5);
    }
    expect(seen).toEqual([1, 2, 3].map((n) => join(folder, `ckpt-${n}`)));
    const newest: string[] = [];
    for await (const path of checkpointsIterator(folder, options)) newest.push(path);
    expect(newest).toEqual([join(folder, 'ckpt-3')]);
  });
});

test('a state file that names files elsewhere has nothing deleted there', () => {
  const folder = newFolder();
  const elsewhere = join(folder, 'elsewhere');
  const directory = join(folder, 'managed');
  const checkpoint = new Checkpoint({ v: new Variable(1) });
  const kept = [checkpoint.write(join(elsewhere, 'a')), checkpoint.write(join(folder, 'b'))];
  const own = checkpoint.write(join(directory, 'ckpt-1'));
  const listed = [kept[0], '../b', '..', 'ckpt-1'].map(
    (path) => `all_model_checkpoint_paths: "${path}"\nall_model_checkpoint_timestamps: 1000000.0\n`,
  );
  writeFileSync(
    join(directory, 'checkpoint'),
    `model_checkpoint_path: "ckpt-1"\n${listed.join('')}last_preserved_timestamp: 1.0\n`,
  );
  const manager = new CheckpointManager(checkpoint, directory, { maxToKeep: 1 });
  expect(manager.checkpoints).toEqual([own]);
  manager.save({ checkpointNumber: 7 });
  for (const path of kept) expect(existsSync(`${path}.index`)).toBe(true);
  expect(existsSync(`${own}.index`)).toBe(false);
});
