import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeRecord, tensorflow } from '@eagre/formats';
import { browserPath } from '@eagre/testing';
import { type Browser, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Board, serveFrom } from './server/server.ts';
import { event, eventFile, scalar } from './testing/event-files.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const golden = fileURLToPath(new URL('../../summary/golden/v2.tfevents', import.meta.url));

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
  });

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
    await expect.poll(() => card.locator('.readout tbody tr').count()).toBeGreaterThanOrEqual(2);
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
    await expect.poll(() => page.locator('article .readout tbody tr').count()).toBe(1);
    const { hash } = new URL(page.url());
    expect(new URLSearchParams(hash.slice(1)).get('filter')).toBe('^error$');
    await page.reload();
    await expect.poll(() => page.locator('article .readout tbody tr').count()).toBe(1);
    await page.getByLabel('second', { exact: true }).check();
    await page.getByLabel('Filter tags').fill('');
  });

  test('plots take the colours of a page that turns dark', async () => {
    const drawing = () => page.evaluate<string>("document.querySelector('article canvas').toDataURL()");
    const light = await drawing();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(drawing).not.toBe(light);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(drawing).toBe(light);
  });

  test('follows a run that grows', async () => {
    const path = join(folder, 'logs', 'first', 'events.out.tfevents.1');
    appendFileSync(path, encodeRecord(tensorflow.Event.encode(event(600, scalar('new tag', 1)))));
    await page.getByRole('heading', { name: 'new tag' }).waitFor();
  });

  const cardOf = (tag: string) =>
    page.locator('article', { has: page.getByRole('heading', { name: tag, exact: true }) }).first();
  /** How many pixels of a plot are of the first run's colour. */
  const colored = (tag: string): Promise<number> =>
    cardOf(tag)
      .locator('canvas')
      .evaluate(
        new Function(
          'canvas',
          `const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          return data.filter((v, i) => i % 4 === 0 && v === 0 && data[i + 1] === 114 && data[i + 2] === 178).length`,
        ) as (canvas: unknown) => number,
      );

  test('a single point is seen, and what is not finite is told', async () => {
    await page.getByLabel('Filter tags').fill('^new tag$|^odd$');
    await expect.poll(() => colored('new tag')).toBeGreaterThan(5);
    const path = join(folder, 'logs', 'first', 'events.out.tfevents.1');
    appendFileSync(path, eventFile([event(0, scalar('odd', Number.NaN)), event(1, scalar('odd', Infinity))]));
    await cardOf('odd').getByText('nothing finite').waitFor();
    await cardOf('odd').getByText('1 NaN').waitFor();
    await cardOf('odd').getByText('1 infinite').waitFor();
    expect(await colored('odd')).toBeGreaterThan(5);
    await page.getByLabel('Filter tags').fill('');
  });

  test('tells values beside smoothed ones, at the cursor and in a table of all points', async () => {
    await page.getByLabel('Filter tags').fill('^error$');
    const card = cardOf('error');
    const row = card.locator('.readout tbody tr').first();
    // 1 / 500, and what the moving average is there.
    await expect
      .poll(() => row.locator('td').allTextContents())
      .toEqual(['0.002', '0.002006', '499', '8m 19s']);
    expect(await card.locator('.readout thead th').allTextContents()).toEqual([
      'last values',
      'Value',
      'Smoothed',
      'Step',
      'Relative',
    ]);
    await page.locator('input[type=range]').fill('0');
    await expect.poll(() => row.locator('td').allTextContents()).toEqual(['0.002', '499', '8m 19s']);
    await card.getByRole('button', { name: 'Table' }).click();
    const points = card.locator('.points tbody tr');
    expect(await points.count()).toBe(100);
    expect(await points.nth(2).locator('td').allTextContents()).toEqual(
      expect.arrayContaining([' first', '498', '0.002004', '8m 18s']),
    );
    await card.getByText('1000 points').waitFor();
    await card.getByRole('button', { name: 'Show 100 more of 900' }).click();
    expect(await points.count()).toBe(200);
    await card.getByRole('button', { name: 'Table' }).click();
    await page.locator('input[type=range]').fill('0.6');
  });

  test('the vertical axis can leave outliers out', async () => {
    const drawing = () =>
      cardOf('error')
        .locator('canvas')
        .evaluate((c) => (c as unknown as { toDataURL(): string }).toDataURL());
    // What was done before may not be drawn yet.
    let all = '';
    const rests = async (): Promise<boolean> => all === (all = await drawing());
    await expect.poll(rests, { interval: 400 }).toBe(true);
    await page.getByLabel('Ignore outliers').check();
    await expect.poll(drawing).not.toBe(all);
    expect(page.url()).toContain('inliers=true');
    await page.getByLabel('Ignore outliers').uncheck();
    await expect.poll(drawing).toBe(all);
  });

  test('any name is a tag, any step has a place', async () => {
    const path = join(folder, 'logs', 'first', 'events.out.tfevents.1');
    const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
    appendFileSync(path, eventFile([event(1, ...names.map((name) => scalar(name, 1)))]));
    const far = { ...event(0, scalar('far', 1)), step: 2n ** 53n + 1n };
    appendFileSync(path, encodeRecord(tensorflow.Event.encode(far)));
    for (const name of names) {
      await page.getByLabel('Filter tags').fill(`^${name}$`);
      await expect.poll(() => colored(name)).toBeGreaterThan(5);
    }
    await page.getByLabel('Filter tags').fill('^far$');
    await expect.poll(() => colored('far')).toBeGreaterThan(5);
    await page.getByLabel('Filter tags').fill('');
  });

  test('of very many tags some are shown at first', async () => {
    const path = join(folder, 'logs', 'first', 'events.out.tfevents.1');
    const many = Array.from({ length: 250 }, (_, i) => scalar(`many/${i}`, i));
    appendFileSync(path, eventFile([event(1, ...many)]));
    await page.getByLabel('Filter tags').fill('^many/');
    await expect.poll(() => page.locator('article').count()).toBe(100);
    await page.getByRole('button', { name: 'Show 100 more of 150' }).click();
    await page.getByRole('button', { name: 'Show 50 more of 50' }).click();
    await expect.poll(() => page.locator('article').count()).toBe(250);
    await page.getByLabel('Filter tags').fill('');
  });

  test('zooms and moves by keys and buttons, the cursor too', async () => {
    await page.getByLabel('Filter tags').fill('^error$');
    const plot = cardOf('error').locator('.plot');
    // Keys move the cursor of lines that are drawn: the cards of before are gone, both runs are here.
    await expect.poll(() => page.locator('article').count()).toBe(1);
    await plot.locator('canvas').waitFor();
    await expect.poll(() => cardOf('error').locator('.readout tbody tr').count()).toBe(2);
    await plot.focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await cardOf('error')
      .getByText(/^step [1-9]/)
      .waitFor();
    const all = cardOf('error').getByRole('button', { name: 'All' });
    expect(await all.count()).toBe(0);
    await page.keyboard.press('+');
    await all.waitFor();
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.url().includes('from=') && sent.url().includes('tag=error')),
      page.keyboard.press('Shift+ArrowRight'),
    ]);
    const query = new URL(request.url()).searchParams;
    expect(Number(query.get('to')) - Number(query.get('from'))).toBeCloseTo(249.5, 1);
    await page.keyboard.press('0');
    await expect.poll(() => all.count()).toBe(0);
    await cardOf('error').getByRole('button', { name: 'zoom in' }).click();
    await all.click();
    await page.getByLabel('Horizontal axis').selectOption('relative');
    await page.getByLabel('Horizontal axis').selectOption('step');
  });

  test('says so where nothing is left to show', async () => {
    await page.getByLabel('Filter tags').fill('no such tag');
    await page.getByText('No tag matches “no such tag”').waitFor();
    await page.getByLabel('Filter tags').fill('');
    await page.getByRole('button', { name: 'Hide all' }).click();
    await page.getByText('No run is chosen').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await cardOf('error').waitFor();
  });

  test('gives SVG and CSV', async () => {
    await page.getByLabel('Filter tags').fill('^rate$');
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
    await page.getByLabel('Filter tags').fill('');
  });

  test('shows what TensorFlow wrote: images, histograms, audio, graph, hyperparameters', async () => {
    await view('Images');
    await page.locator('.pictures img').first().waitFor();
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('.pictures img').naturalWidth"))
      .toBeGreaterThan(0);
    await view('Histograms');
    await page.locator('canvas.ridges').first().focus();
    await expect
      .poll(async () => {
        await page.keyboard.press('ArrowDown');
        return await page.locator('.card .readout').first().textContent();
      })
      .toMatch(/^step \d+: .* values from/);
    await view('Audio');
    await page.locator('audio').first().waitFor();
    await expect
      .poll(() => page.evaluate<number>("document.querySelector('audio').readyState"))
      .toBeGreaterThan(0);
    await view('Graphs');
    await page.locator('svg .box').first().waitFor();
    // What is in a drawing takes the focus too.
    const box = page.locator('svg .box:not(.scope)').first();
    await box.focus();
    await page.keyboard.press('Enter');
    await page.locator('.details dt').first().waitFor();
    await page.locator('svg.canvas').focus();
    const before = await page.locator('svg.canvas').getAttribute('viewBox');
    await page.keyboard.press('+');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.locator('svg.canvas').getAttribute('viewBox')).not.toBe(before);
    await page.keyboard.press('0');
    await expect.poll(() => page.locator('svg.canvas').getAttribute('viewBox')).toBe(before);
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
    await page.getByRole('tab', { name: 'Scalars' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Images');
    await page.keyboard.press('ArrowLeft');
    await page.setViewportSize({ width: 380, height: 800 });
    await page.locator('article canvas').first().waitFor();
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    expect(await page.getByLabel('Filter tags').isVisible()).toBe(false);
    await page.getByText('Filters and runs').click();
    expect(await page.getByLabel('Filter tags').isVisible()).toBe(true);
  });

  test('of many runs, whole lines are seen below a plot', async () => {
    for (let run = 0; run < 9; run++) {
      const path = join(folder, 'logs', `many${run}`, 'events.out.tfevents.1');
      mkdirSync(join(path, '..'), { recursive: true });
      const steps = Array.from({ length: 20 }, (_, i) => event(i, scalar('of many', run + i / 20)));
      writeFileSync(path, eventFile(steps));
    }
    await view('Scalars');
    await page.getByLabel('Filter tags').fill('^of many$');
    const readout = cardOf('of many').locator('.readout');
    await expect.poll(() => readout.locator('tbody tr').count()).toBe(9);
    const [seen, all, rows] = await page.evaluate<[number, number, number[]]>(`(() => {
      const box = document.querySelector('article .readout');
      const rows = [...box.querySelectorAll('tr')].map((row) => row.getBoundingClientRect().height);
      return [box.clientHeight, box.scrollHeight, rows];
    })()`);
    expect(all).toBeGreaterThan(seen);
    // The header, and five lines.
    expect(rows.slice(0, 6).reduce((a, b) => a + b)).toBeCloseTo(seen, 0);
    expect(new Set(rows.map((height) => height.toFixed(1))).size).toBe(1);
    await page.getByLabel('Filter tags').fill('');
  });

  test('tells that the server is gone, and goes on with the next one', async () => {
    const port = Number(new URL(board.url).port);
    await board.close();
    await page.getByText('The server does not answer').waitFor();
    board = await serveFrom(join(folder, 'web'), { logdir: join(folder, 'logs'), port, reloadMillis: 50 });
    await expect.poll(() => page.getByText('The server does not answer').count()).toBe(0);
  });

  test('nothing went wrong on the way', () => {
    expect(wrong).toEqual([]);
  });
});
