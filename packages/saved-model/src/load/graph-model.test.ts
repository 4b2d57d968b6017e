import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GradientTape } from '@eagre/autodiff';
import * as tf from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { save } from '../save/save.ts';
import { goldenFile, type Stored, temporaryFolder, toValue, unpack } from '../testing/golden.ts';
import { load } from './load.ts';
import type { LoadedObject } from './loaded-object.ts';

interface GraphModel {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, Stored>>;
  readonly again: boolean;
  readonly result: Readonly<
    Record<
      string,
      { readonly shape: readonly number[]; readonly data: readonly (number | boolean | string)[] }
    >
  >;
}
const { models } = goldenFile<{ readonly models: readonly GraphModel[] }>('tfjs-graphs');
const modelOf = (name: string): GraphModel => models.find((model) => model.name === name) as GraphModel;

const folder = temporaryFolder();
afterAll(() => folder.remove());
let next = 0;
const copyOf = (model: GraphModel): string =>
  unpack({ ...model, cases: [] }, folder.path, `${model.name}-${next++}`);

/** Tensors for the inputs of the signature, whose dtypes are the graph's. */
const inputsOf = ({ inputs }: GraphModel): Record<string, tf.Tensor> =>
  Object.fromEntries(Object.entries(inputs).map(([name, stored]) => [name, toValue(stored) as tf.Tensor]));

/** Expects the values of TensorFlow.js, which has fewer dtypes. */
function expectResult(actual: Readonly<Record<string, tf.Tensor>>, { name, result }: GraphModel): void {
  expect(Object.keys(actual).sort(), name).toEqual(
    Object.keys(result)
      .map((key) => key.replace(/:0$/, ''))
      .sort(),
  );
  for (const [key, { shape, data }] of Object.entries(result)) {
    const tensor = actual[key.replace(/:0$/, '')] as tf.Tensor;
    expect([...tensor.shape], `${name}.${key}`).toEqual(shape);
    Array.from(tensor.data() as ArrayLike<number | bigint>, Number).forEach((value, i) => {
      expect(value, `${name}.${key}[${i}]`).toBeCloseTo(Number(data[i]), 4);
    });
  }
}
const run = (loaded: LoadedObject, model: GraphModel): Record<string, tf.Tensor> =>
  (loaded.signatures['serving_default'] as (given: object) => Record<string, tf.Tensor>)(inputsOf(model));

describe('graphs of TensorFlow.js compute what it computes', () => {
  test.each(models.map((model) => [model.name, model] as const))('%s', async (_, model) => {
    const path = copyOf(model);
    expectResult(run(await load(join(path, 'model.json')), model), model);
  });

  test.each(models.filter(({ again }) => again).map((model) => [model.name, model] as const))(
    '%s, saved as a SavedModel',
    async (_, model) => {
      const target = join(folder.path, `${model.name}-saved`);
      const { signatures } = await load(copyOf(model));
      await save(new tf.Module(), target, {
        signatures: { serving_default: signatures['serving_default'] as never },
      });
      expectResult(run(await load(target), model), model);
    },
  );
});

test('a folder, and a file of another name, are read', async () => {
  const model = modelOf('dense-None');
  const path = copyOf(model);
  expectResult(run(await load(path), model), model);
  writeFileSync(join(path, 'other.json'), readFileSync(join(path, 'model.json')));
  rmSync(join(path, 'model.json'));
  expectResult(run(await load(join(path, 'other.json')), model), model);
  await expect(load(path)).rejects.toThrow(/no file saved_model.pb .*, and no model.json of TensorFlow.js/);
  await expect(load(join(path, 'model.json'))).rejects.toThrow(tf.NotFoundError);
});

test('a function of one is traced into another, has gradients, and its parts can be called', async () => {
  const model = modelOf('joined');
  const loaded = await load(copyOf(model));
  const { image } = inputsOf(model) as { image: tf.Tensor };
  const predict = loaded.signatures['serving_default'] as (x: object) => Record<string, tf.Tensor>;
  const outer = tfFunction((x: tf.Tensor) => (predict({ image: x })['productPrelu'] as tf.Tensor).mul(2));
  expect(outer(image).div(2).data()).toEqual((predict({ image })['productPrelu'] as tf.Tensor).data());
  const tape = new GradientTape();
  const sum = tape.record(() => {
    tape.watch(image);
    return (predict({ image })['convPrelu'] as tf.Tensor).sum();
  });
  const slope = tape.gradient(sum, image);
  expect((slope as tf.Tensor).shape).toEqual(image.shape);
  expect((slope as tf.Tensor).abs().sum().item()).toBeGreaterThan(0);
  const part = loaded.prune('image:0', 'convRelu:0');
  expect(part(image)[0].data()).toEqual((predict({ image })['convRelu'] as tf.Tensor).data());
});

describe('in pages', () => {
  const builtin = process.getBuiltinModule;
  afterEach(() => {
    Object.assign(process, { getBuiltinModule: builtin });
    vi.unstubAllGlobals();
  });
  test('files are fetched from beside the URL', async () => {
    const model = modelOf('dense-None');
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (url: string) => {
      asked.push(url);
      const name = url.replace(/^.*\//, '').replace(/\?.*$/, '');
      const content = model.files[name];
      return content === undefined
        ? new Response('', { status: 404 })
        : new Response(new Blob([new Uint8Array(Buffer.from(content, 'base64'))]));
    });
    Object.assign(process, { getBuiltinModule: undefined });
    expectResult(run(await load('https://x.y/models/model.json?key=1'), model), model);
    expect(asked.slice(0, 2)).toEqual([
      'https://x.y/models/model.json?key=1',
      'https://x.y/models/group1-shard1of2.bin?key=1',
    ]);
    await expect(load('https://x.y/other.json')).rejects.toThrow(/other.json: the server answered 404/);
  });
});

describe('what is wrong is named', () => {
  type Json = Record<string, never>;
  /** A model whose JSON is changed. */
  async function changed(name: string, change: (json: Json, path: string) => void): Promise<LoadedObject> {
    const path = copyOf(modelOf(name));
    const file = join(path, 'model.json');
    const json = JSON.parse(readFileSync(file, 'utf8')) as Json;
    change(json, path);
    writeFileSync(file, JSON.stringify(json));
    return load(path);
  }
  const changedText = (name: string, from: string | RegExp, to: string): Promise<LoadedObject> =>
    changed(name, (json) => {
      const text = JSON.stringify(json);
      const other = text.replace(from, to);
      expect(other).not.toBe(text);
      Object.assign(json, JSON.parse(other));
    });

  test('files of weights', async () => {
    const model = modelOf('dense-None');
    const path = copyOf(model);
    const shard = join(path, 'group1-shard1of2.bin');
    const bytes = readFileSync(shard);
    rmSync(shard);
    await expect(load(path)).rejects.toThrow(/there is no file .*group1-shard1of2.bin/);
    await expect(load(path)).rejects.toThrow(tf.NotFoundError);
    writeFileSync(shard, bytes.subarray(4));
    await expect(load(path)).rejects.toThrow(tf.DataLossError);
    await expect(load(path)).rejects.toThrow(
      /model.json: weight ".*" of the shape \[.*\]: expected .* bytes from .* on, got .* bytes in group1-shard1of2.bin \(36\)/,
    );
    writeFileSync(shard, Buffer.concat([bytes, bytes]));
    await expect(load(path)).rejects.toThrow(/model.json: the weights: expected .* bytes, got .* bytes in/);
    rmSync(shard);
    mkdirSync(shard);
    await expect(load(path)).rejects.toBeInstanceOf(tf.EagreError);
  });

  test.each(['../x.bin', '/etc/passwd', 'a/../../x', 'C:\\x', 'https://x.y/z', '..', '', '\0'])(
    'the path %j',
    async (to) => {
      await expect(
        changed('dense-None', (json) => {
          (json as unknown as { weightsManifest: [{ paths: string[] }] })['weightsManifest'][0].paths[0] = to;
        }),
      ).rejects.toThrow(/weightsManifest\[0\].paths: expected the path of a file in the folder of the model/);
    },
  );

  test.each([
    [/"shape":\[3,4\]/, '"shape":[-3,4]', /weight ".*": shape: expected sizes that are not negative/],
    [/"shape":\[3,4\]/, '"shape":[3e15,4e15]', /shape: expected sizes/],
    [
      /"shape":\[3,4\]/,
      '"shape":[1000000,1000000]',
      /of the shape \[1000000, 1000000\]: expected 4000000000000 bytes/,
    ],
    [/"shape":\[3,4\]/, '"shape":[4,3]', /./],
    [/"dtype":"float32"/, '"dtype":"float8"', /dtype: expected float32, int32/],
    [
      /"dtype":"float32"/,
      '"dtype":"float32","quantization":{"dtype":"uint4"}',
      /quantization.dtype: expected uint8/,
    ],
    [
      /"dtype":"float32"/,
      '"dtype":"float32","quantization":{"dtype":"uint8"}',
      /quantization: expected numbers scale/,
    ],
    [
      /"dtype":"DT_FLOAT"/,
      '"dtype":"DT_NONE"',
      /modelTopology.node\[\d\].*\.dtype: expected the name of a data type/,
    ],
    [/"op":"MatMul"/, '"op":"MatMuul"', /Eagre has no op 'MatMuul'/],
    [/"op":"MatMul"/, '"op":3', /modelTopology.node\[\d\].op: expected text, got 3/],
    [/"node":\[/, '"node":[null,', /modelTopology.node\[0\]: expected an object, got null/],
    [/"modelTopology":\{/, '"modelTopology":{"node":{"length":1e9},', /./],
    [/"input":\["x"/, '"input":["nowhere"', /model.json: graph 'main': node '.*' needs 'nowhere'/],
    [/"name":"Identity:0"/, '"name":"Nobody:0"', /'Nobody', which is not in the graph/],
    [/"format":"graph-model"/, '"format":"layers-model"', /tf.keras.models.loadModel/],
    [
      /"format":"graph-model"/,
      '"format":"graph-model","userDefinedMetadata":{"structuredOutputKeys":["a"]}',
      /as many names as the signature has outputs, 2/,
    ],
    [/"weightsManifest":\[/, '"weightsManifest":["x",', /weightsManifest\[0\]: expected an object/],
  ] as const)('JSON in which %s is %s', async (from, to, message) => {
    const found = changedText('dense-None', from, to);
    // A last key of the same name counts.
    if (message.source !== '.') await expect(found).rejects.toThrow(message);
    const error = await found.catch((error: unknown) => error);
    if (!((error as tf.Module) instanceof tf.Module)) expect(error).toBeInstanceOf(tf.EagreError);
  });

  test('nodes that need each other, and two of one name', async () => {
    type Nodes = { modelTopology: { node: { name: string; op: string; input?: string[] }[] } };
    await expect(
      changed('dense-None', (json) => {
        const { node } = (json as unknown as Nodes).modelTopology;
        const product = node.find(({ op }) => op === 'MatMul') as { name: string; input: string[] };
        product.input[0] = product.name;
      }),
    ).rejects.toThrow(/need each other/);
    await expect(
      changed('dense-None', (json) => {
        const { node } = (json as unknown as Nodes).modelTopology;
        node.push(node[0] as (typeof node)[0]);
      }),
    ).rejects.toThrow(/two nodes are called/);
  });

  test('constants without a value, JSON that is none, and options of SavedModels', async () => {
    await expect(
      changedText('dense-None', /"name":"[^"]*","shape":\[3,4\]/, '"name":"x1","shape":[3,4]'),
    ).rejects.toThrow(/model.json: .*the list of weights has none for the constant '/);
    const path = copyOf(modelOf('dense-None'));
    await expect(load(path, { tags: 'serve' })).rejects.toThrow(
      /tags is of SavedModels, and .*model.json is a model/,
    );
    await expect(load(path, { allowPartialCheckpoint: true })).rejects.toThrow(tf.InvalidArgumentError);
    for (const text of [
      '',
      '{',
      '[]',
      '{"a":1}',
      'null',
      '{"modelTopology":{}}',
      '{"modelTopology":[]}',
      '\xff',
    ]) {
      writeFileSync(join(path, 'model.json'), Buffer.from(text, 'latin1'));
      await expect(load(path), text).rejects.toThrow(tf.DataLossError);
      await expect(load(path), text).rejects.toThrow(/model.json: /);
    }
  });

  test('names such as __proto__ are names', async () => {
    await changedText('dense-None', /"attr":\{/, '"attr":{"__proto__":{"b":true},"constructor":{"i":"3"},');
    await changedText('dense-None', /"modelTopology":\{/, '"modelTopology":{"__proto__":{"node":[]},');
    expect(({} as { node?: unknown }).node).toBeUndefined();
    expect(({} as { b?: unknown }).b).toBeUndefined();
  });
});
