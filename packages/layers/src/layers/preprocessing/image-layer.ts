// What layers share that prepare images: batches and single ones, labels and masks beside them, what is drawn at random.
import {
  expandDims,
  type PartialShape,
  type RaggedTensor,
  squeeze,
  type Tensor,
  transpose,
  where,
} from '@eagre/core';
import {
  CompositeTensor,
  type Dim,
  defineMethods,
  dims,
  isFloating,
  isInteger,
  isPlain,
  naming,
  type Option,
  showShape,
  sizeValue,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { isByNames } from '../../layer/call.ts';
import { type CallOptions, Layer, type LayerOptions, type LayerOutput } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import {
  type BoundingBoxFormat,
  bare,
  type Corners,
  formatOf,
  fromCorners,
  toCorners,
} from '../../utils/box-formats.ts';
import { checkOne, fail, inPrecision, values } from '../common.ts';
import { RandomSource } from '../random-source.ts';
import { type DataFormat, dataFormat } from '../spatial.ts';
import { layerOptions } from '../weights.ts';

/** Images, and what belongs to them. */
export interface ImageData {
  /** [h, w, c] or [batch, h, w, c] */
  readonly images: Tensor;
  /** One row for each image. */
  readonly labels?: Tensor;
  /** As large as the images. */
  readonly segmentationMasks?: Tensor;
  /** In the layer's `boundingBoxFormat`. */
  readonly boundingBoxes?: BoundingBoxes;
}

/** What is in images, and where: as many boxes of each image, filled up where there are fewer. */
export interface BoundingBoxes {
  /** [boxes, 4] or [batch, boxes, 4] */
  readonly boxes: Tensor;
  /** [boxes] or [batch, boxes] */
  readonly labels: Tensor;
}

/** What was drawn for one call: `getRandomTransformation` gives it, `transformImages` and the like take it. Tensors have the channels last. */
export type Transformation = Readonly<Record<string, unknown>>;

/** What all layers for images take. */
export interface ImageLayerOptions extends LayerOptions {
  /** Where the channels of images are: `channelsLast`, [..., height, width, channels], by default. */
  readonly dataFormat?: DataFormat | null;
  /** What the four numbers of a box are, such as `xyxy`: needed where boxes are given beside images. */
  readonly boundingBoxFormat?: BoundingBoxFormat | null;
}
/** What all layers take that change images by chance. */
export interface RandomImageOptions extends ImageLayerOptions {
  /** The layer then draws the same numbers in every run; the global seed decides by default. */
  readonly seed?: number | null;
}
/** A number, or the least and the largest of what is drawn. */
export type Factor = number | readonly [low: number, high: number];

/**
 * A layer that prepares images [h, w, c] or [batch, h, w, c]. It may be given `{ images, labels, segmentationMasks, boundingBoxes }` instead, of
 * which it changes everything in the same way. Layers that draw do so in training, and where they are called outside of a model.
 */
export abstract class ImageLayer extends Layer {
  /** Where the channels of images are: `channelsLast` or `channelsFirst`. */
  declare readonly dataFormat: DataFormat;
  /** What the four numbers of a box are, such as `xyxy`: needed where boxes are given beside images. */
  declare readonly boundingBoxFormat: BoundingBoxFormat | null;
  /** @internal Where it draws from: a part of a layer from what that one does, so that no two parts draw the same. */
  source: RandomSource;

  constructor(options: LayerOptions) {
    super(options);
    this.source = new RandomSource((this as { readonly seed?: number | null }).seed ?? null);
  }
  override get passesOn(): boolean {
    return true;
  }
  override get trainsAlone(): boolean {
    return true;
  }

  /** What is drawn for images [batch, h, w, c]. */
  protected draw(_images: Tensor): Transformation {
    return {};
  }
  /** Images [batch, h, w, c] of floats, changed. */
  protected abstract transform(images: Tensor, transformation: Transformation): Tensor;
  /** Segmentation masks: as they are, unless pixels move. */
  protected transformMasks(masks: Tensor, _transformation: Transformation): Tensor {
    return masks;
  }
  /** Labels [batch, ...]: as they are, unless images are mixed. */
  protected transformRows(labels: Tensor, _transformation: Transformation): Tensor {
    return labels;
  }
  /**
   * Where the corners of boxes are afterwards, [batch, boxes, 1] in pixels; null where nothing moves.
   * @param sides of the images, and their number
   */
  protected moved(_corners: Corners, _transformation: Transformation, _sides: Sides): Corners | null {
    return null;
  }
  /** The sides of images afterwards. */
  protected sidesAfter([, h, w]: Sides): readonly [height: Dim, width: Dim] {
    return [h, w];
  }
  /** Whether boxes can be changed only where their format is known. */
  protected get needsFormat(): boolean {
    return true;
  }
  /** Whether it also changes images outside of training. */
  protected get always(): boolean {
    return false;
  }

  /** Draws what a call would, for images or `{ images, … }`; null outside of training. */
  getRandomTransformation(data: Tensor | ImageData, training = true): Transformation | null {
    if (!training && !this.always) return null;
    const { batch } = this.#batch(isByNames(data) ? (data.images as Tensor) : (data as Tensor));
    return { ...this.draw(batch), inputShape: sidesOf(batch) };
  }
  /** Images changed as a transformation says. */
  transformImages(images: Tensor, transformation: Transformation | null, training = true): Tensor {
    const x = this.prepared(toTensor(images));
    if ((!training && !this.always) || transformation === null) return x;
    // Those of integers compute with floats, unless they keep integers.
    const computed = this.#isOfIntegers && !this.keepsIntegers ? x.cast('float32') : x;
    const { batch, back } = this.#batch(computed);
    const y = back(this.transform(batch, transformation));
    // Some compute in more than 16 bits.
    return y.dtype === x.dtype ? y : y.cast(x.dtype);
  }
  /** Labels changed as a transformation says. */
  transformLabels(labels: Tensor, transformation: Transformation | null, training = true): Tensor {
    return transformation === null || (!training && !this.always)
      ? labels
      : this.transformRows(labels, transformation);
  }
  /** Segmentation masks changed as a transformation says. */
  transformSegmentationMasks(masks: Tensor, transformation: Transformation | null, training = true): Tensor {
    if (transformation === null || (!training && !this.always)) return masks;
    const { batch, back } = this.#batch(masks);
    return back(this.transformMasks(batch, transformation));
  }

  /**
   * Boxes changed as a transformation says, and cut off at the border: the label of a box of which nothing is left is -1.
   * @throws InvalidArgumentError for what are no boxes and labels, and where the layer has no `boundingBoxFormat`
   */
  transformBoundingBoxes(
    boundingBoxes: BoundingBoxes,
    transformation: Transformation | null,
    training = true,
  ): BoundingBoxes {
    const { boxes, labels } = this.checkedBoxes(boundingBoxes);
    if (transformation === null || (!training && !this.always)) return { boxes, labels };
    const format = this.boundingBoxFormat as BoundingBoxFormat;
    const sides = transformation['inputShape'] as Sides;
    const scale = ([h, w]: readonly [Dim, Dim], back: boolean): ((x: Tensor, i: number) => Tensor) => {
      if (!format.startsWith('rel_')) return (x) => x;
      const of = [w, h].map((n) => sizeValue(n, boxes.dtype));
      return (x, i) => (back ? x.div(of[i % 2] as number) : x.mul(of[i % 2] as number));
    };
    const single = boxes.rank === 2;
    const all = toCorners(single ? expandDims(boxes, 0) : boxes, bare(format)).map(
      scale([sides[1], sides[2]], false),
    ) as unknown as Corners;
    const found = this.moved(all, transformation, sides);
    if (found === null) return { boxes, labels };
    const after = this.sidesAfter(sides);
    const most = [after[1], after[0]].map((n) => sizeValue(n, boxes.dtype));
    const inside = found.map((x, i) => x.maximum(0).minimum(most[i % 2] as number)) as unknown as Corners;
    const [x1, y1, x2, y2] = inside;
    const some = x2.sub(x1).mul(y2.sub(y1)).greater(0);
    const y = fromCorners(inside.map(scale(after, true)) as unknown as Corners, bare(format));
    // Labels may be vectors.
    const isThere = labels.rank === boxes.rank ? some : squeeze(some, -1);
    return {
      boxes: single ? squeeze(y, 0) : y,
      labels: where(single ? squeeze(isThere, 0) : isThere, labels, -1),
    };
  }
  /** The boxes [boxes, 4] of one image changed as a transformation says. */
  transformSingleBoundingBox(
    boundingBox: BoundingBoxes,
    transformation: Transformation | null,
    training = true,
  ): BoundingBoxes {
    return this.transformBoundingBoxes(boundingBox, transformation, training);
  }
  /** Boxes of floats, and their labels. @throws InvalidArgumentError for what are none */
  protected checkedBoxes(given: unknown): BoundingBoxes {
    if (this.needsFormat && this.boundingBoxFormat === null)
      fail(this, "needs a boundingBoxFormat, such as 'xyxy', to change bounding boxes");
    const { boxes, labels, ...others } = (isPlain(given) ? given : {}) as Partial<BoundingBoxes>;
    if (boxes === undefined || labels === undefined || Object.keys(others).length > 0)
      return fail(this, `takes boundingBoxes { boxes, labels }, got ${show(given)}`);
    // Images may have several numbers of boxes.
    const dense = (x: Tensor, fill: number): Tensor =>
      x instanceof CompositeTensor && 'toTensor' in x
        ? (x as unknown as RaggedTensor).toTensor({ defaultValue: fill })
        : toTensor(x);
    const [b, l] = [dense(boxes, 0), dense(labels, -1)];
    const { rank } = b;
    if ((rank !== 2 && rank !== 3) || b.shape.at(-1) !== 4 || (l.rank !== rank && l.rank !== rank - 1))
      fail(
        this,
        `takes boxes [batch, boxes, 4] and labels [batch, boxes], got ${showShape(b.shape)} and ${showShape(l.shape)}`,
      );
    return { boxes: b.dtype === 'float64' ? b : b.cast('float32'), labels: l };
  }

  /** One image [h, w, c] changed as a transformation says. */
  transformSingleImage(image: Tensor, transformation: Transformation | null, training = true): Tensor {
    return this.transformImages(image, transformation, training);
  }
  /** The label of one image, without a batch axis, changed as a transformation says. */
  transformSingleLabel(label: Tensor, transformation: Transformation | null, training = true): Tensor {
    const batch = expandDims(toTensor(label), 0);
    return squeeze(this.transformLabels(batch, transformation, training), 0);
  }
  /** The segmentation mask [h, w, c] of one image changed as a transformation says. */
  transformSingleSegmentationMask(
    mask: Tensor,
    transformation: Transformation | null,
    training = true,
  ): Tensor {
    return this.transformSegmentationMasks(mask, transformation, training);
  }

  override call(inputs: Tensor | ImageData, { training }: CallOptions = {}): LayerOutput {
    const on = training !== false;
    const transformation = this.getRandomTransformation(inputs, on);
    if (!isByNames(inputs)) return this.transformImages(inputs as Tensor, transformation, on);
    const { images, labels, segmentationMasks, boundingBoxes, ...others } = inputs as unknown as Record<
      string,
      Tensor
    >;
    for (const name of Object.keys(others))
      fail(this, `takes images, labels, segmentationMasks and boundingBoxes by name, got ${show(name)}`);
    if (images === undefined) fail(this, 'needs images among what it is given by name');
    return {
      images: this.transformImages(images, transformation, on),
      ...(labels === undefined ? {} : { labels: this.transformLabels(labels, transformation, on) }),
      ...(segmentationMasks === undefined
        ? {}
        : { segmentationMasks: this.transformSegmentationMasks(segmentationMasks, transformation, on) }),
      ...(boundingBoxes === undefined
        ? {}
        : {
            boundingBoxes: this.transformBoundingBoxes(boundingBoxes as never, transformation, on) as never,
          }),
    } as unknown as LayerOutput;
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.checkImages(inputShape);
  }

  /** Images in the dtype that the layer computes in. */
  protected prepared(images: Tensor): Tensor {
    if (this.keepsIntegers && isInteger(images.dtype)) return images;
    return this.#isOfIntegers ? values(this, images).cast(this.computeDtype) : inPrecision(this, images);
  }
  get #isOfIntegers(): boolean {
    return !isFloating(this.computeDtype);
  }
  /** Whether integers stay what they are, as in Keras. */
  protected get keepsIntegers(): boolean {
    return false;
  }

  /** @throws InvalidArgumentError for a shape that is not of images */
  protected checkImages(shape: PartialShape): PartialShape {
    const { length } = checkOne(this, shape);
    if (length !== 3 && length !== 4)
      fail(
        this,
        `expects images of rank 3 [height, width, channels] or 4 [batch, height, width, channels], got ${showShape(shape)}`,
      );
    return shape;
  }

  /** Images as [batch, h, w, c], and the way back. */
  #batch(images: Tensor): { readonly batch: Tensor; readonly back: (y: Tensor) => Tensor } {
    const x = toTensor(images);
    this.checkImages(x.shape);
    const single = x.rank === 3;
    const one = single ? expandDims(x, 0) : x;
    const first = this.dataFormat === 'channelsFirst';
    const batch = first ? transpose(one, [0, 2, 3, 1]) : one;
    const back = (y: Tensor): Tensor => {
      const inFormat = first ? transpose(y, [0, 3, 1, 2]) : y;
      return single ? squeeze(inFormat, 0) : inFormat;
    };
    return { batch, back };
  }
}
defineMethods(ImageLayer.prototype, 'ImageLayer', {
  getRandomTransformation: { positional: ['data', 'training'], required: 1, objects: ['data'] },
  transformImages: {
    positional: ['images', 'transformation', 'training'],
    required: 2,
    objects: ['transformation'],
  },
  transformLabels: {
    positional: ['labels', 'transformation', 'training'],
    required: 2,
    objects: ['transformation'],
  },
  transformSegmentationMasks: {
    positional: ['masks', 'transformation', 'training'],
    required: 2,
    objects: ['transformation'],
  },
  transformBoundingBoxes: {
    positional: ['boundingBoxes', 'transformation', 'training'],
    required: 2,
    objects: ['boundingBoxes', 'transformation'],
  },
  transformSingleBoundingBox: {
    positional: ['boundingBox', 'transformation', 'training'],
    required: 2,
    objects: ['boundingBox', 'transformation'],
  },
  transformSingleImage: {
    positional: ['image', 'transformation', 'training'],
    required: 2,
    objects: ['transformation'],
  },
  transformSingleLabel: {
    positional: ['label', 'transformation', 'training'],
    required: 2,
    objects: ['transformation'],
  },
  transformSingleSegmentationMask: {
    positional: ['mask', 'transformation', 'training'],
    required: 2,
    objects: ['transformation'],
  },
});

/** How many images, and their sides. */
export type Sides = readonly [batch: Dim, height: Dim, width: Dim];
export const sidesOf = (images: Tensor): Sides => {
  const [n, h, w] = dims(images);
  return [n, h, w];
};
/** A tensor of a transformation. */
export const drawn = (transformation: Transformation, name: string): Tensor =>
  toTensor(transformation[name] as Tensor);
/** The boxes around corners that a map of points has moved. */
export function around(
  [x1, y1, x2, y2]: Corners,
  move: (x: Tensor, y: Tensor) => readonly [Tensor, Tensor],
): Corners {
  const points = [move(x1, y1), move(x2, y1), move(x1, y2), move(x2, y2)];
  const of = (i: 0 | 1, how: 'minimum' | 'maximum'): Tensor =>
    points.map((p) => p[i]).reduce((a, b) => a[how](b));
  return [of(0, 'minimum'), of(1, 'minimum'), of(0, 'maximum'), of(1, 'maximum')];
}
/** [batch] or [batch, 1] as [batch, 1, 1], to go with corners. */
export const perBox = (x: Tensor): Tensor => x.reshape([-1, 1, 1]);
/** [batch] as [batch, 1, 1, 1], to go with images. */
export const perImage = (x: Tensor): Tensor => x.reshape([-1, 1, 1, 1]);

// ---- options

/** What all layers of images take. */
export const imageOptions: {
  readonly dataFormat: typeof dataFormat;
  readonly boundingBoxFormat: Option<BoundingBoxFormat | null>;
} & typeof layerOptions = {
  dataFormat,
  boundingBoxFormat: {
    read: (given, name) =>
      given === undefined || given === null ? null : naming(name, () => formatOf(given, 'convertFormat')),
    write: (value) => value ?? undefined,
  },
  ...layerOptions,
};

type Range = readonly [low: number, high: number];

/** The least and the largest of what a factor says. @param least the least that a number stands for; minus the number by default */
export const rangeOf = (factor: Factor, least: number = Number.NEGATIVE_INFINITY): Range =>
  typeof factor === 'number' ? [Math.max(-Math.abs(factor), least), Math.abs(factor)] : factor;

function checkFactor(value: unknown, name: string, layer: Layer, [low, high]: Range): Factor {
  const ok = (n: unknown): boolean => typeof n === 'number' && n >= low && n <= high;
  if (Array.isArray(value) && value.length === 2 && value.every(ok))
    return [Math.min(...(value as number[])), Math.max(...(value as number[]))];
  if (!ok(value))
    fail(
      layer,
      `needs ${name} to be a number between ${low} and ${high}, or two of them, got ${show(value)}`,
    );
  return value as number;
}

/** A factor that is kept as it was given. */
export const factor = (bounds: Range, otherwise?: Factor | null): Option<Factor> => ({
  read: (given: unknown, name: string, layer: object): Factor => {
    const value = given ?? otherwise;
    return value === null ? (null as unknown as Factor) : checkFactor(value, name, layer as Layer, bounds);
  },
});
/** A factor that is kept as two numbers. @param least the least that a number stands for */
export const range = (bounds: Range, otherwise?: Factor, least: number = bounds[0]): Option<Range> => ({
  read: (given, name, layer) => rangeOf(checkFactor(given ?? otherwise, name, layer as Layer, bounds), least),
  write: (value) => [...value],
});
/** The least and the largest value of colours. */
export const valueRange: Option<Range> = {
  read: (given, name, layer) => {
    const value = given ?? [0, 255];
    if (
      !Array.isArray(value) ||
      value.length !== 2 ||
      !value.every((n) => Number.isFinite(n)) ||
      value[0] === value[1]
    )
      fail(layer as Layer, `needs ${name} to be two different numbers, got ${show(value)}`);
    return [Math.min(...(value as number[])), Math.max(...(value as number[]))];
  },
  write: (value) => [...value],
};

/** Colours of one range of values in another. */
export function rescaled(x: Tensor, [fromLow, fromHigh]: Range, [low, high]: Range): Tensor {
  if (fromLow === low && fromHigh === high) return x;
  return x
    .sub(fromLow)
    .mul(1 / (fromHigh - fromLow))
    .mul(high - low)
    .add(low);
}

/** Which images are changed, [batch]: with a probability that is itself drawn between two. */
export function chosen(layer: ImageLayer, images: Tensor, [low, high]: Range): Tensor {
  const shape = toShape([sidesOf(images)[0]]);
  const probability = layer.source.uniform(shape, 'float32', low, high);
  return layer.source.uniform(shape, 'float32').less(probability);
}
