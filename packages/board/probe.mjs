// How long the board takes to show a run of a million scalars, and whether it stays smooth then.
// `node packages/board/probe.mjs [points]` after `pnpm build`; EAGRE_CHROMIUM names a browser that is not at a usual place.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeRecord, tensorflow } from '@eagre/formats';
import { chromium } from 'playwright-core';
import { serveBoard } from './dist/index.js';

const points = Number(process.argv[2] ?? 1_000_000);
const executablePath = [process.env.EAGRE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path && existsSync(path),
);
const folder = mkdtempSync(join(tmpdir(), 'eagre-board-probe-'));
mkdirSync(join(folder, 'run'));
const records = [];
for (let step = 0; step < points; step++) {
  const value = Math.exp(-step / points) + 0.1 * Math.random();
  const tensor = {
    dtype: 1,
    tensor_shape: {},
    tensor_content: new Uint8Array(Float32Array.of(value).buffer),
  };
  const metadata = { plugin_data: { plugin_name: 'scalars' } };
  const summary = { value: [{ tag: 'loss', tensor, metadata }] };
  records.push(encodeRecord(tensorflow.Event.encode({ wall_time: 1.7e9 + step, step, summary })));
}
writeFileSync(join(folder, 'run', 'events.out.tfevents.1'), Buffer.concat(records));

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  const start = performance.now();
  const board = await serveBoard({ logdir: folder, port: 0 });
  await page.goto(board.url);
  // Until the last step is on the screen.
  await page.waitForFunction(
    async (last) => {
      const answer = await fetch('api/scalars?run=run&tag=loss&points=10');
      return answer.ok && (await answer.json())[0]?.steps.at(-1) === last;
    },
    points - 1,
    { polling: 20 },
  );
  const read = performance.now() - start;
  await page.locator('article canvas').waitFor();
  const shown = performance.now() - start;

  // Moving the mouse over the plot, smoothing it more and less, zooming and moving along it: how long the frames were.
  const box = await page.locator('article canvas').boundingBox();
  const frames = page.evaluate(
    () =>
      new Promise((resolve) => {
        const times = [];
        const begin = performance.now();
        let last = begin;
        const frame = (now) => {
          times.push(now - last);
          last = now;
          if (now - begin < 7000) requestAnimationFrame(frame);
          else resolve(times.sort((a, b) => a - b));
        };
        requestAnimationFrame(frame);
      }),
  );
  for (let i = 0; i < 100; i++) {
    await page.mouse.move(box.x + 80 + ((i * 7) % (box.width - 120)), box.y + box.height / 2);
    await page.waitForTimeout(15);
  }
  const slider = page.getByLabel('Smoothing');
  await slider.focus();
  for (let i = 0; i < 40; i++) {
    await slider.press(i < 20 ? 'ArrowRight' : 'ArrowLeft');
    await page.waitForTimeout(15);
  }
  await page.locator('article .plot').focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press('+');
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press(i < 30 ? 'Shift+ArrowRight' : 'Shift+ArrowLeft');
    await page.waitForTimeout(15);
  }
  const times = await frames;
  const at = (q) => times[Math.floor(q * (times.length - 1))].toFixed(1);
  console.log(
    `${points.toLocaleString('en')} points: read after ${read.toFixed(0)} ms, shown after ${shown.toFixed(0)} ms`,
  );
  console.log(
    `frames while moving, smoothing and zooming: median ${at(0.5)} ms, 95th percentile ${at(0.95)} ms, longest ${at(1)} ms`,
  );
  await board.close();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
