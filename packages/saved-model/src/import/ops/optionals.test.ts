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

const golden = goldenFile<{
  readonly model: StoredModel;
  readonly calls: readonly {
    readonly call: string;
    readonly args: readonly Stored[];
    readonly result: readonly Stored[];
  }[];
}>('branch-gradients');
const folder = temporaryFolder();
afterAll(() => folder.remove());

type Call = (...args: unknown[]) => tf.Tensor | readonly tf.Tensor[];

test('gradients of branches and of lists, also in loops, and other rare calls are those of TensorFlow', async () => {
  const model = (await load(unpack(golden.model, folder.path))) as unknown as Readonly<Record<string, Call>>;
  for (const [i, { call, args, result }] of golden.calls.entries()) {
    const given = [(model[call] as Call)(...args.map(toValue))].flat() as tf.Tensor[];
    expect(given).toHaveLength(result.length);
    // Decoders of JPEG files round differently.
    const tolerance = call === 'compressed' ? 0.005 : undefined;
    for (const [j, wanted] of result.entries()) expectSame(given[j], wanted, `${call}, call ${i}`, tolerance);
  }
  const traced = tfFunction((x: tf.Tensor) => model['either']?.(x) as tf.Tensor[]);
  expect(() => traced(tf.ones([1, 2]))).toThrow(tf.UnimplementedError);
  expect(() => traced(tf.ones([1, 2]))).toThrow(/gradient of a branch/);
});
