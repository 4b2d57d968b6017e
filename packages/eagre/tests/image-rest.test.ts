// Functions of tf.image against TensorFlow, and what is drawn at random.
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('image-rest.json');

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
      () => im.convertImageDtype(image, 'int64'),
      () => im.rgbToYiq(tf.ones([2, 4])),
      () => im.drawBoundingBoxes(image, tf.ones([1, 1, 4])),
    ];
    for (const call of bad) expect(call).toThrow(tf.errors.InvalidArgumentError);
  });
});
