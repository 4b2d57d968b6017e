import '@eagre/backend-js';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Variable } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import { bundledProgram } from '../../../testing/src/bundled.ts';
import { load } from '../load/load.ts';
import { save } from './save.ts';

const KILLS = 12;
// On a busy machine fewer have to do.
const LONGEST_MS = 20_000;

// Saves without end. The values of each save are its number, and so is the result of the function.
const PROGRAM = `
import '@eagre/backend-js';
import { writeSync } from 'node:fs';
import { Variable, ones } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { save } from './save.ts';
const [folder, first] = process.argv.slice(2);
const v = new Variable(ones([20000]));
const object = { v, sum: tfFunction((x) => v.mean().add(x), { inputSignature: [new TensorSpec([])] }) };
for (let i = Number(first) + 1; ; i++) {
  v.assign(ones([20000]).mul(i));
  await save(object, folder);
  writeSync(1, i + '\\n');
}
`;

const program = await bundledProgram(PROGRAM, 'saved-model/src/save');
const base = mkdtempSync(join(tmpdir(), 'eagre-save-crash-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Starts the program, and kills it a moment after its first save. @returns the last save that it said was complete. */
async function killed(folder: string, first: number, after: number): Promise<number> {
  const child: ChildProcess = spawn(process.execPath, [program, folder, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.on('data', (text: Buffer) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), after);
    output += text.toString();
  });
  await new Promise((resolve) => child.on('close', resolve));
  return Number(output.trim().split('\n').at(-1));
}

/** The folder of the model: between two renames the one before is beside it, where the next save finds it. */
function modelIn(folder: string): string {
  const target = join(folder, 'model');
  if (existsSync(target)) return target;
  const old = readdirSync(folder).filter((name) => name.endsWith('.old'));
  expect(old).toHaveLength(1);
  return join(folder, old[0] as string);
}

test('a program that is killed leaves a whole model', { timeout: 120_000 }, async () => {
  const folder = join(base, 'models');
  mkdirSync(folder);
  const end = Date.now() + LONGEST_MS;
  let last = 0;
  let kills = 0;
  while (kills < KILLS && Date.now() < end) {
    last = await killed(join(folder, 'model'), last, (kills++ * 7) % 40);
    const loaded = await load(modelIn(folder));
    const saved = loaded['v'].mean().item();
    // The last one that it told of, or the next.
    expect([last, last + 1]).toContain(saved);
    expect(loaded['sum'](1).item()).toBe(saved + 1);
    last = saved;
  }
  expect(kills).toBeGreaterThan(3);
  // What was left is gone after the next save.
  await save({ v: new Variable([1]) }, join(folder, 'model'));
  expect(readdirSync(folder)).toEqual(['model']);
});
