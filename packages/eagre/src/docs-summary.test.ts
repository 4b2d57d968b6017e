import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformWithEsbuild } from 'vite';
import { expect, it, vi } from 'vitest';
import * as tf from './index.ts';

it('the code of docs/summary.md runs', async () => {
  const page = readFileSync(new URL('../../../docs/summary.md', import.meta.url), 'utf8');
  // Blocks are indented, and stand behind an empty line; lists are not.
  const blocks = page.match(/(?<=\n\n)( {4}.*\n|\n(?= {4}))+/g) ?? [];
  expect(blocks.length).toBeGreaterThan(6);
  const folder = mkdtempSync(join(tmpdir(), 'eagre-docs-'));
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    const source = blocks
      .join('\n')
      .replace("import * as tf from 'eagre';", '')
      .replaceAll(/(['`])logs/g, `$1${folder}/logs`);
    const { code } = await transformWithEsbuild(`export default async (tf) => {${source}}`, 'docs.ts', {
      target: 'es2022',
      format: 'cjs',
    });
    const module = { exports: {} as { default: (given: typeof tf) => Promise<void> } };
    new Function('module', 'exports', code)(module, module.exports);
    await module.exports.default(tf);
    const events = [...tf.summary.readEvents(join(folder, 'logs'))];
    const steps = (tag: string): unknown[] =>
      events.flatMap((e) => (e.kind === 'scalar' && e.tag === tag ? [Number(e.step)] : []));
    expect(steps('loss')).toEqual([0, 100, 200, 1]);
    expect(steps('often')).toEqual([10, 20, 30]);
    expect(steps('traced/loss')).toEqual([0, 1, 2]);
    expect(steps('batch_loss')).toEqual([1, 2]);
    expect(new Set(events.map((e) => e.run))).toEqual(
      new Set(['run1', 'search', 'search/16', 'search/32', 'keras/train']),
    );
    expect(log).toHaveBeenCalledWith('run1', 'loss', 100, Math.fround(1 / 101));
    tf.summary.experimental.setStep(null);
  } finally {
    log.mockRestore();
    rmSync(folder, { recursive: true });
  }
});
