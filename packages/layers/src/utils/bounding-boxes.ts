/** `tf.keras.utils.boundingBoxes`: where things are in images. */
import { type NamedFunction, split, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, isFloating, isPlain, kind, shown, toTensor } from '@eagre/core/internal';
import {
  type BoundingBoxFormat,
  bare,
  type Corners,
  formatOf,
  four,
  fromCorners,
  join,
  named,
  refuse,
  toCorners,
} from './box-formats.ts';

export type { BoundingBoxFormat };

const EPSILON = 1e-7;
/** Height and width of images, and what else their shape has. */
export type ImageShape = readonly [height: number, width: number, ...rest: readonly number[]];
/** Boxes [boxes, 4] or [batch, boxes, 4] and the labels of what is in them. */
export interface LabeledBoxes {
  /** [boxes, 4] or [batch, boxes, 4]. */
  readonly boxes: TensorLike;
  /** [batch, boxes]; -1 where there is no box. */
  readonly labels?: TensorLike | null;
}

function boxesOf(given: TensorLike, name: string): Tensor {
  const t = toTensor(given);
  if (t.rank < 1 || t.shape.at(-1) !== 4) refuse(`boxes must have shape [..., 4], got [${t.shape}]`, name);
  return t;
}
const floats = (t: Tensor): Tensor => (isFloating(t.dtype) ? t : t.cast('float32'));

/** @throws InvalidArgumentError for other formats than corners */
function onlyCorners(given: unknown, name: string): void {
  if (given !== undefined && given !== 'xyxy')
    refuse(
      `takes boxes of the format 'xyxy', got ${shown(given)}: convert them by convertFormat first`,
      name,
    );
}

function convert(
  given: Tensor,
  source: BoundingBoxFormat,
  target: BoundingBoxFormat,
  height: number | null | undefined,
  width: number | null | undefined,
  name: string,
): Tensor {
  const relative = [source, target].map((format) => format.startsWith('rel_'));
  if (relative.includes(true) && (typeof height !== 'number' || typeof width !== 'number'))
    refuse('relative boxes need the height and the width of the image', name);
  if (source === target) return given;
  const corners = toCorners(given, bare(source));
  if (relative[0] === relative[1]) return fromCorners(corners, bare(target));
  const scale = (x: Tensor, i: number): Tensor => {
    const size = (i % 2 === 0 ? width : height) as number;
    return relative[0] ? x.mul(size) : x.div(size);
  };
  return fromCorners(corners.map(scale) as unknown as Corners, bare(target));
}

interface ConvertOptions {
  /** Of the image; needed where a format is relative. */
  readonly height?: number | null;
  /** Of the image; needed where a format is relative. */
  readonly width?: number | null;
  /** `float32` by default. */
  readonly dtype?: 'float32' | 'float64' | 'float16';
}
/** Boxes [..., 4] in another format, as floats. @throws InvalidArgumentError for unknown formats, and where a size that is needed lacks */
export const convertFormat: NamedFunction<
  [boxes: TensorLike, source: BoundingBoxFormat, target: BoundingBoxFormat],
  ['boxes', 'source', 'target'],
  ConvertOptions
> = /* @__PURE__ */ defineFunction(
  named('convertFormat'),
  { boxes: kind.tensor, source: kind.asIs, target: kind.asIs },
  { height: kind.asIs, width: kind.asIs, dtype: kind.asIs },
  (boxes, source, target, { height, width, dtype = 'float32' }) => {
    const name = 'convertFormat';
    const given = boxesOf(boxes, name).cast(dtype);
    return convert(given, formatOf(source, name), formatOf(target, name), height, width, name);
  },
);

/** Corners of boxes of any format. */
function cornersOf(
  boxes: TensorLike,
  format: unknown,
  shape: ImageShape | null | undefined,
  name: string,
): Corners {
  const given = boxesOf(boxes, name).cast('float32');
  return four(convert(given, formatOf(format, name), 'xyxy', shape?.[0], shape?.[1], name));
}
/** Without the last axis, which is of one number. */
const squeezed = (corners: Corners): Corners => corners.map((x) => x.squeeze(-1)) as unknown as Corners;
const common = ([a1, b1, a2, b2]: Corners, [c1, d1, c2, d2]: Corners): Tensor =>
  a2
    .minimum(c2)
    .sub(a1.maximum(c1))
    .maximum(0)
    .mul(b2.minimum(d2).sub(b1.maximum(d1)).maximum(0));
const area = ([x1, y1, x2, y2]: Corners): Tensor => x2.sub(x1).mul(y2.sub(y1));

interface IouOptions {
  /** Whether boxes with four negative numbers count as none; false by default. */
  readonly useMasking?: boolean;
  /** What stands where a box is none; -1 by default. */
  readonly maskVal?: number;
  /** Needed for relative formats. */
  readonly imageShape?: ImageShape | null;
}
/**
 * How much each box of `boxes1`, [m, 4] or [batch, m, 4], has in common with each of `boxes2`, [n, 4] or [batch, n, 4]: the area of what both
 * cover divided by that of what either covers, [m, n] or [batch, m, n].
 * @throws InvalidArgumentError for other ranks
 */
export const computeIou: NamedFunction<
  [boxes1: TensorLike, boxes2: TensorLike, boundingBoxFormat: BoundingBoxFormat],
  ['boxes1', 'boxes2', 'boundingBoxFormat'],
  IouOptions
> = /* @__PURE__ */ defineFunction(
  named('computeIou'),
  { boxes1: kind.tensor, boxes2: kind.tensor, boundingBoxFormat: kind.asIs },
  { useMasking: kind.asIs, maskVal: kind.asIs, imageShape: kind.asIs },
  (boxes1, boxes2, format, { useMasking = false, maskVal = -1, imageShape }) => {
    const [one, two] = [boxes1, boxes2].map((given) => {
      const corners = cornersOf(given, format, imageShape, 'computeIou');
      const { rank } = corners[0];
      if (rank !== 2 && rank !== 3) refuse(`boxes have rank ${rank}, expected 2 or 3`, 'computeIou');
      return corners;
    }) as [Corners, Corners];
    // Those of the second are columns.
    const across = squeezed(two).map((x) => x.expandDims(-2)) as unknown as Corners;
    const both = common(one, across);
    const iou = both.div(area(one).add(area(across)).sub(both).add(EPSILON));
    if (!useMasking) return iou;
    const none = (corners: Corners): Tensor => corners.reduce((a, b) => a.maximum(b)).less(0);
    return none(one).logicalOr(none(across)).where(maskVal, iou);
  },
);

/**
 * How much boxes [..., 4] have in common with others of the same places, [...]: `computeIou` less how far apart their middles are and
 * how different their proportions ("complete IoU", Zheng et al. 2020). Relative formats need `imageShape`.
 */
export const computeCiou: NamedFunction<
  [boxes1: TensorLike, boxes2: TensorLike, boundingBoxFormat: BoundingBoxFormat],
  ['boxes1', 'boxes2', 'boundingBoxFormat'],
  {
    /** [height, width, channels] of the images; needed for relative formats. */
    imageShape?: ImageShape | null;
  }
> = /* @__PURE__ */ defineFunction(
  named('computeCiou'),
  { boxes1: kind.tensor, boxes2: kind.tensor, boundingBoxFormat: kind.asIs },
  { imageShape: kind.asIs },
  (boxes1, boxes2, format, { imageShape }) => {
    const one = squeezed(cornersOf(boxes1, format, imageShape, 'computeCiou'));
    const two = squeezed(cornersOf(boxes2, format, imageShape, 'computeCiou'));
    const sides = ([x1, y1, x2, y2]: Corners) => [x2.sub(x1), y2.sub(y1).add(EPSILON)] as const;
    const [[w1, h1], [w2, h2]] = [sides(one), sides(two)];
    const both = common(one, two);
    const iou = both.div(
      w1
        .mul(h1)
        .add(w2.mul(h2))
        .sub(both)
        .add(2 * EPSILON),
    );
    const around = (i: 0 | 1): Tensor =>
      one[i + 2]
        .maximum(two[i + 2])
        .sub(one[i].minimum(two[i]))
        .square();
    const apart = (i: 0 | 1): Tensor =>
      one[i]
        .add(one[i + 2])
        .sub(two[i].add(two[i + 2]))
        .div(2)
        .square();
    const distance = apart(0)
      .add(apart(1))
      .div(around(0).add(around(1)).add(EPSILON));
    const v = w2
      .div(h2)
      .atan()
      .sub(w1.div(h1).atan())
      .square()
      .mul(4 / Math.PI ** 2);
    const alpha = v.div(v.sub(iou).add(1 + EPSILON));
    return iou.sub(distance.add(v.mul(alpha)));
  },
);

/**
 * Boxes within the image; labels become -1 where nothing of the box is left. Other parts of `boundingBoxes` stay.
 * @throws InvalidArgumentError for the format `xyxy` without height and width
 */
export const clipToImageSize: NamedFunction<
  [boundingBoxes: LabeledBoxes],
  ['boundingBoxes'],
  {
    /** Of the image; needed for `xyxy`. */
    readonly height?: number | null;
    /** Of the image; needed for `xyxy`. */
    readonly width?: number | null;
    /** In pixels (`xyxy`, the default), or in shares of the image. */
    readonly boundingBoxFormat?: 'xyxy' | 'rel_xyxy';
  },
  { readonly boxes: Tensor; readonly labels?: Tensor }
> = /* @__PURE__ */ defineFunction(
  named('clipToImageSize'),
  { boundingBoxes: { plain: true } },
  { height: kind.asIs, width: kind.asIs, boundingBoxFormat: kind.asIs },
  (given: unknown, { height, width, boundingBoxFormat: format = 'xyxy' }) => {
    const name = 'clipToImageSize';
    if (!isPlain(given) || given['boxes'] === undefined)
      return refuse(`boundingBoxes must be { boxes, labels }, got ${shown(given)}`, name);
    if (format !== 'xyxy' && format !== 'rel_xyxy')
      refuse(`the format of boxes is ${shown(format)}, expected 'xyxy' or 'rel_xyxy'`, name);
    const most = format === 'xyxy' ? [width, height] : [1, 1];
    if (!most.every((n) => typeof n === 'number'))
      refuse("boxes of the format 'xyxy' need height and width", name);
    const { labels, ...others } = given as unknown as LabeledBoxes;
    const corners = four(boxesOf(others.boxes, name)).map((x, i) =>
      x.maximum(0).minimum(most[i % 2] as number),
    ) as unknown as Corners;
    const boxes = join(...corners);
    if (labels === undefined || labels === null) return { ...others, boxes };
    return { ...others, boxes, labels: area(corners).squeeze(-1).greater(0).where(toTensor(labels), -1) };
  },
);

interface CropOptions {
  /** `xyxy`, the only one. */
  readonly boundingBoxFormat?: 'xyxy';
}
/** Boxes [..., 4] as they are in a part of the image, cut off at its borders. */
export const crop: NamedFunction<
  [boxes: TensorLike, top: number, left: number, height: number, width: number],
  ['boxes', 'top', 'left', 'height', 'width'],
  CropOptions
> = /* @__PURE__ */ defineFunction(
  named('crop'),
  { boxes: kind.tensor, top: kind.asIs, left: kind.asIs, height: kind.asIs, width: kind.asIs },
  { boundingBoxFormat: kind.asIs },
  (boxes, top, left, height, width, { boundingBoxFormat }) => {
    onlyCorners(boundingBoxFormat, 'crop');
    const inside = (x: Tensor, i: number): Tensor => {
      const [from, most] = (i % 2 === 0 ? [left, width] : [top, height]) as [number, number];
      return x.sub(from).maximum(0).minimum(most);
    };
    return join(...four(boxesOf(boxes, 'crop')).map(inside));
  },
);

interface PadOptions {
  /** Of the image; needed for relative formats. */
  readonly height?: number | null;
  /** Of the image; needed for relative formats. */
  readonly width?: number | null;
  /** `xyxy` by default. */
  readonly boundingBoxFormat?: BoundingBoxFormat;
}
/** Boxes [..., 4] as they are in an image that got so many rows above and columns at the left. */
export const pad: NamedFunction<
  [boxes: TensorLike, top: number, left: number],
  ['boxes', 'top', 'left'],
  PadOptions
> = /* @__PURE__ */ defineFunction(
  named('pad'),
  { boxes: kind.tensor, top: kind.asIs, left: kind.asIs },
  { height: kind.asIs, width: kind.asIs, boundingBoxFormat: kind.asIs },
  (boxes, top, left, { height, width, boundingBoxFormat = 'xyxy' }) => {
    const format = formatOf(boundingBoxFormat, 'pad');
    const change = (t: Tensor, from: BoundingBoxFormat, to: BoundingBoxFormat): Tensor =>
      convert(t, from, to, height, width, 'pad');
    const given = boxesOf(boxes, 'pad');
    const corners = four(format === 'xyxy' ? given : change(floats(given), format, 'xyxy'));
    const moved = join(...corners.map((x, i) => x.add((i % 2 === 0 ? left : top) as number)));
    return change(moved, 'xyxy', format);
  },
);

interface DeltaOptions {
  /** What deltas are divided by, four numbers; 1 by default. */
  readonly variance?: readonly number[] | null;
  /** Needed for relative formats. */
  readonly imageShape?: ImageShape | null;
}
type Middle = 'center_xywh' | 'center_yxhw';
function checkDeltas(format: unknown, variance: unknown, name: string): void {
  if (format !== 'center_xywh' && format !== 'center_yxhw')
    refuse(`the format of deltas is ${shown(format)}, expected 'center_xywh' or 'center_yxhw'`, name);
  if (variance !== undefined && variance !== null && (!Array.isArray(variance) || variance.length !== 4))
    refuse(`variance must be four numbers, got ${shown(variance)}`, name);
}
/** Middles and sizes, [..., 2] each. */
const halves = (t: Tensor): readonly Tensor[] => split(t, 2, -1);

/**
 * How boxes, [n, 4] or [batch, n, 4], differ from anchors, [n, 4]: where their middles are in sizes of the anchor, and the logarithm of their sizes.
 * @throws InvalidArgumentError for a variance that is not four numbers, and for unknown formats
 */
export const encodeBoxToDeltas: NamedFunction<
  [
    anchors: TensorLike,
    boxes: TensorLike,
    anchorFormat: BoundingBoxFormat,
    boxFormat: BoundingBoxFormat,
    encodingFormat?: Middle,
  ],
  ['anchors', 'boxes', 'anchorFormat', 'boxFormat', 'encodingFormat'],
  DeltaOptions
> = /* @__PURE__ */ defineFunction(
  named('encodeBoxToDeltas'),
  {
    anchors: kind.tensor,
    boxes: kind.tensor,
    anchorFormat: kind.asIs,
    boxFormat: kind.asIs,
    encodingFormat: kind.asIs,
  },
  { variance: kind.asIs, imageShape: kind.asIs },
  (anchors, boxes, anchorFormat, boxFormat, encoding = 'center_yxhw', { variance, imageShape }) => {
    const name = 'encodeBoxToDeltas';
    checkDeltas(encoding, variance, name);
    const as = (given: TensorLike, format: unknown) => {
      const t = boxesOf(given, name).cast('float32');
      return halves(
        convert(t, formatOf(format, name), encoding as Middle, imageShape?.[0], imageShape?.[1], name),
      );
    };
    const [[at, size], [boxAt, boxSize]] = [as(anchors, anchorFormat), as(boxes, boxFormat)];
    const sizes = size.maximum(EPSILON);
    const deltas = join(boxAt.sub(at).div(sizes), boxSize.maximum(EPSILON).div(sizes).log());
    return variance ? deltas.div(variance as number[]) : deltas;
  },
);

/** The boxes that `encodeBoxToDeltas` gave deltas of, in the format `boxFormat`. */
export const decodeDeltasToBoxes: NamedFunction<
  [
    anchors: TensorLike,
    boxesDelta: TensorLike,
    anchorFormat: BoundingBoxFormat,
    boxFormat: BoundingBoxFormat,
    encodedFormat?: Middle,
  ],
  ['anchors', 'boxesDelta', 'anchorFormat', 'boxFormat', 'encodedFormat'],
  DeltaOptions
> = /* @__PURE__ */ defineFunction(
  named('decodeDeltasToBoxes'),
  {
    anchors: kind.tensor,
    boxesDelta: kind.tensor,
    anchorFormat: kind.asIs,
    boxFormat: kind.asIs,
    encodedFormat: kind.asIs,
  },
  { variance: kind.asIs, imageShape: kind.asIs },
  (anchors, boxesDelta, anchorFormat, boxFormat, encoded = 'center_yxhw', { variance, imageShape }) => {
    const name = 'decodeDeltasToBoxes';
    checkDeltas(encoded, variance, name);
    const [height, width] = imageShape ?? [];
    const given = boxesOf(anchors, name).cast('float32');
    const [at, size] = halves(
      convert(given, formatOf(anchorFormat, name), encoded as Middle, height, width, name),
    );
    const deltas = floats(boxesOf(boxesDelta, name));
    const [toAt, toSize] = halves(variance ? deltas.mul(variance as number[]) : deltas);
    const boxes = join(toAt.mul(size).add(at), toSize.exp().mul(size));
    return convert(boxes, encoded as Middle, formatOf(boxFormat, name), height, width, name);
  },
);

/**
 * The smallest boxes around boxes [batch, boxes, 4] that were turned, moved, scaled and sheared with their images.
 * @param angle degrees, [batch], as all up to `shearY` are one number for each image
 * @param translateX part of the width, as `translateY` is of the height
 * @param shearX degrees, as `shearY`
 */
export const affineTransform: NamedFunction<
  [
    boxes: TensorLike,
    angle: TensorLike,
    translateX: TensorLike,
    translateY: TensorLike,
    scale: TensorLike,
    shearX: TensorLike,
    shearY: TensorLike,
    height: number,
    width: number,
  ],
  ['boxes', 'angle', 'translateX', 'translateY', 'scale', 'shearX', 'shearY', 'height', 'width'],
  {
    /** Around which boxes are turned, as a share of the width; 0.5 by default. */
    readonly centerX?: number | null;
    /** Around which boxes are turned, as a share of the height; 0.5 by default. */
    readonly centerY?: number | null;
    /** In pixels: `xyxy`. */
    readonly boundingBoxFormat?: 'xyxy';
  }
> = /* @__PURE__ */ defineFunction(
  named('affineTransform'),
  {
    boxes: kind.tensor,
    angle: kind.tensor,
    translateX: kind.tensor,
    translateY: kind.tensor,
    scale: kind.tensor,
    shearX: kind.tensor,
    shearY: kind.tensor,
    height: kind.asIs,
    width: kind.asIs,
  },
  { centerX: kind.asIs, centerY: kind.asIs, boundingBoxFormat: kind.asIs },
  (boxes, angle, translateX, translateY, scale, shearX, shearY, height, width, options) => {
    const name = 'affineTransform';
    onlyCorners(options.boundingBoxFormat, name);
    const given = floats(boxesOf(boxes, name));
    if (given.rank !== 3) refuse(`boxes have rank ${given.rank}, expected [batch, boxes, 4]`, name);
    // One number for each image, beside its boxes.
    const each = (x: TensorLike): Tensor => {
      const t = toTensor(x).cast(given.dtype as 'float32');
      if (t.rank !== 1) refuse(`expected one number for each image, [batch], got [${t.shape}]`, name);
      return t.reshape([-1, 1, 1]);
    };
    const [across, down] = [(width as number) - 1, (height as number) - 1];
    const [cx, cy] = [(options.centerX ?? 0.5) * across, (options.centerY ?? 0.5) * down];
    const [turn, sx, sy] = [angle, shearX, shearY].map((x) => each(x).mul(-Math.PI / 180));
    const [tx, ty] = [each(translateX).mul(-across), each(translateY).mul(-down)];
    const size = each(scale);
    const a = turn.sub(sy).cos().div(sy.cos());
    const b = a.mul(sx.tan()).add(turn.sin());
    const c = turn.sub(sy).sin().neg().div(sy.cos());
    const d = turn.cos().sub(c.mul(sx.tan()));
    const [x1, y1, x2, y2] = four(given);
    const points = (
      [
        [x1, y1],
        [x2, y1],
        [x2, y2],
        [x1, y2],
      ] as const
    ).map(([px, py]) => {
      const [x, y] = [px.sub(tx).sub(cx), py.sub(ty).sub(cy)];
      return [d.mul(x).sub(b.mul(y)).mul(size).add(cx), a.mul(y).sub(c.mul(x)).mul(size).add(cy)] as const;
    });
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    const least = (all: readonly Tensor[]): Tensor => all.reduce((p, q) => p.minimum(q));
    const most = (all: readonly Tensor[]): Tensor => all.reduce((p, q) => p.maximum(q));
    return join(least(xs), least(ys), most(xs), most(ys));
  },
);
