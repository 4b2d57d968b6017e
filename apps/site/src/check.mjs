// Looks at the built site as readers do: pnpm docs:check. Links lead somewhere; pages of each kind have nothing to complain about, fit their screens and pass axe-core;
// programs run. Figures are printed, and no time is a failure.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { argv, env, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

const { source: axe } = createRequire(import.meta.url)('axe-core');

/** What the front page may weigh, compressed, before an editor is opened. */
const MOST_OF_FRONT_PAGE = 200_000;

/** One page of each kind, and those that have what no other has. */
const kinds = [
  '/',
  '/playground',
  '/guide/tutorial/1-tensors',
  '/guide/from-numpy',
  '/project/contributing',
  '/examples/07-custom-training-loop',
  '/api/losses/',
  '/api/layers/Dense.class',
];
/** Pages of the same kinds that are so large that axe-core takes long. */
const large = ['/guide/from-tensorflow', '/api/'];

const desk = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

/** @returns links of the site that lead nowhere, as texts */
export function deadLinks(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html'));
  const ids = new Map();
  const links = [];
  for (const name of names) {
    const path = `/${name.replaceAll('\\', '/').replace(/(^|(?<=\/))index\.html$|\.html$/, '')}`;
    const text = readFileSync(join(folder, name), 'utf8').replace(/<script\b.*?<\/script>/gs, '');
    ids.set(path, new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id)));
    const found = [...text.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)].map(([, target]) => target);
    links.push(...[...new Set(found)].map((target) => ({ path, target })));
  }
  const dead = links.filter(({ path, target }) => {
    if (/^[a-z]+:/i.test(target)) return false;
    const [to, anchor = ''] = decodeURIComponent(target.replaceAll('&amp;', '&')).split('#');
    const page = to === '' ? path : posix.resolve(path.endsWith('/') ? path : dirname(path), to);
    const known = [page, `${page}/`].find((one) => ids.has(one));
    if (known === undefined) return !existsSync(join(folder, page));
    return anchor !== '' && !ids.get(known).has(anchor);
  });
  return dead.map(({ path, target }) => `${path}: ${target} leads nowhere`);
}

/** What axe-core finds in a page as it is. Between light and dark nothing changes but the colours. */
const violations = (page, isDark) =>
  page.evaluate(async (isDark) => {
    const { violations } = await globalThis.axe.run(document, {
      resultTypes: ['violations'],
      ...(isDark ? { runOnly: ['color-contrast'] } : {}),
    });
    const first = (nodes) => nodes.slice(0, 3).map(({ html }) => html.slice(0, 160));
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${first(nodes).join(' ')}`);
  }, isDark);

/** Opens a site in a browser. @returns what is wrong, and figures */
export async function look(folder, browserPath) {
  const server = await serve(folder);
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  const problems = [];
  let [weightOfFrontPage, editorAfter, programAfter] = [0, 0, 0];
  try {
    const context = await browser.newContext({ viewport: desk, reducedMotion: 'reduce' });
    await context.addInitScript(axe);
    const open = async (path) => {
      const page = await context.newPage();
      // Where the kernels of WebAssembly are not built, programs ask for them in vain, and run.
      const isNotice = (text) =>
        /\.wasm$|^Failed to load resource/.test(text) && !existsSync(join(folder, 'play/eagre.wasm'));
      const say = (text) => !isNotice(text) && problems.push(`${path}: ${text}`);
      page.on('pageerror', (error) => say(String(error)));
      page.on('console', (message) => message.type() === 'error' && say(message.text()));
      page.on('response', (one) => one.status() >= 400 && say(`${one.status()} ${one.url()}`));
      return { page, say };
    };
    /** In all four appearances. */
    const appearances = async (page, say, isLarge = false) => {
      for (const [screen, viewport] of Object.entries({ desk, phone }))
        for (const colorScheme of ['light', 'dark']) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          await page.waitForFunction(
            (isDark) => document.documentElement.classList.contains('dark') === isDark,
            colorScheme === 'dark',
          );
          for (const one of isLarge ? [] : await violations(page, colorScheme === 'dark'))
            say(`${screen}, ${colorScheme}: ${one}`);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (wide > 0) say(`${screen}: ${wide} pixels wider than the screen`);
        }
    };

    for (const path of [...kinds, ...large]) {
      const { page, say } = await open(path);
      let weight = 0;
      const weighed = [];
      page.on('response', (one) => {
        // What it fetches ahead belongs to other pages.
        if (/\/assets\/(?!index\.md)[^/]*\.md\./.test(one.url())) return;
        weighed.push(
          one.body().then(
            (body) => (weight += gzipSync(body).length),
            () => undefined,
          ),
        );
      });
      await page.goto(server.address + path, { waitUntil: 'networkidle' });
      if (path === '/playground') await page.locator('.play .cm-content').waitFor();
      await Promise.all(weighed);
      if (path === '/') {
        weightOfFrontPage = weight;
        if (weight > MOST_OF_FRONT_PAGE) say(`${weight} bytes, compressed`);
      }
      await appearances(page, say, large.includes(path));
      await page.close();
    }

    // A program in its guide.
    const { page, say } = await open('/guide/tutorial/1-tensors');
    await page.goto(`${server.address}/guide/tutorial/1-tensors`, { waitUntil: 'networkidle' });
    const start = performance.now();
    await page.locator('button.run').first().click();
    await page.locator('.play .cm-content').waitFor();
    editorAfter = performance.now() - start;
    await page.locator('.play[data-state=done], .play[data-state=failed]').waitFor();
    programAfter = performance.now() - start;
    if ((await page.locator('.play .play-line').count()) === 0) say('the program prints nothing');
    await appearances(page, say);
    const [link] = await page.locator('.play a').evaluateAll((all) => all.map(({ href }) => href));
    await page.locator('.play button', { hasText: 'Close' }).click();
    if (await page.locator('button.run').first().isHidden()) say('the program cannot be closed');

    // The same in the page for programs.
    await page.goto(link, { waitUntil: 'networkidle' });
    await page.locator('.play-run').click();
    await page.locator('.play[data-state=done]').waitFor();
    await appearances(page, say);
    await page.close();
  } finally {
    await browser.close();
    await server.close();
  }
  const figures =
    `The front page weighs ${(weightOfFrontPage / 1000).toFixed(0)} kB, compressed. An editor is there ` +
    `${Math.round(editorAfter)} ms after a click, and its program has run after ${Math.round(programAfter)} ms.`;
  return { problems, figures };
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL('../dist', import.meta.url));
  const dead = deadLinks(folder);
  const { problems, figures } = await look(folder, env.EAGRE_CHROMIUM ?? '/usr/bin/chromium');
  console.log(figures);
  const all = [...dead, ...problems];
  if (all.length > 0) {
    console.error(`${all.join('\n')}\n${all.length} problems.`);
    exit(1);
  }
}
