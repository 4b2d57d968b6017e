// Images whose pixels come from other places.
import {
  constant,
  image as core,
  gatherNd,
  type IntegersLike,
  type NamedFunction,
  random,
  type Shape,
  stack,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  type Dim,
  defineFunction,
  dims,
  inInitScope,
  iota,
  isFloating,
  kind,
  sampled,
  sizeValue,
  toTensor,
} from '@eagre/core/internal';
import { blurred } from '../../layers/preprocessing/blur.ts';
import { floating, named, refuse } from '../define.ts';
import { type FormatOption, ofImages } from './images.ts';

interface WarpOptions extends FormatOption {
  /** `bilinear` by default. */
  readonly interpolation?: core.WarpInterpolation;
  /** What stands beyond the border where `fillMode` is `constant`; 0 by default. */
  readonly fillValue?: number;
}
interface FillOptions extends WarpOptions {
  readonly fillMode?: core.FillMode;
}
const warp = { interpolation: kind.asIs, fillValue: kind.asIs, dataFormat: kind.asIs };

/** Turns, shears, scales and shifts images by a transform [8] or one [n, 8] for each. */
export const affineTransform: NamedFunction<
  [images: TensorLike, transform: TensorLike],
  ['images', 'transform'],
  FillOptions
> = defineFunction(
  named('image.affineTransform'),
  { images: kind.tensor, transform: kind.tensor },
  { ...warp, fillMode: kind.asIs },
  (images, transform, { dataFormat, ...options }) =>
    ofImages(images, dataFormat, 'image.affineTransform', (x) => core.affineTransform(x, transform, options)),
);

/** Images seen from another side, so that four points [4, 2] or [n, 4, 2] move to four others. */
export const perspectiveTransform: NamedFunction<
  [images: TensorLike, startPoints: TensorLike, endPoints: TensorLike],
  ['images', 'startPoints', 'endPoints'],
  WarpOptions
> = defineFunction(
  named('image.perspectiveTransform'),
  { images: kind.tensor, startPoints: kind.tensor, endPoints: kind.tensor },
  warp,
  (images, startPoints, endPoints, { dataFormat, ...options }) =>
    ofImages(images, dataFormat, 'image.perspectiveTransform', (x) => {
      const [start, end] = [startPoints, endPoints].map((p) => {
        const t = floating(p);
        return t.rank === 2 ? t.expandDims(0) : t;
      });
      return core.perspectiveTransform(x, start, end, options);
    }),
);

/** Images bent at random: each pixel comes from a place nearby, where neighbours move alike. */
export const elasticTransform: NamedFunction<
  [images: TensorLike, alpha?: number, sigma?: number],
  ['images', 'alpha', 'sigma'],
  FillOptions & { readonly seed?: number | null }
> = defineFunction(
  named('image.elasticTransform'),
  { images: kind.tensor, alpha: kind.asIs, sigma: kind.asIs },
  { ...warp, fillMode: kind.asIs, seed: kind.asIs },
  (images, alpha: number = 20, sigma: number = 5, options) => {
    const { interpolation, fillMode = 'reflect', fillValue, dataFormat, seed } = options;
    return ofImages(images, dataFormat, 'image.elasticTransform', (given) => {
      const x = isFloating(given.dtype) ? given : given.cast('float32');
      const [n, h, w] = x.shape;
      const size = (6 * Math.trunc(sigma)) | 1;
      const moved = (more: number): Tensor => {
        const noise = random.normal(
          [n, h, w, 1],
          seed === undefined || seed === null ? {} : { seed: seed + more },
        );
        const s = toTensor(sigma, 'float32');
        return blurred(noise.mul(sigma), [size, size], [s, s]).squeeze(-1).mul(alpha).cast(x.dtype);
      };
      const across = iota(w).cast(x.dtype).add(moved(0));
      const down = iota(h).cast(x.dtype).expandDims(1).add(moved(1));
      return sampled(x, across, down, { interpolation, fillMode, fillValue }, 'image.elasticTransform').cast(
        given.dtype,
      );
    });
  },
);

/** How places beyond the border are filled. */
export type CoordinateFill = 'constant' | 'nearest' | 'wrap' | 'mirror' | 'reflect';
const FILLS: readonly string[] = ['constant', 'nearest', 'wrap', 'mirror', 'reflect'];

/** Where a place is inside of an axis. */
function inside(place: Tensor, size: Dim, mode: CoordinateFill): Tensor {
  const n = sizeValue(size, 'int32');
  const last = typeof n === 'number' ? n - 1 : n.sub(1);
  if (mode === 'constant' || mode === 'nearest') return place.maximum(0).minimum(last);
  if (mode === 'wrap') return place.mod(n);
  const twice = typeof n === 'number' ? 2 * n : n.mul(2);
  const wave = place.abs().mod(twice);
  const back = wave.neg().add(twice);
  return wave.less(n).where(wave, mode === 'reflect' ? back.sub(1) : back);
}

/**
 * The values of a tensor at places between its elements: `coordinates` [rank, ...], of which each row is for one axis.
 * @param order 0 for the nearest element, 1 for a mix of those around
 */
export const mapCoordinates: NamedFunction<
  [inputs: TensorLike, coordinates: TensorLike, order: 0 | 1],
  ['inputs', 'coordinates', 'order'],
  { readonly fillMode?: CoordinateFill; readonly fillValue?: number }
> = defineFunction(
  named('image.mapCoordinates'),
  { inputs: kind.tensor, coordinates: kind.tensor, order: kind.asIs },
  { fillMode: kind.asIs, fillValue: kind.asIs },
  (inputs, coordinates, order, { fillMode = 'constant', fillValue = 0 }) => {
    const name = 'image.mapCoordinates';
    const x = toTensor(inputs);
    const places = floating(coordinates).unstack(0);
    if (places.length !== x.rank) refuse(`there are ${places.length} coordinates for ${x.rank} axes`, name);
    if (order !== 0 && order !== 1) refuse(`order is ${String(order)}, expected 0 or 1`, name);
    if (!FILLS.includes(fillMode))
      refuse(`fillMode is '${String(fillMode)}', expected one of ${FILLS.join(', ')}`, name);
    const values = isFloating(x.dtype) ? x : x.cast('float32');
    // Of each axis the elements before and behind, with their weights.
    const nodes = places.map((p): (readonly [Tensor, Tensor | null])[] => {
      if (order === 0) return [[p.round().cast('int32'), null]];
      const low = p.floor();
      const share = p.sub(low);
      const first = low.cast('int32');
      return [
        [first, share.mul(-1).add(1)],
        [first.add(1), share],
      ];
    });
    let sum: Tensor | null = null;
    for (let corner = 0; corner < (order === 0 ? 1 : 2 ** x.rank); corner++) {
      const chosen = nodes.map((list, axis) => list[(corner >> axis) & 1]);
      const at = chosen.map(([place], axis) => inside(place, dims(x)[axis], fillMode));
      let found = gatherNd(values, stack(at, -1));
      if (fillMode === 'constant') {
        const within = chosen
          .map(([place], axis) =>
            place.greaterEqual(0).logicalAnd(place.less(sizeValue(dims(x)[axis], 'int32'))),
          )
          .reduce((a, b) => a.logicalAnd(b));
        found = within.where(found, fillValue);
      }
      for (const [, weight] of chosen) if (weight !== null) found = found.mul(weight.cast(found.dtype));
      sum = sum === null ? found : sum.add(found);
    }
    const result = sum as Tensor;
    return isFloating(x.dtype) ? result : result.round().cast(x.dtype);
  },
);

/** How much elements count by their distance. */
const KERNELS: Readonly<Record<string, (x: number) => number>> = {
  linear: (x) => Math.max(0, 1 - x),
  cubic: (x) => (x >= 2 ? 0 : x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1),
  lanczos3: (x) => lanczos(3, x),
  lanczos5: (x) => lanczos(5, x),
};
const lanczos = (radius: number, x: number): number =>
  x > radius
    ? 0
    : x <= 1e-3
      ? 1
      : (radius * Math.sin(Math.PI * x) * Math.sin((Math.PI * x) / radius)) / (Math.PI * x) ** 2;
const SAME: Readonly<Record<string, string>> = {
  ...{ bilinear: 'linear', trilinear: 'linear', triangle: 'linear', bicubic: 'cubic', tricubic: 'cubic' },
};

/**
 * Images scaled and shifted along some axes: a pixel at x comes to x · scale + translation.
 * @param outputShape the shape of the result
 * @param scale and `translation`: numbers, one for each of the axes `spatialDims`
 */
export const scaleAndTranslate: NamedFunction<
  [
    images: TensorLike,
    outputShape: IntegersLike,
    scale: TensorLike,
    translation: TensorLike,
    spatialDims: readonly number[],
    method: string,
    antialias?: boolean,
  ],
  ['images', 'outputShape', 'scale', 'translation', 'spatialDims', 'method', 'antialias']
> = defineFunction(
  named('image.scaleAndTranslate'),
  {
    images: kind.tensor,
    outputShape: kind.integers,
    scale: kind.tensor,
    translation: kind.tensor,
    spatialDims: kind.integers,
    method: kind.asIs,
    antialias: kind.asIs,
  },
  {},
  (images, outputShape: Shape, scale, translation, spatialDims, method, antialias: boolean = true) => {
    const x = toTensor(images);
    const kernel = KERNELS[SAME[method] ?? method];
    if (kernel === undefined)
      return refuse(`there is no method '${String(method)}'`, 'image.scaleAndTranslate');
    const [scales, shifts] = inInitScope(() =>
      [scale, translation].map((v) => Array.from(toTensor(v).flatten().data(), Number)),
    );
    let y = isFloating(x.dtype) ? x : x.cast('float32');
    spatialDims.forEach((given, i) => {
      const axis = given < 0 ? given + x.rank : given;
      const weights = weightsOf(x.shape[axis], outputShape[axis], scales[i], shifts[i], kernel, antialias);
      const matrix = constant(weights.flat(), 'float64', { shape: [x.shape[axis], outputShape[axis]] }).cast(
        y.dtype,
      );
      y = y.tensordot(matrix, [[axis], [0]]).moveAxis(-1, axis);
    });
    return isFloating(x.dtype)
      ? y
      : y.round().maximum(x.min().cast(y.dtype)).minimum(x.max().cast(y.dtype)).cast(x.dtype);
  },
);

/** By input and output place how much the one counts for the other. */
function weightsOf(
  from: number,
  to: number,
  scale: number,
  shift: number,
  kernel: (x: number) => number,
  antialias: boolean,
): number[][] {
  const width = antialias ? Math.max(1 / scale, 1) : 1;
  const places = Array.from({ length: to }, (_, i) => (i + 0.5 - shift) / scale - 0.5);
  const raw = Array.from({ length: from }, (_, i) => places.map((p) => kernel(Math.abs(p - i) / width)));
  const sums = places.map((_, j) => raw.reduce((s, row) => s + row[j], 0));
  const counts = places.map((p, j) => p >= -0.5 && p <= from - 0.5 && Math.abs(sums[j]) > 1000 * 2 ** -23);
  return raw.map((row) => row.map((w, j) => (counts[j] ? w / sums[j] : 0)));
}
