import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { Add, Dense, Dropout, Input } from '../../layers/index.ts';
import { Model } from '../model.ts';
import { Sequential } from '../sequential.ts';
import { modelToDot, plotModel } from './plot.ts';

function nested(): Model {
  const x = Input([4], { name: 'x' });
  const inner = new Sequential(
    [Input([4]), new Dense(3, { activation: 'relu', name: 'hidden' }), new Dropout(0.5, { name: 'drop' })],
    { name: 'inner' },
  );
  const y = inner(x);
  const shared = new Dense(3, { name: 'shared', trainable: false });
  const sum = new Add({ name: 'a<b' })([shared(y), y]);
  return new Model(x, shared(sum), { name: 'outer' });
}
const texts = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, text]) => text.replace(/<[^>]*>/g, ''));

test('a model in DOT', () => {
  const dot = modelToDot(nested(), { showLayerNames: false });
  const boxes = [...dot.matchAll(/^ {2}(\d) \[.*<b>(.*?)<\/b>/gm)].map(([, id, text]) => `${id} ${text}`);
  expect(boxes).toEqual(['0 InputLayer', '1 Sequential', '2 Dense', '3 Add']);
  expect(dot.match(/\d -> \d/g)).toEqual(['0 -> 1', '1 -> 2', '2 -> 3', '1 -> 3', '3 -> 2']);
  const open = modelToDot(nested(), { expandNested: true, rankdir: 'LR' });
  expect(open).toContain('rankdir=LR');
  expect(open).toContain('subgraph cluster_1 {\n    label="inner"');
  expect(open).toContain('<b>a&lt;b</b> (Add)');
  // From x to hidden, inside, and from drop.
  expect(open.match(/\d -> \d/g)).toEqual(['2 -> 3', '0 -> 2', '3 -> 4', '4 -> 5', '3 -> 5', '5 -> 4']);
});

test('a model as a picture', async () => {
  const all = {
    showShapes: true,
    showDtype: true,
    showLayerNames: true,
    showLayerActivations: true,
    showTrainable: true,
  };
  const svg = await plotModel(nested(), { toFile: null, ...all, expandNested: true });
  expect(texts(svg)).toEqual([
    ...['x (InputLayer)', 'Output shape: [null, 4]', 'Output dtype: float32'],
    'inner',
    ...['hidden (Dense)', 'Activation: relu', 'Input shape: [null, 4]', 'Output shape: [null, 3]'],
    ...['Output dtype: float32', 'Trainable'],
    ...['drop (Dropout)', 'Input shape: [null, 3]', 'Output shape: [null, 3]', 'Output dtype: float32'],
    // It is called twice.
    ...['shared (Dense)', 'Activation: linear', 'Input shape: ?', 'Output shape: ?', 'Output dtype: ?'],
    'Non-trainable',
    ...['a&lt;b (Add)', 'Input shape: [null, 3], [null, 3]', 'Output shape: [null, 3]'],
    'Output dtype: float32',
  ]);
  const small = await plotModel(nested(), { toFile: null, dpi: 48 });
  const size = (picture: string): number => Number(/width="([\d.]+)"/.exec(picture)?.[1]);
  expect(size(small)).toBeCloseTo(size(await plotModel(nested(), { toFile: null })) / 2, 0);
  for (const rankdir of ['LR', 'BT', 'RL'] as const)
    expect(texts(await plotModel(nested(), { toFile: null, rankdir, expandNested: true })).length).toBe(6);
});

test('a model of a class of one’s own is one box', async () => {
  class Own extends Model {
    readonly dense = new Dense(2);
    override call(x: never): never {
      return this.dense(x) as never;
    }
  }
  const model = new Own({ name: 'own' });
  await expect(plotModel(model, { toFile: null })).rejects.toThrow('not built yet');
  model([[1, 2]]);
  expect(texts(await plotModel(model, { toFile: null, showLayerNames: true }))).toEqual(['own (Own)']);
});

test('files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plot-'));
  try {
    const file = join(folder, 'model.svg');
    const svg = await plotModel({ model: nested(), toFile: file });
    expect(readFileSync(file, 'utf8')).toBe(svg);
    await expect(plotModel(nested(), { toFile: join(folder, 'model.png') })).rejects.toThrow(
      /write .*model\.svg$/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
  await expect(async () => plotModel(3 as never)).rejects.toThrow('expected a model');
  await expect(plotModel(nested(), { toFile: null, rankdir: 'UP' as never })).rejects.toThrow('rankdir');
  expect(() => modelToDot(nested(), { dpi: 0 })).toThrow('dpi');
  expect(() => modelToDot(nested(), { showShape: true } as never)).toThrow("did you mean 'showShapes'?");
});
