// Kernels of WebAssembly where there is no Node: in pages, and at the edge. The packages are packed as for publishing.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { browserPath } from '@eagre/testing';
import * as esbuild from 'esbuild';
import { Miniflare } from 'miniflare';
import { type Browser, chromium } from 'playwright-core';
import { build as viteBuild, createServer as viteServer } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consumer, hasWasm, run, training, write } from './testing/packed.ts';

if (!hasWasm) console.log('WebAssembly is not tested: `pnpm pack:wasm` has not run');

const program = `
${training}
const { backend } = tf.zeros([1]);
const outcome = [backend.name, backend.threads?.() > 1, backend.description.includes('relaxed SIMD'), history.loss.at(-1) < history.loss[0], double(tf.constant([1, 2])).array()];
`;

/** Writes and reads pictures: `pictures` is what their values are. */
const drawing = `
const image = tf.constant(Array.from({ length: 768 }, (_, i) => (7 * i) % 256), 'uint8', { shape: [16, 16, 3] });
const files = [tf.io.encodePng(image), tf.io.encodeJpeg(image)];
const pictures = [tf.io.decodePng(files[0]), tf.io.decodeJpeg(files[1])].map((picture) => picture.array().join());
`;
/** What a picture says that comes before the module. */
const early = `
let early;
try {
  tf.io.decodePng(new Uint8Array(8));
} catch (error) {
  early = error.name + error.message.slice(error.message.indexOf('await'));
}
`;

const pages: Readonly<Record<string, string>> = {
  '/': '<script type="module" src="/page.js"></script>',
  '/default': '<script type="module" src="/default.js"></script>',
  '/script': '<script src="/script.js"></script>',
  '/script-default': '<script src="/script-default.js"></script>',
  '/pictures': '<script type="module" src="/pictures.js"></script>',
  '/drawing': '<script src="/drawing.js"></script>',
};

// Of a page that opens nothing itself.
const byDefault = `
import * as tf from 'eagre';
const show = (found) => {
  const shown = document.createElement('pre');
  shown.textContent = JSON.stringify(found);
  document.body.append(shown);
};
const here = () => tf.zeros([1]).backend.name;
const ways = {
  async fit() {
    const model = new tf.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'ones', inputShape: [1] }), new tf.layers.BatchNormalization()]);
    model.compile({ optimizer: 'adam', loss: 'mse', metrics: ['mae'] });
    const [x, y] = [tf.constant([[1], [2]]), tf.constant([[2], [4]])];
    const before = [here(), ...Object.values(model.trainOnBatch(x, y)).map(Number.isFinite)];
    const { history } = await model.fit(x, y, { epochs: 2, verbose: 0 });
    const variables = [...model.variables, ...model.metricsVariables, ...model.optimizer.variables];
    const places = new Set(variables.map((v) => v.backend.name));
    await model.evaluate(x, y, { verbose: 0 });
    const prediction = (await model.predict(x, { verbose: 0 })).backend.name;
    return { before, after: here(), places: [...places], prediction, steps: model.optimizer.iterations.item(), loss: history.loss.every(Number.isFinite) };
  },
  async predict() {
    const model = new tf.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'ones', inputShape: [1] })]);
    const [kernel] = model.weights;
    const double = tf.function((x) => tf.matmul(x, kernel).mul(2));
    const x = tf.constant([[3]]);
    const before = double(x).array();
    const y = await model.predict(x, { verbose: 0 });
    const inJavaScript = tf.experimental.withBackend('js', () => double(x));
    return { y: [y.array(), y.backend.name], before, after: double(x).array(), inJavaScript: [inJavaScript.array(), inJavaScript.backend.name] };
  },
  async ready() {
    const before = here();
    await Promise.all([tf.ready(), tf.ready()]);
    await tf.ready();
    return { before, after: here() };
  },
  async js() {
    const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [1] })]);
    const scope = tf.experimental.withBackend('js');
    const { backend } = await model.predict(tf.constant([[1]]), { verbose: 0 });
    scope[Symbol.dispose]();
    return { y: backend.name, after: here() };
  },
};
`;

describe.skipIf(!hasWasm)('WebAssembly', () => {
  let project: string;
  /** By the native addon. */
  let expected: unknown;

  const inNode = async (env: Readonly<Record<string, string>>, before = ''): Promise<string> => {
    const source = `import * as tf from 'eagre';\n${before}\n${drawing}\nconsole.log(JSON.stringify(pictures));`;
    return run(process.execPath, ['--no-warnings', write(project, 'drawing.mjs', source)], project, env);
  };
  beforeAll(async () => {
    project = await consumer('npm', 'wasm', ['eagre']);
    expected = JSON.parse(await inNode({}));
  });

  test('reads and writes pictures in Node without the addon, as the addon does', async () => {
    const without = { EAGRE_ADDON: '/nowhere/eagre.node' };
    expect(JSON.parse(await inNode(without))).toEqual(expected);
    const gone = `import fs from 'node:fs';
      const { readFileSync } = fs;
      fs.readFileSync = (file, ...rest) => {
        if (String(file).includes('eagre-codecs')) throw new Error('gone');
        return readFileSync(file, ...rest);
      };
      process.on('uncaughtException', ({ name, message }) => console.log(JSON.stringify([name, message])));`;
    const [name, message] = JSON.parse(await inNode(without, gone));
    expect(name).toBe('UnavailableError');
    expect(message).toMatch(/need the native addon or its module.*EAGRE_ADDON names a file.*gone/s);
  });

  describe.skipIf(browserPath === undefined)('in a page', () => {
    let server: Server;
    let browser: Browser;
    /** Of the next page. */
    let headers: Readonly<Record<string, string>> = {};
    let missing: RegExp | undefined;
    /** Warnings of the last page. */
    let warnings: string[] = [];

    beforeAll(async () => {
      const entry = write(
        project,
        'page.js',
        `import * as tf from 'eagre';
        import { wasmUnavailable } from '@eagre/backend-wasm';
        // Workers come when the page has a turn.
        const { backend: here } = tf.zeros([1]);
        while (location.hash === '#threads' && here.threads() === 1) await new Promise((resolve) => setTimeout(resolve, 20));
        ${program}
        const shown = document.createElement('pre');
        shown.textContent = JSON.stringify({ outcome, wasmUnavailable });
        document.body.append(shown);`,
      );
      const outDir = join(project, 'page');
      const shown = `
        const shown = document.createElement('pre');
        shown.textContent = JSON.stringify({ early, pictures });
        document.body.append(shown);`;
      const pictures = write(
        project,
        'pictures.js',
        `import * as tf from 'eagre';
        ${early}
        await tf.io.loadImageCodecs();
        const drawn = () => {
          ${drawing}
          return pictures;
        };
        let pictures;
        try {
          pictures = drawn();
        } catch (error) {
          pictures = error.message;
        }
        ${shown}`,
      );
      const plain = write(
        project,
        'drawing.js',
        `import * as tf from 'eagre';
        (async () => {
          ${early}
          await tf.io.loadImageCodecs({ module: '/eagre-codecs.wasm' });
          ${drawing}
          ${shown}
        })();`,
      );
      const script = write(
        project,
        'script.js',
        `import * as tf from 'eagre';
        import { openWasm } from '@eagre/backend-wasm/open';
        const sources = {
          text: () => '/eagre.wasm',
          url: () => new URL('/eagre.wasm', location.href),
          bytes: async () => (await fetch('/eagre.wasm')).arrayBuffer(),
          module: () => WebAssembly.compileStreaming(fetch('/eagre.wasm')),
        };
        (async () => {
          const before = tf.zeros([1]).backend.name;
          const module = await sources[location.hash.slice(1)]();
          await openWasm({ module });
          ${program}
          const shown = document.createElement('pre');
          shown.textContent = JSON.stringify({ before, outcome });
          document.body.append(shown);
        })();`,
      );
      const alone = write(project, 'default.js', `${byDefault}show(await ways[location.hash.slice(1)]());`);
      const scriptAlone = write(
        project,
        'script-default.js',
        `${byDefault}ways[location.hash.slice(1)]().then(show);`,
      );
      await viteBuild({
        root: project,
        configFile: false,
        logLevel: 'error',
        build: {
          target: 'es2022',
          outDir,
          rollupOptions: {
            input: { page: entry, default: alone, pictures },
            output: { entryFileNames: '[name].js' },
          },
        },
      });
      await esbuild.build({
        entryPoints: [script, scriptAlone, plain],
        outdir: outDir,
        bundle: true,
        format: 'iife',
        platform: 'browser',
        // It tells that a script does not know its own URL.
        logLevel: 'error',
      });
      for (const name of ['eagre.wasm', 'eagre-codecs.wasm'])
        copyFileSync(join(project, 'node_modules/@eagre/backend-wasm', name), join(outDir, name));
      const types: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
      server = createServer(({ url = '' }, response) => {
        const page = pages[url];
        if (page !== undefined) {
          response.writeHead(200, { 'content-type': 'text/html', ...headers });
          response.end(`<!doctype html><body>${page}`);
          return;
        }
        const file = join(outDir, url);
        const found = existsSync(file) && missing?.test(url) !== true;
        response.writeHead(found ? 200 : 404, {
          'content-type': types[extname(url)] ?? 'text/plain',
          ...headers,
        });
        response.end(found ? readFileSync(file) : '');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
    });
    afterAll(async () => {
      await browser?.close();
      server?.close();
    });

    const load = async (given: Readonly<Record<string, string>>, path = '/'): Promise<unknown> => {
      headers = given;
      warnings = [];
      const page = await browser.newPage();
      page.setDefaultTimeout(240_000);
      const wrong: string[] = [];
      page.on('pageerror', (error) => wrong.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'warning') warnings.push(message.text());
      });
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
      // Where a policy forbids to evaluate texts, Playwright can only look.
      const text = await page
        .locator('pre')
        .textContent()
        .catch((error) => wrong.push(String(error)));
      expect(wrong).toEqual([]);
      const result: unknown = JSON.parse(text as string);
      await page.close();
      return result;
    };
    const trained = (name: string, threads: boolean, relaxed = name === 'wasm'): unknown => [
      ...[name, threads, relaxed, true],
      [2, 4],
    ];
    const isolated = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'same-origin',
    };

    test('that is isolated, with threads', async () => {
      expect(await load(isolated, '/#threads')).toEqual({ outcome: trained('wasm', true) });
      expect(warnings).toEqual([]);
    });
    test('that is not, on one thread', async () => {
      expect(await load({})).toEqual({ outcome: trained('wasm', false) });
    });
    test('whose policy forbids workers, on one thread', async () => {
      const policy = "script-src 'self' 'wasm-unsafe-eval'; worker-src 'none'";
      expect(await load({ ...isolated, 'content-security-policy': policy })).toEqual({
        outcome: trained('wasm', false),
      });
    });
    test('whose policy forbids WebAssembly, in JavaScript, and it says why', async () => {
      expect(await load({ 'content-security-policy': "script-src 'self'" })).toEqual({
        outcome: trained('js', false),
        wasmUnavailable: expect.stringMatching(/content security policy.*'wasm-unsafe-eval'/),
      });
      expect(warnings).toEqual([
        expect.stringMatching(/those in JavaScript run instead.*'wasm-unsafe-eval'/),
      ]);
    });
    test('whose module is not there, in JavaScript, and it says why', async () => {
      missing = /\.wasm$/;
      try {
        expect(await load({})).toEqual({
          outcome: trained('js', false),
          wasmUnavailable: expect.stringMatching(/eagre.*\.wasm: 404/),
        });
        expect(warnings).toEqual([expect.stringMatching(/those in JavaScript run instead.*\.wasm: 404/)]);
      } finally {
        missing = undefined;
      }
    });
    test('whose module for relaxed SIMD is not there, without it', async () => {
      missing = /relaxed.*\.wasm$/;
      try {
        expect(await load({})).toEqual({ outcome: trained('wasm', false, false) });
      } finally {
        missing = undefined;
      }
    });

    const fitted = (name: string): unknown => ({
      ...{ before: ['js', true, true], after: name, places: [name], prediction: name },
      ...{ steps: 3, loss: true },
    });
    test('that opens nothing itself: fit does, and moves its model', async () => {
      expect(await load(isolated, '/default#fit')).toEqual(fitted('wasm'));
      expect(await load({}, '/default#fit')).toEqual(fitted('wasm'));
      expect(warnings).toEqual([]);
    });
    test("that opens nothing itself, from Vite's development server", async () => {
      write(project, 'index.html', '<!doctype html><body><script type="module" src="/default.js"></script>');
      const vite = await viteServer({
        root: project,
        configFile: false,
        logLevel: 'error',
        server: { host: '127.0.0.1', port: 0, strictPort: false },
        optimizeDeps: { include: ['eagre'] },
      });
      try {
        await vite.listen();
        const page = await browser.newPage();
        const [address] = vite.resolvedUrls?.local ?? [];
        await page.goto(`${address}#fit`);
        const text = await page.locator('pre').textContent({ timeout: 240_000 });
        expect(JSON.parse(text as string)).toEqual(fitted('wasm'));
      } finally {
        await vite.close();
      }
    });
    test('that opens nothing itself: predict does, and older functions go on', async () => {
      expect(await load({}, '/default#predict')).toEqual({
        y: [[[3]], 'wasm'],
        ...{ before: [[6]], after: [[6]], inJavaScript: [[[6]], 'js'] },
      });
      expect(warnings).toEqual([]);
    });
    test('that opens nothing itself: tf.ready does, once', async () => {
      expect(await load({}, '/default#ready')).toEqual({ before: 'js', after: 'wasm' });
      expect(warnings).toEqual([]);
    });
    test('that wants kernels in JavaScript, and has them', async () => {
      expect(await load({}, '/default#js')).toEqual({ y: 'js', after: 'js' });
      expect(warnings).toEqual([]);
    });
    test('that opens nothing itself, and has no module: it is told once', async () => {
      missing = /\.wasm$/;
      try {
        expect(await load({}, '/default#fit')).toEqual(fitted('js'));
        expect(warnings).toEqual([expect.stringMatching(/those in JavaScript run instead.*\.wasm: 404/)]);
      } finally {
        missing = undefined;
      }
      expect(await load({}, '/script-default#ready')).toEqual({ before: 'js', after: 'js' });
      expect(warnings).toEqual([
        expect.stringMatching(/those in JavaScript run instead.*give it to openWasm\(\{ module \}\)/),
      ]);
    });

    const told = 'FailedPreconditionErrorawait tf.io.loadImageCodecs() first';
    test.each(['/pictures', '/drawing'])('that reads and writes pictures: %s', async (path) => {
      expect(await load({}, path)).toEqual({ early: expect.stringContaining(told), pictures: expected });
    });
    test('whose module for pictures is not there, which says so with the first one', async () => {
      missing = /codecs.*\.wasm$/;
      try {
        expect(await load({}, '/pictures')).toEqual({
          early: expect.stringContaining(told),
          pictures: expect.stringMatching(/loadImageCodecs\(\) first, .*eagre-codecs.*\.wasm: 404/),
        });
      } finally {
        missing = undefined;
      }
    });

    test.each(['text', 'url', 'bytes', 'module'])(
      'that is one script, and opens a module: %s',
      async (as) => {
        expect(await load({}, `/script#${as}`)).toEqual({
          before: 'js',
          outcome: trained('wasm', false, false),
        });
        expect(warnings).toEqual([]);
      },
    );
  });

  const modules = ['eagre', 'eagre-relaxed', 'eagre-codecs'].map(
    (name) => `@eagre/backend-wasm/${name}.wasm`,
  );

  /** What a program at the edge answers. */
  async function answerOf(contents: string): Promise<unknown> {
    const { outputFiles } = await esbuild.build({
      stdin: { contents, resolveDir: project },
      bundle: true,
      format: 'esm',
      platform: 'browser',
      conditions: ['workerd'],
      external: modules,
      write: false,
      logLevel: 'error',
    });
    const worker = new Miniflare({
      compatibilityDate: '2026-01-01',
      cf: false,
      modules: [
        { type: 'ESModule', path: 'index.mjs', contents: outputFiles[0]?.text as string },
        ...modules.map((path) => ({
          type: 'CompiledWasm' as const,
          path,
          contents: readFileSync(join(project, 'node_modules', path)),
        })),
      ],
    });
    try {
      return await (await worker.dispatchFetch('http://eagre.example/')).json();
    } finally {
      await worker.dispose();
    }
  }

  test('at the edge, where a module is compiled ahead', async () => {
    const worker = `import * as tf from 'eagre';
      import { openWasm, wasmUnavailable } from '@eagre/backend-wasm';
      import module from '@eagre/backend-wasm/eagre.wasm';
      export default {
        async fetch() {
          await openWasm({ module });
          ${program}
          return Response.json({ outcome, wasmUnavailable });
        },
      };`;
    expect(await answerOf(worker)).toEqual({
      outcome: ['wasm', false, false, true, [2, 4]],
      wasmUnavailable: expect.stringContaining('give it to openWasm({ module })'),
    });
  });

  test('at the edge, where nothing was opened', async () => {
    const worker = `import * as tf from 'eagre';
      export default {
        async fetch() {
          await tf.ready();
          return Response.json([tf.zeros([1]).backend.name]);
        },
      };`;
    expect(await answerOf(worker)).toEqual(['js']);
  });

  test('reads and writes pictures at the edge', async () => {
    const worker = `import * as tf from 'eagre';
      import module from '@eagre/backend-wasm/eagre-codecs.wasm';
      export default {
        async fetch() {
          ${early}
          await tf.io.loadImageCodecs({ module });
          ${drawing}
          return Response.json({ early, pictures });
        },
      };`;
    expect(await answerOf(worker)).toEqual({
      early: expect.stringContaining('FailedPreconditionErrorawait tf.io.loadImageCodecs() first'),
      pictures: expected,
    });
  });

  test('at the edge, as the guide has it', async () => {
    const guide = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8');
    const atEdge = guide.split(/```(?:javascript)?\n/).find((text) => text.includes('export default'));
    expect(await answerOf(atEdge as string)).toEqual([2, 4]);
  });
});
