// Functions of tf.image against TensorFlow, and what is drawn at random.
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('image-rest.json');

describe('numbers that are not finite, as TensorFlow 2.21 computes with them', () => {
  const [n, i] = [Number.NaN, Number.POSITIVE_INFINITY];
  const near = (x: unknown): unknown =>
    Array.isArray(x) ? x.map(near) : Number.isFinite(x) ? Number((x as number).toPrecision(6)) + 0 : x;
  /** At once, in a function, and in one of images of any size. */
  const all = (fn: (x: tf.Tensor) => tf.Tensor, x: tf.Tensor, want: unknown): void => {
    const anySize = new tf.TensorSpec(
      x.shape.map(() => null),
      x.dtype,
    );
    for (const run of [fn, tf.function(fn), tf.function(fn, { inputSignature: [anySize] })])
      expect(near(run(x).array())).toEqual(near(want));
  };
  it('in colours', () => {
    const rgb = [
      [0, 0, n],
      [n, 0.5, 0],
      [0.5, n, 0],
      [n, n, n],
      [i, 0, 1],
      [0, -i, 1],
      [-1, -2, -3],
    ];
    const hsv = [
      [0, 0, n],
      [n, 1, 0.5],
      [0, 0, 0],
      [0, 0, n],
      [0, n, i],
      [n, i, 1],
      [0.0833333358168602, 0, -1],
    ];
    all((x) => tf.image.rgbToHsv(x), tf.constant(rgb), hsv);
    const other = [
      [0.1, i, 1],
      [n, 0.5, 1],
      [0.3, 0.5, n],
      [0.6, 0.2, -i],
      [0.2, -i, 0],
    ];
    all((x) => tf.image.hsvToRgb(x), tf.constant(other), [
      [n, n, n],
      [n, n, n],
      [n, n, n],
      [-i, -i, -i],
      [n, n, n],
    ]);
    const greys = tf.constant([
      [0.5, 0.5, 0.5],
      [0.2, 0.2, 0.1],
    ]);
    const tape = new tf.GradientTape();
    tape.watch(greys);
    const sum = tape.record(() => tf.image.rgbToHsv(greys).mul([1, 2, 4]).sum());
    expect(near((tape.gradient(sum, greys) as tf.Tensor).array())).toEqual([
      [8, 0, -4],
      [7.33333, 1.66667, -10],
    ]);
  });
  it('under filters, also of integers', () => {
    const x = tf.constant(
      [...Array(16).keys()].map((k) => (k === 5 || k === 15 ? n : k)),
      'float32',
      { shape: [1, 4, 4, 1] },
    );
    const filter = tf.constant([
      [[0], [1]],
      [[n], [2]],
    ]);
    const dilated = (y: tf.Tensor): tf.Tensor =>
      tf.nn.dilation2d(y, filter, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1]).reshape([4, 4]);
    all(dilated, x, [
      [2, 8, 9, 3],
      [11, 12, 13, 7],
      [15, 16, 12, 11],
      [14, 15, 14, -3.4028234663852886e38],
    ]);
    const eroded = (y: tf.Tensor): tf.Tensor =>
      tf.nn.erosion2d(y, filter, [1, 2, 2, 1], 'SAME', 'NHWC', [1, 1, 1, 1]).reshape([2, 2]);
    all(eroded, x, [
      [-2, 0],
      [6, 8],
    ]);
    for (const dtype of ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'] as const) {
      const [whole, f] = [
        tf.range(16).reshape([1, 4, 4, 1]).cast(dtype),
        tf
          .constant([
            [[0], [1]],
            [[3], [2]],
          ])
          .cast(dtype),
      ];
      const of = (name: 'dilation2d' | 'erosion2d'): unknown =>
        tf.nn[name](whole, f, [1, 2, 2, 1], 'SAME', 'NHWC', [1, 1, 1, 1])
          .cast('float32')
          .reshape([2, 2])
          .array();
      expect(of('dilation2d'), dtype).toEqual([
        [7, 9],
        [15, 17],
      ]);
      if (dtype.startsWith('uint')) expect(() => of('erosion2d')).toThrow('no negative numbers');
      else
        expect(of('erosion2d'), dtype).toEqual([
          [-2, 0],
          [6, 8],
        ]);
    }
  });
  it('and ranges that are none are refused', () => {
    expect(() => tf.quantization.quantizeAndDequantizeV2([1, 2], 1, -1, { rangeGiven: true })).toThrow(
      'inputMin must not be above',
    );
  });
});

describe('images changed at random', () => {
  const image = tf.random.statelessUniform([2, 5, 4, 3], [1, 2]);
  const { image: im } = tf;
  const stateless: readonly [string, (seed: readonly [number, number]) => tf.Tensor][] = [
    ['brightness', (seed) => im.statelessRandomBrightness(image, 0.4, seed)],
    ['contrast', (seed) => im.statelessRandomContrast(image, 0.5, 2, seed)],
    ['hue', (seed) => im.statelessRandomHue(image, 0.3, seed)],
    ['saturation', (seed) => im.statelessRandomSaturation(image, 0.5, 2, seed)],
    ['crop', (seed) => im.statelessRandomCrop(image, [1, 2, 2, 3], seed)],
  ];
  it.each(stateless)('%s: the same for the same seed, another for another', (_, run) => {
    expect(run([3, 4]).array()).toEqual(run([3, 4]).array());
    const others = [5, 6, 7, 8].map((n) => JSON.stringify(run([n, 1]).array()));
    expect(new Set(others).size).toBeGreaterThan(1);
    const traced = tf.function(() => run([3, 4]));
    expect(traced().shape).toEqual(run([3, 4]).shape);
    tf.debugging.assertNear(traced(), run([3, 4]));
  });
  it('refuse negative gammas and numbers of boxes', () => {
    expect(() => im.adjustGamma(image, -0.3)).toThrow('gamma is -0.3, which must not be negative');
    expect(() => im.nonMaxSuppression([[0, 0, 1, 1]], [1], -1)).toThrow('maxOutputSize is -1');
  });
  it('are what one number makes of them', () => {
    const delta = (y: tf.Tensor): number[] => Array.from(y.sub(image).data() as Float32Array);
    const found = delta(im.randomBrightness(image, 0.4, { seed: 3 }));
    expect(Math.abs(found[0] ?? 1)).toBeLessThanOrEqual(0.4);
    for (const d of found) expect(d).toBeCloseTo(found[0] ?? 0, 5);
    expect(im.randomContrast(image, 0.2, 0.9).shape).toEqual(image.shape);
    expect(im.randomHue(image, 0.2).shape).toEqual(image.shape);
    expect(im.randomSaturation(image, 0.2, 0.9).shape).toEqual(image.shape);
  });
  it('flip each image one time in two', () => {
    const many = tf.range(0, 400, 1, { dtype: 'float32' }).reshape([200, 1, 2, 1]);
    for (const flip of [
      im.randomFlipLeftRight(many, { seed: 2 }),
      im.statelessRandomFlipLeftRight(many, [2, 3]),
    ]) {
      const turned = flip.notEqual(many).cast('int32').sum().item() / 2;
      expect(turned).toBeGreaterThan(60);
      expect(turned).toBeLessThan(140);
    }
    const one = tf.constant([[[1]], [[2]]]);
    const seen = new Set(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => im.statelessRandomFlipUpDown(one, [n, 0]).at(0, 0, 0).item()),
    );
    expect(seen.size).toBe(2);
    expect(im.randomFlipUpDown(one).shape).toEqual([2, 1, 1]);
  });
  it('are blocks from everywhere', () => {
    const x = tf.range(0, 6, 1, { dtype: 'int32' });
    const first = new Set(Array.from({ length: 60 }, () => im.randomCrop(x, [3]).at(0).item()));
    expect([...first].sort()).toEqual([0, 1, 2, 3]);
  });
  it('have boxes that cover enough', () => {
    const [begin, size, box] = im.statelessSampleDistortedBoundingBox(
      [40, 60, 3],
      [[[0.2, 0.2, 0.8, 0.8]]],
      [1, 2],
      { minObjectCovered: 0.5 },
    );
    expect([begin.shape, size.shape, box.shape]).toEqual([[3], [3], [1, 1, 4]]);
    const [top, left, height, width] = [begin.at(0), begin.at(1), size.at(0), size.at(1)].map((t) =>
      Number(t.item()),
    );
    const common =
      Math.max(0, Math.min(32, (top ?? 0) + (height ?? 0)) - Math.max(8, top ?? 0)) *
      Math.max(0, Math.min(48, (left ?? 0) + (width ?? 0)) - Math.max(12, left ?? 0));
    expect(common / (24 * 36)).toBeGreaterThanOrEqual(0.5);
    expect((width ?? 0) / (height ?? 1)).toBeGreaterThan(0.7);
    expect(() => im.sampleDistortedBoundingBox([4, 4, 1], tf.zeros([1, 0, 4]))).toThrow(
      tf.errors.InvalidArgumentError,
    );
    const [, whole] = im.sampleDistortedBoundingBox([4, 4, 1], tf.zeros([1, 0, 4]), {
      useImageIfNoBoundingBoxes: true,
    });
    expect(whole.shape).toEqual([3]);
  });
  it('have the boxes of TensorFlow for a seed', () => {
    const settings = [
      {},
      { minObjectCovered: 0.5 },
      { aspectRatioRange: [0.5, 2], areaRange: [0.2, 0.9] },
      { useImageIfNoBoundingBoxes: true },
      { maxAttempts: 3, minObjectCovered: 0.9 },
    ] as const;
    const sampled = (boxes: number[][], seed: number[], at: number) =>
      im
        .statelessSampleDistortedBoundingBox(
          tf.constant([50, 80, 3], 'int32'),
          tf.constant(boxes.flat(), 'float32', { shape: [1, boxes.flat().length / 4, 4] }),
          seed as [number, number],
          { minObjectCovered: 0.1, ...settings[at] },
        )
        .map((x) => x.flatten().array());
    const golden = [
      [
        [1, 2],
        0,
        [[0.1, 0.2, 0.5, 0.9]],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        0,
        [
          [0.0, 0.0, 1.0, 1.0],
          [0.3, 0.3, 0.4, 0.5],
        ],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        1,
        [[0.1, 0.2, 0.5, 0.9]],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        1,
        [
          [0.0, 0.0, 1.0, 1.0],
          [0.3, 0.3, 0.4, 0.5],
        ],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        2,
        [[0.1, 0.2, 0.5, 0.9]],
        [
          [4, 0, 0],
          [45, 79, -1],
          [0.08, 0.0, 0.98, 0.9875],
        ],
      ],
      [
        [1, 2],
        2,
        [
          [0.0, 0.0, 1.0, 1.0],
          [0.3, 0.3, 0.4, 0.5],
        ],
        [
          [4, 0, 0],
          [45, 79, -1],
          [0.08, 0.0, 0.98, 0.9875],
        ],
      ],
      [
        [1, 2],
        3,
        [[0.1, 0.2, 0.5, 0.9]],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        3,
        [
          [0.0, 0.0, 1.0, 1.0],
          [0.3, 0.3, 0.4, 0.5],
        ],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        3,
        [],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        4,
        [[0.1, 0.2, 0.5, 0.9]],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [1, 2],
        4,
        [
          [0.0, 0.0, 1.0, 1.0],
          [0.3, 0.3, 0.4, 0.5],
        ],
        [
          [2, 15, 0],
          [46, 57, -1],
          [0.04, 0.1875, 0.96, 0.9],
        ],
      ],
      [
        [7, 9],
        0,
        [[0.1, 0.2, 0.5, 0.9]],
        [
          [13, 17, 0],
          [27, 31, -1],
          [0.26, 0.2125, 0.8, 0.6],
        ],
      ],
    ] as [number[], number, number[][], number[][]][];
    for (const [seed, at, boxes, [begin, size, box]] of golden) {
      const found = sampled(
        boxes.filter((b) => b.length > 0),
        seed,
        at,
      );
      expect(found).toEqual([begin, size, (box as number[]).map((v) => expect.closeTo(v, 5))]);
    }
  });
  it('crop with the derivatives of TensorFlow by the boxes', () => {
    const pixels = tf.range(16).reshape([1, 4, 4, 1]);
    const golden = [
      [[[0.0, 0.0, 1.0, 1.0]], [4, 4], [0.0, 0.0, 0.0, 0.0]],
      [[[0.0, 0.0, 1.0, 1.0]], [2, 2], [0.0, 0.0, 0.0, 0.0]],
      [[[0.0, 0.0, 1.0, 1.0]], [7, 7], [2366.0, 759.5, 3934.0, 815.5]],
      [[[1.0, 1.0, 0.0, 0.0]], [4, 4], [0.0, 0.0, 0.0, 0.0]],
      [[[0.0, 0.0, 0.3333333333333333, 0.3333333333333333]], [2, 2], [0.0, 0.0, 0.0, 0.0]],
      [[[0.5, 0.5, 0.5, 0.5]], [1, 1], [6.0, 1.5, 6.0, 1.5]],
      [[[0.0, 0.0, 1.0, 1.0]], [1, 1], [6.0, 1.5, 6.0, 1.5]],
      [
        [[0.3333333333333333, 0.3333333333333333, 0.6666666666666666, 0.6666666666666666]],
        [2, 2],
        [0.0, 0.0, 0.0, 0.0],
      ],
    ] as [number[][], [number, number], number[]][];
    for (const [box, size, expected] of golden) {
      const of = (boxes: tf.Tensor): tf.Tensor => {
        const tape = new tf.GradientTape();
        tape.watch(boxes);
        const loss = tape.record(() => {
          const y = im.cropAndResize(pixels, boxes, tf.constant([0], 'int32'), size);
          return y.mul(tf.range(1, y.size + 1).reshape(y.shape)).sum();
        });
        return tape.gradient(loss, boxes) as tf.Tensor;
      };
      const boxes = tf.constant(box);
      const wanted = expected.map((v) => expect.closeTo(v, 2));
      expect([size, of(boxes).flatten().array()]).toEqual([size, wanted]);
      expect([size, tf.function(of)(boxes).flatten().array()]).toEqual([size, wanted]);
    }
  });
  it('refuse what they cannot use', () => {
    const bad: (() => unknown)[] = [
      () => im.randomHue(image, 0.7),
      () => im.randomBrightness(image, -1),
      () => im.randomContrast(image, 2, 1),
      () => im.randomCrop(image, [3, 9, 1, 1]),
      () => im.cropAndResize(image, tf.zeros([2, 3]), [0, 1], [2, 2]),
      () => im.psnr(tf.ones([2, 2]), tf.ones([2, 2]), 1),
      () => im.ssim(image, image, 1),
      () => im.extractPatches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'FULL' as 'SAME'),
      () => im.nonMaxSuppression(tf.ones([2, 4]), [1, 1], 2, { iouThreshold: 3 }),
      () => im.convertImageDtype(image, 'complex64'),
      () => im.rgbToYiq(tf.ones([2, 4])),
      () => im.drawBoundingBoxes(image, tf.ones([1, 1, 4])),
    ];
    for (const call of bad) expect(call).toThrow(tf.errors.InvalidArgumentError);
  });
});
