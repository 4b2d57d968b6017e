// Programs in pages of headless Chromium, made of the sources.
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { browserPath } from './browser.ts';
import { packages, sources } from './sources.ts';

/** Answers requests to a path. */
export type Route = (request: IncomingMessage, response: ServerResponse) => void;

/** A page in which a program has run. */
export interface TestPage {
  readonly page: Page;
  readonly browser: Browser;
  /** `http://127.0.0.1:…`, without a slash. */
  readonly address: string;
  /** What the page did not catch. */
  readonly problems: string[];
  /** Evaluates the body of an async function of the page. */
  run<T>(body: string): Promise<T>;
  close(): Promise<void>;
}

/** Whether the kernels of WebAssembly are built: pages find them at `/eagre.wasm`. */
export const hasWasmModule: boolean = existsSync(`${packages}backend-wasm/eagre.wasm`);

/**
 * Opens a page that runs a program, which is bundled from the sources, and waits for its end. The page is that of `/`; another server has what `routes` has too, so it is another origin.
 * @param contents a module, whose `globalThis` what is run later sees
 */
export async function openPage(
  contents: string,
  {
    routes = {},
    flags = [],
    context = {},
  }: {
    readonly routes?: Readonly<Record<string, Route>>;
    readonly flags?: readonly string[];
    readonly context?: Parameters<Browser['newContext']>[0];
  } = {},
): Promise<TestPage> {
  // These are needed by few tests.
  const [{ build }, { chromium }] = await Promise.all([import('esbuild'), import('playwright-core')]);
  const { outputFiles } = await build({
    stdin: { contents: `${contents}\nglobalThis.hasRun = true;`, resolveDir: `${packages}eagre/tests` },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // Files have the names of classes.
    keepNames: true,
    write: false,
    logLevel: 'silent',
    plugins: [sources],
  });
  const script = outputFiles[0]?.text as string;
  const types: Readonly<Record<string, string>> = {
    '/': 'text/html',
    '/page.js': 'text/javascript',
    '/eagre.wasm': 'application/wasm',
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const route = routes[pathname];
    if (route !== undefined) {
      route(request, response);
      return;
    }
    const type = types[pathname];
    response.writeHead(type === undefined ? 404 : 200, { 'content-type': type ?? 'text/plain' });
    if (pathname === '/') response.end('<!doctype html><body><script type="module" src="/page.js"></script>');
    else if (pathname === '/page.js') response.end(script);
    else if (pathname === '/eagre.wasm') response.end(readFileSync(`${packages}backend-wasm/eagre.wasm`));
    else response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({
    executablePath: browserPath as string,
    args: ['--no-sandbox', ...flags],
  });
  const problems: string[] = [];
  const inside: BrowserContext = await browser.newContext(context);
  const page = await inside.newPage();
  page.on('pageerror', (error) => problems.push(String(error)));
  page.setDefaultTimeout(600_000);
  await page.goto(`${address}/`);
  await page.waitForFunction('globalThis.hasRun');
  return {
    page,
    browser,
    address,
    problems,
    run: (body) => page.evaluate(`(async () => { ${body} })()`),
    async close() {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}
