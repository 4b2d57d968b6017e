// What layers share that prepare images: batches and single ones, labels and masks beside them, what is drawn at random.
import {
  expandDims,
  type PartialShape,
  squeeze,
  type Tensor,
  transpose,
  UnimplementedError,
} from '@eagre/core';
import {
  type Dim,
  defineMethods,
  dims,
  isFloating,
  isInteger,
  type Option,
  showShape,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { isByNames } from '../../layer/call.ts';
import { type CallOptions, Layer, type LayerOptions, type LayerOutput } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { checkOne, fail, inPrecision, values } from '../common.ts';
import { RandomSource } from '../random-source.ts';
import type { DataFormat } from '../spatial.ts';

/** Images, and what belongs to them. */
export interface ImageData {
  /** [h, w, c] or [batch, h, w, c] */
  readonly images: Tensor;
  /** One row for each image. */
  readonly labels?: Tensor;
  /** As large as the images. */
  readonly segmentationMasks?: Tensor;
}

/** What was drawn for one call: `getRandomTransformation` gives it, `transformImages` and the like take it. Tensors have the channels last. */
export type Transformation = Readonly<Record<string, unknown>>;

export interface ImageLayerOptions extends LayerOptions {
  /** `channelsLast` by default. */
  readonly dataFormat?: DataFormat | null;
}
export interface RandomImageOptions extends ImageLayerOptions {
  /** The layer then draws the same numbers in every run; the global seed decides by default. */
  readonly seed?: number | null;
}
/** A number, or the least and the largest of what is drawn. */
export type Factor = number | readonly [low: number, high: number];

/**
 * A layer that prepares images [h, w, c] or [batch, h, w, c]. It may be given `{ images, labels, segmentationMasks }` instead, of which it
 * changes everything in the same way. Layers that draw do so in training, and where they are called outside of a model.
 */
export abstract class ImageLayer extends Layer {
  declare readonly dataFormat: DataFormat;
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
  /** Whether it also changes images outside of training. */
  protected get always(): boolean {
    return false;
  }

  /** Draws what a call would, for images or `{ images, … }`; null outside of training. */
  getRandomTransformation(data: Tensor | ImageData, training = true): Transformation | null {
    if (!training && !this.always) return null;
    return this.draw(this.#batch(isByNames(data) ? (data.images as Tensor) : (data as Tensor)).batch);
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
    const { images, labels, segmentationMasks, ...others } = inputs as unknown as Record<string, Tensor>;
    for (const name of Object.keys(others))
      if (name === 'boundingBoxes')
        throw new UnimplementedError('bounding boxes are not changed along with the images', this.name);
      else fail(this, `takes images, labels and segmentationMasks by name, got ${show(name)}`);
    if (images === undefined) fail(this, 'needs images among what it is given by name');
    return {
      images: this.transformImages(images, transformation, on),
      ...(labels === undefined ? {} : { labels: this.transformLabels(labels, transformation, on) }),
      ...(segmentationMasks === undefined
        ? {}
        : { segmentationMasks: this.transformSegmentationMasks(segmentationMasks, transformation, on) }),
    };
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
export const sidesOf = (images: Tensor): readonly [batch: Dim, height: Dim, width: Dim] => {
  const [n, h, w] = dims(images);
  return [n, h, w];
};
/** A tensor of a transformation. */
export const drawn = (transformation: Transformation, name: string): Tensor =>
  toTensor(transformation[name] as Tensor);
/** [batch] as [batch, 1, 1, 1], to go with images. */
export const perImage = (x: Tensor): Tensor => x.reshape([-1, 1, 1, 1]);

// ---- options

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
