import * as tf from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
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
});

test('gradients of branches also run in a traced function, of known and of unknown sizes', async () => {
  for (const sizes of [
    [3, 2],
    [null, 2],
  ] as const) {
    const model = (await load(unpack(golden.model, folder.path))) as unknown as Readonly<
      Record<string, Call>
    >;
    // In the order of the calls, since some change the variable.
    const names = ['either', 'alike', 'several_alike', 'nested'];
    const traced = new Map<string, Call>();
    for (const name of names) {
      const rows = new TensorSpec(sizes);
      const inputSignature =
        name === 'alike' || name === 'either' ? [rows] : [new TensorSpec([], 'int32'), rows];
      const run = (...args: tf.Tensor[]): unknown => model[name]?.(...args);
      traced.set(name, tfFunction(run as never, { inputSignature } as never) as unknown as Call);
    }
    for (const [i, { call, args, result }] of golden.calls.entries()) {
      if (!names.includes(call)) continue;
      const own = (call === 'either' ? model[call] : traced.get(call)) as Call;
      const results = [own(...args.map(toValue))].flat() as tf.Tensor[];
      for (const [j, wanted] of result.entries()) expectSame(results[j], wanted, `${call}, call ${i}`);
    }
  }
});

test('slices without a shape are refused where they are called, before anything runs', async () => {
  const model = (await load(unpack(golden.model, folder.path))) as unknown as Readonly<Record<string, Call>>;
  const w = model['w'] as unknown as tf.Variable;
  const before = w.read().data();
  for (const fn of [
    model['slices'],
    tfFunction((x: tf.Tensor) => model['slices']?.(x) as tf.Tensor),
  ] as Call[]) {
    expect(() => fn(tf.ones([1, 2]))).toThrow(tf.UnimplementedError);
    expect(() => fn(tf.ones([1, 2]))).toThrow(/takes or gives a IndexedSlicesSpec/);
  }
  expect(() => model['of_slices']?.(tf.ones([1, 2]))).toThrow(tf.UnimplementedError);
  expect(w.read().data()).toEqual(before);
});
