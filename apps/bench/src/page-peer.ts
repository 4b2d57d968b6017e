// A library in a page of Chromium: `page-peer.ts --library eagre|tfjs --threads n`. The page is isolated, so that it may have threads.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { browserPath } from '@eagre/testing';
import { chromium } from 'playwright-core';
import { type Alias, build } from 'vite';
import type { Failed, Hello, Measured, Prepared, Request } from './protocol.ts';
import { serve } from './serve.ts';

interface Peer {
  readonly hello: Hello;
  answer(request: Request): Prepared | Measured | Failed;
}

const { values } = parseArgs({ options: { library: { type: 'string' }, threads: { type: 'string' } } });

function absent(why: string): never {
  process.stdout.write(`${JSON.stringify({ absent: why })}\n`);
  process.exit(0);
}
if (browserPath === undefined) absent('no Chromium; EAGRE_CHROMIUM names one');

const alias: Alias[] = [];
let wasm: string | undefined;
if (values.library === 'tfjs') {
  if (!process.env.EAGRE_BENCH_TFJS) absent('EAGRE_BENCH_TFJS names no folder');
  const modules = join(resolve(process.env.EAGRE_BENCH_TFJS), 'node_modules');
  if (!existsSync(join(modules, '@tensorflow/tfjs'))) absent(`${modules} has no @tensorflow/tfjs`);
  wasm = join(modules, '@tensorflow/tfjs-backend-wasm/dist');
  alias.push({ find: /^(?=@tensorflow\/)/, replacement: `${modules}/` });
}

const outDir = mkdtempSync(join(tmpdir(), 'eagre-bench-page-'));
process.once('exit', () => rmSync(outDir, { recursive: true }));
const entry = values.library === 'tfjs' ? 'page/tfjs.mjs' : 'page/eagre.ts';
await build({
  configFile: false,
  logLevel: 'error',
  resolve: { alias },
  build: {
    target: 'es2022',
    outDir,
    chunkSizeWarningLimit: 10_000,
    rollupOptions: {
      input: fileURLToPath(new URL(entry, import.meta.url)),
      output: { entryFileNames: 'page.js' },
    },
  },
});

const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
const isolated = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};
const server = createServer(({ url = '' }, response) => {
  const { pathname } = new URL(url, 'http://page');
  if (pathname === '/') {
    response.writeHead(200, { 'content-type': 'text/html', ...isolated });
    response.end('<!doctype html><script type="module" src="/page.js"></script>');
    return;
  }
  const file =
    wasm !== undefined && pathname.startsWith('/wasm/')
      ? join(wasm, pathname.slice('/wasm/'.length))
      : join(outDir, pathname);
  const found = existsSync(file);
  response.writeHead(found ? 200 : 404, {
    'content-type': types[extname(file)] ?? 'text/plain',
    ...isolated,
  });
  response.end(found ? readFileSync(file) : '');
});
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));

const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
const page = await browser.newPage();
page.setDefaultTimeout(0);
page.on('pageerror', (error) => absent(error.message));
// TensorFlow.js uses half of the processor's cores at most.
if (values.library === 'tfjs')
  await page.addInitScript(
    (cores) =>
      Object.defineProperty(
        (globalThis as unknown as { navigator: object }).navigator,
        'hardwareConcurrency',
        { value: cores },
      ),
    2 * Number(values.threads),
  );
await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?threads=${values.threads}`);
await page.waitForFunction(() => 'peer' in globalThis);
const hello = await page.evaluate(() => (globalThis as unknown as { peer: Peer }).peer.hello);
await serve(hello, (request) =>
  page.evaluate((given) => (globalThis as unknown as { peer: Peer }).peer.answer(given), request),
);
await browser.close();
server.close();
