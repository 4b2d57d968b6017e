// Images.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { dims, hostValues, knownTensor, projected } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { vjp } from '../vjp.ts';

type Method = 'bilinear' | 'nearest' | 'bicubic' | 'area';

/** Corners as TensorFlow 2 has them; others are matrices of weights. */
export function resized(c: OpCall, x: Tensor, size: readonly [number, number], method: Method): Tensor {
  const aligned = c.boolAttr('align_corners', false);
  const half = method === 'area' || c.boolAttr('half_pixel_centers', false);
  const result =
    half && !aligned ? tf.image.resize(x, [...size], { method }) : oldResize(c, x, size, method, aligned);
  // Nearest keeps the dtype, the others give floats.
  return method === 'nearest' ? result : result.dtype === 'float64' ? tf.cast(result, 'float32') : result;
}
const resize =
  (method: Method): Translate =>
  (c) =>
    resized(c, c.x(0), c.ints(1) as [number, number], method);

/** Images of another size as TensorFlow 1 computed them: pixels are points at their corners. */
export function oldResize(
  c: OpCall,
  x: Tensor,
  [height, width]: readonly [number, number],
  method: Method,
  aligned: boolean,
): Tensor {
  if (method === 'bicubic') throw c.lacks('bicubic resizing needs half_pixel_centers');
  const [, h, w] = dims(x) as readonly number[] as [number, number, number];
  if (typeof h !== 'number' || typeof w !== 'number') throw c.lacks('it needs images of known size');
  const along = (image: Tensor, axis: number, from: number, to: number): Tensor => {
    const scale = aligned && to > 1 ? (from - 1) / (to - 1) : from / to;
    const places = Array.from({ length: to }, (_, i) => i * scale);
    const last = (p: number): number => Math.min(Math.max(p, 0), from - 1);
    if (method === 'nearest')
      return tf.gather(
        image,
        tf.constant(
          places.map((p) => last(aligned ? Math.round(p) : Math.floor(p))),
          'int32',
        ),
        axis,
      );
    const rows = (list: readonly number[]): Tensor => tf.gather(image, tf.constant([...list], 'int32'), axis);
    const weight = tf.reshape(
      tf.constant(places.map((p) => p - Math.floor(p))),
      axis === 1 ? [1, -1, 1, 1] : [1, 1, -1, 1],
    );
    const low = rows(places.map((p) => last(Math.floor(p))));
    const high = rows(places.map((p) => last(Math.floor(p) + 1)));
    return low.add(high.sub(low).mul(weight));
  };
  const image = method === 'nearest' ? x : tf.cast(x, 'float32');
  return along(along(image, 1, h, height), 2, w, width);
}

const KERNELS: Readonly<Record<string, tf.image.ResizeMethod>> = {
  triangle: 'bilinear',
  keyscubic: 'bicubic',
  mitchellcubic: 'mitchellcubic',
  lanczos3: 'lanczos3',
  lanczos5: 'lanczos5',
  gaussian: 'gaussian',
};

/** What `tf.image.resize` is made of with `antialias`, and for some methods. */
const scaleAndTranslate: Translate = (c) => scaled(c, c.x(0), c.ints(1) as [number, number]);

/** The image `x` in another size, as inputs 2 and 3 scale and move it. */
function scaled(c: OpCall, x: Tensor, size: readonly [number, number]): Tensor {
  const name = c.textAttr('kernel_type', 'lanczos3');
  const method = KERNELS[name];
  if (method === undefined) throw c.lacks(`the kernel ${name}`);
  const whole = tf
    .cast(tf.constant([...size]), 'float32')
    .div(tf.cast(tf.slice(tf.shapeOf(x), [1], [2]), 'float32'));
  const [scale, moved] = [knownTensor(c.x(2)), knownTensor(c.x(3))];
  const isPlain =
    moved !== null &&
    Array.from(hostValues(moved) as ArrayLike<number>).every((by) => by === 0) &&
    (scale === null || nearly(hostValues(scale), knownTensor(whole)));
  if (!isPlain) throw c.lacks('it shifts images, or scales them by another number than their sizes tell');
  return tf.image.resize(x, size, { method, antialias: c.boolAttr('antialias', true) });
}

/** Its gradient, input 0, for the image in input 1. */
const scaledGradient: Translate = (c) => {
  const [, height, width] = c.x(0).shape as readonly [number, number, number, number];
  return vjp((x) => scaled(c, x as Tensor, [height, width]), [c.x(1)], c.x(0))[0] as Tensor;
};

const nearly = (values: ArrayLike<number | bigint>, other: Tensor | null): boolean =>
  other === null ||
  Array.from(values).every(
    (v, i) => Math.abs(Number(v) - Number(hostValues(other)[i])) <= 1e-5 * Math.abs(Number(v)),
  );

/** What Keras's layers that turn, shear and shift images are made of. */
const projective: Translate = (c) => {
  const options = {
    interpolation: c.textAttr('interpolation').toLowerCase() as 'bilinear' | 'nearest',
    fillMode: c.textAttr('fill_mode', 'CONSTANT').toLowerCase() as 'constant',
    fillValue: c.has(3) ? c.x(3).item() : 0,
  };
  return projected(c.x(0), c.x(1), options, c.op, c.ints(2) as [number, number]);
};

const DISTORTED = ['begin', 'size', 'bboxes'];
const distortions = (c: OpCall, minObjectCovered: number): object => ({
  minObjectCovered,
  aspectRatioRange: rangeOf(c, 'aspect_ratio_range', [0.75, 1.33]),
  areaRange: rangeOf(c, 'area_range', [0.05, 1]),
  maxAttempts: c.intAttr('max_attempts', 100),
  useImageIfNoBoundingBoxes: c.boolAttr('use_image_if_no_bounding_boxes', false),
});
const rangeOf = (c: OpCall, name: string, missing: readonly number[]): readonly number[] => {
  const list = c.floatsAttr(name);
  return list.length > 0 ? list : missing;
};
const distorted = (c: OpCall, minObjectCovered: number): Tensor[] =>
  tf.image.sampleDistortedBoundingBox(c.x(0), c.x(1), distortions(c, minObjectCovered));

const glimpse = (
  c: OpCall,
  offsets: Tensor,
  places: { readonly centered: boolean; readonly normalized: boolean },
): Tensor => {
  const noise = c.textAttr('noise', 'uniform') as 'zero';
  return tf.image.extractGlimpse(c.x(0), c.ints(1), offsets, { ...places, noise });
};

export const image: OpTable = {
  ImageProjectiveTransformV2: projective,
  ImageProjectiveTransformV3: projective,
  ScaleAndTranslate: scaleAndTranslate,
  ScaleAndTranslateGrad: scaledGradient,
  ResizeBilinear: resize('bilinear'),
  ResizeNearestNeighbor: resize('nearest'),
  ResizeBicubic: resize('bicubic'),
  ResizeArea: resize('area'),
  RGBToHSV: (c) => tf.image.rgbToHsv(c.x()),
  HSVToRGB: (c) => tf.image.hsvToRgb(c.x()),
  ExtractGlimpse: (c) => {
    // The first version took all offsets as those of the middle of a glimpse, and halved those from the centre.
    const size = tf.cast(tf.slice(tf.shapeOf(c.x(0)), [1], [2]), 'float32');
    const pixels = c.boolAttr('normalized', true) ? c.x(2).mul(size) : c.x(2);
    const middle = c.boolAttr('centered', true) ? pixels.div(2).add(size.div(2)) : pixels;
    const half = tf.cast(c.x(1), 'float32').div(2);
    return glimpse(c, middle.sub(half), { centered: false, normalized: false });
  },
  ExtractGlimpseV2: (c) =>
    glimpse(c, c.x(2), {
      centered: c.boolAttr('centered', true),
      normalized: c.boolAttr('normalized', true),
    }),
  SampleDistortedBoundingBox: several(DISTORTED, (c) => distorted(c, c.floatAttr('min_object_covered', 0.1))),
  SampleDistortedBoundingBoxV2: several(DISTORTED, (c) => distorted(c, c.x(2).item())),
  StatelessSampleDistortedBoundingBox: several(DISTORTED, (c) =>
    tf.image.statelessSampleDistortedBoundingBox(c.x(0), c.x(1), c.x(3), distortions(c, c.x(2).item())),
  ),
  AdjustContrastv2: (c) => tf.image.adjustContrast(c.x(0), c.x(1)),
  AdjustHue: (c) => tf.image.adjustHue(c.x(0), c.x(1)),
  AdjustSaturation: (c) => tf.image.adjustSaturation(c.x(0), c.x(1)),
};
