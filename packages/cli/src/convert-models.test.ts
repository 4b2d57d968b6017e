import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { constant, InvalidArgumentError, random, type Tensor, UnimplementedError } from '@eagre/core';
import { readSafetensorsFile } from '@eagre/formats';
import { Input, layers, loadModel, Model, Sequential } from '@eagre/layers';
import * as onnx from '@eagre/onnx';
import * as savedModel from '@eagre/saved-model';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { convert } from './convert.ts';

let folder: string;
const at = (...names: string[]): string => join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-convert-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const x = random.Generator.fromSeed(3).normal([4, 6]);
const makeModel = (): Model =>
  new Sequential([
    new layers.Dense(5, { activation: 'relu', inputShape: [6] }),
    new layers.BatchNormalization(),
    new layers.Dense(2, { activation: 'softmax' }),
  ]);
const expectClose = (found: Tensor, expected: Tensor): void => {
  expect(found.shape).toEqual(expected.shape);
  expect(found.sub(expected).abs().max().item()).toBeLessThan(1e-6);
};
const only = (result: unknown): Tensor =>
  (Array.isArray(result)
    ? result[0]
    : 'dtype' in (result as object)
      ? result
      : Object.values(result as object)[0]) as Tensor;

/** What a file of a model computes. */
async function outputOf(path: string): Promise<Tensor> {
  if (/\.(keras|h5)$/.test(path)) return (await loadModel(path))(x) as Tensor;
  if (path.endsWith('.onnx')) return only((await onnx.load(path))(x));
  const { signatures } = await savedModel.load(path);
  const serve = signatures['serving_default'] as NonNullable<(typeof signatures)[string]>;
  const [name] = Object.keys(serve.structuredInputSignature[1]);
  return only(serve({ [name as string]: x }));
}

describe('models compute the same', () => {
  const places = { keras: 'm.keras', 'keras-h5': 'm.h5', 'saved-model': 'm', onnx: 'm.onnx' };
  const ways: [keyof typeof places, keyof typeof places][] = [
    ['keras', 'keras-h5'],
    ['keras', 'saved-model'],
    ['keras', 'onnx'],
    ['keras-h5', 'keras'],
    ['keras-h5', 'onnx'],
    ['onnx', 'saved-model'],
    ['saved-model', 'onnx'],
  ];
  test.each(ways)('from %s to %s', async (from, to) => {
    const model = makeModel();
    const expected = model(x) as Tensor;
    await model.save(at('start.keras'));
    const source = from === 'keras' ? at('start.keras') : at('a', places[from]);
    if (from !== 'keras') await convert(at('start.keras'), source);
    const target = at('b', places[to]);
    expect(await convert(source, target)).toEqual({ from, to, arrays: null });
    expectClose(await outputOf(target), expected);
    expect(readdirSync(at('b'))).toEqual([places[to]]);
  });

  test('with several inputs and outputs, through all formats and back to a function', async () => {
    const [a, b] = [Input({ shape: [6], name: 'a' }), Input({ shape: [6], name: 'b' })];
    const sum = new layers.Add()([a, b]);
    const model = new Model({
      inputs: [b, a],
      outputs: [new layers.Dense(2, { name: 'z' })(sum), new layers.Subtract({ name: 'c' })([a, b])],
    });
    const [z, c] = model([x.mul(2), x]) as unknown as [Tensor, Tensor];
    await model.save(at('m.keras'));
    await convert(at('m.keras'), at('m.onnx'));
    await convert(at('m.onnx'), at('saved'));
    await convert(at('saved'), at('again.onnx'));
    const again = await onnx.load(at('again.onnx'));
    expect(again.inputs.map(({ name }) => name).sort()).toEqual(['a', 'b']);
    const result = again({ a: x, b: x.mul(2) }) as unknown as Record<string, Tensor>;
    const found = Object.values(result);
    expectClose(found.find((t) => t.shape[1] === 2) as Tensor, z);
    expectClose(found.find((t) => t.shape[1] === 6) as Tensor, c);
  });
});

interface TfjsGolden {
  readonly models: readonly {
    readonly name: string;
    readonly files: Readonly<Record<string, string>>;
    readonly x?: { readonly shape: number[]; readonly data: number[] };
    readonly inputs?: { readonly x: { readonly shape: number[]; readonly data: number[] } };
    readonly outputs?: { readonly data: number[] };
    readonly result?: Readonly<Record<string, { readonly data: number[] }>>;
  }[];
}
/** Writes a golden model of TensorFlow.js into a folder. */
function tfjsModel(file: string, name: string, target: string): TfjsGolden['models'][number] {
  const golden = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const { models } = JSON.parse(gunzipSync(readFileSync(golden)).toString()) as TfjsGolden;
  const model = models.find((one) => one.name === name) as TfjsGolden['models'][number];
  mkdirSync(target);
  for (const [path, content] of Object.entries(model.files))
    writeFileSync(join(target, path), Buffer.from(content, 'base64'));
  return model;
}
const expectValues = (found: Tensor, expected: readonly number[]): void => {
  Array.from(found.data() as Float32Array).forEach((value, i) => {
    expect(value).toBeCloseTo(expected[i] as number, 4);
  });
};

describe('models of TensorFlow.js', () => {
  test('of Keras become other models, and arrays', async () => {
    const golden = tfjsModel('layers/golden/tfjs-layers.json.gz', 'tfjs-dense', at('web'));
    const { data, shape } = golden.x as { readonly shape: number[]; readonly data: number[] };
    const given = constant(data, 'float32', { shape });
    expect(await convert(at('web'), at('m.keras'))).toEqual({
      from: 'tfjs-layers',
      to: 'keras',
      arrays: null,
    });
    expectValues((await loadModel(at('m.keras')))(given) as Tensor, golden.outputs?.data as number[]);
    await convert(at('web', 'model.json'), at('m.onnx'));
    expectValues(only((await onnx.load(at('m.onnx')))(given)), golden.outputs?.data as number[]);
    expect(await convert(at('web', 'model.json'), at('w.npz'))).toMatchObject({
      from: 'tfjs-layers',
      arrays: 4,
    });
  });

  test('that are graphs become SavedModels, ONNX files, and arrays', async () => {
    const golden = tfjsModel('saved-model/golden/tfjs-graphs.json.gz', 'dense-uint8', at('web'));
    const { data, shape } = (golden.inputs as NonNullable<typeof golden.inputs>).x;
    const given = constant(data, 'float32', { shape });
    expect(await convert(at('web', 'model.json'), at('saved'))).toEqual({
      from: 'tfjs-graph',
      to: 'saved-model',
      arrays: null,
    });
    const { signatures } = await savedModel.load(at('saved'));
    const results = signatures['serving_default']?.({ x: given }) as Record<string, Tensor>;
    for (const [key, result] of Object.entries(golden.result ?? {}))
      expectValues(results[key] as Tensor, result.data);
    await convert(at('web'), at('m.onnx'));
    expect((await onnx.load(at('m.onnx'))).outputs).toHaveLength(Object.keys(results).length);
    expect(await convert(at('web'), at('w.safetensors'))).toMatchObject({
      from: 'tfjs-graph',
      to: 'safetensors',
    });
  });

  test('are graphs of what has no layers, and what is none is refused', async () => {
    const model = makeModel();
    await model.save(at('m.keras'));
    expect(await convert(at('m.keras'), at('web', 'model.json'))).toMatchObject({ to: 'tfjs-layers' });
    expectClose((await loadModel(at('web')))(x) as Tensor, model(x) as Tensor);
    await convert(at('m.keras'), at('saved'));
    await expect(convert(at('saved'), at('z.json'), { to: 'tfjs-layers' })).rejects.toThrow(
      /a model without layers of Keras cannot become one of Keras/,
    );
    const graphs = [at('graph', 'model.json'), at('of-keras', 'model.json'), at('of-onnx', 'model.json')];
    expect(await convert(at('saved'), graphs[0] as string)).toEqual({
      from: 'saved-model',
      to: 'tfjs-graph',
      arrays: null,
    });
    await convert(at('m.keras'), at('of-keras'), { to: 'tfjs-graph' });
    await convert(at('m.keras'), at('m.onnx'));
    expect(await convert(at('m.onnx'), graphs[2] as string)).toMatchObject({ to: 'tfjs-graph' });
    for (const path of graphs) {
      const serve = (await savedModel.load(path)).signatures['serving_default'] as unknown as {
        (given: object): Record<string, Tensor>;
        readonly structuredInputSignature: readonly [unknown, object];
      };
      const [name] = Object.keys(serve.structuredInputSignature[1]) as [string];
      expectClose(Object.values(serve({ [name]: x }))[0] as Tensor, model(x) as Tensor);
    }
    await expect(convert(at('saved'), at('graph'), { to: 'tfjs-graph' })).rejects.toThrow(/is there already/);
    writeFileSync(at('x.json'), '{');
    await expect(convert(at('x.json'), at('y.onnx'))).rejects.toThrow(
      /x.json: the file: expected a model.json/,
    );
  });
});

describe('weights of models', () => {
  test('become arrays, which models load', async () => {
    const model = makeModel();
    const expected = model(x) as Tensor;
    await model.save(at('m.keras'));
    await convert(at('m.keras'), at('w.safetensors'));
    const { tensors } = await readSafetensorsFile(at('w.safetensors'));
    expect([...tensors.keys()].sort()).toEqual(model.namedWeights.map(({ path }) => path).sort());
    const other = makeModel();
    await other.loadWeights(at('w.safetensors'));
    expectClose(other(x) as Tensor, expected);
    expect(await convert(at('m.keras'), at('w.npz'))).toEqual({ from: 'keras', to: 'npz', arrays: 8 });
  });

  test('of .weights.h5 go to other files and back', async () => {
    const model = makeModel();
    const expected = model(x) as Tensor;
    await model.saveWeights(at('m.weights.h5'));
    await convert(at('m.weights.h5'), at('m.safetensors'));
    await convert(at('m.safetensors'), at('again.weights.h5'));
    const other = makeModel();
    await other.loadWeights(at('again.weights.h5'));
    expectClose(other(x) as Tensor, expected);
    const golden = fileURLToPath(new URL('../golden/kinds.h5', import.meta.url));
    await expect(convert(golden, at('k.safetensors'), { from: 'weights-h5' })).rejects.toThrow(
      UnimplementedError,
    );
  });
});

describe('refuses, and leaves nothing', () => {
  test('what cannot be', async () => {
    const model = makeModel();
    await model.save(at('m.keras'));
    await convert(at('m.keras'), at('m.onnx'));
    await convert(at('m.keras'), at('w.safetensors'));
    const before = readdirSync(folder, { recursive: true });
    const refused = async (
      from: string,
      to: string,
      error: new (...args: never) => Error,
      message: RegExp,
      options = {},
    ): Promise<void> => {
      const caught = await convert(at(from), at(to), options).catch((cause: unknown) => cause);
      expect((caught as Error).message).toMatch(message);
      expect(caught).toBeInstanceOf(error);
      expect(readdirSync(folder, { recursive: true })).toEqual(before);
    };
    await refused('m.onnx', 'x.keras', UnimplementedError, /without layers of Keras/);
    await refused('m.onnx', 'x.npz', UnimplementedError, /an .onnx file cannot become a .npz file/);
    await refused(
      'w.safetensors',
      'x.keras',
      UnimplementedError,
      /a .safetensors file cannot become a model/,
    );
    await refused('m.keras', 'x.keras', InvalidArgumentError, /already: copy it/);
    await refused('m.keras', 'x.onnx', InvalidArgumentError, /--dtype casts arrays/, { dtype: 'float16' });
    await refused('m.keras', 'm.onnx', Error, /is there already/);
    const bytes = readFileSync(at('m.keras'));
    writeFileSync(at('m.keras'), bytes.subarray(0, 500));
    await refused('m.keras', 'x.onnx', Error, /m.keras/);
    const model2 = readFileSync(at('m.onnx'));
    writeFileSync(at('m.onnx'), model2.subarray(0, model2.length - 9));
    await refused('m.onnx', 'x', Error, /./);
    expect(existsSync(at('x'))).toBe(false);
  });
});
