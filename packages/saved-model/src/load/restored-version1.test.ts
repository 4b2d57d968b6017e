import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { afterAll, expect, test, vi } from 'vitest';
import { translatedOps } from '../import/ops/index.ts';
import { expectSame, modelOf, temporaryFolder, toValue, unpack } from '../testing/golden.ts';
import { load } from './load.ts';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
  vi.restoreAllMocks();
});
const restore = vi.spyOn(translatedOps().get('RestoreV2') as { run: () => void }, 'run');

async function check(path: string): Promise<void> {
  const model = await load(path);
  const [{ kwargs, result }] = modelOf('v1').cases as [ReturnType<typeof modelOf>['cases'][number]];
  const inputs = Object.fromEntries(Object.entries(kwargs).map(([name, x]) => [name, toValue(x)]));
  expectSame(model.signatures['serving_default']?.(inputs), result, 'v1');
  expect(Object.keys(model['graphVariables']).sort()).toEqual(['v', 'w']);
}

test('values of variables are read into their memory', async () => {
  restore.mockClear();
  await check(unpack(modelOf('v1'), folder.path));
  expect(restore).not.toHaveBeenCalled();
});

test('an operation that computes more than that is run', async () => {
  const path = unpack(modelOf('v1'), folder.path, 'computes');
  const file = join(path, 'saved_model.pb');
  const model = tensorflow.SavedModel.decode(readFileSync(file));
  const { node = [] } = model.meta_graphs?.[0]?.graph_def ?? {};
  const nodes = node as { name?: string; op?: string; input?: string[] }[];
  const assign = nodes.find(
    ({ op, name }) => op === 'Assign' && name?.startsWith('save/'),
  ) as (typeof nodes)[0];
  const [, value] = assign.input as [string, string];
  nodes.push({ name: 'minus', op: 'Neg', input: [value] }, { name: 'plus', op: 'Neg', input: ['minus'] });
  assign.input = [assign.input?.[0] as string, 'plus'];
  writeFileSync(file, tensorflow.SavedModel.encode(model));
  restore.mockClear();
  await check(path);
  expect(restore).toHaveBeenCalled();
});

test('a checkpoint that lacks a value is refused', async () => {
  const path = unpack(modelOf('v1'), folder.path, 'lacks');
  const file = join(path, 'saved_model.pb');
  const bytes = readFileSync(file);
  const text = bytes
    .toString('latin1')
    .replaceAll('\x01v\x12\x01w', '\x01v\x12\x01u')
    .replaceAll('\x01vB\x01w', '\x01vB\x01u');
  writeFileSync(file, Buffer.from(text, 'latin1'));
  await expect(load(path)).rejects.toThrow(tf.DataLossError);
});
