// Functions that compute with a share of a size, a number of rounds or a window of it: one trace serves all sizes, with the numbers that
// eager code gives.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

type Fn = (...xs: tf.Tensor[]) => unknown;
type Shapes = readonly (readonly number[])[];

function tensorsOf(result: unknown): tf.Tensor[] {
  if (result instanceof tf.Tensor) return [result];
  return Object.values(result as object).flatMap(tensorsOf);
}

/** What it gives, and the gradients of that. */
const withGradients =
  (fn: Fn): ((...xs: tf.Tensor[]) => tf.Tensor[]) =>
  (...xs) => {
    const tape = new tf.GradientTape();
    tape.watch(xs);
    const results = tensorsOf(fn(...xs));
    const targets = results.filter((y) => y.dtype === 'float32').map((y) => y.mul(1.5));
    const grads = tape.gradient(targets, xs) as (tf.Tensor | null)[];
    return [...results, ...grads.filter((g) => g !== null)];
  };

const image: Shapes[] = [[[9, 7, 3]], [[8, 8, 3]], [[15, 6, 3]], [[4, 17, 3]]];
const batch: Shapes[] = [[[2, 9, 7, 3]], [[1, 8, 8, 3]], [[3, 15, 6, 3]]];
const signals: Shapes[] = [[[2, 6]], [[3, 5]], [[1, 8]], [[2, 11]]];
const both = (shapes: readonly number[][]): Shapes[] => shapes.map((s) => [s, s]);

const cases: Record<string, readonly [fn: Fn, shapes: readonly Shapes[]]> = {
  'image.centralCrop': [(x) => tf.image.centralCrop(x as tf.Tensor, 0.3), image],
  'image.resize in proportion': [
    (x) => tf.image.resize(x as tf.Tensor, [5, 6], { preserveAspectRatio: true }),
    image,
  ],
  'image.resizeWithPad': [(x) => tf.image.resizeWithPad(x as tf.Tensor, 6, 5), batch],
  'image.ssim': [
    (x, y) => tf.image.ssim(x as tf.Tensor, y as tf.Tensor, 1, { filterSize: 3 }),
    both([
      [2, 9, 7, 3],
      [1, 8, 8, 2],
      [3, 5, 6, 1],
    ]),
  ],
  'image.ssimMultiscale': [
    (x, y) =>
      tf.image.ssimMultiscale(x as tf.Tensor, y as tf.Tensor, 1, { filterSize: 3, powerFactors: [0.3, 0.5] }),
    both([
      [2, 9, 7, 3],
      [1, 8, 8, 2],
      [3, 7, 12, 1],
    ]),
  ],
  'image.drawBoundingBoxes': [
    (x, boxes) => tf.image.drawBoundingBoxes(x as tf.Tensor, (boxes as tf.Tensor).mul(0.9)),
    [
      [
        [2, 5, 6, 3],
        [2, 4, 4],
      ],
      [
        [1, 7, 6, 1],
        [1, 12, 4],
      ],
      [
        [2, 7, 6, 4],
        [2, 0, 4],
      ],
    ],
  ],
  'image.combinedNonMaxSuppression': [
    (boxes, scores) =>
      tf.image.combinedNonMaxSuppression(boxes as tf.Tensor, scores as tf.Tensor, 2, 5, {
        padPerClass: true,
      }),
    [
      [
        [2, 6, 1, 4],
        [2, 6, 2],
      ],
      [
        [1, 4, 1, 4],
        [1, 4, 3],
      ],
    ],
  ],
  'nn.dilation2d': [
    (x, filter) =>
      tf.nn.dilation2d(x as tf.Tensor, filter as tf.Tensor, [1, 2, 1, 1], 'SAME', 'NHWC', [1, 1, 2, 1]),
    [
      [
        [2, 6, 5, 3],
        [2, 3, 3],
      ],
      [
        [1, 8, 9, 2],
        [3, 1, 2],
      ],
    ],
  ],
  'nn.erosion2d': [
    (x, filter) =>
      tf.nn.erosion2d(x as tf.Tensor, filter as tf.Tensor, [1, 1, 1, 1], 'VALID', 'NHWC', [1, 1, 1, 1]),
    [
      [
        [2, 6, 5, 3],
        [2, 3, 3],
      ],
      [
        [1, 8, 9, 2],
        [3, 1, 2],
      ],
    ],
  ],
  ...Object.fromEntries(
    ([1, 2, 3, 4] as const).flatMap((type) =>
      ([null, 'ortho'] as const)
        .filter((norm) => type !== 1 || norm === null)
        .flatMap((norm) => [
          [`signal.dct ${type} ${norm}`, [(x: tf.Tensor) => tf.signal.dct(x, type, { norm }), signals]],
          [`signal.idct ${type} ${norm}`, [(x: tf.Tensor) => tf.signal.idct(x, type, { norm }), signals]],
        ]),
    ),
  ),
  'signal.fftshift': [(x) => tf.signal.fftshift(x as tf.Tensor), signals],
  'signal.ifftshift': [(x) => tf.signal.ifftshift(x as tf.Tensor, 1), signals],
  'signal.inverseMdct': [(x) => tf.signal.inverseMdct(x as tf.Tensor), [[[3, 4]], [[2, 8]], [[5, 6]]]],
  'signal.inverseMdct ortho': [
    (x) => tf.signal.inverseMdct(x as tf.Tensor, { norm: 'ortho', windowFn: tf.signal.hannWindow }),
    [[[3, 4]], [[2, 8]], [[5, 6]]],
  ],
  'signal.mfccsFromLogMelSpectrograms': [
    (x) => tf.signal.mfccsFromLogMelSpectrograms(x as tf.Tensor),
    signals,
  ],
  'signal.hannWindow': [
    (x) => (x as tf.Tensor).mul(tf.signal.hannWindow(tf.shape(x as tf.Tensor).at(-1))),
    signals,
  ],
  ContrastLimitedAdaptiveHistogramEqualization: [
    new tf.layers.ContrastLimitedAdaptiveHistogramEqualization({
      tileGridSize: 2,
      valueRange: [0, 1],
    }) as never,
    batch,
  ],
};

test.each(Object.entries(cases))('%s', (_, [fn, shapes]) => {
  const whole = withGradients(fn);
  const known = shapes[0] as Shapes;
  const traced = tf.function({
    inputSignature: known.map(
      (shape, i) =>
        new tf.TensorSpec(
          shape.map((d, axis) => (shapes.every((s) => s[i]?.[axis] === d) ? d : null)),
          'float32',
        ),
    ),
  })(whole);
  tf.random.setSeed(2);
  for (const each of shapes) {
    const xs = each.map((shape) => tf.random.uniform(shape, { minval: 0.1, maxval: 0.9 }));
    const [expected, got] = [whole(...xs), traced(...xs)];
    expect(got.map((t) => t.shape)).toEqual(expected.map((t) => t.shape));
    got.forEach((t, i) => {
      expect(
        tf
          .abs(t.sub(expected[i] as tf.Tensor).cast('float32'))
          .max()
          .item(),
      ).toBeLessThan(2e-4);
    });
  }
  expect(traced.experimentalGetTracingCount()).toBe(1);
});

const spec = { inputSignature: [new tf.TensorSpec([null, null, 1], 'float32')] };

// Golden: [height, width, target height, target width] and the size that tf.image.resize gives (TensorFlow 2.21).
test('sizes in proportion are those of TensorFlow', () => {
  const known = [
    ...[
      [7, 5, 5, 6, 5, 4],
      [7, 5, 12, 30, 12, 9],
      [10, 15, 5, 6, 4, 6],
      [10, 15, 7, 7, 5, 7],
      [33, 20, 5, 6, 5, 3],
    ],
    ...[
      [33, 20, 12, 30, 12, 7],
      [3, 9, 7, 7, 2, 7],
      [64, 48, 5, 6, 5, 4],
      [64, 48, 7, 7, 7, 5],
      [9, 7, 12, 30, 12, 9],
    ],
  ];
  for (const [h, w, height, width, ...size] of known as [number, number, number, number, number, number][]) {
    const resized = (x: tf.Tensor): tf.Tensor =>
      tf.image.resize(x, [height, width], { preserveAspectRatio: true });
    const x = tf.ones([h, w, 1]);
    expect([resized(x).shape, tf.function(spec)(resized)(x).shape]).toEqual([
      [...size, 1],
      [...size, 1],
    ]);
  }
});

// Golden: [height, width, share] and the size that tf.image.central_crop gives (TensorFlow 2.21).
test('the middle is that of TensorFlow', () => {
  const known = [
    ...[
      [7, 5, 0.1, 1, 1],
      [7, 5, 0.7, 5, 5],
      [10, 15, 0.1, 2, 3],
      [10, 15, 0.3, 4, 5],
      [33, 20, 0.1, 5, 2],
    ],
    ...[
      [33, 20, 0.7, 25, 14],
      [33, 20, 0.875, 29, 18],
      [64, 48, 0.3, 20, 16],
      [64, 48, 0.875, 56, 42],
    ],
  ];
  for (const [h, w, share, ...size] of known as [number, number, number, number, number][]) {
    const middle = (x: tf.Tensor): tf.Tensor => tf.image.centralCrop(x, share);
    const x = tf.ones([h, w, 1]);
    expect([middle(x).shape, tf.function(spec)(middle)(x).shape]).toEqual([
      [...size, 1],
      [...size, 1],
    ]);
  }
});

test('RandomElasticTransform', () => {
  const layer = new tf.layers.RandomElasticTransform({ seed: 3 });
  const traced = tf.function({ inputSignature: [new tf.TensorSpec([null, null, null, 3], 'float32')] })(
    (x) => layer(x, { training: true }) as tf.Tensor,
  );
  for (const shape of [
    [2, 25, 33, 3],
    [1, 64, 48, 3],
  ])
    expect(traced(tf.ones(shape)).shape).toEqual(shape);
  expect(traced.experimentalGetTracingCount()).toBe(1);
});
