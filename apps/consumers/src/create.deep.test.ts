// What `npm create eagre` makes: each template as a project, installed, checked, tested and run as its README says.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { browserPath } from '@eagre/testing';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { consumer, hasWasm, installInto, packedPlace, published, run, runNode } from './testing/packed.ts';

let creator: string;
let browser: Browser | undefined;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  creator = await consumer('npm', 'creator', ['create-eagre']);
  if (browserPath !== undefined)
    browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
});
afterAll(async () => {
  await browser?.close();
  // npm has started them, as members of a group of its own.
  for (const { pid } of running) process.kill(-(pid as number), 'SIGKILL');
});

/** No colours, nobody to ask. */
const plain = { CI: '1', NO_COLOR: '1', FORCE_COLOR: '0' };
const npm = (folder: string, ...words: readonly string[]): Promise<string> =>
  run('npm', words, folder, plain);

/** Makes a project of a template, and runs the checks and tests that it comes with. @returns its folder */
async function made(template: string): Promise<string> {
  const { folder: parent } = packedPlace();
  const folder = join(parent, `My ${template} App`);
  const said = await runNode(
    parent,
    join(creator, 'node_modules/create-eagre/bin/create-eagre.js'),
    folder,
    '--template',
    template,
    '--no-install',
  );
  expect(said).toContain('npm install');
  const { name, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  expect(name).toBe(`my-${template}-app`);
  expect(dependencies.eagre).toBe(`^${published[0]?.version}`);
  expect(readdirSync(folder)).toContain('.gitignore');
  await installInto(folder);
  await npm(folder, 'run', 'check');
  expect(await npm(folder, 'test')).toMatch(/Tests\s+\d+ passed/);
  return folder;
}

/** Starts a server of a project. @returns the address that it prints */
async function served(
  folder: string,
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const child = spawn('npm', words, {
    cwd: folder,
    env: { ...process.env, ...plain, ...env },
    detached: true,
  });
  running.add(child);
  return new Promise((found, failed) => {
    let said = '';
    const hear = (text: Buffer): void => {
      said += String(text);
      const address = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(said)?.[0];
      if (address !== undefined) found(address);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => {
      running.delete(child);
      failed(new Error(`npm ${words.join(' ')} ended with ${code}: ${said}`));
    });
  });
}

/** Opens a page, and says what went wrong in it. */
async function opened(address: string): Promise<{ page: Page; wrong: string[] }> {
  const page = await (browser as Browser).newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) wrong.push(message.text());
  });
  await page.goto(address);
  return { page, wrong };
}

const backend = hasWasm ? 'wasm' : 'js';

test('node', async () => {
  const folder = await made('node');
  expect(Number(/accuracy ([\d.]+)\n/.exec(await npm(folder, 'start'))?.[1])).toBeGreaterThan(0.9);
  expect(await npm(folder, 'run', 'predict', '--', '0.3', '0.4')).toMatch(/arm \d|not sure/);
});

test.each(['page', 'worker'])('%s', async (template) => {
  const folder = await made(template);
  await npm(folder, 'run', 'build');
  if (browser === undefined) return;
  for (const words of [
    ['run', 'preview', '--', '--port', '0'],
    ['run', 'dev', '--', '--port', '0'],
  ]) {
    const address = await served(folder, words);
    const { page, wrong } = await opened(address);
    let loads = 1;
    page.on('framenavigated', () => loads++);
    const status = page.locator('#status');
    await expect.poll(() => status.textContent()).toBe(`Ready, on ${backend}`);
    await page.click('#train');
    await expect.poll(() => status.textContent()).toMatch(/^epoch 40: loss 0\.\d+, accuracy (1\.|0\.[89])/);
    expect(wrong).toEqual([]);
    expect(loads).toBe(1);
    await page.close();
  }
});

test('server', async () => {
  const folder = await made('server');
  await npm(folder, 'run', 'train');
  const address = await served(folder, ['run', 'serve'], { PORT: '0' });
  const response = await fetch(`${address}/v1/models/spirals:predict`, {
    method: 'POST',
    body: JSON.stringify({ instances: [[0.3, 0.4]] }),
  });
  const { predictions } = (await response.json()) as { predictions: number[][] };
  expect(predictions[0]?.reduce((sum, p) => sum + p)).toBeCloseTo(1, 4);
});

test('next', async () => {
  const folder = await made('next');
  await npm(folder, 'run', 'build');
  const address = await served(folder, ['start', '--', '--port', '0']);
  const ask = (body: string): Promise<Response> => fetch(`${address}/predict`, { method: 'POST', body });
  expect((await ask('{}')).status).toBe(400);
  expect(await (await ask('{ "point": [0.3, 0.4] }')).json()).toMatchObject({ backend: 'native' });
  if (browser === undefined) return;
  const { page, wrong } = await opened(address);
  await page.click('#train');
  await expect
    .poll(() => page.locator('#status').textContent())
    .toMatch(new RegExp(`^epoch 20 on ${backend}:`));
  await page.click('button[type=submit]');
  await expect.poll(() => page.locator('#answer').textContent()).toContain('computed on native');
  expect(wrong).toEqual([]);
});
