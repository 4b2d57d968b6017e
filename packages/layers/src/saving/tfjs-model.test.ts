// Models of Keras in files of TensorFlow.js: tools/golden/tfjs_layers.py.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { constant, EagreError, NotFoundError, type Tensor, UnimplementedError } from '@eagre/core';
import { type OptimizerLike, RMSprop, SGD } from '@eagre/optimizers';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { Input, layers, loadModel, type Model, Sequential } from '../index.ts';

interface Stored {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}
interface TfjsModel {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly x: Stored | readonly Stored[];
  readonly y?: Stored;
  readonly outputs: Stored | readonly Stored[];
  readonly losses?: readonly number[];
}
const { models } = JSON.parse(
  gunzipSync(
    readFileSync(fileURLToPath(new URL('../../golden/tfjs-layers.json.gz', import.meta.url))),
  ).toString(),
) as { readonly models: readonly TfjsModel[] };
const modelOf = (name: string): TfjsModel => models.find((model) => model.name === name) as TfjsModel;

const folder = mkdtempSync(join(tmpdir(), 'eagre-tfjs-layers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});
let next = 0;
function unpack({ name, files }: TfjsModel): string {
  const path = join(folder, `${name}-${next++}`);
  mkdirSync(path);
  for (const [file, content] of Object.entries(files))
    writeFileSync(join(path, file), Buffer.from(content, 'base64'));
  return path;
}
const tensor = ({ data, shape }: Stored): Tensor => constant(data as number[], 'float32', { shape });
const inputOf = ({ x }: TfjsModel): Tensor | Tensor[] => ('data' in x ? tensor(x) : x.map(tensor));

function expectOutputs(model: Model, golden: TfjsModel): void {
  const [{ shape, data }] = [golden.outputs].flat() as [Stored];
  const found = model.invoke(inputOf(golden)) as Tensor;
  expect(found.shape).toEqual(shape);
  Array.from(found.data() as Float32Array).forEach((value, i) => {
    expect(value, `${golden.name}, value ${i}`).toBeCloseTo(data[i] as number, 4);
  });
}

test.each(models.map((model) => [model.name, model] as const))(
  '%s predicts the same, and trains on with the same losses',
  async (_, golden) => {
    const warn = vi.spyOn(console, 'warn');
    const model = await loadModel(join(unpack(golden), 'model.json'));
    expect(warn).not.toHaveBeenCalled();
    expectOutputs(model, golden);
    for (const loss of golden.losses ?? []) {
      model.resetMetrics();
      const found = model.trainOnBatch(inputOf(golden) as Tensor, tensor(golden.y as Stored))[
        'loss'
      ] as number;
      expect(found / loss).toBeCloseTo(1, 3);
    }
    if (golden.losses !== undefined && golden.losses.length > 0) {
      model.compile({ optimizer: 'sgd', loss: 'mse' });
      model.trainOnBatch(inputOf(golden) as Tensor, tensor(golden.y as Stored));
    }
  },
);

test('a folder is read, and without compile the model stays uncompiled', async () => {
  const golden = modelOf('tfjs-dense');
  const path = unpack(golden);
  expectOutputs(await loadModel(path), golden);
  expect((await loadModel(path, { compile: false })).compiled).toBe(false);
  expect((await loadModel(path)).compiled).toBe(true);
});

test('the hard sigmoid is that of the file, also when the model is saved in a file of Keras', async () => {
  const golden = modelOf('tfjs-words');
  const model = await loadModel(unpack(golden));
  const path = join(folder, 'words.keras');
  await model.save(path);
  expectOutputs(await loadModel(path), golden);
});

test('in pages files are fetched from beside the URL', async () => {
  const golden = modelOf('keras2-dense');
  const model = await loadModel(unpack(golden));
  expectOutputs(model, golden);
  const asked: string[] = [];
  const builtin = process.getBuiltinModule;
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(url);
    const content = golden.files[url.replace(/^.*\//, '').replace(/\?.*$/, '')];
    return content === undefined
      ? new Response('', { status: 404 })
      : new Response(new Blob([new Uint8Array(Buffer.from(content, 'base64'))]));
  });
  Object.assign(process, { getBuiltinModule: undefined });
  try {
    expectOutputs(await loadModel('/web/model.json?v=2'), golden);
    expect(asked).toEqual(['/web/model.json?v=2', '/web/group1-shard1of1.bin?v=2']);
    await expect(loadModel('/web/none.json')).rejects.toThrow(/none.json: the server answered 404/);
  } finally {
    Object.assign(process, { getBuiltinModule: builtin });
  }
});

describe('what is wrong is named', () => {
  const changed = (from: string | RegExp, to: string, name = 'tfjs-dense'): Promise<Model> => {
    const path = unpack(modelOf(name));
    const file = join(path, 'model.json');
    const text = readFileSync(file, 'utf8');
    const other = text.replace(from, to);
    expect(other).not.toBe(text);
    writeFileSync(file, other);
    return loadModel(path);
  };

  test.each([
    [
      /"dense_Dense\d+\/kernel","shape":\[3,4\]/,
      '"dense_x/kernel","shape":[3,4]',
      /no layer has the weight 'dense_x\/kernel'; 'dense_Dense\d': expected 2 weights \(.*\), got 1 \(/,
    ],
    [
      /"shape":\[3,4\]/,
      '"shape":[4,3]',
      /model.json: .*'dense_Dense\d': expected float32 \[3, ?4\] for .*, got float32 \[4, ?3\]/,
    ],
    [/"units":4/, '"units":5', /'dense_Dense\d': expected float32 \[3, ?5\]/],
    [/"class_name":"Dense"/, '"class_name":"Nothing"', /Nothing/],
    [/"class_name":"Dense"/, '"class_name":"__proto__"', /__proto__/],
    [
      /"format":"layers-model"/,
      '"format":"graph-model"',
      /is a graph of TensorFlow: read it with tf.savedModel.load/,
    ],
    [/"batch_input_shape":\[null,3\],/, '', /does not say the shape of its input/],
    [/"weights.bin"/, '"../weights.bin"', /the path of a file in the folder/],
    [/"weights.bin"/, '"nothing.bin"', /there is no file .*nothing.bin/],
    [/"optimizer_config":\{"class_name":"Adam"/, '"optimizer_config":{"class_name":"Adamus"', /Adamus/],
    [/"modelTopology":\{/, '"modelTopology":3,"x":{', /modelTopology: expected an object/],
  ] as const)('%s in the place of %s', async (from, to, message) => {
    await expect(changed(from, to)).rejects.toThrow(message);
    await expect(changed(from, to)).rejects.toBeInstanceOf(EagreError);
  });

  test('files that are not there, and a state that does not fit', async () => {
    await expect(loadModel(join(folder, 'none', 'model.json'))).rejects.toThrow(NotFoundError);
    await expect(loadModel(join(folder, 'x.weights.json'))).rejects.toThrow();
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    await changed(/kernel\/m"/, 'kernel/n"');
    expect(warn).toHaveBeenCalledWith(
      expect.stringMatching(/the state of the optimizer does not fit .*\(1 of 9 arrays\), so it begins anew/),
    );
    const nested = `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`;
    await expect(changed(/"modelTopology":\{/, `"modelTopology":{"deep":${nested},`)).rejects.toThrow(
      /levels deep/,
    );
  });

  test('a Sequential whose configuration is a list, as the oldest files have it', async () => {
    const golden = modelOf('tfjs-dense');
    const path = unpack(golden);
    const file = join(path, 'model.json');
    const json = JSON.parse(readFileSync(file, 'utf8'));
    json.modelTopology.config = json.modelTopology.config.layers;
    json.format = undefined;
    // Keras had another name for it then.
    json.trainingConfig.optimizer_config.config = { lr: 0.5, beta_1: 0.9, decay: 0 };
    writeFileSync(file, JSON.stringify(json));
    const model = await loadModel(file);
    expectOutputs(model, golden);
    expect(model.optimizer.learningRate).toBe(0.5);
  });
});

test('layers of another kind of file are not asked for', async () => {
  const model = new Sequential([new layers.Dense(1, { inputShape: [2] })]);
  await model.save(join(folder, 'plain'), { zipped: false });
  writeFileSync(join(folder, 'plain', 'model.json'), '{}');
  expect(await loadModel(join(folder, 'plain'))).toBeInstanceOf(Sequential);
  await expect(loadModel(join(folder, 'nothing.txt'))).rejects.toThrow();
  await expect(loadModel(join(folder, 'plain', 'model.json'))).rejects.toThrow(EagreError);
});

describe('models written for TensorFlow.js', () => {
  // A stack of cells is an RNN of one class there, and of another one here.
  test.each(models.filter(({ name }) => name !== 'tfjs-series').map((model) => [model.name, model] as const))(
    '%s is read again',
    async (name, golden) => {
      const model = await loadModel(unpack(golden));
      const path = join(folder, `${name}-written`, 'model.json');
      await model.save(path);
      const again = await loadModel(path);
      expectOutputs(again, golden);
      expect(again.compiled).toBe(model.compiled);
      // What TensorFlow.js called its weights.
      const names = (file: string): string[] =>
        JSON.parse(readFileSync(file, 'utf8'))
          .weightsManifest.flatMap((group: { weights: { name: string; group?: string }[] }) => group.weights)
          .filter((weight: { group?: string }) => weight.group !== 'optimizer')
          .map((weight: { name: string }) => weight.name)
          .sort();
      if (name.startsWith('tfjs-')) expect(names(path)).toEqual(names(join(unpack(golden), 'model.json')));
    },
  );

  test('of more than four megabytes are several files', async () => {
    const model = new Sequential([new layers.Dense(1200, { inputShape: [1000] })]);
    const path = join(folder, 'large', 'model.json');
    await model.save(path);
    const [{ paths }] = JSON.parse(readFileSync(path, 'utf8')).weightsManifest;
    expect(paths).toEqual(['group1-shard1of2.bin', 'group1-shard2of2.bin']);
    expect(readFileSync(join(folder, 'large', paths[0])).length).toBe(4 * 2 ** 20);
    const again = await loadModel(path);
    expect(again.getWeights()[0]?.data()).toEqual(model.getWeights()[0]?.data());
    await expect(model.save(path, { overwrite: false })).rejects.toThrow(/exists, and overwrite is false/);
  });

  test.each([
    [() => new layers.GRU(2), [3, 2], /'gru\w*' \(GRU\): TensorFlow.js has no GRU with resetAfter: true/],
    [
      () => new layers.Dense(2, { activation: 'hardSigmoid' }),
      [4],
      /no activation 'hard_sigmoid' as here: its own is steeper/,
    ],
    [() => new layers.Dense(2, { activation: 'celu' }), [4], /no activation 'celu'/],
    [
      () => new layers.GroupNormalization(1),
      [4],
      /no layer such as 'group_normalization\w*' \(GroupNormalization\)/,
    ],
    [() => new layers.Dense(2, { dtype: 'float16' }), [4], /computes in float32 alone, got float16/],
    [() => new layers.Conv2D(4, 1, { groups: 2 }), [4, 4, 2], /no option groups, which is 2/],
    [() => new layers.LSTM(2, { zeroOutputForMask: true }), [3, 2], /no option zero_output_for_mask/],
  ] as const)('a layer that it does not know is refused by its name: %s', async (make, shape, message) => {
    const model = new Sequential([Input([...shape]), make()]);
    const path = join(folder, 'refused', 'model.json');
    await expect(model.save(path)).rejects.toThrow(message);
    await expect(model.save(path)).rejects.toThrow(UnimplementedError);
    await expect(loadModel(path)).rejects.toThrow(NotFoundError);
  });

  const trainedBy = (optimizer: OptimizerLike): readonly [Model, () => number[]] => {
    const model = new Sequential([
      Input([3]),
      new layers.Dense(4, { activation: 'tanh' }),
      new layers.BatchNormalization(),
      new layers.Dense(1),
    ]);
    model.compile({ optimizer, loss: 'mse', metrics: ['mae'] });
    return [model, () => stepsOf(model)];
  };
  const given = constant([
    [1, -2, 0.5],
    [0.25, 3, -1],
  ]);
  const stepsOf = (model: Model): number[] =>
    [0, 1, 2].map(() => {
      model.resetMetrics();
      return model.trainOnBatch(given, constant([[1], [-1]]))['loss'] as number;
    });
  test.each([
    ['sgd', (): OptimizerLike => 'sgd', []],
    ['momentum', (): OptimizerLike => new SGD(0.05, { momentum: 0.9, nesterov: true }), ['momentum']],
    ['adam', (): OptimizerLike => 'adam', ['m', 'v']],
    ['rmsprop', (): OptimizerLike => 'rmsprop', ['rms', 'momentum']],
    [
      'rmsprop, centered',
      (): OptimizerLike => new RMSprop(0.01, { centered: true, momentum: 0.5 }),
      ['rms', 'momentum', 'mg'],
    ],
    ['adagrad', (): OptimizerLike => 'adagrad', ['accumulator']],
    ['adadelta', (): OptimizerLike => 'adadelta', ['accum_grad', 'accum_var']],
  ] as const)('training goes on: %s', async (name, optimizer, kinds) => {
    const [model, steps] = trainedBy(optimizer());
    steps();
    const path = join(folder, `state ${name}`, 'model.json');
    await model.save(path);
    const { weightsManifest } = JSON.parse(readFileSync(path, 'utf8')) as {
      weightsManifest: [{ weights: { name: string; group?: string }[] }];
    };
    const kept = weightsManifest[0].weights.filter(({ group }) => group === 'optimizer');
    const trained = weightsManifest[0].weights.filter(
      ({ name, group }) => group === undefined && !name.includes('moving_'),
    );
    expect(kept.map((weight) => weight.name)).toEqual([
      'iter',
      ...kinds.flatMap((kind) => trained.map((weight) => `${weight.name}/${kind}`)),
    ]);
    const again = await loadModel(path);
    expect(again.optimizer.iterations.item()).toBe(3);
    const wanted = steps();
    stepsOf(again).forEach((loss, i) => expect(loss).toBeCloseTo(wanted[i] as number, 5));
  });

  test('what it does not keep of an optimizer is left out, or refused', async () => {
    const path = join(folder, 'no state', 'model.json');
    const groupsOf = (): (string | undefined)[] =>
      JSON.parse(readFileSync(path, 'utf8')).weightsManifest[0].weights.map(
        ({ group }: { group?: string }) => group,
      );
    const [adamax, steps] = trainedBy('adamax');
    steps();
    await adamax.save(path);
    expect(groupsOf()).not.toContain('optimizer');
    await trainedBy('adam')[0].save(path);
    expect(groupsOf()).not.toContain('optimizer');
    const [model, train] = trainedBy('adam');
    train();
    await model.save(path, { includeOptimizer: false });
    expect(groupsOf()).not.toContain('optimizer');
    await expect(trainedBy(new SGD(0.1, { clipnorm: 1 }))[0].save(path)).rejects.toThrow(
      /optimizers have no clipnorm, which is 1; save it with includeOptimizer: false/,
    );
    const [still, move] = trainedBy(new SGD(0, { momentum: 0.9 }));
    move();
    await expect(still.save(path)).rejects.toThrow(/momentum is kept without the learning rate/);
  });

  test('what it does not compile is refused, or left out', async () => {
    const model = new Sequential([Input([2]), new layers.Dense(1)]);
    const path = join(folder, 'compiled', 'model.json');
    model.compile({ optimizer: 'lion', loss: 'mse' });
    await expect(model.save(path)).rejects.toThrow(/no optimizer Lion; save it with includeOptimizer: false/);
    model.compile({ optimizer: 'adam', loss: 'huber' });
    await expect(model.save(path)).rejects.toThrow(/no loss 'huber'/);
    await model.save(path, { includeOptimizer: false });
    expect((await loadModel(path)).compiled).toBe(false);
  });
});
