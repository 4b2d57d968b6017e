import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPath, softwareGpuFlags } from '@eagre/testing';
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
import { mnist } from '../mnist-plugin.ts';
import type { Trained } from './mnist.ts';
import type { Outcome } from './outcome.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const packages = fileURLToPath(new URL('../../../packages/', import.meta.url));

/** Whether the kernels of WebAssembly were built. */
const hasWasm = existsSync(`${packages}backend-wasm/eagre.wasm`);

/** Without the images of MNIST, the page of digits gets others. */
const hasImages = (process.env['EAGRE_DATASETS'] ?? '') !== '';

/** Images of stripes, as many apart as their label says. */
function stripes(count: number): { readonly images: Buffer; readonly labels: Buffer } {
  const images = Buffer.alloc(count * 784);
  const labels = Buffer.from(Array.from({ length: count }, (_, i) => (i * 7) % 10));
  for (let i = 0; i < images.length; i++)
    images[i] = (i % 28) % (2 + (labels[Math.floor(i / 784)] as number)) === 0 ? 255 : 0;
  return { images, labels };
}

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
      plugins: hasImages ? [autograph.vite(), mnist()] : [autograph.vite()],
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
        rollupOptions: { input: [join(here, 'index.html'), join(here, 'mnist.html')] },
      },
    });
    server = await preview({ ...common, build: { outDir: folder }, preview: { port: 0, host: '127.0.0.1' } });
    browser = await chromium.launch({ executablePath: browserPath as string, args: [...softwareGpuFlags] });
    page = await browser.newPage({ viewport: { width: 808, height: 820 } });
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => {
      const tellsThatThereIsNone =
        !hasWasm && message.text().includes('kernels of WebAssembly could not be opened');
      if (message.type() !== 'log' && !tellsThatThereIsNone) wrong.push(message.text());
    });
  });

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
  });

  test('digits are learned on the GPU and on the processor, while the page stays alive', async ({ skip }) => {
    const digits = await browser.newPage({ viewport: { width: 808, height: 620 } });
    const problems: string[] = [];
    digits.on('pageerror', (error) => problems.push(String(error)));
    digits.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    const all = stripes(1400);
    if (!hasImages)
      for (const name of ['images', 'labels'] as const)
        await digits.route(`**/mnist/${name}`, (route) =>
          route.fulfill({ body: all[name], contentType: 'application/octet-stream' }),
        );
    const trained = async (backend: Trained['backend']): Promise<Trained> => {
      const found = await digits.waitForFunction(
        `globalThis.trained?.backend === '${backend}' && globalThis.trained`,
        null,
        { timeout: 200_000 },
      );
      return (await found.jsonValue()) as Trained;
    };
    try {
      // Software adapters are slow.
      await digits.goto(`${server.resolvedUrls?.local[0]}mnist.html?steps=30&batch=16`);
      await digits.waitForFunction(`document.getElementById('webgpu-name').textContent !== '…'`);
      if (await digits.evaluate(`document.querySelector('input[value=webgpu]').disabled`)) skip();
      const onGpu = await trained('webgpu');
      if (process.env.EAGRE_SCREENSHOT)
        await digits.screenshot({ path: `${process.env.EAGRE_SCREENSHOT}.digits.png` });
      await digits.check('input[value=processor]');
      const onCpu = await trained('processor');
      expect(await digits.textContent('#processor-name')).toMatch(hasWasm ? /^wasm / : /^(?!wasm )/);
      expect(problems).toEqual([]);
      expect([onGpu.device, onCpu.device]).toEqual(['/device:GPU:0', '/device:CPU:0']);
      expect(onGpu.losses).toHaveLength(3);
      onGpu.losses.forEach((loss, i) => expect(loss).toBeCloseTo(onCpu.losses[i] as number, 2));
      expect(onGpu.losses[2]).toBeLessThan(0.85 * (onGpu.losses[0] as number));
      expect(onGpu.accuracy).toBeGreaterThan(0.3);
      expect(onGpu.frames).toBeGreaterThan(100);
      console.log(
        `Digits: ${onGpu.imagesPerSecond.toFixed(0)} images a second on a software GPU, ${onCpu.imagesPerSecond.toFixed(0)} by the processor; ` +
          `${onGpu.frames} and ${onCpu.frames} pictures drawn; longest task ${onGpu.longest} and ${onCpu.longest} ms (0: under 50)`,
      );
    } finally {
      await digits.close();
    }
  });

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
  });

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
