// Programs of guides, and those of the playground, run in a worker of a page, as readers run them.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPath, hasWasmModule } from '@eagre/testing';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** A page with the editor, and functions for tests. */
const html = `<!doctype html>
<title>Programs</title>
<link rel="icon" href="data:,">
<main></main>
<script type="module">
  globalThis.editor = await import('/js/editor.js');
  // One after the other, in one worker: to load Eagre takes longer than most programs do.
  globalThis.runAll = async (programs, backend) => {
    const worker = new Worker('/js/worker.js', { type: 'module' });
    const outcomes = [];
    for (const program of programs)
      outcomes.push(
        await new Promise((resolve, reject) => {
          const printed = [];
          const figures = new Set();
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.onmessage = ({ data }) => {
            // Where the kernels are not built, those in JavaScript run, and say so.
            const isNotice = /kernels of WebAssembly could not be opened/.test(data.text);
            if (data.kind === 'print' && !isNotice) printed.push(data.text);
            if (data.title !== undefined) figures.add(data.title);
            if (data.kind === 'done') resolve({ printed, figures: [...figures], mistake: data.mistake });
          };
          worker.postMessage({ backend, program });
        }),
      );
    worker.terminate();
    return outcomes;
  };
  globalThis.open = (program) => {
    const block = document.createElement('div');
    document.querySelector('main').append(block);
    globalThis.opened = editor.runInPlace(block, program, '/playground');
  };
  globalThis.isThere = true;
</script>`;

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Outcome {
  /** Texts that it printed. */
  readonly printed: readonly string[];
  /** Titles of its figures, each once. */
  readonly figures: readonly string[];
  readonly mistake?: { readonly text: string; readonly line?: number };
}

describe.skipIf(browserPath === undefined)('programs in pages', () => {
  let folder: string;
  let server: { readonly address: string; close(): Promise<void> };
  let browser: Browser;
  let page: Page;
  let programsOf: (guide: string) => string[];
  let examples: Readonly<Record<string, string>>;
  const problems: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eagre-programs-'));
    const [editor, { serve }, guides] = await Promise.all(
      ['apps/playground/editor.mjs', 'apps/site/src/serve.mjs', 'apps/site/src/guides.mjs'].map(
        (file) => import(join(root, file)),
      ),
    );
    ({ programsOf } = guides);
    examples = editor.programs();
    await editor.bundleEditor(folder);
    writeFileSync(join(folder, 'index.html'), html);
    server = await serve(folder);
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(server.address);
    await page.waitForFunction('globalThis.isThere');
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    rmSync(folder, { recursive: true });
    expect(problems).toEqual([]);
  });

  const call = <T>(name: string, ...args: readonly unknown[]): Promise<T> =>
    page.evaluate<T>(`${name}(${args.map((one) => JSON.stringify(one)).join(', ')})`);
  const run = (programs: readonly string[], backend = 'wasm'): Promise<Outcome[]> =>
    call('runAll', programs, backend);

  const guides = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort();

  test('programs that are marked in guides run', async () => {
    let count = 0;
    const wrong: string[] = [];
    const waiting = guides.flatMap((name) => {
      const programs = programsOf(readFileSync(join(root, 'docs', name), 'utf8'));
      count += programs.length;
      return programs.length === 0 ? [] : [{ name, programs }];
    });
    const runGuides = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { name, programs } = next;
        const outcomes = await run(
          await Promise.all(programs.map((one) => call<string>('editor.programOf', one))),
        );
        outcomes.forEach(({ mistake, printed }, i) => {
          const prints = !programs[i]?.includes('// →') || printed.length > 0;
          if (mistake !== undefined || !prints)
            wrong.push(`${name}: ${programs[i]}\n${mistake?.text ?? 'nothing was printed'}`);
        });
      }
    };
    // A worker on each of two processors.
    await Promise.all([runGuides(), runGuides()]);
    expect(wrong).toEqual([]);
    // A change of what is marked shows here.
    expect(count).toBeGreaterThan(700);
  });

  test('the programs to choose from run, and show what they make', async () => {
    const titles = Object.keys(examples);
    const outcomes = await run(Object.values(examples));
    expect(outcomes.map(({ mistake }) => mistake)).toEqual(titles.map(() => undefined));
    for (const { printed } of outcomes) expect(printed.length).toBeGreaterThan(0);
    expect(outcomes.flatMap(({ figures }) => figures)).toEqual([
      'plot',
      'what it has learned',
      'plot',
      'Mandelbrot set',
    ]);
  });

  test('a backend is chosen', async () => {
    const program = "import * as tf from 'eagre';\nconsole.log(tf.ones([1]).backend.name);";
    expect((await run([program], 'js'))[0]?.printed).toEqual(['js']);
    expect((await run([program], 'wasm'))[0]?.printed).toEqual([hasWasmModule ? 'wasm' : 'js']);
    // Chromium has none here, and says so.
    const [gpu] = await run([program], 'webgpu');
    expect(gpu?.mistake === undefined ? gpu?.printed : [gpu.mistake.text]).toEqual([
      expect.stringMatching(/^webgpu$|WebGPU|GPU/),
    ]);
  });

  test('values are printed as in Node', async () => {
    const begin = "import * as tf from 'eagre';\n";
    const [tensors, values] = await run([
      `${begin}console.log(tf.ones([2, 2]), new tf.Variable(3));\nconsole.log([tf.constant(1)], tf.ones([2]).shape);`,
      `console.log([1, 2], { a: 1, b: 'x' }, 'text', new Map([[1, 2]]), -0, 5n, null, undefined, class A {});
      console.log('%s is %d', 'x', 3, 'more');
      const own = { name: 'own' };
      own.self = own;
      console.log(own);`,
    ]);
    expect(tensors?.printed).toEqual([
      "tf.Tensor(\n[[1. 1.]\n [1. 1.]], shape=[2, 2], dtype=float32) tf.Variable 'Variable' (3., shape=[], dtype=float32)",
      '[ tf.Tensor(1., shape=[], dtype=float32) ] [ 2 ]',
    ]);
    expect(values?.printed).toEqual([
      "[ 1, 2 ] { a: 1, b: 'x' } text Map(1) { 1 => 2 } -0 5n null undefined [class A]",
      'x is 3 more',
      "{ name: 'own', self: [Circular *1] }",
    ]);
  });

  test('mistakes say in which line they are', async () => {
    const begin = "import * as tf from 'eagre';\n\n";
    const programs = [
      'const a = 1;\nconst x = ;',
      `${begin}const a: number = 1;\nfunction f() {\n  tf.ones([2]).add(tf.ones([3]));\n}\nf();`,
      `${begin}const f = tf.function((x: tf.Tensor) => {\n  var y = 1;\n  return x;\n});`,
      `${begin}const f = tf.function((x: tf.Tensor) => {\n  if (x.greater(0)) return x;\n});\nf(tf.constant(1));`,
      `${begin}const f = tf.function((x: tf.Tensor) => {\n  let y = x;\n  while (y.less(9)) y = y.mul(2);\n  return y.nothing();\n});\nf(tf.constant(1));`,
      "import { readFileSync } from 'node:fs';\nreadFileSync('x');",
      "throw 'nothing';",
    ];
    expect((await run(programs)).map(({ mistake }) => mistake)).toEqual([
      { text: 'SyntaxError: Unexpected token', line: 2 },
      { text: expect.stringContaining('shapes [2] and [3] do not broadcast'), line: 5 },
      { text: expect.stringContaining('AutographError: var belongs to the whole function'), line: 4 },
      { text: expect.stringContaining('returns a value on some ways only'), line: 4 },
      { text: expect.stringContaining('nothing is not a function'), line: 6 },
      { text: expect.stringContaining("can import 'eagre' and 'playground', and not 'node:fs'") },
      { text: 'Uncaught nothing' },
    ]);
  });

  test('an endless program prints so much, and is stopped', async () => {
    await call('open', "for (;;) console.log('again');");
    await page.locator('.play-line', { hasText: 'the rest is left out' }).waitFor();
    expect(await page.locator('.play-line').count()).toBe(2001);
    await page.locator('.play button', { hasText: 'Stop' }).click();
    expect(await page.locator('.play-state').textContent()).toBe('Stopped');
    // The next one begins in a worker of its own.
    await page.evaluate(`opened.program = "console.log('here');"; opened.run();`);
    await page.locator('.play[data-state=done]').waitFor();
    expect(await page.locator('.play-line').allTextContents()).toEqual(['here']);
    await page.locator('.play button', { hasText: 'Close' }).click();
    expect(await page.locator('.play').count()).toBe(0);
    // No worker is left behind.
    await expect.poll(() => page.workers().length).toBe(0);
  });

  test('a program goes into an address, and comes out of it', async () => {
    const program = "console.log('ä – 日本');\n".repeat(50);
    const hash = await call<string>('editor.hashOf', program);
    const back = await call('editor.programOfHash', hash);
    const none = await call('editor.programOfHash', '#code=AAAA');
    const many = await call<string>('editor.hashOf', 'x'.repeat(200_000));
    const large = (await call<string>('editor.programOfHash', many)).length;
    expect(hash).toMatch(/^#code=[\w-]{20,100}$/);
    expect([back, none, large]).toEqual([program, undefined, 200_000]);
  });
});
