import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  constant,
  InvalidArgumentError,
  NotFoundError,
  ones,
  random,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { afterAll, describe, expect, test } from 'vitest';
import '../index.ts';
import { Conv2D } from '../layers/convolutional/conv.ts';
import { cloneModel, modelFromJSON } from '../models/cloning.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { assertClose, readGolden } from '../testing/golden.ts';
import { runLayerTest } from '../testing/run-layer-test.ts';
import { LayerScale, StochasticDepth } from './convnext.ts';
import { CustomScaleLayer } from './inception-resnet-v2.ts';
import * as applications from './index.ts';

const { imagenetUtils, MobileNetV2, MobileNetV3Small } = applications;
const small = { inputShape: [32, 32, 3], alpha: 0.35, classes: 5 } as const;

const folder = mkdtempSync(join(tmpdir(), 'eagre-applications-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Preprocessed {
  readonly mode: 'caffe' | 'tf' | 'torch';
  readonly dataFormat: 'channelsLast' | 'channelsFirst';
  readonly shape: number[];
  readonly x: number[];
  readonly y: number[];
}

describe('preprocessInput', () => {
  const golden = readGolden<{ readonly preprocessed: readonly Preprocessed[] }>('applications').preprocessed;
  test.each(golden)('$mode $dataFormat $shape', ({ mode, dataFormat, shape, x, y }) => {
    const images = constant(x, 'float32', { shape });
    for (const given of [images, images.array() as never, images.cast('uint8')]) {
      const got = imagenetUtils.preprocessInput(given, { dataFormat, mode });
      expect(got.shape).toEqual(shape);
      assertClose(got.data() as Float32Array, y, mode, 1e-6, 100);
    }
    const input = Input([...shape.slice(-3)]);
    const model = new Model(input, imagenetUtils.preprocessInput(input, dataFormat, mode));
    assertClose(
      (model(images.reshape([-1, ...shape.slice(-3)])) as Tensor).data() as Float32Array,
      y,
      mode,
      1e-6,
      100,
    );
  });

  test('of each network', () => {
    const x = constant([[[0, 127.5, 255]]]);
    const rounded = (y: Tensor): number[] =>
      Array.from(y.data() as Float32Array, (v) => Math.round(v * 100) / 100);
    const { vgg16, vgg19, resnet, resnet50, densenet, ...others } = applications;
    for (const { preprocessInput } of [vgg16, vgg19, resnet, resnet50])
      expect(rounded(preprocessInput(x))).toEqual([151.06, 10.72, -123.68]);
    expect(rounded(densenet.preprocessInput({ x }))).toEqual([-2.12, 0.2, 2.64]);
    const { mobilenet, mobilenetV2, resnetV2, xception, inceptionV3, inceptionResnetV2, nasnet } = others;
    for (const { preprocessInput } of [
      mobilenet,
      mobilenetV2,
      resnetV2,
      xception,
      inceptionV3,
      inceptionResnetV2,
      nasnet,
    ])
      expect(rounded(preprocessInput(x))).toEqual([-1, 0, 1]);
    const { mobilenetV3, efficientnet, efficientnetV2, convnext } = others;
    for (const { preprocessInput } of [mobilenetV3, efficientnet, efficientnetV2, convnext])
      expect(preprocessInput(x)).toBe(x);
  });

  test('says what does not fit', () => {
    expect(() => imagenetUtils.preprocessInput([1, 2, 3])).toThrow('images with three channels');
    expect(() => imagenetUtils.preprocessInput(ones([2, 2, 4]))).toThrow(InvalidArgumentError);
    expect(() => imagenetUtils.preprocessInput(ones([2, 2, 3]), { mode: 'onnx' as never })).toThrow(
      "'torch'",
    );
    expect(() => applications.vgg16.preprocessInput(ones([2, 2, 3]), 'middle' as never)).toThrow(
      InvalidArgumentError,
    );
  });
});

test('decodePredictions', () => {
  const { decodePredictions } = applications.mobilenetV2;
  const classIndex = { 0: ['n0', 'tench'], 1: ['n1', 'goldfish'], 2: ['n2', 'shark'] } as const;
  const preds = [
    [0.25, 0.5, 0.125],
    [0.5, 0.25, 0.75],
  ];
  expect(decodePredictions(preds, 2, { classIndex })).toEqual([
    [
      ['n1', 'goldfish', 0.5],
      ['n0', 'tench', 0.25],
    ],
    [
      ['n2', 'shark', 0.75],
      ['n0', 'tench', 0.5],
    ],
  ]);
  expect(decodePredictions({ preds, classIndex })[0]).toHaveLength(3);
  expect(() => decodePredictions(preds)).toThrow(UnimplementedError);
  expect(() => decodePredictions(preds)).toThrow('give classIndex');
  expect(() => decodePredictions([1, 2], { classIndex })).toThrow(
    'expected predictions [batch, classes], got [2]',
  );
  expect(() => decodePredictions([[0, 0, 0, 1]], { classIndex })).toThrow('lacks the class 3 of 4');
  expect(() => decodePredictions(preds, 0, { classIndex })).toThrow(InvalidArgumentError);
});

describe('options', () => {
  test('are checked', () => {
    const refused = (options: object, message: string): void => {
      expect(() => MobileNetV2(options)).toThrow(InvalidArgumentError);
      expect(() => MobileNetV2(options)).toThrow(message);
    };
    refused(
      { inputShape: [31, 32, 3] },
      'images must have at least 32 × 32 pixels, got inputShape [31, 32, 3]',
    );
    refused({ inputShape: [null, 32, 3] }, 'must know the size of its images');
    refused({ inputShape: [32, 32] }, 'height, width and channels');
    refused({ inputShape: 32 }, 'inputShape must be a list of sizes');
    refused({ classes: 0 }, 'classes');
    refused({ pooling: 'mean' }, 'pooling');
    refused({ includeTop: 1 }, 'includeTop');
    refused({ alpha: 0 }, 'alpha must be a number above 0, got 0');
    refused({ inputTensor: ones([1, 32, 32, 3]) }, 'inputTensor must be a symbolic tensor');
    refused(
      { inputTensor: Input([32, 32, 3]), inputShape: [64, 32, 3] },
      'inputTensor has images [32, 32, 3]',
    );
    refused({ weights: 3 }, 'weights');
    refused(
      { weights: 'a.npz', classifierActivation: 'relu' },
      "must be 'softmax' or null where weights are read",
    );
    refused({ classes_: 3 }, 'is not an option');
    refused({ depthMultiplier: 2 }, "'depthMultiplier' is not an option");
    expect(() => applications.Xception({ inputShape: [70, 71, 3], includeTop: false })).toThrow('71 × 71');
    expect(() => applications.InceptionV3({ inputShape: [74, 75, 3] })).toThrow('75 × 75');
    expect(() => applications.NASNetLarge({ includeTop: false, inputShape: [null, null, 3] })).toThrow(
      'give inputShape',
    );
    expect(() => applications.VGG16({ weights: 'imagenet' })).toThrow(UnimplementedError);
    expect(() => applications.VGG16({ weights: 'imagenet' })).toThrow("'await model.loadWeights(path)'");
    expect(() => (MobileNetV2 as (...args: unknown[]) => unknown)(null, null)).toThrow(InvalidArgumentError);
  });

  test('null and nothing are the defaults', () => {
    const model = MobileNetV3Small({
      inputShape: null,
      weights: null,
      name: null,
      pooling: null,
      inputTensor: null,
    });
    expect(model.outputs[0].shape).toEqual([null, 1000]);
    expect(model.inputs[0].shape).toEqual([null, null, null, 3]);
    const sum = (model(random.uniform([1, 40, 32, 3], { maxval: 255 })) as Tensor).sum().item();
    expect(sum).toBeCloseTo(1, 5);
  });

  test('inputTensor begins where it comes from', () => {
    const input = Input([64, 64, 1], { name: 'grey' });
    const model = MobileNetV2({
      inputTensor: new Conv2D(3, 2, { strides: 2 })(input),
      includeTop: false,
      alpha: 0.35,
      pooling: 'max',
    });
    expect(model.inputs).toEqual([input]);
    expect(model.name).toBe('mobilenetv2_0.35_None');
    expect((model(ones([2, 64, 64, 1])) as Tensor).shape).toEqual([2, 1280]);
  });
});

test('weights are read from files', async () => {
  const model = MobileNetV2({ ...small, name: 'first' });
  const x = random.uniform([1, 32, 32, 3]);
  const expected = (model(x) as Tensor).array();
  for (const file of ['w.safetensors', 'w.npz', 'checkpoint']) {
    const weights = join(folder, file);
    await model.saveWeights(weights);
    expect((MobileNetV2({ ...small, weights }) as unknown as (x: Tensor) => Tensor)(x).array()).toEqual(
      expected,
    );
  }
  const weights = join(folder, 'w.npz');
  expect(() => MobileNetV2({ ...small, classes: 6, weights })).toThrow('predictions' as never);
  expect(() => MobileNetV2({ ...small, weights: join(folder, 'none.npz') })).toThrow(NotFoundError);
});

test('models are configurations, too', () => {
  const options = { inputShape: [32, 32, 3], includeTop: false } as const;
  const model = applications.ConvNeXtTiny({ ...options, name: 'mine' });
  const layers = model.layers.map((layer) => layer.name);
  expect(layers).toContain('mine_stage_0_block_0_layer_scale');
  expect(model.getLayer('mine_stage_0_block_0_layer_scale').weights[0].read().array()).toEqual(
    new Array(96).fill(Math.fround(1e-6)),
  );
  const again = modelFromJSON(model.toJSON());
  expect(again.layers.map((layer) => layer.name)).toEqual(layers);
  expect(model.toJSON()).toContain('"module":"keras.src.applications.convnext","class_name":"LayerScale"');
  const net = MobileNetV3Small({ ...options, alpha: 0.75 });
  expect(cloneModel(net).countParams()).toBe(net.countParams());
  expect(modelFromJSON(net.toJSON()).countParams()).toBe(net.countParams());
});

test('layers of their own', () => {
  const shapes = { inputShape: [2, 3, 4], outputShape: [2, 3, 4] };
  runLayerTest(LayerScale, { args: [0.5, 4], trainable: 1, ...shapes });
  runLayerTest(StochasticDepth, { args: [0.5], random: true, ...shapes });
  runLayerTest(CustomScaleLayer, {
    args: [0.25],
    inputShape: [
      [2, 3],
      [2, 3],
    ],
    outputShape: [2, 3],
  });
  const dropped = new StochasticDepth(0.25)(ones([1000, 2]), { training: true }) as Tensor;
  const rows = dropped.array() as number[][];
  expect(rows.every(([a, b]) => a === b && (a === 0 || Math.abs(a - 4 / 3) < 1e-6))).toBe(true);
  expect(dropped.mean().item()).toBeCloseTo(1, 0);
});
