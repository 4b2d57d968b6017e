import * as tf from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import { load } from '../../load/load.ts';
import {
  expectSame,
  goldenFile,
  type Stored,
  type StoredModel,
  temporaryFolder,
  toValue,
  unpack,
} from '../../testing/golden.ts';
import { loadGraphDef } from '../graph-def-file.ts';

interface Run {
  readonly fetch: string;
  readonly fed: string | null;
  readonly result: Stored | null;
}
const golden = goldenFile<{
  readonly model: StoredModel;
  readonly calls: readonly {
    readonly call: string;
    readonly args: readonly Stored[];
    readonly result: readonly Stored[];
  }[];
  readonly graph: string;
  readonly runs: readonly Run[];
  readonly errors: Readonly<Record<string, string>>;
}>('queues');
const folder = temporaryFolder();
afterAll(() => folder.remove());

type Call = (...args: unknown[]) => tf.Tensor | readonly tf.Tensor[];

test('functions of a model share queues, and their calls give what they give in TensorFlow', async () => {
  const path = unpack(golden.model, folder.path);
  const model = (await load(path)) as unknown as Readonly<Record<string, Call>>;
  for (const [i, { call, args, result }] of golden.calls.entries()) {
    const given = [(model[call] as Call)(...args.map(toValue))].flat() as tf.Tensor[];
    expect(given).toHaveLength(result.length);
    for (const [j, wanted] of result.entries()) expectSame(given[j], wanted, `${call}, call ${i}`);
  }
  const { push, pop, shuffled } = model as Record<string, Call>;
  expect(() => push?.([[1, 2]], [1n])).toThrow(tf.CancelledError);
  expect(() => pop?.(1)).toThrow(tf.OutOfRangeError);
  expect(() => pop?.(-1)).toThrow(tf.InvalidArgumentError);
  const other = (await load(path)) as unknown as Record<string, Call>;
  expect(() => other['pop']?.(1)).toThrow(tf.UnavailableError);
  expect(() => tfFunction((x: tf.Tensor) => shuffled?.(x) as tf.Tensor)(tf.constant([1, 2]))).toThrow(
    /queues are for eager code/,
  );
});

test('graphs with queues that are references', async () => {
  const graph = await loadGraphDef(Buffer.from(golden.graph, 'base64'));
  const run = ({ fetch, fed }: Pick<Run, 'fetch' | 'fed'>): tf.Tensor | undefined =>
    fed === null ? graph.prune([], fetch)()[0] : graph.prune('x:0', fetch)(fed)[0];
  for (const own of golden.runs) {
    const result = run(own);
    if (own.result === null) expect(result).toBe(undefined);
    else expectSame(result, own.result, own.fetch);
  }
  expect(golden.errors).toEqual({ put: 'CancelledError', 'take:0': 'OutOfRangeError' });
  expect(() => run({ fetch: 'put', fed: 'c' })).toThrow(tf.CancelledError);
  expect(() => run({ fetch: 'take:0', fed: null })).toThrow(tf.OutOfRangeError);
});
