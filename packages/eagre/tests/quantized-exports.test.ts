// Models of few bits as SavedModels and in ONNX. TensorFlow 2.21 and onnxruntime compute the same of these files.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { keras, onnx, savedModel } = tf;
const { layers } = keras;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eagre-quantized-'));
});
afterAll(() => rm(folder, { recursive: true }));

const models = {
  dense: () =>
    new keras.Sequential([
      keras.Input({ shape: [6] }),
      new layers.Dense(5, { activation: 'relu' }),
      new layers.Dense(3),
    ]),
  einsum: () =>
    new keras.Sequential([
      keras.Input({ shape: [4, 6] }),
      new layers.EinsumDense('abc,cde->abde', [4, 2, 3], { biasAxes: 'de' }),
    ]),
  table: () =>
    new keras.Sequential([
      keras.Input({ shape: [4], dtype: 'int32' }),
      new layers.Embedding(9, 4),
      new layers.Dense(3),
    ]),
  attention: () => {
    const input = keras.Input({ shape: [4, 6] });
    return new keras.Model(input, new layers.MultiHeadAttention(2, 3)(input, input));
  },
};
const { Int4QuantizationConfig, AbsMaxQuantizer, GPTQConfig, AWQConfig } = keras.quantizers;
const perChannel = new Int4QuantizationConfig({ blockSize: -1, activationQuantizer: new AbsMaxQuantizer() });
const calibrated = (
  model: tf.keras.Model,
  Config: typeof GPTQConfig | typeof AWQConfig,
): InstanceType<typeof GPTQConfig | typeof AWQConfig> =>
  new Config([[1, 2, 3, 4, 5, 6, 7, 8]], (text) => [text.length], {
    numSamples: 2,
    sequenceLength: 4,
    groupSize: 2,
    quantizationLayerStructure: {
      preBlockLayers: model.layers.slice(0, 1),
      sequentialBlocks: model.layers.slice(1),
    },
  });
const modes: Record<string, (model: tf.keras.Model) => void> = {
  int8: (m) => m.quantize('int8'),
  int4: (m) => m.quantize('int4'),
  'int4 with inputs': (m) => m.quantize({ config: perChannel }),
  float8: (m) => m.quantize('float8'),
  gptq: (m) => m.quantize('gptq', { config: calibrated(m, GPTQConfig) }),
  awq: (m) => m.quantize('awq', { config: calibrated(m, AWQConfig) }),
};
const cases = Object.keys(models).flatMap((model) =>
  Object.keys(modes)
    .filter((mode) => (mode !== 'gptq' && mode !== 'awq') || model === 'table')
    .map((mode) => [model, mode] as const),
);

describe.each(cases)('%s of %s', (name, mode) => {
  const made = (): { readonly model: tf.keras.Model; readonly x: tf.Tensor } => {
    tf.random.setSeed(3);
    const model = models[name as 'dense']() as tf.keras.Model;
    modes[mode]?.(model);
    const x =
      name === 'table'
        ? tf.constant([
            [1, 2, 3, 4],
            [8, 0, 7, 1],
          ])
        : tf.random.normal(name === 'dense' ? [2, 6] : [2, 4, 6]);
    return { model, x: name === 'table' ? x.cast('int32') : x };
  };
  const near = (got: tf.Tensor, wanted: tf.Tensor): void => {
    expect(got.shape).toEqual(wanted.shape);
    expect(got.sub(wanted).abs().max().item() as number).toBeLessThan(1e-5);
  };

  test('as a SavedModel', async () => {
    const { model, x } = made();
    const path = join(folder, `${name}-${mode}`);
    await model.export(path, { verbose: false });
    const loaded = (await savedModel.load(path)) as unknown as { serve(x: tf.Tensor): tf.Tensor };
    near(loaded.serve(x), model(x) as tf.Tensor);
  });

  test('in ONNX', async () => {
    const { model, x } = made();
    const path = join(folder, `${name}-${mode}.onnx`);
    if (mode === 'float8') {
      await expect(onnx.save(model, path)).rejects.toThrow(tf.errors.UnimplementedError);
      return;
    }
    await onnx.save(model, path);
    const loaded = await onnx.load(path);
    const result = (loaded as unknown as (x: tf.Tensor) => unknown)(x);
    near((Array.isArray(result) ? result[0] : result) as tf.Tensor, model(x) as tf.Tensor);
  });
});
