// Functions written as graphs of TensorFlow.js, and read again. TensorFlow.js itself runs them in `pnpm interop tfjs`.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '@eagre/backend-js';
import * as tf from '@eagre/core';
import { parseTfjsModel } from '@eagre/formats/tensorflow-js';
import { cond, switchCase, TensorSpec, tfFunction, whileLoop } from '@eagre/graph';
import { afterAll, describe, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { SaveOptions } from '../options.ts';
import {
  goldenFile,
  modelOf,
  type StoredModel,
  temporaryFolder,
  toValue,
  unpack,
} from '../testing/golden.ts';
import { save } from './save.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
let next = 0;
const fresh = (): string => join(folder.path, `model-${next++}`, 'model.json');
const spec = (shape: (number | null)[], dtype: tf.DType = 'float32', name?: string): TensorSpec =>
  new TensorSpec(shape, dtype, name);

type Serving = (given: Readonly<Record<string, tf.Tensor>>) => Record<string, tf.Tensor>;
const servingOf = async (path: string): Promise<Serving> =>
  (await load(path)).signatures['serving_default'] as unknown as Serving;
const opsOf = (path: string): string[] => {
  const { topology } = parseTfjsModel(readFileSync(path), path);
  return (topology['node'] as { readonly op: string }[]).map(({ op }) => op).filter((op) => op !== 'Const');
};

test('a function with variables: frozen, joined, with a signature, and the same results', async () => {
  const kernel = new tf.Variable(
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    { name: 'kernel' },
  );
  const bias = new tf.Variable([1, -100], { name: 'bias' });
  const f = tfFunction(
    (x: tf.Tensor, n: tf.Tensor) => ({
      y: x.matmul(kernel).add(bias).relu(),
      n: n.add(1n),
      both: [x, x][0] as tf.Tensor,
    }),
    { inputSignature: [spec([null, 3], 'float32', 'x'), spec([], 'int64', 'n')] },
  );
  const path = fresh();
  await save(f, path);
  const json = JSON.parse(readFileSync(path, 'utf8'));
  expect(json).toMatchObject({
    format: 'graph-model',
    signature: {
      inputs: {
        x: { name: 'x:0', dtype: 'DT_FLOAT', tensorShape: { dim: [{ size: '-1' }, { size: '3' }] } },
        n: { name: 'n:0', dtype: 'DT_INT64' },
      },
    },
    userDefinedMetadata: { structuredOutputKeys: ['both', 'n', 'y'] },
  });
  expect(opsOf(path)).toEqual([
    'Placeholder',
    'Placeholder',
    '_FusedMatMul',
    'AddV2',
    'Identity',
    'Identity',
    'Identity',
  ]);
  const weights = json.weightsManifest[0].weights as { name: string; dtype: string; shape: number[] }[];
  expect(weights.find(({ name }) => name === 'kernel')).toEqual({
    name: 'kernel',
    dtype: 'float32',
    shape: [3, 2],
  });
  expect(weights.map(({ dtype }) => dtype).sort()).toEqual(['float32', 'float32', 'int32']);
  // A constant keeps its data type in the graph.
  expect(readFileSync(path, 'utf8')).toContain('"type":"DT_INT64"');
  const result = (await servingOf(path))({ x: tf.constant([[1, 1, 1]]), n: tf.constant(4n) });
  expect(Object.keys(result).sort()).toEqual(['both', 'n', 'y']);
  expect(result['y']?.array()).toEqual([[10, 0]]);
  expect(result['n']?.array()).toBe(5n);
});

test('branches and loops, one of several branches, and branches of other sizes', async () => {
  const w = new tf.Variable([2, 3], { name: 'w' });
  const f = tfFunction(
    (x: tf.Tensor, i: tf.Tensor) => {
      const y = cond(
        x.sum().greater(0),
        () => x.mul(w.sum()),
        () => tf.concat([x, x], 0),
      );
      const z = switchCase(i, [
        () => x.sum(),
        () => tf.math.topK(x, 1).indices.sum().cast('float32'),
        () => x.max().mul(w.mean()),
        () => x.min(),
      ]);
      const [, n] = whileLoop(
        (k: tf.Tensor) => k.less(i),
        (k: tf.Tensor, v: tf.Tensor) => [k.add(1), v.mul(w)] as const,
        [tf.constant(0, 'int32'), tf.ones([2])] as const,
      );
      return [y, z, n];
    },
    { inputSignature: [spec([null], 'float32', 'x'), spec([], 'int32', 'i')] },
  );
  const path = fresh();
  await save(f, path);
  const serve = await servingOf(path);
  for (const i of [0, 1, 2, 3, 7])
    for (const x of [
      [1, 5, 2],
      [-1, -2],
    ]) {
      const given = { x: tf.constant(x), i: tf.constant(i, 'int32') };
      const wanted = f(given.x, given.i) as unknown as tf.Tensor[];
      const got = serve(given);
      expect(wanted.map((_, k) => got[`output_${k}`]?.array())).toEqual(wanted.map((y) => y.array()));
    }
});

test('convolutions of each channel by itself are an op of their own', async () => {
  const filter = new tf.Variable(tf.reshape(tf.range(0, 24, 1, { dtype: 'float32' }), [2, 2, 3, 2]));
  const f = tfFunction(
    (x: tf.Tensor) =>
      tf.nn
        .depthwiseConv2d(x, filter, { strides: [1, 1], padding: 'SAME' })
        .add([1, 2, 3, 4, 5, 6])
        .relu6(),
    {
      inputSignature: [spec([null, 4, 4, 3], 'float32', 'x')],
    },
  );
  const path = fresh();
  await save(f, path);
  expect(opsOf(path)).toEqual(['Placeholder', 'FusedDepthwiseConv2dNative', 'Identity']);
  const x = tf.reshape(tf.range(0, 48, 1, { dtype: 'float32' }).sin(), [1, 4, 4, 3]);
  const got = (await servingOf(path))({ x })['output_0'] as tf.Tensor;
  expect(got.sub(f(x)).abs().max().item()).toBeLessThan(1e-5);
});

test('weights are cut into files of 4 MB', async () => {
  const big = new tf.Variable(tf.ones([1100, 1100]), { name: 'big' });
  const path = fresh();
  await save(
    tfFunction((x: tf.Tensor) => x.matmul(big), { inputSignature: [spec([null, 1100], 'float32', 'x')] }),
    path,
  );
  const files = readdirSync(join(path, '..')).sort();
  expect(files).toEqual(['group1-shard1of2.bin', 'group1-shard2of2.bin', 'model.json']);
  expect(readFileSync(join(path, '..', files[0] as string)).length).toBe(4 * 2 ** 20);
});

describe('models of TensorFlow and of TensorFlow.js are written again', () => {
  const ofTensorFlow = ['dense', 'conv', 'activations', 'attention'].map((name) => modelOf(name));
  test.each(ofTensorFlow.map((model) => [model.name, model] as const))('%s', async (_, model) => {
    const from = await load(unpack(model, folder.path));
    const path = fresh();
    await save(from, path);
    const original = from.signatures['serving_default'] as unknown as Serving & {
      structuredInputSignature: readonly [unknown, Readonly<Record<string, TensorSpec>>];
    };
    const given = Object.fromEntries(
      Object.entries(original.structuredInputSignature[1]).map(([key, { shape, dtype }]) => [
        key,
        tf.random
          .uniform(
            (shape as (number | null)[]).map((size) => size ?? 2),
            { seed: 3 },
          )
          .cast(dtype),
      ]),
    );
    const [wanted, got] = [original(given), (await servingOf(path))(given)];
    expect(Object.keys(got)).toEqual(Object.keys(wanted));
    for (const [key, y] of Object.entries(wanted))
      expect((got[key] as tf.Tensor).sub(y).abs().max().item()).toBeLessThan(1e-5);
  });

  interface GraphModel extends Pick<StoredModel, 'name' | 'files'> {
    readonly inputs: Readonly<Record<string, Parameters<typeof toValue>[0]>>;
  }
  const graphs = goldenFile<{ readonly models: readonly GraphModel[] }>('tfjs-graphs').models;
  test.each(['dense-uint8', 'structured', 'joined', 'branches-functions-up', 'sizes-functions-down'])(
    '%s',
    async (name) => {
      const model = graphs.find((one) => one.name === name) as GraphModel;
      const from = await load(
        unpack({ ...model, cases: [] } as unknown as StoredModel, folder.path, `again-${name}`),
      );
      const path = fresh();
      await save(from, path);
      const given = Object.fromEntries(
        Object.entries(model.inputs).map(([key, value]) => [key, toValue(value) as tf.Tensor]),
      );
      const wanted = (from.signatures['serving_default'] as unknown as Serving)(given);
      const got = (await servingOf(path))(given);
      for (const [key, y] of Object.entries(wanted)) expect(got[key]?.array(), key).toEqual(y.array());
    },
  );
});

describe('what TensorFlow.js cannot hold is refused, and nothing is written', () => {
  const v = new tf.Variable([1]);
  const of = (fn: (x: tf.Tensor) => unknown, dtype: tf.DType = 'float32'): object =>
    tfFunction(fn as never, { inputSignature: [spec([null], dtype, 'x')] });
  test.each([
    [
      'ops that it lacks',
      () => of((x) => [tf.math.digamma(x), tf.math.lgamma(x), tf.math.erf(x)]),
      tf.UnimplementedError,
      /has no op Digamma, Lgamma;/,
    ],
    [
      'a variable that changes',
      () => of((x) => v.assignAdd(x.sum().reshape([1]))),
      tf.UnimplementedError,
      /changes a variable/,
    ],
    [
      'random numbers',
      () => of((x) => x.add(tf.random.normal([3]))),
      tf.UnimplementedError,
      /random numbers/,
    ],
    ['texts', () => of((x) => x, 'string'), tf.UnimplementedError, /holds texts/],
    [
      'data types',
      () => of((x) => x.cast('uint32')),
      tf.UnimplementedError,
      /uint32, which TensorFlow.js does not have/,
    ],
    [
      'large integers',
      () => of((x) => x.cast('int64').add(2n ** 40n)),
      tf.InvalidArgumentError,
      /integers of 32 bits/,
    ],
  ] as const)('%s', async (_, make, type, message) => {
    const path = fresh();
    const saved = save(make(), path);
    await expect(saved).rejects.toThrow(message);
    await expect(saved).rejects.toBeInstanceOf(type);
    expect(existsSync(join(path, '..'))).toBe(false);
  });

  test('signatures and targets', async () => {
    const f = of((x) => x.mul(2));
    await expect(save({ f, g: f, v }, fresh(), { signatures: { a: f, b: f } })).rejects.toThrow(
      /has one signature, got a, b/,
    );
    await expect(save({ v }, fresh())).rejects.toThrow(/one function: give \{ signatures/);
    await expect(save(f, fresh(), { options: new SaveOptions() })).rejects.toThrow(
      /options is of SavedModels/,
    );
    const path = fresh();
    mkdirSync(path, { recursive: true });
    await expect(save(f, path)).rejects.toThrow(/model.json is there and no file/);
    const blocked = join(folder.path, 'a-file');
    writeFileSync(blocked, '');
    await expect(save(f, join(blocked, 'model.json'))).rejects.toBeInstanceOf(tf.EagreError);
  });
});
