// Boxes beside images, against Keras's for the same transformations; and that they follow the pixels.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, ones, ragged, type Tensor, zeros } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { layers } from '../../index.ts';
import { readGolden } from '../../testing/golden.ts';
import type { BoundingBoxes, ImageLayer, Transformation } from './image-layer.ts';

interface Case {
  readonly layer: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly format: string;
  readonly sides: readonly [number, number];
  readonly transformation: Readonly<Record<string, number[]>>;
  readonly given: number[][][];
  readonly boxes: number[][][];
  readonly labels: number[][];
}
const { cases } = readGolden<{ readonly cases: readonly Case[] }>('boxes-beside-images');
const make = (name: string, options: object): ImageLayer =>
  new (layers as unknown as Record<string, new (options: object) => ImageLayer>)[name]!(options);
const LABELS = [
  [1, 2, 3],
  [4, 5, 6],
];
const near = (given: Tensor, wanted: number[][][]): void => {
  const list = wanted.flat(2);
  Array.from(given.data() as Float32Array).forEach((v, i) =>
    expect(Math.abs(v - (list[i] as number))).toBeLessThan(1e-4),
  );
};

test.each(cases.map((c) => [`${c.layer} ${c.format} ${JSON.stringify(c.options)}`, c] as const))(
  'as in Keras: %s',
  (_, c) => {
    const layer = make(c.layer, { ...c.options, boundingBoxFormat: c.format });
    const [h, w] = c.sides;
    const transformation: Transformation = {
      ...Object.fromEntries(Object.entries(c.transformation).map(([k, v]) => [k, constant(v)])),
      inputShape: [2, h, w],
    };
    const given = { boxes: constant(c.given), labels: constant(LABELS, 'int32') };
    const { boxes, labels } = layer.transformBoundingBoxes(given, transformation);
    near(boxes, c.boxes);
    expect(labels.array()).toEqual(c.labels);
    // One image alone.
    const first = Object.fromEntries(
      Object.entries(transformation).map(([k, v]) => [k, k === 'inputShape' ? v : (v as Tensor).at('0:1')]),
    );
    const one = layer.transformSingleBoundingBox(
      { boxes: given.boxes.at(0), labels: given.labels.at(0) },
      first,
    );
    near(one.boxes, [c.boxes[0] as number[][]]);
    expect(one.labels.array()).toEqual(c.labels[0]);
    expect(layer.getConfig()['bounding_box_format']).toBe(c.format);
  },
);

/** Where an image is bright: the corners around it. */
function bright(image: Tensor): number[] {
  const rows = image.squeeze(-1).array() as number[][];
  const ys = rows.flatMap((row, y) => (row.some((v) => v > 0.5) ? [y] : []));
  const xs = (rows[0] as number[]).flatMap((_, x) =>
    rows.some((row) => (row[x] as number) > 0.5) ? [x] : [],
  );
  return ys.length === 0 ? [] : [Math.min(...xs), Math.min(...ys), Math.max(...xs) + 1, Math.max(...ys) + 1];
}
const picture = (x1: number, y1: number, x2: number, y2: number, h = 40, w = 30): Tensor =>
  constant(
    Array.from({ length: h }, (_, y) =>
      Array.from({ length: w }, (_, x) => [x >= x1 && x < x2 && y >= y1 && y < y2 ? 1 : 0]),
    ),
  );

describe('boxes follow the pixels', () => {
  // By how many pixels a side may be off: pixels are drawn whole, and between others.
  const kinds: Readonly<Record<string, readonly [options: object, off: number]>> = {
    RandomFlip: [{}, 0],
    RandomCrop: [{ height: 25, width: 20 }, 0],
    CenterCrop: [{ height: 25, width: 20 }, 0],
    RandomTranslation: [{ heightFactor: 0.2, widthFactor: 0.3, fillMode: 'constant' }, 1],
    RandomZoom: [{ heightFactor: 0.3, widthFactor: 0.3, fillMode: 'constant' }, 1.5],
    RandomShear: [{ xFactor: 0.2, yFactor: 0.2, fillMode: 'constant' }, 2.5],
    RandomRotation: [{ factor: 0.25, fillMode: 'constant' }, 2.5],
    RandomPerspective: [{ scale: 0.3 }, 2.5],
    Resizing: [{ height: 20, width: 60 }, 0.5],
  };
  test.each(Object.entries(kinds))('%s', (name, [options, off]) => {
    const seed = /Random/.test(name) ? { seed: 3 } : {};
    const layer = make(name, { ...options, ...seed, boundingBoxFormat: 'xywh' });
    for (let n = 0; n < 6; n++) {
      const images = picture(9, 12, 21, 30).expandDims(0);
      const boundingBoxes = { boxes: constant([[[9, 12, 12, 18]]]), labels: constant([[5]], 'int32') };
      const out = layer({ images, boundingBoxes } as never) as unknown as {
        images: Tensor;
        boundingBoxes: BoundingBoxes;
      };
      const [x, y, w, h] = out.boundingBoxes.boxes.reshape([4]).array() as [number, number, number, number];
      const box = [x, y, x + w, y + h];
      const seen = bright(out.images.at(0));
      if (seen.length === 0) continue;
      expect(out.boundingBoxes.labels.array()).toEqual([[5]]);
      seen.forEach((v, i) => expect(Math.abs(v - (box[i] as number))).toBeLessThanOrEqual(off + 1e-4));
    }
  });
});

const images = ones([2, 8, 10, 3]);
const boundingBoxes = {
  boxes: constant([[[1, 2, 5, 6]], [[0, 0, 10, 8]]]),
  labels: constant([[1], [2]], 'int32'),
};

test('layers that move no pixels leave boxes as they are, also outside of training', () => {
  for (const name of ['RandomBrightness', 'AutoContrast', 'RandomErasing', 'AugMix', 'RandomGaussianBlur']) {
    const options = name === 'RandomBrightness' ? { factor: 0.5 } : {};
    const out = make(name, { ...options, boundingBoxFormat: 'xyxy' })({ images, boundingBoxes } as never);
    const { boxes, labels } = (out as unknown as { boundingBoxes: BoundingBoxes }).boundingBoxes;
    expect([boxes.array(), labels.array()]).toEqual([
      boundingBoxes.boxes.array(),
      boundingBoxes.labels.array(),
    ]);
  }
  const flip = make('RandomFlip', { boundingBoxFormat: 'xyxy' });
  const out = flip({ images, boundingBoxes } as never, { training: false }) as never as {
    boundingBoxes: BoundingBoxes;
  };
  expect(out.boundingBoxes.boxes.array()).toEqual(boundingBoxes.boxes.array());
});

test('RandAugment changes boxes as the layers that it has drawn', () => {
  const options = { seed: 4, boundingBoxFormat: 'yxyx' };
  const layer = make('RandAugment', { ...options, numOps: 1, factor: 0.5 });
  const drawn = layer.getRandomTransformation(images) as Transformation;
  const own = drawn['transforms'] as Readonly<Record<string, Transformation>>;
  const one = { heightFactor: 0.5, widthFactor: 0.5 };
  const wanted = make('RandomTranslation', { ...options, ...one }).transformBoundingBoxes(
    boundingBoxes,
    own['randomTranslation'] as Transformation,
  );
  const found = layer.transformBoundingBoxes(boundingBoxes, { ...drawn, layerIdxes: constant([1], 'int32') });
  expect(found.boxes.array()).toEqual(wanted.boxes.array());
  expect(found.labels.array()).toEqual(wanted.labels.array());
});

test('MixUp has the boxes of both images', () => {
  const layer = make('MixUp', { seed: 1, boundingBoxFormat: 'xyxy' });
  const { boxes, labels } = layer.transformBoundingBoxes(boundingBoxes, {
    permutationOrder: constant([1, 0], 'int32'),
  });
  expect(labels.array()).toEqual([
    [1, 2],
    [2, 1],
  ]);
  expect(boxes.shape).toEqual([2, 2, 4]);
});

test('several numbers of boxes are filled up, and one trace serves all sizes', () => {
  const layer = make('RandomTranslation', {
    heightFactor: [0.5, 0.5],
    widthFactor: [0, 0],
    boundingBoxFormat: 'rel_xyxy',
  });
  const several = {
    boxes: ragged.constant(
      [
        [[0, 0, 0.5, 0.5]],
        [
          [0, 0.5, 1, 1],
          [0, 0, 1, 0.25],
        ],
      ],
      { raggedRank: 1 },
    ),
    labels: ragged.constant([[1], [2, 3]], 'int32'),
  };
  const filled = layer.transformBoundingBoxes(several as never, {
    translations: constant([
      [0, 4],
      [0, 4],
    ]),
    inputShape: [2, 8, 10],
  });
  expect(filled.boxes.array()).toEqual([
    [
      [0, 0.5, 0.5, 1],
      [0, 0.5, 0, 0.5],
    ],
    [
      [0, 1, 1, 1],
      [0, 0.5, 1, 0.75],
    ],
  ]);
  expect(filled.labels.array()).toEqual([
    [1, -1],
    [-1, 3],
  ]);
  let traces = 0;
  const run = tfFunction(
    (x: Tensor, boxes: Tensor, labels: Tensor) => {
      traces++;
      const out = layer({ images: x, boundingBoxes: { boxes, labels } } as never);
      return (out as unknown as { boundingBoxes: BoundingBoxes }).boundingBoxes.boxes;
    },
    {
      inputSignature: [
        new TensorSpec([null, null, null, 3]),
        new TensorSpec([null, null, 4]),
        new TensorSpec([null, null], 'int32'),
      ],
    },
  );
  const box = constant([[[0, 0, 0.5, 0.25]]]);
  for (const side of [8, 12])
    expect(run(zeros([1, side, side, 3]), box, constant([[1]], 'int32')).array()).toEqual([
      [[0, 0.5, 0.5, 0.75]],
    ]);
  expect(traces).toBe(1);
});

test('says what does not fit', () => {
  const data = { images, boundingBoxes } as never;
  expect(() => make('RandomFlip', {})(data)).toThrow('needs a boundingBoxFormat');
  expect(() => make('RandomFlip', { boundingBoxFormat: 'corners' })).toThrow('boundingBoxFormat');
  const flip = make('RandomFlip', { boundingBoxFormat: 'xyxy' });
  expect(() => flip({ images, boundingBoxes: { boxes: images } } as never)).toThrow('{ boxes, labels }');
  for (const name of ['CutMix', 'RandomElasticTransform'])
    expect(() => make(name, { boundingBoxFormat: 'xyxy' })(data)).toThrow('boxes beside images');
});
