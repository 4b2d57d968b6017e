// Images of another size.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type Op, opHooks } from '../../dispatch/op.ts';
import { type SampleInput, uniform, values } from '../../dispatch/samples.ts';
import { computedDim, type Dim, mulDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { show, showShape } from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from '../array/creation.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { concat } from '../array/join.ts';
import { expandDims, reshape } from '../array/shaping.ts';
import { clip, where } from '../elementwise/select.ts';
import { lastPlace, ofBatch, places, ratio, sidesOf, toImages, twoSizes } from './images.ts';
import { padToBoundingBox } from './placing.ts';

/** How `resize` finds values between pixels. */
export type ResizeMethod =
  | 'bilinear'
  | 'nearest'
  | 'bicubic'
  | 'area'
  | 'lanczos3'
  | 'lanczos5'
  | 'gaussian'
  | 'mitchellcubic';

/** Options of `resize`. */
export interface ResizeOptions {
  /** `bilinear` by default. */
  readonly method?: ResizeMethod;
  /** Whether the result is as large as fits into `size` with the proportions of the image; false by default. */
  readonly preserveAspectRatio?: boolean;
  /** Whether smaller results are smoothed before, so that fine patterns do not show as coarse ones; false by default. */
  readonly antialias?: boolean;
}

/** How much a pixel at a distance of x ≥ 0 counts; from `radius` on nothing. */
interface Filter {
  readonly radius: number;
  readonly weight: (x: Tensor) => Tensor;
}

const lanczos = (radius: number): Filter => ({
  radius,
  weight: (x) => {
    const angle = x.mul(Math.PI);
    const wave = angle.sin().mul(angle.div(radius).sin()).mul(radius);
    return where(x.less(1e-3), 1, wave.divNoNan(angle.square()));
  },
});
/** Polynomials of the distance: one up to 1, another from 1 to 2 (Keys 1981; Mitchell and Netravali 1988). */
const cubic = (near: readonly number[], far: readonly number[]): Filter => {
  const value = (x: Tensor, [a, b, c, d]: readonly number[]): Tensor =>
    x.mul(a).add(b).mul(x).add(c).mul(x).add(d);
  return { radius: 2, weight: (x) => where(x.less(1), value(x, near), value(x, far)) };
};
const filters: Readonly<Record<Exclude<ResizeMethod, 'nearest' | 'area'>, Filter>> = {
  bilinear: { radius: 1, weight: (x) => x.neg().add(1) },
  bicubic: /* @__PURE__ */ cubic([1.5, -2.5, 0, 1], [-0.5, 2.5, -4, 2]),
  mitchellcubic: /* @__PURE__ */ cubic([7 / 6, -2, 0, 8 / 9], [-7 / 18, 2, -10 / 3, 16 / 9]),
  lanczos3: /* @__PURE__ */ lanczos(3),
  lanczos5: /* @__PURE__ */ lanczos(5),
  gaussian: { radius: 1.5, weight: (x) => x.square().mul(-2).exp() },
};
const methods: readonly ResizeMethod[] = [
  'nearest',
  'area',
  'bilinear',
  'bicubic',
  'mitchellcubic',
  'lanczos3',
  'lanczos5',
  'gaussian',
];

const TABLE_SIZE = 1024;

/** Which pixels of an axis each new one is made of, and how much each of them counts. */
interface Spans {
  /** The first one, and the one behind the last: int32 [to, 2]. */
  readonly ends: Tensor;
  /** [to, k], where k is the length of the longest span */
  readonly weights: Tensor;
}

/** Those of an axis of `from` pixels that gets `to`; TensorFlow's, also where a weight is 0: a NaN spreads as far. */
function spansOf(from: Dim, to: Dim, method: ResizeMethod, antialias: boolean, like: Tensor): Spans {
  const dtype = like.dtype as 'float32' | 'float64';
  /** `alike` spans are as long as the longest one, if there is room: as TensorFlow's, behind their weights. */
  const within = (
    first: Tensor,
    behind: Tensor,
    longest: (from: number, to: number) => number,
    alike = false,
  ): { readonly ends: Tensor; readonly pixels: Tensor; readonly inside: Tensor } => {
    const last = lastPlace(from, dtype);
    const [start, end] = [clip(first, 0, last), clip(behind.sub(1), 0, last).add(1)];
    const k = computedDim(`span ${method} ${antialias}`, [from, to], (n, m) => Math.min(longest(n, m), n), 1);
    const pixels = start.add(places(k, dtype));
    const limit = alike ? start.add(sizeValue(k, dtype)).minimum(sizeValue(from, dtype)) : end;
    return { ends: concat([start, limit], 1).cast('int32'), pixels, inside: pixels.less(end) };
  };
  const target = expandDims(places(to, dtype), 1);
  if (method === 'area') {
    // The part of each pixel that lies under the new one.
    const scale = ratio(from, to, dtype);
    const start = target.mul(scale);
    const end = target.add(1).mul(scale);
    const { ends, pixels } = within(start.floor(), end.ceil(), (n, m) => Math.ceil(n / m) + 2);
    const under = end.minimum(pixels.add(1)).sub(start.maximum(pixels)).maximum(0);
    return { ends, weights: under.div(scale) };
  }
  if (method === 'bicubic' && !antialias) {
    // TensorFlow reads these weights from a table.
    const place = target
      .add(0.5)
      .mul(ratio(from, to, dtype))
      .sub(0.5);
    const below = place.floor();
    const inTable = below.add(place.sub(below).mul(TABLE_SIZE).round().div(TABLE_SIZE));
    const { ends, pixels, inside } = within(below.sub(1), below.add(3), () => 4);
    return { ends, weights: normalized(where(inside, filters.bicubic.weight(pixels.sub(inTable).abs()), 0)) };
  }
  const { radius, weight } = filters[method as keyof typeof filters];
  const scale = reciprocal(ratio(to, from, dtype), dtype);
  const stretch = antialias ? (typeof scale === 'number' ? Math.max(scale, 1) : scale.maximum(1)) : 1;
  const place = target.add(0.5).mul(scale);
  const reach = typeof stretch === 'number' ? stretch * radius : stretch.mul(radius);
  const { ends, pixels, inside } = within(
    place.sub(reach).sub(0.5).ceil(),
    place.add(reach).sub(0.5).floor().add(1),
    (n, m) => 2 * Math.ceil(radius * (antialias ? Math.max(n / m, 1) : 1)) + 1,
    true,
  );
  const distance = pixels.add(0.5).sub(place).abs().div(stretch);
  return { ends, weights: normalized(where(inside.logicalAnd(distance.less(radius)), weight(distance), 0)) };
}

const normalized = (weights: Tensor): Tensor => weights.divNoNan(weights.sum(1, { keepdims: true }));
const reciprocal = (x: number | Tensor, dtype: 'float32' | 'float64'): number | Tensor =>
  typeof x !== 'number' ? x.reciprocal() : 1 / (dtype === 'float32' ? Math.fround(x) : x);

/** The pixels of each span [n, to, k, c] of an axis, zeros behind its end. */
function pixelsOf(x: Tensor, ends: Tensor, k: Dim): Tensor {
  const [start, end] = [ends.slice([0, 0], [-1, 1]), ends.slice([0, 1], [-1, 1])];
  const at = start.add(iota(k));
  // Places behind the end are read elsewhere.
  const pixels = gather(x, where(at.less(end), at, 0), 1);
  return where(expandDims(at.less(end), 2), pixels, 0);
}

/** Sums along the middle axis [n, from, c] by spans, or the transposed map: the kernel's contract says more. */
const resizeAxisOp: Op = defineOp({
  name: 'ResizeAxis',
  ulp: 64,
  kernel: 'ResizeAxis',
  kernelAttrs: ({ transposed }) => ({ transposed: transposed as boolean }),
  infer: ([x], attrs) => {
    const [n, , c] = dims(x);
    return { dtype: x.dtype, shape: toShape([n, attrs['size'] as Dim, c]) };
  },
  grad: (g, dy) => {
    const { x, inputs, attrs } = g;
    const [, ends, weights] = inputs as readonly [Tensor, Tensor, Tensor];
    const transposed = attrs['transposed'] === true;
    const dx = (): Tensor => resizeAxis(dy, { ends, weights }, dims(x)[1], !transposed);
    const [whole, parts] = transposed ? [dy, x] : [x, dy];
    const dWeights = (): Tensor =>
      pixelsOf(whole, ends, dims(weights)[1]).mul(expandDims(parts, 2)).sum([0, 3]);
    return [g.needs(0) ? dx() : null, null, g.needs(2) ? dWeights() : null];
  },
  samples: () => {
    const spans = (...ends: readonly number[]): SampleInput => values(ends, [ends.length / 2, 2], 'int32');
    return [
      {
        inputs: [uniform([2, 4, 3]), spans(0, 2, 1, 4, 3, 4), uniform([3, 3])],
        attrs: { size: 3, transposed: false },
      },
      {
        inputs: [uniform([2, 3, 3]), spans(0, 2, 1, 4, 3, 4), uniform([3, 3])],
        attrs: { size: 4, transposed: true },
      },
      {
        inputs: [uniform([1, 5, 17]), spans(2, 4, 0, 0), uniform([2, 2])],
        attrs: { size: 2, transposed: false },
      },
    ];
  },
});

/** What the op makes, of ops that TensorFlow has. */
export function sumOfSpans(x: Tensor, ends: Tensor, weights: Tensor, size: Dim, transposed: boolean): Tensor {
  if (!transposed) return pixelsOf(x, ends, dims(weights)[1]).mul(expandDims(weights, 2)).sum(2);
  return opHooks.vjp(
    ([whole]) => [sumOfSpans(whole, ends, weights, dims(x)[1], false)],
    [zeros(toShape([dims(x)[0], size, dims(x)[2]]), x.dtype)],
    [x],
  )[0] as Tensor;
}

function resizeAxis(x: Tensor, { ends, weights }: Spans, size: Dim, transposed: boolean): Tensor {
  return execute1(resizeAxisOp, [x, ends, weights], { size, transposed });
}

/** The two pixels around each new one along an axis, mixed; exact where a pixel is not finite. */
function linear(x: Tensor, axis: number, from: Dim, to: Dim): Tensor {
  const { dtype } = x as { dtype: 'float32' | 'float64' };
  const place = places(to, dtype)
    .add(0.5)
    .mul(ratio(from, to, dtype))
    .sub(0.5);
  const below = place.floor();
  const last = lastPlace(from, dtype);
  const at = (p: Tensor): Tensor => gather(x, clip(p, 0, last).cast('int32'), axis);
  const share = reshape(place.sub(below), axis === 1 ? [-1, 1, 1] : [-1, 1]);
  const low = at(below);
  return low.add(at(place.ceil()).sub(low).mul(share));
}

/** {@link linear} along both axes, in one pass. */
const resizeBilinearOp: Op = defineOp({
  name: 'ResizeBilinear',
  ulp: 256,
  kernel: 'ResizeBilinear',
  kernelAttrs: () => ({}),
  infer: ([x], attrs) => {
    const [n, , , c] = dims(x);
    return { dtype: x.dtype, shape: [n, ...(attrs['size'] as readonly [Dim, Dim]), c] };
  },
  grad: ({ x, attrs }, dy) =>
    opHooks.vjp(([image]) => [bilinear(image, attrs['size'] as readonly [Dim, Dim])], [x], [dy])[0] ?? null,
  samples: () => [
    { inputs: [uniform([2, 4, 6, 3])], attrs: { size: [2, 3] } },
    { inputs: [uniform([1, 3, 5, 1])], attrs: { size: [7, 4] } },
    { inputs: [uniform([1, 2, 3, 5])], attrs: { size: [2, 5] } },
  ],
});

function bilinear(x: Tensor, [height, width]: readonly [Dim, Dim]): Tensor {
  const [, h, w] = dims(x);
  return linear(linear(x, 1, h, height), 2, w, width);
}

/** Images [n, h, w, c] of floats, or of anything for `nearest`, in another size. */
export function resizeBatch(
  x: Tensor,
  [height, width]: readonly [Dim, Dim],
  method: ResizeMethod,
  antialias: boolean,
): Tensor {
  const [n, h, w, c] = dims(x);
  if (method === 'nearest') {
    const nearest = (image: Tensor, axis: number, from: Dim, to: Dim): Tensor => {
      const place = places(to, 'float32')
        .add(0.5)
        .mul(ratio(from, to, 'float32'))
        .floor();
      return gather(image, clip(place, 0, lastPlace(from, 'float32')).cast('int32'), axis);
    };
    return nearest(nearest(x, 1, h, height), 2, w, width);
  }
  if (method === 'bilinear' && !antialias && h === height && w === width) return x;
  if (method === 'bilinear' && !antialias) return execute1(resizeBilinearOp, [x], { size: [height, width] });
  const along = (image: Tensor, from: Dim, to: Dim): Tensor =>
    resizeAxis(image, spansOf(from, to, method, antialias, x), to, false);
  const rows = reshape(x, toShape([n, h, mulDims(w, c)]));
  const columns = reshape(along(rows, h, height), toShape([mulDims(n, height), w, c]));
  return reshape(along(columns, w, width), toShape([n, height, width, c]));
}

const { fround } = Math;
/** Halves go to the even number. */
function rounded(x: number): number {
  const below = Math.floor(x);
  if (x - below !== 0.5) return Math.round(x);
  return below % 2 === 0 ? below : below + 1;
}

/** How large images become that keep their proportions inside of a size; in float32, as TensorFlow counts. */
function inProportion(sides: readonly [Dim, Dim], target: readonly [Dim, Dim]): readonly [Dim, Dim] {
  const side = (of: 0 | 1): Dim =>
    computedDim(
      `in proportion ${of}`,
      [...sides, ...target],
      (h, w, height, width) => {
        const scale = Math.min(fround(height / h), fround(width / w));
        return rounded(fround(scale * (of === 0 ? h : w)));
      },
      0,
    );
  return [side(0), side(1)];
}

/**
 * Images of another size, [h, w, c] or [n, h, w, c]: float32, or with `nearest` the dtype of the images. Pixels are squares whose centers
 * count, as in `tf.image.resize` of TensorFlow 2.
 * @param size [height, width] of the result
 */
export const resize: NamedFunction<
  [images: TensorLike, size: IntegersLike],
  ['images', 'size'],
  ResizeOptions
> = /* @__PURE__ */ defineFunction(
  'image.resize',
  { images: kind.tensor, size: kind.shape },
  { method: kind.asIs, preserveAspectRatio: kind.asIs, antialias: kind.asIs },
  (images, size, { method = 'bilinear', preserveAspectRatio = false, antialias = false }) => {
    const op = 'image.resize';
    const x = toImages(images, op);
    if (!methods.includes(method))
      throw new InvalidArgumentError(
        `unknown method ${show(method)}; the methods are ${methods.join(', ')}`,
        op,
      );
    if (sidesOf(x).includes(0))
      throw new InvalidArgumentError(
        `images without pixels have no other size, got shape ${showShape(x.shape)}`,
        op,
      );
    let wanted = twoSizes(size, 'size', op);
    if (preserveAspectRatio) wanted = inProportion(sidesOf(x), wanted);
    return ofBatch(method === 'nearest' ? x : x.cast('float32'), (batch) =>
      resizeBatch(batch, wanted, method, antialias),
    );
  },
);

/** The methods of `resize` under TensorFlow's names. */
export const ResizeMethod: {
  readonly AREA: 'area';
  readonly BICUBIC: 'bicubic';
  readonly BILINEAR: 'bilinear';
  readonly GAUSSIAN: 'gaussian';
  readonly LANCZOS3: 'lanczos3';
  readonly LANCZOS5: 'lanczos5';
  readonly MITCHELLCUBIC: 'mitchellcubic';
  readonly NEAREST_NEIGHBOR: 'nearest';
} = {
  AREA: 'area',
  BICUBIC: 'bicubic',
  BILINEAR: 'bilinear',
  GAUSSIAN: 'gaussian',
  LANCZOS3: 'lanczos3',
  LANCZOS5: 'lanczos5',
  MITCHELLCUBIC: 'mitchellcubic',
  NEAREST_NEIGHBOR: 'nearest',
};

/** Images as large as fits into a target without distortion, in its middle, with zeros around. */
export const resizeWithPad: NamedFunction<
  [image: TensorLike, targetHeight: IntegerLike, targetWidth: IntegerLike],
  ['image', 'targetHeight', 'targetWidth'],
  {
    /** How pixels between pixels are found; `bilinear` by default. */
    readonly method?: ResizeMethod;
    /** Whether images are smoothed before they are made smaller; false by default. */
    readonly antialias?: boolean;
  }
> = /* @__PURE__ */ defineFunction(
  'image.resizeWithPad',
  { image: kind.tensor, targetHeight: kind.size, targetWidth: kind.size },
  { method: kind.asIs, antialias: kind.asIs },
  (image, targetHeight, targetWidth, { method = 'bilinear', antialias = false }) => {
    const op = 'image.resizeWithPad';
    const x = toImages(image, op);
    const target = twoSizes([targetHeight, targetWidth], 'the target', op);
    const sides = sidesOf(x);
    /** A number that is made of the exact side, in float32, as TensorFlow counts. */
    const ofSide = (
      name: string,
      of: number,
      make: (exact: number, target: number) => number,
      least: number,
    ): Dim =>
      computedDim(
        `${name} ${of}`,
        [...sides, ...target],
        (h, w, height, width) => {
          const scale = Math.max(fround(h / height), fround(w / width));
          return make(fround((of === 0 ? h : w) / scale), of === 0 ? height : width);
        },
        least,
      );
    const size = sides.map((_, i) => ofSide('inside', i, (exact) => Math.max(1, Math.floor(exact)), 1));
    const y = resize(x, toShape(size), { method, antialias });
    // The room is that beside the exact size.
    const [top, left] = target.map((_, i) =>
      ofSide('beside', i, (exact, side) => Math.max(0, Math.floor((side - exact) / 2)), 0),
    );
    return padToBoundingBox(y, top as number, left as number, target[0] as number, target[1] as number);
  },
);
