import '@eagre/backend-js';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tensor } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import { bundledProgram } from '../../../testing/src/bundled.ts';
import { load } from '../load/load.ts';

// Saves once, and ends as if it was killed at the n-th rename: before it, or after it.
const PROGRAM = `
import '@eagre/backend-js';
import { promises } from 'node:fs';
import { Variable, ones } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { save } from './save.ts';
const [file, value, renames] = process.argv.slice(2);
const w = new Variable(ones([40, 20]).mul(Number(value)), { name: 'w' });
const { rename } = promises;
let left = Number(renames);
promises.rename = async (...paths) => {
  if (left-- === 0) process.kill(process.pid, 'SIGKILL');
  await rename(...paths);
};
await save((x) => x.matmul(w), file, { inputSignature: [new TensorSpec([1, 40])], externalData: true });
`;

const program = await bundledProgram(PROGRAM, 'onnx/src/save');
const base = mkdtempSync(join(tmpdir(), 'eagre-onnx-crash-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const run = (file: string, value: number, renames: number): Promise<NodeJS.Signals | number | null> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [program, file, `${value}`, `${renames}`], {
      stdio: 'inherit',
    });
    child.on('close', (code, signal) => resolve(signal ?? code));
  });

test('a program that is killed leaves the model that there was, or the new one', {
  timeout: 900_000,
}, async () => {
  const folder = join(base, 'models');
  mkdirSync(folder);
  const file = join(folder, 'model.onnx');
  const saved = async (): Promise<number> => {
    const model = await load(file);
    return (model([new Array<number>(40).fill(1)]) as Tensor).array<number[][]>()[0]![0]! / 40;
  };
  expect(await run(file, 1, 9)).toBe(0);
  expect(await saved()).toBe(1);
  // Before the weights have their name, and between the two files.
  for (const renames of [0, 1]) {
    expect(await run(file, 2, renames)).toBe('SIGKILL');
    expect(await saved()).toBe(1);
  }
  // The weights that nobody names go some time later.
  const data = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.data'));
  expect(data()).toHaveLength(2);
  for (const name of data()) utimesSync(join(folder, name), 0, 0);
  expect(await run(file, 3, 9)).toBe(0);
  expect(await saved()).toBe(3);
  expect(data()).toHaveLength(1);
  expect(readdirSync(folder)).toHaveLength(2);
});
