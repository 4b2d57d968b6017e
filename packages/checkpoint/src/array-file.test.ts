import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DataLossError,
  InvalidArgumentError,
  Module,
  NotFoundError,
  random,
  Variable,
  zeros,
} from '@eagre/core';
import { decodeNpz, decodeSafetensors, encodeSafetensors } from '@eagre/formats';
import { afterAll, describe, expect, test } from 'vitest';
import { Checkpoint, CheckpointOptions, listVariables, loadVariable } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-array-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Variables of every numeric dtype, names that need escapes, a slot, a variable under two names, and random numbers. */
function make(k: number) {
  const w = new Variable([k, k + 0.5]);
  const slot = new Variable([k, k]);
  const optimizer = { trackableView: () => ({ children: [], slots: [{ variable: w, name: 'm.x', slot }] }) };
  const model = Object.assign(new Module(), {
    w,
    again: w,
    list: [new Variable(BigInt(k)), new Variable(k > 0)],
  });
  const table = new Map([
    ['a.b/c', new Variable(k, { dtype: 'uint8' })],
    ['ü', new Variable(k, { dtype: 'float64' })],
  ]);
  const [count, empty] = [new Variable(k, { dtype: 'int32' }), new Variable(zeros([0, 2]))];
  const generator = random.Generator.fromSeed(k);
  const all = [w, slot, ...model.list, ...table.values(), count, empty];
  return {
    checkpoint: new Checkpoint({ model, optimizer, table, count, empty, generator }),
    values: () => [...all.map((v) => v.array()), generator.normal([2]).array()],
  };
}

describe.each(['safetensors', 'npz'])('.%s', (ending) => {
  const path = join(folder, 'deep', `x.${ending}`);

  test('everything comes back', async () => {
    const [one, two, three] = [make(3), make(0), make(1)];
    one.checkpoint.write(path);
    const wanted = one.values();
    two.checkpoint.read(path).assertConsumed();
    expect(two.values()).toEqual(wanted);
    const later = join(folder, `later.${ending}`);
    await make(3).checkpoint.writeAsync(later);
    three.checkpoint.read(later).assertConsumed();
    expect(three.values()).toEqual(wanted);
    expect(() =>
      new Checkpoint({ w: new Variable(1) }).restore(path).expectPartial().assertConsumed(),
    ).toThrow(/\(root\)\.w/);
  });

  test('arrays are named by paths', () => {
    make(3).checkpoint.write(path);
    const bytes = readFileSync(path);
    const arrays = ending === 'npz' ? decodeNpz(bytes) : decodeSafetensors(bytes).tensors;
    expect([...arrays.keys()].sort()).toEqual([
      'count',
      'empty',
      'generator/_state_var',
      'model/list/0',
      'model/list/1',
      'model/w',
      'model/w/.OPTIMIZER_SLOT/optimizer/m..x',
      'table/a..b.Sc',
      'table/ü',
    ]);
    expect(loadVariable(path, 'model/list/0').array()).toBe(3n);
    expect(listVariables(path)).toContainEqual(['model/w/.ATTRIBUTES/VARIABLE_VALUE', [2]]);
  });

  test('what is made later', () => {
    new Checkpoint({ net: { kernel: new Variable([1, 2]) } }).write(path);
    const net = new Checkpoint<{ kernel?: Variable }>();
    const status = new Checkpoint({ net }).read(path);
    net.kernel = new Variable([0, 0]);
    expect(net.kernel.array()).toEqual([1, 2]);
    status.assertConsumed();
  });

  test('refuses what it cannot hold or read', () => {
    const words = new Checkpoint({ words: new Variable(['a']) });
    expect(() => words.write(path)).toThrow(/words\/.* holds strings/);
    const checkpoint = new Checkpoint({ w: new Variable([1]) });
    expect(() => checkpoint.save(path)).toThrow(/write\(\) for a \.safetensors or \.npz file/);
    expect(() => checkpoint.write(path, new CheckpointOptions({ shards: 2 }))).toThrow(InvalidArgumentError);
    expect(() => checkpoint.read(join(folder, `nothing.${ending}`))).toThrow(NotFoundError);
    checkpoint.write(path);
    expect(() => new Checkpoint({ w: new Variable([1, 2]) }).read(path)).toThrow(
      /incompatible tensor with shape \[1\]/,
    );
    writeFileSync(path, readFileSync(path).subarray(0, 20));
    expect(() => checkpoint.read(path)).toThrow(DataLossError);
  });
});

test('a file of somebody else, with names of any kind', () => {
  const path = join(folder, 'foreign.safetensors');
  const names = [
    'model/w',
    'a.b',
    '/',
    'x//y',
    'v/.OPTIMIZER_SLOT/',
    'v/.OPTIMIZER_SLOT/m',
    '/.ATTRIBUTES/',
    'd/'.repeat(20_000),
  ];
  const array = { dtype: 'float32' as const, shape: [1], data: Float32Array.of(7) };
  writeFileSync(path, encodeSafetensors(new Map(names.map((name) => [name, array]))));
  const w = new Variable([0]);
  const status = new Checkpoint({ model: { w } }).read(path);
  expect(w.array()).toEqual([7]);
  expect(() => status.assertConsumed()).toThrow(/Unresolved object in checkpoint/);
  status.expectPartial();
});
