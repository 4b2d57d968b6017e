import '@eagre/backend-js';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Variable, zeros } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import { bundledProgram } from '../../testing/src/bundled.ts';
import { Checkpoint, CheckpointManager, latestCheckpoint } from './index.ts';

// `pnpm fuzz --runs=200` kills more.
const KILLS = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 60);
const LANES = 4;

// Saves without end, and tells which save is complete. The values of each save are its number.
const PROGRAM = `
import '@eagre/backend-js';
import { writeSync } from 'node:fs';
import { Variable, ones } from '@eagre/core';
import { Checkpoint, CheckpointManager } from '@eagre/checkpoint';
const [folder, how] = process.argv.slice(2);
const a = new Variable(ones([20000]));
const b = new Variable(['0']);
const manager = new CheckpointManager(new Checkpoint({ a, b }), folder, { maxToKeep: 2 });
manager.restoreOrInitialize();
writeSync(1, 'ready\\n');
for (let i = Number(b.array()[0]) + 1; ; i++) {
  a.assign(ones([20000]).mul(i));
  b.assign([String(i)]);
  if (how === 'async') await manager.saveAsync();
  else manager.save();
  writeSync(1, i + '\\n');
}
`;

const program = await bundledProgram(PROGRAM, 'checkpoint/src');
const base = mkdtempSync(join(tmpdir(), 'eagre-crash-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Starts the program, kills it a moment after it began to save. @returns the last save that it said was complete. */
async function killed(folder: string, how: string, after: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, [program, folder, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.on('data', (text: Buffer) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), after);
    output += text.toString();
  });
  const signal = await new Promise((resolve) => child.on('close', (_, s) => resolve(s)));
  expect(signal).toBe('SIGKILL');
  const complete = output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1) as string;
  return complete === 'ready' || complete === '' ? 0 : Number(complete);
}

test('a process killed at any moment leaves its last complete checkpoint', async () => {
  let inside = 0;
  const lane = async (n: number): Promise<void> => {
    const folder = join(base, `lane-${n}`);
    mkdirSync(folder);
    let last = 0;
    // Long enough for some saves, however busy the machine is.
    let span = 60;
    for (let i = 0; i < KILLS / LANES; i++) {
      // Spread evenly, the same way each time.
      const moment = ((i * 0.618 + n / LANES) % 1) * span;
      last = Math.max(last, await killed(folder, n % 2 === 0 ? 'sync' : 'async', moment));
      if (last === 0) span *= 1.5;
      const files = readdirSync(folder);
      if (files.some((f) => f.endsWith('.tmp'))) inside++;
      const path = latestCheckpoint(folder);
      if (path === null) {
        expect(last).toBe(0);
        continue;
      }
      const there = new Checkpoint({ a: new Variable(zeros([20000])), b: new Variable(['']) });
      there.restore(path).assertConsumed();
      const number = Number((there.b.array() as string[])[0]);
      expect(number).toBeGreaterThanOrEqual(last);
      expect(new Set(there.a.data() as Float32Array)).toEqual(new Set([number]));
      last = number;
      const manager = new CheckpointManager(there, folder, { maxToKeep: 2 });
      expect(manager.checkpoints.at(-1)).toBe(path);
      for (const listed of manager.checkpoints) expect(listed).toMatch(/ckpt-\d+$/);
      for (const file of files) if (file.endsWith('.tmp')) rmSync(join(folder, file));
    }
    expect(last).toBeGreaterThan(0);
  };
  await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)));
  // Otherwise nothing was interrupted and nothing is shown.
  expect(inside).toBeGreaterThan(0);
});

// Writes over a checkpoint, and dies before a call of the file system, of which it is told the number.
const OVER = `
import '@eagre/backend-js';
import fs from 'node:fs';
import { Variable, ones } from '@eagre/core';
import { Checkpoint } from '@eagre/checkpoint';
const [prefix, call, how] = process.argv.slice(2);
const a = new Variable(ones([20000]));
const checkpoint = new Checkpoint({ a });
checkpoint.write(prefix);
a.assign(ones([20000]).mul(2));
let calls = 0;
for (const name of ['openSync', 'writeFileSync', 'fsyncSync', 'closeSync', 'renameSync', 'rmSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (calls++ === Number(call)) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
if (how === 'async') await checkpoint.writeAsync(prefix);
else checkpoint.write(prefix);
`;

test.each(['sync', 'async'])(
  'a process killed before any call leaves the old checkpoint or the new one: %s',
  {
    timeout: 900_000,
  },
  async (how) => {
    const over = await bundledProgram(OVER, 'checkpoint/src');
    const diesAt = async (call: number): Promise<boolean> => {
      const prefix = join(base, `over-${how}-${call}`, 'c');
      const child = spawn(process.execPath, [over, prefix, String(call), how], { stdio: 'inherit' });
      const signal = await new Promise((resolve) => child.on('close', (_, s) => resolve(s)));
      if (signal === null) return false;
      if (!existsSync(`${prefix}.index`)) torn++;
      // Another checkpoint beside it deletes what killed processes have left.
      if (call % 2 === 0)
        new Checkpoint({ b: new Variable(0) }).write(join(base, `over-${how}-${call}`, 'd'));
      // As `saveWeights` of Keras names it.
      writeFileSync(join(prefix, '../checkpoint'), 'model_checkpoint_path: "c"\n');
      expect(latestCheckpoint(join(prefix, '..'))).toBe(prefix);
      const there = new Checkpoint({ a: new Variable(zeros([20000])) });
      there.read(prefix).assertConsumed();
      const found = new Set(there.a.data() as Float32Array);
      expect([new Set([1]), new Set([2])]).toContainEqual(found);
      there.write(prefix);
      expect(readdirSync(join(prefix, '..')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      return true;
    };
    let torn = 0;
    let alive = true;
    for (let call = 0; alive; call += LANES) {
      const died = await Promise.all(Array.from({ length: LANES }, (_, i) => diesAt(call + i)));
      alive = !died.includes(false);
    }
    // Otherwise nothing was between two names.
    expect(torn).toBeGreaterThan(1);
  },
);
