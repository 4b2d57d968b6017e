import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeRecord, tensorflow } from '@eagre/formats';
import { browserPath } from '@eagre/testing';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { event, eventFile, scalar } from './server/fixture.ts';
import { type Board, serveFrom } from './server/server.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const golden = fileURLToPath(new URL('../../../packages/summary/golden/v2.tfevents', import.meta.url));

describe.skipIf(browserPath === undefined)('the page', () => {
  let folder: string;
  let board: Board;
  let browser: Browser;
  let page: Page;
  const wrong: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eagre-board-'));
    await build({
      configFile: join(here, 'vite.config.ts'),
      root: join(here, 'src/web'),
      logLevel: 'error',
      build: { outDir: join(folder, 'web') },
    });
    for (const run of ['first', 'second']) {
      mkdirSync(join(folder, 'logs', run), { recursive: true });
      const steps = Array.from({ length: 500 }, (_, i) =>
        event(i, scalar('error', 1 / (i + 1)), scalar('rate', 0.1)),
      );
      writeFileSync(join(folder, 'logs', run, 'events.out.tfevents.1'), eventFile(steps));
    }
    const note = (text: string): tensorflow.SummaryValue => ({
      tag: 'note',
      tensor: { dtype: 7, tensor_shape: {}, string_val: [Buffer.from(text)] },
      metadata: { plugin_data: { plugin_name: 'text' } },
    });
    appendFileSync(
      join(folder, 'logs', 'first', 'events.out.tfevents.1'),
      eventFile([
        event(0, note('**bold** <script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">')),
      ]),
    );
    cpSync(golden, join(folder, 'logs', 'from TensorFlow', 'events.out.tfevents.2'), { recursive: true });
    board = await serveFrom(join(folder, 'web'), { logdir: join(folder, 'logs'), port: 0, reloadMillis: 50 });
    await board.loaded;
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
    page.on('pageerror', (error) => wrong.push(String(error)));
    await page.goto(board.url);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await board?.close();
    rmSync(folder, { recursive: true });
  });

  const view = (name: string) => page.getByRole('tab', { name }).click();

  test('plots every tag, with a line for each run', async () => {
    const card = page
      .locator('article', { has: page.getByRole('heading', { name: 'error', exact: true }) })
      .first();
    await card.locator('canvas').waitFor();
    await expect.poll(() => card.locator('.readout li').count()).toBeGreaterThanOrEqual(2);
    // Lines were drawn: the canvas has pixels of the first run's colour.
    const drawn = await page.evaluate<number>(`(() => {
      const canvas = document.querySelector('article canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    })()`);
    expect(drawn).toBeGreaterThan(500);
  });

  test('hides runs, filters tags, keeps both in the address', async () => {
    await page.getByLabel('Filter tags').fill('^error$');
    await expect.poll(() => page.locator('article').count()).toBe(1);
    await page.getByLabel('second', { exact: true }).uncheck();
    await expect.poll(() => page.locator('article .readout li').count()).toBe(1);
    const { hash } = new URL(page.url());
    expect(new URLSearchParams(hash.slice(1)).get('filter')).toBe('^error$');
    await page.reload();
    await expect.poll(() => page.locator('article .readout li').count()).toBe(1);
    await page.getByLabel('second', { exact: true }).check();
    await page.getByLabel('Filter tags').fill('');
  });

  test('follows a run that grows', async () => {
    const path = join(folder, 'logs', 'first', 'events.out.tfevents.1');
    appendFileSync(path, encodeRecord(tensorflow.Event.encode(event(600, scalar('new tag', 1)))));
    await page.getByRole('heading', { name: 'new tag' }).waitFor();
  });

  test('gives SVG and CSV', async () => {
    const card = page.locator('article', { has: page.getByRole('heading', { name: 'rate' }) }).first();
    await card.locator('canvas').waitFor();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: 'SVG' }).click(),
    ]);
    const text = readFileSync(await svg.path(), 'utf8');
    expect(text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(text.match(/<path /g)).toHaveLength(2);
    await card.getByText('CSV').click();
    const [csv] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('link', { name: 'first' }).click(),
    ]);
    expect(readFileSync(await csv.path(), 'utf8').split('\n')).toHaveLength(502);
  });

  test('shows what TensorFlow wrote: images, histograms, audio, graph, hyperparameters', async () => {
    await view('Images');
    await page.locator('.pictures img').first().waitFor();
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('.pictures img').naturalWidth"))
      .toBeGreaterThan(0);
    await view('Histograms');
    await page.locator('canvas.ridges').first().waitFor();
    await view('Audio');
    await page.locator('audio').first().waitFor();
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('audio').readyState"))
      .toBeGreaterThan(0);
    await view('Graphs');
    await page.locator('svg .box').first().waitFor();
    await view('Hyperparameters');
    await page.locator('table tbody tr').first().waitFor();
  });

  test('texts are shown without what could act', async () => {
    await view('Text');
    await page.getByText('bold').waitFor();
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(await page.locator('.markdown script, .markdown img').count()).toBe(0);
  });

  test('works by keys, and on a small screen', async () => {
    await page.keyboard.press('1');
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Scalars');
    await page.keyboard.press('/');
    expect(await page.evaluate("document.activeElement.getAttribute('placeholder')")).toBe(
      'regular expression',
    );
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 380, height: 800 });
    await page.locator('article canvas').first().waitFor();
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
  });

  test('nothing went wrong on the way', () => {
    expect(wrong).toEqual([]);
  });
});
