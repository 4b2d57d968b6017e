// WebGPU in a page of headless Chromium, on its software adapter.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as esbuild from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath, softwareGpuFlags } from './browser.ts';
import { packages, sources } from './sources.ts';

async function bundle(): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [`${packages}testing/src/webgpu-page.ts`],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    plugins: [sources],
  });
  return outputFiles[0].text;
}

describe.skipIf(browserPath === undefined)('WebGPU in a page', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  let reason: string | null = null;
  const problems: string[] = [];
  const call = <T>(expression: string): Promise<T> => page.evaluate(`globalThis.tests.${expression}`);

  beforeAll(async () => {
    const script = await bundle();
    server = createServer((request, response) => {
      const isScript = request.url === '/page.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(
        isScript ? script : '<!doctype html><title>GPU</title><script type="module" src="/page.js"></script>',
      );
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    browser = await chromium.launch({ executablePath: browserPath as string, args: [...softwareGpuFlags] });
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.tests !== undefined', null, { timeout: 900_000 });
    reason = await call('unavailable()');
    if (reason !== null) console.log(`WebGPU is not tested in pages: ${reason}`);
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    expect(problems).toEqual([]);
  });

  it('agrees with the reference on every op', async ({ skip }) => {
    if (reason !== null) skip();
    const { compared, wrong } = await call<{ compared: number; wrong: string[] }>('conformance()');
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(180);
  });

  it('reads without a turn of the event loop', async ({ skip }) => {
    if (reason !== null) skip();
    // Less than a row of the canvas, several rows, several canvases.
    for (const size of [3, 1000, 300_000]) expect(await call(`synchronousRead(${size})`)).toBe(0);
  });

  it('tells of an index out of range at the next read', async ({ skip }) => {
    if (reason !== null) skip();
    expect(await call('lateError()')).toMatch(/OutOfRangeError: an index is out of range/);
  });
});
