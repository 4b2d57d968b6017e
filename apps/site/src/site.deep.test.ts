// The site is built, and looked at in a browser.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPath } from '@eagre/testing';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const site = fileURLToPath(new URL('..', import.meta.url));
const dist = join(site, 'dist');
let said: string;

beforeAll(() => {
  // A link that leads nowhere ends it with an error.
  said = execFileSync(process.execPath, [join(site, 'src/build.mjs')], { encoding: 'utf8' });
});

test('all that is public has a page, and a docstring', () => {
  const [, symbols, silent] = /(\d+) symbols, (\d+) without a docstring/.exec(said) ?? [];
  expect(Number(symbols)).toBeGreaterThan(2000);
  expect(Number(silent)).toBe(0);
});

test('links to what has no page are left out', () => {
  const files = readdirSync(join(site, 'pages'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.md') && !name.startsWith('api')))
    expect(readFileSync(join(site, 'pages', file), 'utf8')).not.toMatch(
      /\]\((?:\.\.\/|packages|apps|native)/,
    );
});

describe.skipIf(browserPath === undefined)('in a browser', () => {
  let server: Server;
  let browser: Browser;
  let address: string;
  beforeAll(async () => {
    const types: Readonly<Record<string, string>> = {
      '.html': 'text/html',
      '.js': 'text/javascript',
      '.css': 'text/css',
      '.svg': 'image/svg+xml',
      '.png': 'image/png',
    };
    server = createServer(({ url = '/' }, response) => {
      const path = decodeURIComponent(url.split('?')[0] as string);
      const name = path.endsWith('/')
        ? `${path}index.html`
        : /\.(?!class$)\w+$/.test(path)
          ? path
          : `${path}.html`;
      try {
        const body = readFileSync(join(dist, name));
        response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream').end(body);
      } catch {
        response.writeHead(404).end();
      }
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  test.each([
    '/',
    '/guide/install',
    '/guide/from-tensorflow',
    '/examples/07-custom-training-loop',
    '/api/',
    '/api/math/',
    '/api/layers/Dense.class',
  ])('%s has nothing to complain about', async (path) => {
    const page = await browser.newPage();
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
    page.on('response', (one) => one.status() >= 400 && wrong.push(`${one.status()} ${one.url()}`));
    await page.goto(address + path, { waitUntil: 'networkidle' });
    expect(await page.locator('h1').first().textContent()).toMatch(/\w/);
    expect(wrong).toEqual([]);
    await page.close();
  });
});
