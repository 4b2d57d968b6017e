// Images whose pixels come from other places: turned, shifted, seen from aside, bent.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type Dim, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { show, showShape } from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { concat, stack } from '../array/join.ts';
import { expandDims, reshape } from '../array/shaping.ts';
import { clip, where } from '../elementwise/select.ts';
import { asFloats, lastPlace, ofBatch, places, toImages } from './images.ts';

/** How values between pixels are found. */
export type WarpInterpolation = 'bilinear' | 'nearest';
/** What lies beyond the border: one value, the pixels mirrored at the edge, the image again, or the nearest pixel. */
export type FillMode = 'constant' | 'reflect' | 'wrap' | 'nearest';

/** Options of `affineTransform` and `perspectiveTransform`. */
export interface WarpOptions {
  /** `bilinear` by default. */
  readonly interpolation?: WarpInterpolation;
  /** `constant` by default. */
  readonly fillMode?: FillMode;
  /** Of `constant`; 0 by default. */
  readonly fillValue?: number;
}
export const FILL_MODES: readonly FillMode[] = ['constant', 'reflect', 'wrap', 'nearest'];
export const WARP_INTERPOLATIONS: readonly WarpInterpolation[] = ['bilinear', 'nearest'];

/** Where a place beyond the border is inside of an axis of a size; those of `constant` stay. */
function inside(place: Tensor, size: number | Tensor, last: number | Tensor, mode: FillMode): Tensor {
  if (mode === 'constant') return place;
  if (mode === 'nearest') return clip(place, 0, last);
  if (mode === 'wrap') {
    // TensorFlow counts turns by the last place, though each moves by the size.
    const steps = toTensor(last, place.dtype).maximum(1);
    const before = place.add(place.neg().div(steps).floor().add(1).mul(size));
    const behind = place.sub(place.div(steps).floor().mul(size));
    return clip(where(place.less(0), before, where(place.greater(last), behind, place)), 0, last);
  }
  const twice = toTensor(size, place.dtype).mul(2);
  const wave = place.sub(place.div(twice).floor().mul(twice));
  return clip(where(wave.greaterEqual(size), twice.sub(wave).sub(1), wave), 0, last);
}

/**
 * Images [n, h, w, c] with the pixels at the places x and y [n, height, width] of each.
 * @throws InvalidArgumentError for unknown options
 */
export function sampled(
  images: Tensor,
  x: Tensor,
  y: Tensor,
  { interpolation = 'bilinear', fillMode = 'constant', fillValue = 0 }: WarpOptions,
  op: string,
): Tensor {
  const known = <T>(value: T, all: readonly T[], what: string): void => {
    if (!all.includes(value))
      throw new InvalidArgumentError(`${what} must be one of ${all.join(', ')}, got ${show(value)}`, op);
  };
  known(interpolation, WARP_INTERPOLATIONS, 'interpolation');
  known(fillMode, FILL_MODES, 'fillMode');
  const [n, h, w, c] = dims(images);
  const dtype = x.dtype as 'float32' | 'float64';
  const [right, bottom] = [lastPlace(w, dtype), lastPlace(h, dtype)];
  const px = inside(x, sizeValue(w, dtype), right, fillMode);
  const py = inside(y, sizeValue(h, dtype), bottom, fillMode);
  const pixels = reshape(images, toShape([mulDims(mulDims(n, h), w), c]));
  const firstRow = reshape(iota(n).mul(sizeValue(h, 'int32')), [-1, 1, 1]);
  /** The pixels at whole places; the fill value beyond the border. */
  const at = (column: Tensor, row: Tensor): Tensor => {
    const index = clip(row, 0, bottom)
      .cast('int32')
      .add(firstRow)
      .mul(sizeValue(w, 'int32'))
      .add(clip(column, 0, right).cast('int32'));
    const found = gather(pixels, index, 0);
    const within = column
      .greaterEqual(0)
      .logicalAnd(column.lessEqual(right))
      .logicalAnd(row.greaterEqual(0))
      .logicalAnd(row.lessEqual(bottom));
    return where(expandDims(within, -1), found, toTensor(fillValue, found.dtype));
  };
  if (interpolation === 'nearest') {
    // Halves go away from 0.
    const nearest = (p: Tensor): Tensor => p.sign().mul(p.abs().add(0.5).floor());
    return at(nearest(px), nearest(py));
  }
  const [left, top] = [px.floor(), py.floor()];
  const [dx, dy] = [expandDims(px.sub(left), -1), expandDims(py.sub(top), -1)];
  const mix = (a: Tensor, b: Tensor, share: Tensor): Tensor => a.mul(share.neg().add(1)).add(b.mul(share));
  const above = mix(at(left, top), at(left.add(1), top), dx);
  const below = mix(at(left, top.add(1)), at(left.add(1), top.add(1)), dx);
  return mix(above, below, dy);
}

/**
 * Images seen through projective maps: the pixel of the result at (x, y) is that of the image at ((a0 x + a1 y + a2) / k,
 * (b0 x + b1 y + b2) / k) with k = c0 x + c1 y + 1, as in TensorFlow's ImageProjectiveTransformV3.
 * @param transform [8] or [n, 8]: a0, a1, a2, b0, b1, b2, c0, c1
 * @param size of the results; that of the images by default
 */
export function projected(
  images: Tensor,
  transform: Tensor,
  options: WarpOptions,
  op: string,
  size?: readonly [height: Dim, width: Dim],
): Tensor {
  const maps = transform.rank === 1 ? expandDims(transform, 0) : transform;
  if (maps.rank !== 2 || maps.shape[1] !== 8)
    throw new InvalidArgumentError(
      `transform has shape ${showShape(transform.shape)}, expected [8] or [batch, 8]`,
      op,
    );
  return ofBatch(images, (batch) => {
    const floats = options.interpolation === 'nearest' ? batch : asFloats(batch);
    const dtype = floats.dtype === 'float64' ? 'float64' : 'float32';
    const [, height, width] = dims(batch);
    const [h, w] = size ?? [height, width];
    const x = places(w, dtype);
    const y = expandDims(places(h, dtype), 1);
    const [a0, a1, a2, b0, b1, b2, c0, c1] = maps
      .cast(dtype)
      .split(8, 1)
      .map((part) => expandDims(part, 2));
    const k = x.mul(c0).add(y.mul(c1)).add(1);
    // What lies at infinity is beyond every border.
    const apart = (p: Tensor): Tensor => where(k.equal(0), -2, p.div(k));
    const column = apart(x.mul(a0).add(y.mul(a1)).add(a2));
    const row = apart(x.mul(b0).add(y.mul(b1)).add(b2));
    const n = dims(batch)[0];
    const places3 = (p: Tensor): Tensor => p.broadcastTo(toShape([n, h, w]));
    return sampled(floats, places3(column), places3(row), options, op).cast(batch.dtype);
  });
}

/**
 * Turns, shears, scales and shifts images [h, w, c] or [n, h, w, c]. The pixel of the result at (x, y) is that of the image at
 * (a0 x + a1 y + a2, b0 x + b1 y + b2).
 * @param transform [8] or [n, 8]: a0, a1, a2, b0, b1, b2, and two more of a projection, usually 0
 */
export const affineTransform: NamedFunction<
  [images: TensorLike, transform: TensorLike],
  ['images', 'transform'],
  WarpOptions
> = /* @__PURE__ */ defineFunction(
  'image.affineTransform',
  { images: kind.tensor, transform: kind.tensor },
  { interpolation: kind.asIs, fillMode: kind.asIs, fillValue: kind.asIs },
  (images, transform, options) => {
    const op = 'image.affineTransform';
    return projected(toImages(images, op), toTensor(transform), options, op);
  },
);

/** The projective maps [n, 8] that take the corners `end` to `start`, both [n, 4, 2] of (x, y). */
export function homography(start: Tensor, end: Tensor): Tensor {
  const column = (p: Tensor, i: number): Tensor => p.at('...', i);
  const [sx, sy, ex, ey] = [column(start, 0), column(start, 1), column(end, 0), column(end, 1)];
  const [one, none] = [ex.mul(0).add(1), ex.mul(0)];
  const u = stack([ex, ey, one, none, none, none, sx.mul(ex).neg(), sx.mul(ey).neg()], -1);
  const v = stack([none, none, none, ex, ey, one, sy.mul(ex).neg(), sy.mul(ey).neg()], -1);
  return solved(concat([u, v], 1), concat([sx, sy], 1));
}

/** The solutions [n, m] of systems of m linear equations, by elimination with the largest pivot of each column (Gauss and Jordan). */
function solved(matrices: Tensor, rights: Tensor): Tensor {
  const m = rights.shape[1] as number;
  const row = iota(m);
  let a = concat([matrices, expandDims(rights, 2)], 2);
  for (let i = 0; i < m; i++) {
    // The row with the pivot changes places with row i.
    const sizes = a.at(':', ':', i).abs();
    const pivot = expandDims(where(row.less(i), -1, sizes).argMax(1, { dtype: 'int32' }), 1);
    const order = where(row.equal(i), pivot, where(row.equal(pivot), i, row));
    a = gather(a, order, 1, { batchDims: 1 });
    const first = a.at(':', `${i}:${i + 1}`, ':');
    const unit = first.div(first.at(':', ':', `${i}:${i + 1}`));
    const others = a.sub(a.at(':', ':', `${i}:${i + 1}`).mul(unit));
    a = where(reshape(row.equal(i), [1, -1, 1]), unit, others);
  }
  return a.at(':', ':', m);
}

/**
 * Images [h, w, c] or [n, h, w, c] seen from aside: what is at the corners `endPoints` in the result was at `startPoints`.
 * @param startPoints [4, 2] or [n, 4, 2] of (x, y)
 * @param endPoints of the same shape
 */
export const perspectiveTransform: NamedFunction<
  [images: TensorLike, startPoints: TensorLike, endPoints: TensorLike],
  ['images', 'startPoints', 'endPoints'],
  WarpOptions
> = /* @__PURE__ */ defineFunction(
  'image.perspectiveTransform',
  { images: kind.tensor, startPoints: kind.tensor, endPoints: kind.tensor },
  { interpolation: kind.asIs, fillMode: kind.asIs, fillValue: kind.asIs },
  (images, startPoints, endPoints, options) => {
    const op = 'image.perspectiveTransform';
    const corners = (value: TensorLike, what: string): Tensor => {
      const points = toTensor(value).cast('float32');
      const several = points.rank === 2 ? expandDims(points, 0) : points;
      if (several.rank !== 3 || several.shape[1] !== 4 || several.shape[2] !== 2)
        throw new InvalidArgumentError(
          `${what} has shape ${showShape(points.shape)}, expected [4, 2] or [batch, 4, 2]`,
          op,
        );
      return several;
    };
    const maps = homography(corners(startPoints, 'startPoints'), corners(endPoints, 'endPoints'));
    return projected(toImages(images, op), maps, options, op);
  },
);
