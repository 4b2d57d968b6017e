import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPath } from '@eagre/testing';
import {
  allGeneratedPositionsFor,
  generatedPositionFor,
  LEAST_UPPER_BOUND,
  originalPositionFor,
  TraceMap,
} from '@jridgewell/trace-mapping';
import { autograph } from 'eagre/plugin';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from './outcome.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const packages = fileURLToPath(new URL('../../../packages/', import.meta.url));

describe.skipIf(browserPath === undefined)('the playground', () => {
  let folder: string;
  let server: PreviewServer;
  let browser: Browser;
  let page: Page;
  const wrong: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eagre-playground-'));
    const common = { root: here, configFile: false, logLevel: 'error' } as const;
    await build({
      ...common,
      plugins: [autograph.vite()],
      resolve: {
        alias: [
          { find: /^eagre$/, replacement: `${packages}eagre/src/index.ts` },
          { find: /^eagre\/internal$/, replacement: `${packages}eagre/src/internal.ts` },
          { find: /^@eagre\/([\w-]+)$/, replacement: `${packages}$1/src/index.ts` },
          { find: /^@eagre\/([\w-]+)\/internal$/, replacement: `${packages}$1/src/internal.ts` },
        ],
      },
      build: {
        outDir: folder,
        emptyOutDir: true,
        target: 'es2022',
        sourcemap: true,
        chunkSizeWarningLimit: 4000,
      },
    });
    server = await preview({ ...common, build: { outDir: folder }, preview: { port: 0, host: '127.0.0.1' } });
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 808, height: 820 } });
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => {
      if (message.type() !== 'log') wrong.push(message.text());
    });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(folder, { recursive: true });
  });

  const open = (): Promise<unknown> => page.goto(server.resolvedUrls?.local[0] as string);

  test('trains and runs converted loops without an error or a warning', async () => {
    await open();
    const found = await page.waitForFunction('globalThis.outcome', null, { timeout: 60_000 });
    const { accuracy, collatz, sumEven } = (await found.jsonValue()) as Outcome;
    expect(wrong).toEqual([]);
    expect(collatz).toBe(111);
    expect(sumEven).toBe(12);
    expect(accuracy).toBeGreaterThan(0.97);
    const colours = (id: string): Promise<number> =>
      page.evaluate(`(() => {
        const canvas = document.getElementById('${id}');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      })()`);
    for (const [id, least] of [
      ['field', 500],
      ['mandelbrot', 50],
      ['collatz', 20],
      ['loss', 10],
    ] as const)
      expect(await colours(id), id).toBeGreaterThan(least);
    if (process.env.EAGRE_SCREENSHOT) await page.screenshot({ path: process.env.EAGRE_SCREENSHOT });
  }, 90_000);

  test('fits a telephone', async () => {
    const phone = await browser.newPage({ viewport: { width: 390, height: 844 }, isMobile: true });
    try {
      await phone.goto(server.resolvedUrls?.local[0] as string);
      const [width, columns] = (await phone.evaluate(`[
        document.documentElement.scrollWidth,
        new Set([...document.querySelectorAll('canvas')].map((c) => c.getBoundingClientRect().left)).size,
      ]`)) as [number, number];
      expect([width, columns]).toEqual([390, 1]);
    } finally {
      await phone.close();
    }
  }, 60_000);

  test.each([
    'while (n.notEqual(1))',
    'n = n.mod(2)',
    'steps = steps.add(1)',
    'if (item.mod(2)',
    'sum = sum.add(item)',
    'if (inside.logicalNot()',
    'turn = turn.add(1)',
  ])('a breakpoint at %s stops there', async (text) => {
    const source = readFileSync(join(here, 'src/converted.ts'), 'utf8').split('\n');
    const wanted = source.findIndex((line) => line.includes(text)) + 1;
    const mapOf = (f: string): TraceMap =>
      new TraceMap(readFileSync(join(folder, 'assets', `${f}.map`), 'utf8'));
    // Other packages have an index too.
    const name = readdirSync(join(folder, 'assets')).find(
      (f) => /^index-.*\.js$/.test(f) && mapOf(f).sources.some((s) => s?.endsWith('src/converted.ts')),
    ) as string;
    const map = mapOf(name);
    const file = map.sources.find((s) => s?.endsWith('src/converted.ts')) as string;
    const { line, column } = generatedPositionFor(map, {
      source: file,
      line: wanted,
      column: 0,
      bias: LEAST_UPPER_BOUND,
    });
    const first = originalPositionFor(map, { line: line as number, column: column as number });
    expect(first.line).toBe(wanted);

    const session = await page.context().newCDPSession(page);
    try {
      await session.send('Debugger.enable');
      const urlRegex = `.*/${name.replace('.', '\\.')}$`;
      for (const to of allGeneratedPositionsFor(map, {
        source: file,
        line: wanted,
        column: first.column as number,
      }))
        await session.send('Debugger.setBreakpointByUrl', {
          urlRegex,
          lineNumber: (to.line as number) - 1,
          columnNumber: to.column as number,
        });
      const paused = new Promise<{ lineNumber: number; columnNumber?: number | undefined }>((resolve) => {
        session.once('Debugger.paused', ({ callFrames }) =>
          resolve(callFrames[0]?.location ?? { lineNumber: -1 }),
        );
      });
      const opened = page.goto(server.resolvedUrls?.local[0] as string, { waitUntil: 'commit' });
      const at = await paused;
      await session.send('Debugger.disable');
      await opened;
      const shown = originalPositionFor(map, { line: at.lineNumber + 1, column: at.columnNumber ?? 0 });
      expect(shown).toMatchObject({ source: file, line: wanted });
    } finally {
      await session.detach();
    }
  });
});
