// Layers of images against Keras's, given what Keras drew; and what they draw themselves.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, type DType, random, type Tensor } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { layers, Sequential } from '../../index.ts';
import { readGolden } from '../../testing/golden.ts';
import type { Transformation } from './image-layer.ts';

interface Values {
  readonly dtype: DType;
  readonly shape: number[];
  readonly values: number[];
}
interface Case {
  readonly layer: string;
  readonly config: Record<string, unknown>;
  readonly training: boolean;
  readonly images: Values;
  readonly transformation: Record<string, unknown>;
  readonly output: Values;
  readonly masks?: Values;
  readonly maskOutput?: Values;
  readonly labels?: Values;
  readonly labelOutput?: Values;
}
const { cases } = readGolden<{ readonly cases: readonly Case[] }>('augmentation');

const tensor = ({ dtype, shape, values }: Values): Tensor => constant(values, dtype, { shape });
/** A transformation with tensors, as it was drawn. */
const drawn = (of: unknown): unknown =>
  typeof of === 'object' && of !== null && 'values' in of
    ? tensor(of as Values)
    : Object.fromEntries(Object.entries(of as object).map(([key, value]) => [key, drawn(value)]));

type ImageLayer = layers.ImageLayer;
const make = (name: string, config: object): ImageLayer =>
  (layers as unknown as Record<string, { fromConfig(config: object): ImageLayer }>)[name].fromConfig(config);

function near(got: Tensor, wanted: Values, largest: number): void {
  expect([got.dtype, [...got.shape]]).toEqual([wanted.dtype, wanted.shape]);
  const values = Array.from(got.data() as Float32Array);
  const apart = values.map((v, i) => Math.abs(v - wanted.values[i]));
  expect(Math.max(...apart)).toBeLessThan(4e-5 * largest);
}

describe('as Keras computes', () => {
  test.each(cases.map((c, i) => [`${i} ${c.layer} ${JSON.stringify(c.config)}`, c] as const))(
    '%s',
    (_, c) => {
      const layer = make(c.layer, c.config);
      const transformation = drawn(c.transformation) as Transformation;
      const images = tensor(c.images);
      const largest = Math.max(...c.images.values);
      const { training } = c;
      near(layer.transformImages(images, transformation, training), c.output, largest);
      if (c.masks !== undefined)
        near(
          layer.transformSegmentationMasks(tensor(c.masks), transformation, training),
          c.maskOutput as Values,
          5,
        );
      if (c.labels !== undefined)
        near(layer.transformLabels(tensor(c.labels), transformation, training), c.labelOutput as Values, 1);
    },
  );
});

// Each class once, with what has to be given.
const first = new Map([...cases].reverse().map((c) => [c.layer, c.config]));
const all: readonly (readonly [string, object])[] = [
  ...first,
  ['RandomElasticTransform', {}],
  [
    'RandomColorJitter',
    { brightnessFactor: 0.2, contrastFactor: 0.2, saturationFactor: 0.2, hueFactor: 0.2 },
  ],
  ['AugMix', {}],
];
const images = random.uniform([4, 12, 10, 3], { maxval: 255, seed: 3 });

describe.each(all)('%s', (name, config) => {
  const { dataFormat: _, ...given } = config as { dataFormat?: string };

  test('gives finite images of the size that it says, eagerly, traced for any size, and in a model', () => {
    const layer = make(name, given);
    const y = layer<Tensor>(images);
    expect([...y.shape]).toEqual(layer.computeOutputShape(images.shape));
    const finite = (t: Tensor): unknown => t.isFinite().all().item();
    expect(finite(y)).toBe(true);
    const f = tfFunction({ inputSignature: [new TensorSpec([null, null, null, 3])] })((x: Tensor) =>
      layer<Tensor>(x),
    );
    const traced = f(images);
    expect([...traced.shape]).toEqual([...y.shape]);
    expect(finite(traced)).toBe(true);
    expect(f(images.at('0:2', '0:11')).shape[0]).toBe(2);
  });

  test('the same seed draws the same, another one something else; a call after another too', () => {
    if (!('seed' in make(name, given))) return;
    const draw = (seed: number): Tensor[] => {
      const layer = make(name, { ...given, seed });
      return [layer<Tensor>(images), layer<Tensor>(images)];
    };
    const [a, b, other] = [draw(1), draw(1), draw(2)];
    const same = (x: Tensor, y: Tensor): unknown => x.equal(y).all().item();
    expect([same(a[0], b[0]), same(a[1], b[1])]).toEqual([true, true]);
    expect(same(a[0], a[1]) && same(a[0], other[0]) && same(a[1], other[1])).toBe(false);
  });

  test('what is given by name is changed alike', () => {
    const layer = make(name, given);
    const masks = random.uniform([4, 12, 10, 1], { maxval: 5, seed: 4, dtype: 'int32' });
    const labels = constant([
      [1, 0],
      [0, 1],
      [1, 0],
      [0, 1],
    ]);
    const out = layer({ images, labels, segmentationMasks: masks } as never) as unknown as Record<
      string,
      Tensor
    >;
    expect(Object.keys(out)).toEqual(['images', 'labels', 'segmentationMasks']);
    expect([...out['labels'].shape]).toEqual([4, 2]);
    expect(out['segmentationMasks'].shape.slice(0, 3)).toEqual(out['images'].shape.slice(0, 3));
    expect(() => layer({ images, boundingBoxes: masks } as never)).toThrow('boundingBoxFormat');
    expect(() => layer({ images, other: masks } as never)).toThrow(/got .*other/);
  });
});

test('RandomCrop cuts the middle, with the proportions that are wanted, out of small images and outside of training', () => {
  const crop = new layers.RandomCrop(4, 2);
  const smart = new layers.Resizing(4, 2, { cropToAspectRatio: true });
  const small = images.at(':', '0:3');
  expect(crop<Tensor>(small).array()).toEqual(smart<Tensor>(small).array());
  expect(crop<Tensor>(images, { training: false }).array()).toEqual(smart<Tensor>(images).array());
});

test('RandomColorJitter is its parts in a row', () => {
  const jitter = new layers.RandomColorJitter({ brightnessFactor: 0.3, contrastFactor: 0.4, seed: 5 });
  const drawn = jitter.getRandomTransformation(images);
  const parts = [new layers.RandomBrightness(0.3), new layers.RandomContrast(0.4)];
  const each = drawn?.['parts'] as never[];
  const y = parts.reduce((x, part, i) => part.transformImages(x, each[i]), images);
  expect(jitter.transformImages(images, drawn).sub(y).abs().max().item()).toBeLessThan(1e-3);
});

test('AugMix mixes its chains by their weights', () => {
  const layer = new layers.AugMix({ numChains: 2, chainDepth: 1, seed: 1 });
  const t = layer.getRandomTransformation(images) as Record<string, unknown>;
  const stay = { ...t, layerIdxes: constant([[11], [11]], 'int32') };
  expect(layer.transformImages(images, stay).sub(images).abs().max().item()).toBeLessThan(1e-3);
  const turned = { ...stay, weightSample: constant(0.25), chainMixingWeights: constant([0.5, 0.5]) };
  const brightened = { ...turned, layerIdxes: constant([[7], [11]], 'int32') };
  const [, [, , , , , , , bright]] = [0, (t['chainTransforms'] as Transformation[][])[0]];
  const other = new layers.RandomBrightness(0).transformImages(images, bright);
  const wanted = images.mul(0.25 + 0.375).add(other.mul(0.375));
  expect(layer.transformImages(images, brightened).sub(wanted).abs().max().item()).toBeLessThan(1e-3);
});

test('labels and images are mixed by the same weights', () => {
  const same = constant([
    [1, 0],
    [0, 1],
  ])
    .reshape([2, 1, 1, 2])
    .broadcastTo([2, 4, 4, 2]);
  for (const layer of [new layers.MixUp(0.5, { seed: 2 }), new layers.CutMix(1, { seed: 2 })]) {
    const out = layer({ images: same, labels: same.at(':', 0, 0) } as never) as unknown as Record<
      string,
      Tensor
    >;
    expect(out['labels'].sum(1).array()).toEqual([expect.closeTo(1, 5), expect.closeTo(1, 5)]);
    if (layer instanceof layers.MixUp)
      expect(out['images'].at(':', 0, 0).array()).toEqual(out['labels'].array());
  }
});

test('a Pipeline hands images and what belongs to them from layer to layer, and comes back from its configuration', () => {
  const pipeline = new layers.Pipeline([
    new layers.Resizing(6, 6),
    new layers.RandomFlip('horizontal', { seed: 1 }),
  ]);
  expect(pipeline.computeOutputShape([null, 12, 10, 3])).toEqual([null, 6, 6, 3]);
  const out = pipeline({ images, labels: constant([1, 2, 3, 4]) } as never) as unknown as Record<
    string,
    Tensor
  >;
  expect([[...out['images'].shape], out['labels'].array()]).toEqual([
    [4, 6, 6, 3],
    [1, 2, 3, 4],
  ]);
  const again = layers.deserialize(JSON.parse(JSON.stringify(layers.serialize(pipeline)))) as layers.Pipeline;
  expect(again.layers.map((l) => l.constructor.name)).toEqual(['Resizing', 'RandomFlip']);
  expect(() => new layers.Pipeline([3 as never])).toThrow('needs a list of layers');
});

test('what does not fit is refused', () => {
  expect(() => new layers.RandomRotation(2)).toThrow('needs factor to be a number between -1 and 1');
  expect(() => new layers.RandomBrightness([0, 3])).toThrow('or two of them, got');
  expect(() => new layers.RandomShear({ xFactor: -0.1 })).toThrow('needs xFactor to be at least 0');
  expect(() => new layers.RandomFlip('diagonal' as never)).toThrow('needs mode');
  expect(() => new layers.RandomZoom(0.1)(constant([1, 2]))).toThrow('expects images of rank 3');
  expect(() => new layers.RandomHue(0.1)(images.at(':', ':', ':', '0:2'))).toThrow(
    'expected 3 as the last axis',
  );
  expect(() => new layers.Resizing(2, 2, { cropToAspectRatio: true, padToAspectRatio: true })).toThrow(
    'not both',
  );
  expect(() => new layers.RandomGaussianBlur(1, { kernelSize: 4 })).toThrow('odd kernelSize');
});

test('in a model, images are changed in training alone', async () => {
  const make = (): Sequential =>
    new Sequential([new layers.RandomFlip('horizontal', { inputShape: [12, 10, 3] }), new layers.Flatten()]);
  const model = make();
  const flat = images.reshape([4, -1]);
  const stays = (y: Tensor): unknown => y.equal(flat).all().item();
  expect(stays((await model.predict(images)) as Tensor)).toBe(true);
  expect(stays(model<Tensor>(images, { training: false }))).toBe(true);
  expect(stays(new Sequential([make()])<Tensor>(images, { training: false }))).toBe(true);
  const changed = Array.from({ length: 8 }, () => stays(model<Tensor>(images, { training: true })));
  expect(changed).toContain(false);
  // As in Keras, who says nothing of training augments.
  expect(Array.from({ length: 8 }, () => stays(model<Tensor>(images)))).toContain(false);
  class Own extends layers.Layer {
    readonly flip = new layers.RandomFlip();
    override call(x: Tensor): Tensor {
      return this.flip<Tensor>(x).reshape([4, -1]);
    }
  }
  const own = new Own();
  expect(Array.from({ length: 8 }, () => stays(own<Tensor>(images, { training: false })))).not.toContain(
    false,
  );
  expect(Array.from({ length: 8 }, () => stays(own<Tensor>(images)))).toContain(false);
  const pipeline = new Sequential([new layers.Pipeline([new layers.RandomFlip()]), new layers.Flatten()]);
  expect(stays((await pipeline.predict(images)) as Tensor)).toBe(true);
});
