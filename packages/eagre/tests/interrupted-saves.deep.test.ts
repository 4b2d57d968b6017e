import { type ChildProcess, spawn } from 'node:child_process';
import fs, { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SEED } from '@eagre/testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { randomSource } from '../../formats/src/testing/mutate.ts';
import { bundledProgram } from '../../testing/src/bundled.ts';
import { temporaryFolder } from '../../testing/src/temporary.ts';
import * as tf from '../src/index.ts';
import { kinds, setAll } from './testing/saved-kinds.ts';

// Saves over a model that end before any call of the file system, as those of a process that is killed or of a disk that is full: what is
// there then is the old model or the new one, whole, under its name; and the next save leaves nothing else.

beforeAll(() => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  return () => warn.mockRestore();
});

// What changes something on a disk.
const CALLS = [
  'openSync',
  'writeSync',
  'writeFileSync',
  'fsyncSync',
  'renameSync',
  'rmSync',
  'unlinkSync',
  'mkdirSync',
] as const;
const ASYNC_CALLS = ['open', 'rename', 'rm', 'mkdir', 'copyFile', 'writeFile'] as const;
const FILE_CALLS = ['write', 'writeFile', 'sync'] as const;
const SYNCS = /^(fsyncSync|sync)$/;
type Anything = Record<string, (...args: unknown[]) => unknown>;
const handle = await fs.promises.open(import.meta.filename, 'r');
const handles = Object.getPrototypeOf(handle) as Anything;
await handle.close();

/** Has `before` come before each call that changes something on the disk, until the mocks are restored. */
function watched(before: (call: string) => void): () => void {
  const spies: { mockRestore(): void }[] = [];
  const watch = (object: Anything, name: string): void => {
    const real = object[name] as (...args: unknown[]) => unknown;
    const spy = vi.spyOn(object, name).mockImplementation(function (this: unknown, ...args) {
      const reads = /^open/.test(name) && (args[1] === undefined || args[1] === 'r');
      if (!reads) before(name);
      // Nothing is lost but by the test: disks need not be waited for.
      return SYNCS.test(name) ? undefined : real.apply(this, args);
    });
    spies.push(spy);
  };
  for (const name of CALLS) watch(fs as unknown as Anything, name);
  for (const name of ASYNC_CALLS) watch(fs.promises as unknown as Anything, name);
  for (const name of FILE_CALLS) watch(handles, name);
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** Saves, with an error of `fail` before the n-th change on the disk. @returns the error of the save, or undefined if there were fewer changes. */
async function interrupted(
  save: () => Promise<unknown>,
  n: number,
  fail: (call: string) => void,
): Promise<unknown> {
  let calls = 0;
  let failed = false;
  const restore = watched((call) => {
    if (calls++ < n) return;
    failed = true;
    fail(call);
  });
  try {
    await save();
    return failed ? 'saved' : undefined;
  } catch (error) {
    return error;
  } finally {
    restore();
  }
}

describe.each(Object.entries(kinds))('%s', (name, { save, read }) => {
  test('a process that is killed before any call', async () => {
    const folder = temporaryFolder('interrupted');
    const path = join(folder, name);
    setAll(1);
    await save(path);
    // Weights that no model names go an hour later.
    const listed = (): string[] => readdirSync(folder).filter((file) => !file.endsWith('.data'));
    const files = listed();
    let [n, old, kept] = [0, 1, 0];
    for (; ; n++, old += 2) {
      setAll(old + 1);
      // From then on nothing reaches the disk.
      const error = await interrupted(
        () => save(path),
        n,
        () => {
          throw new Error('killed');
        },
      );
      if (error === undefined) break;
      // What it has left is that of a process that has ended.
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        throw Object.assign(new Error('none'), { code: 'ESRCH' });
      });
      const values = await read(path);
      expect([[old], [old + 1]], `before call ${n}`).toContainEqual(values);
      if (values[0] === old) kept++;
      setAll(old + 2);
      await save(path);
      expect(listed(), `before call ${n}`).toEqual(files);
      kill.mockRestore();
    }
    // Otherwise nothing was interrupted.
    expect(n).toBeGreaterThan(3);
    expect(kept).toBeGreaterThan(2);
  });

  test('a disk that is full before any write', async () => {
    const folder = temporaryFolder('interrupted');
    const path = join(folder, name);
    const writes = /^(write|open|mkdir|copy)/;
    setAll(1);
    await save(path);
    const files = readdirSync(folder).sort();
    setAll(2);
    let n = 0;
    for (; ; n++) {
      const error = await interrupted(
        () => save(path),
        n,
        (call) => {
          if (writes.test(call))
            throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
              code: 'ENOSPC',
              syscall: 'write',
            });
        },
      );
      if (error === 'saved' || error === undefined) break;
      expect(error, `before call ${n}`).toBeInstanceOf(tf.errors.ResourceExhaustedError);
      const values = await read(path);
      // The list of checkpoints is written when the checkpoint is there.
      expect(name === 'checkpoint' ? [[1], [2]] : [[1]]).toContainEqual(values);
      setAll(2);
      expect(readdirSync(folder).sort()).toEqual(files);
    }
    expect(n).toBeGreaterThan(1);
  });
});

// Saves without end. All values of a save are its number, which is told when it is complete.
const program = await bundledProgram(
  `
  import { writeSync } from 'node:fs';
  import { kinds, setAll } from './saved-kinds.ts';
  const [, , kind, path, first] = process.argv;
  console.warn = () => undefined;
  for (let i = Number(first); ; i++) {
    setAll(i);
    await kinds[kind].save(path);
    writeSync(1, i + '\\n');
  }
`,
  'eagre/tests/testing',
);
// `pnpm fuzz --runs=30` kills more.
const KILLS = Math.min(40, Number(process.env['EAGRE_FUZZ_RUNS'] ?? 1));

/** Starts the program, and ends it a moment after its first save. @returns the last save that it said was complete. */
async function killed(args: readonly string[], signal: NodeJS.Signals, after: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.on('data', (text: Buffer) => {
    if (output === '') setTimeout(() => child.kill(signal), after);
    output += text.toString();
  });
  expect(await new Promise((resolve) => child.on('close', (_, s) => resolve(s)))).toBe(signal);
  return Number(output.trim().split('\n').at(-1));
}

test('processes that are killed at any moment leave the last model or the next', {
  timeout: 7_200_000,
}, async () => {
  const folder = temporaryFolder('killed');
  const random = randomSource(SEED);
  const names = ['model', 'model.keras', 'folder', 'model.weights.h5', 'model.weights.json', 'external.onnx'];
  const attempt = async (name: string): Promise<void> => {
    const own = join(folder, name);
    mkdirSync(own);
    let last = 0;
    for (let i = 0; i < KILLS; i++) {
      const signal = i % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
      const told = await killed([name, join(own, name), String(last + 1)], signal, random() * 60);
      const values = await (kinds[name] as (typeof kinds)[string]).read(join(own, name));
      expect([[told], [told + 1]], name).toContainEqual(values);
      last = values[0] as number;
    }
  };
  const waiting = [...names];
  // Reading sets the weights of one model.
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await attempt(name);
});
