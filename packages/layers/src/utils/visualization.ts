/** `tf.keras.visualization`: boxes and masks drawn into images. */
import {
  constant,
  InvalidArgumentError,
  type NamedFunction,
  type Tensor,
  type TensorLike,
  where,
} from '@eagre/core';
import {
  checkCount,
  checkNumber,
  defineFunction,
  isFloating,
  isInteger,
  isPlain,
  kerasDefaults,
  kind,
  shown,
  toTensor,
} from '@eagre/core/internal';
import { type BoundingBoxFormat, convertFormat, type LabeledBoxes } from './bounding-boxes.ts';
import { strokesOf } from './pixel-font.ts';

/** Red, green and blue, 0 … 255. */
export type Rgb = readonly [red: number, green: number, blue: number];
type DataFormat = 'channels_last' | 'channels_first';

/** Boxes with labels, and how sure one is of each. */
export interface DrawnBoxes extends LabeledBoxes {
  /** [batch, boxes]; -1 where there is no box. */
  readonly labels: TensorLike;
  /** [batch, boxes] */
  readonly confidences?: TensorLike | null;
}

/** Options of `drawBoundingBoxes`. */
export interface DrawBoundingBoxesOptions {
  /** The texts of labels; boxes of others have none. */
  readonly classMapping?: Readonly<Record<number, string>> | null;
  /** [128, 128, 128] by default. */
  readonly color?: Rgb;
  /** Pixels; 2 by default. */
  readonly lineThickness?: number;
  /** Pixels; 1 by default. */
  readonly textThickness?: number;
  /** 1 by default, letters of about 20 pixels. */
  readonly fontScale?: number;
  /** Where the channels of the images are; `channelsLast` by default. */
  readonly dataFormat?: DataFormat | null;
}

function imagesOf(given: TensorLike, format: DataFormat | null | undefined, op: string): Tensor {
  const x = toTensor(given);
  if (x.rank !== 4)
    throw new InvalidArgumentError(`images must be a batch of rank 4, got shape [${x.shape}]`, op);
  return isFirst(format) ? x.transpose([0, 2, 3, 1]) : x;
}
const isFirst = (format: DataFormat | null | undefined): boolean =>
  (format ?? (kerasDefaults.imageDataFormat === 'channelsFirst' ? 'channels_first' : 'channels_last')) ===
  'channels_first';
const inFormat = (x: Tensor, format: DataFormat | null | undefined): Tensor =>
  isFirst(format) ? x.transpose([0, 3, 1, 2]) : x;

/** Floats up to 1 become bytes up to 255. */
function bytesOf(x: Tensor): Tensor {
  if (!isFloating(x.dtype)) return x.cast('uint8');
  const unit = x.size > 0 && x.max().item() <= 1;
  return (unit ? x.clip(0, 1).mul(255) : x.clip(0, 255)).cast('uint8');
}

/** One image that is drawn into. */
class Canvas {
  readonly #pixels: Uint8Array;
  readonly #height: number;
  readonly #width: number;
  readonly #color: readonly number[];

  constructor(pixels: Uint8Array, [height, width]: readonly number[], color: readonly number[]) {
    this.#pixels = pixels;
    this.#height = height;
    this.#width = width;
    this.#color = color;
  }
  /** A disc, which is one pixel for a radius of 0. */
  #dot(x: number, y: number, radius: number): void {
    for (let dy = -radius; dy <= radius; dy++) {
      const half = Math.floor(Math.sqrt(radius * radius - dy * dy));
      if (y + dy < 0 || y + dy >= this.#height) continue;
      const [first, last] = [Math.max(0, x - half), Math.min(this.#width - 1, x + half)];
      for (let at = first; at <= last; at++)
        this.#pixels.set(this.#color, ((y + dy) * this.#width + at) * this.#color.length);
    }
  }
  /** A line with round ends. What lies outside of the image is left out. */
  line(x1: number, y1: number, x2: number, y2: number, thickness: number): void {
    // As OpenCV draws it.
    const radius = thickness === 1 ? 0 : Math.floor((thickness + 1) / 2);
    const steps = Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1));
    // Lines may begin far outside.
    const near = (from: number, to: number, size: number): [number, number] => {
      if (from === to) return from < -radius || from >= size + radius ? [1, 0] : [0, steps];
      const ends = [-radius, size - 1 + radius].map((end) => ((end - from) * steps) / (to - from));
      return [Math.floor(Math.min(...ends)), Math.ceil(Math.max(...ends))];
    };
    const [across, down] = [near(x1, x2, this.#width), near(y1, y2, this.#height)];
    const last = Math.min(steps, across[1], down[1]);
    for (let i = Math.max(0, across[0], down[0]); i <= last; i++) {
      const share = steps === 0 ? 0 : i / steps;
      this.#dot(Math.round(x1 + (x2 - x1) * share), Math.round(y1 + (y2 - y1) * share), radius);
    }
  }
  frame(x1: number, y1: number, x2: number, y2: number, thickness: number): void {
    this.line(x1, y1, x2, y1, thickness);
    this.line(x2, y1, x2, y2, thickness);
    this.line(x2, y2, x1, y2, thickness);
    this.line(x1, y2, x1, y1, thickness);
  }
  text(text: string, x: number, y: number, scale: number, thickness: number): void {
    const step = Math.max(1, Math.round(4 * scale));
    for (const [x1, y1, x2, y2] of strokesOf(text, step))
      this.line(x + x1, y + y1, x + x2, y + y2, thickness);
  }
}

/** Where the base line of a box's text begins: above the box, or inside where there is no room. */
function textPlace(x: number, y: number, scale: number, thickness: number): [x: number, y: number] {
  const height = Math.trunc(12 * scale);
  return y - 8 - 2 * height > 0 ? [x, y - 8] : [x + 3, y + 2 * height + thickness + 3];
}

/** A color as bytes, one for each channel: as many as images have. */
function colorFor(color: unknown, channels: number, op: string): readonly number[] {
  if (
    !Array.isArray(color) ||
    color.length < 3 ||
    !color.every((c) => Number.isInteger(c) && c >= 0 && c < 256)
  )
    throw new InvalidArgumentError(`color must be three integers from 0 to 255, got ${shown(color)}`, op);
  if (channels > 4)
    throw new InvalidArgumentError(`images must have at most 4 channels, got ${channels}`, op);
  return Array.from({ length: channels }, (_, i) => (color[i] as number | undefined) ?? 0);
}

/**
 * Images, bytes, with frames around boxes and, with `classMapping`, texts beside them. Images of floats up to 1 are taken for 0 … 1. The
 * letters are simple strokes, and capitals; Keras draws the ones of OpenCV.
 * @param images [batch, height, width, channels]
 * @param boundingBoxes boxes [batch, boxes, 4] and labels [batch, boxes]; a label of -1 stands for no box.
 * @returns uint8, as large as the images.
 * @throws InvalidArgumentError for images of another rank and for boxes that are not one list for each image
 */
export const drawBoundingBoxes: NamedFunction<
  [images: TensorLike, boundingBoxes: DrawnBoxes, boundingBoxFormat: BoundingBoxFormat],
  ['images', 'boundingBoxes', 'boundingBoxFormat'],
  DrawBoundingBoxesOptions
> = /* @__PURE__ */ defineFunction(
  'keras.visualization.drawBoundingBoxes',
  { images: kind.tensor, boundingBoxes: kind.structure, boundingBoxFormat: kind.asIs },
  {
    classMapping: kind.structure,
    color: kind.asIs,
    lineThickness: kind.asIs,
    textThickness: kind.asIs,
    fontScale: kind.asIs,
    dataFormat: kind.asIs,
  },
  (images, given, format, options) => {
    const op = 'keras.visualization.drawBoundingBoxes';
    const fail = (message: string): never => {
      throw new InvalidArgumentError(message, op);
    };
    const { classMapping, color = [128, 128, 128], lineThickness = 2, fontScale = 1, dataFormat } = options;
    const textThickness = options.textThickness ?? 1;
    checkCount(lineThickness, 'lineThickness', op, 1);
    checkCount(textThickness, 'textThickness', op, 1);
    checkNumber(fontScale, 'fontScale', op, 0);
    if (!isPlain(given) || given.boxes === undefined || given.labels === undefined)
      fail(`boundingBoxes must be { boxes, labels }, got ${shown(given)}`);
    const x = bytesOf(imagesOf(images, dataFormat, op));
    const [count, height, width, channels] = x.shape as [number, number, number, number];
    const boxes = convertFormat(given.boxes, format, 'xyxy', { height, width }).cast('int32');
    const labels = toTensor(given.labels).cast('int32');
    const sure = given.confidences == null ? null : toTensor(given.confidences).cast('float32');
    const n = boxes.shape[1];
    if (boxes.rank !== 3 || boxes.shape[0] !== count)
      fail(`boxes must be [${count}, boxes, 4] for ${count} images, got [${boxes.shape}]`);
    for (const [name, of] of [
      ['labels', labels],
      ['confidences', sure],
    ] as const)
      if (of !== null && (of.rank !== 2 || of.shape[0] !== count || of.shape[1] !== n))
        fail(`${name} must be [${count}, ${n}], got [${of.shape}]`);
    const pixels = Uint8Array.from(x.data() as Uint8Array);
    const own = colorFor(color, channels, op);
    const [places, classes, parts] = [boxes.data(), labels.data(), sure?.data()];
    const size = height * width * channels;
    for (let i = 0; i < count * n; i++) {
      const label = Number(classes[i]);
      if (label === -1) continue;
      const image = Math.floor(i / n);
      const canvas = new Canvas(pixels.subarray(image * size, (image + 1) * size), [height, width], own);
      const [x1, y1, x2, y2] = [0, 1, 2, 3].map((k) => Number(places[4 * i + k])) as [
        number,
        number,
        number,
        number,
      ];
      canvas.frame(x1, y1, x2, y2, lineThickness);
      const name = classMapping?.[label];
      if (name === undefined) continue;
      const text = parts === undefined ? name : `${name} | ${Number(parts[i]).toFixed(2)}`;
      const [left, base] = textPlace(x1, y1, fontScale, textThickness);
      canvas.text(text, left, base, fontScale, textThickness);
    }
    return inFormat(constant(pixels, 'uint8', { shape: [count, height, width, channels] }), dataFormat);
  },
);

/** Options of `drawSegmentationMasks`. */
export interface DrawSegmentationMasksOptions {
  /** The largest class of the masks by default. Classes from it on are not drawn. */
  readonly numClasses?: number | null;
  /** The color of each class from 0 on; a palette by default. */
  readonly colorMapping?: Readonly<Record<number, Rgb>> | null;
  /** How much masks cover, from 0 to 1; 0.8 by default. */
  readonly alpha?: number;
  /** Whether images are seen through masks; true by default. */
  readonly blend?: boolean;
  /** The class of pixels without a mask; -1 by default. */
  readonly ignoreIndex?: number;
  /** Where the channels of the images are; `channelsLast` by default. */
  readonly dataFormat?: DataFormat | null;
}

const PALETTE = [2 ** 25 - 1, 2 ** 15 - 1, 2 ** 21 - 1];

/**
 * Images with the classes of their pixels in colors.
 * @param images [batch, height, width, 3]
 * @param segmentationMasks integers [batch, height, width, 1]
 * @returns uint8, or float32 without `blend`.
 * @throws InvalidArgumentError for masks that are no integers or of another shape, and for a class without a color
 */
export const drawSegmentationMasks: NamedFunction<
  [images: TensorLike, segmentationMasks: TensorLike],
  ['images', 'segmentationMasks'],
  DrawSegmentationMasksOptions
> = /* @__PURE__ */ defineFunction(
  'keras.visualization.drawSegmentationMasks',
  { images: kind.tensor, segmentationMasks: kind.tensor },
  {
    numClasses: kind.asIs,
    colorMapping: kind.structure,
    alpha: kind.asIs,
    blend: kind.asIs,
    ignoreIndex: kind.asIs,
    dataFormat: kind.asIs,
  },
  (images, segmentationMasks, options) => {
    const op = 'keras.visualization.drawSegmentationMasks';
    const fail = (message: string): never => {
      throw new InvalidArgumentError(message, op);
    };
    const { colorMapping, alpha = 0.8, blend = true, ignoreIndex = -1, dataFormat } = options;
    checkNumber(alpha, 'alpha', op, 0);
    if (alpha > 1) fail(`alpha must be a number from 0 to 1, got ${alpha}`);
    const x = imagesOf(images, dataFormat, op).cast('float32');
    const given = toTensor(segmentationMasks);
    if (!isInteger(given.dtype)) fail(`segmentationMasks must be integers, got ${given.dtype}`);
    const masks = (given.rank === 4 && isFirst(dataFormat) ? given.transpose([0, 2, 3, 1]) : given).cast(
      'int32',
    );
    const [n, h, w, c] = x.shape;
    if (masks.rank !== 4 || [n, h, w, 1].some((size, i) => masks.shape[i] !== size))
      fail(`segmentationMasks must be [${n}, ${h}, ${w}, 1], got [${masks.shape}]`);
    if (c !== 3) fail(`images must have 3 channels, got ${c}`);
    const count = options.numClasses ?? Math.max(0, masks.max().item());
    checkCount(count, 'numClasses', op);
    const colors = Array.from({ length: count }, (_, i): readonly number[] => {
      if (colorMapping == null) return PALETTE.map((p) => (i * p) % 255);
      return colorMapping[i] ?? fail(`colorMapping has no color for the class ${i}`);
    });
    let drawn = x;
    if (count > 0) {
      const classes = masks.squeeze(-1);
      const covered = classes.greaterEqual(0).logicalAnd(classes.less(count)).expandDims(-1);
      const table = toTensor({ data: Float32Array.from(colors.flat()), shape: [count, 3] });
      drawn = where(covered, table.gather(classes.clip(0, count - 1)), x);
    }
    if (!blend) return inFormat(drawn, dataFormat);
    const mixed = x.mul(1 - alpha).add(drawn.mul(alpha));
    const shownPixels = where(masks.notEqual(ignoreIndex), mixed, x);
    return inFormat(shownPixels.cast('uint8'), dataFormat);
  },
);
