// The site is built, and looked at in a browser.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPath } from '@eagre/testing';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const site = fileURLToPath(new URL('..', import.meta.url));
let said: string;
let deadLinks: (folder: string) => string[];
let look: (
  folder: string,
  browser: string,
) => Promise<{ readonly problems: string[]; readonly figures: string }>;

beforeAll(async () => {
  ({ deadLinks, look } = await import(join(site, 'src/check.mjs')));
  // A link that leads nowhere ends it with an error.
  said = execFileSync(process.execPath, [join(site, 'src/build.mjs')], { encoding: 'utf8' });
});

test('all that is public has a page, and a docstring', () => {
  const [, symbols, silent] = /(\d+) symbols, (\d+) without a docstring/.exec(said) ?? [];
  expect(Number(symbols)).toBeGreaterThan(2000);
  expect(Number(silent)).toBe(0);
});

test('classes have an example, and many functions', () => {
  const [, shown, without] = /(\d+) examples, (\d+) classes without one/.exec(said) ?? [];
  expect(Number(shown)).toBeGreaterThan(900);
  // Errors, and what needs several processes or devices.
  expect(Number(without)).toBeLessThanOrEqual(70);
});

test('links to what has no page are left out', () => {
  const files = readdirSync(join(site, 'pages'), { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.md') && !name.startsWith('api')))
    expect(readFileSync(join(site, 'pages', file), 'utf8')).not.toMatch(
      /\]\((?:\.\.\/|packages|apps|native)/,
    );
});

test('all links lead somewhere', () => {
  expect(deadLinks(join(site, 'dist'))).toEqual([]);
});

test('language models find the guides', () => {
  const list = readFileSync(join(site, 'dist/llms.txt'), 'utf8');
  expect(list).toMatch(/^# Eagre\n\n> TensorFlow 2 /);
  const links = [...list.matchAll(/^- \[.+?\]\(\/(.+?)\)/gm)].map(([, link]) => link as string);
  expect(links.length).toBeGreaterThan(40);
  for (const link of links.filter((one) => !one.endsWith('/')))
    expect(existsSync(join(site, 'dist', link)), link).toBe(true);
});

describe.skipIf(browserPath === undefined)('in a browser', () => {
  let server: { readonly address: string; close(): Promise<void> };
  let browser: Browser;
  beforeAll(async () => {
    const { serve } = await import(join(site, 'src/serve.mjs'));
    server = await serve(join(site, 'dist'));
    browser = await chromium.launch({ executablePath: browserPath as string, args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('pages of each kind have nothing to complain about, and their programs run', async () => {
    const { problems, figures } = await look(join(site, 'dist'), browserPath as string);
    console.log(figures);
    expect(problems).toEqual([]);
  });

  test('search finds names of other libraries', async () => {
    const page = await browser.newPage();
    await page.goto(`${server.address}/guide/install`, { waitUntil: 'networkidle' });
    await page.locator('button.DocSearch-Button').first().click();
    for (const [name, place] of [
      ['reduce_mean', '/api/math/#tf-mean'],
      ['tf.reduce_mean', '/api/math/#tf-mean'],
      ['keras.layers.Dense', '/api/layers/Dense.class'],
      ['tf.GradientTape', '/api/GradientTape.class'],
      ['nn.Linear', '/api/layers/Dense.class'],
      ['torch.cat', '/api/#tf-concat'],
      ['F.cross_entropy', '/api/nn/#tf-sparseSoftmaxCrossEntropyWithLogits'],
      ['np.where', '/api/math/#tf-where'],
      ['jax.vmap', '/api/#tf-vectorizedMap'],
      ['tensor2d', '/api/#tf-constant'],
      ['tf.train.adam', '/api/optimizers/Adam.class'],
    ] as const) {
      await page.locator('#localsearch-input').fill(name);
      await page.locator(`.results li:nth-child(-n+3) a[href^="${place}"]`).waitFor({ timeout: 20_000 });
    }
    await page.close();
  });
});
