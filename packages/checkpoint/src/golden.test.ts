import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Module, Variable, zeros } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Checkpoint, listVariables, loadCheckpoint } from './index.ts';

interface Golden {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly path: string;
        readonly values: Readonly<
          Record<string, { readonly shape: number[]; readonly dtype: string; readonly values: unknown[] }>
        >;
      }
    >
  >;
}
const folder = fileURLToPath(new URL('../golden/', import.meta.url));
const golden = JSON.parse(readFileSync(`${folder}checkpoints.json`, 'utf8')) as Golden;

describe('values that TensorFlow wrote', () => {
  test.each(Object.entries(golden.files))('%s', (_, { path, values }) => {
    const reader = loadCheckpoint(folder + path);
    const names = listVariables(folder + path).map(([name]) => name);
    expect(names.filter((n) => n !== '_CHECKPOINTABLE_OBJECT_GRAPH')).toEqual(Object.keys(values));
    for (const [key, { shape, dtype, values: wanted }] of Object.entries(values)) {
      const tensor = reader.getTensor(key);
      expect([tensor.shape, tensor.dtype], key).toEqual([shape, dtype]);
      const flat: unknown = tensor.reshape([-1]).array();
      const plain = (flat as unknown[]).map((v) => (typeof v === 'bigint' ? Number(v) : v));
      expect(plain, key).toEqual(wanted);
    }
  });
});

const vector = (n: number): Variable => new Variable(zeros([n]));

test('objects that TensorFlow saved: modules, lists, dicts, one of them twice', () => {
  const block = (n: number) =>
    Object.assign(new Module(), {
      w: vector(n),
      more: {
        a: new Variable([0, 0], { dtype: 'int32' }),
        b: [new Variable(false), new Variable([0, 0], { dtype: 'float64' })],
      },
    });
  const blocks = [block(2), block(3)];
  const model = Object.assign(new Module(), {
    blocks,
    first: blocks[0],
    table: new Map([
      [
        'x.y/z',
        new Variable(
          [
            [0, 0],
            [0, 0],
          ],
          { dtype: 'uint8' },
        ),
      ],
    ]),
    words: new Variable(['', '', '']),
    step: new Variable(0n),
  });
  const checkpoint = new Checkpoint({ model, extra: new Variable(0) });
  checkpoint.restore(`${folder}plain-1`).assertConsumed();
  expect(blocks.map((b) => b.w.array())).toEqual([
    [0, 0.25],
    [0, 0.25, 0.5],
  ]);
  expect(blocks[1]?.more.b.map((v) => v.array())).toEqual([true, [0.1, 0.2]]);
  expect(model.table.get('x.y/z')?.array()).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect([model.words.array(), model.step.array(), checkpoint.saveCounter.array()]).toEqual([
    ['ab', '', 'xyz ü'],
    7n,
    1n,
  ]);
  expect(checkpoint.extra.item()).toBe(2.5);
});

test('a checkpoint of TensorFlow 1, by the names of variables', () => {
  const make = () => ({
    first: new Variable([[0, 0]], { name: 'w' }),
    second: new Variable(0, { name: 'scope/b' }),
  });
  const checkpoint = new Checkpoint(make());
  const status = checkpoint.restore(`${folder}names-5`);
  status.assertConsumed().assertExistingObjectsMatched().assertNontrivialMatch();
  expect([checkpoint.first.array(), checkpoint.second.item()]).toEqual([[[1, 2]], 3]);
  const more = new Checkpoint({ ...make(), other: new Variable(1, { name: 'other' }) });
  expect(() => more.read(`${folder}names-5`).assertConsumed()).toThrow(/Object not restored: other/);
  const late = new Checkpoint<{ v?: Variable }>();
  late.read(`${folder}names-5`);
  late.v = new Variable(0, { name: 'scope/b' });
  expect(late.v.item()).toBe(3);
});
