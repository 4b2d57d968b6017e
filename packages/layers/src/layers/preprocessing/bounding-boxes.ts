import { concat, fill, slice, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  type Dims,
  dims,
  type Option,
  showShape,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { isByNames } from '../../layer/call.ts';
import { type CallOptions, type FromConfig, type LayerOutput, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail, values } from '../common.ts';
import { integer } from '../options.ts';
import { dataFormat } from '../spatial.ts';
import { layerOptions } from '../weights.ts';
import { type ImageData, ImageLayer, type ImageLayerOptions } from './image-layer.ts';

/** What is in images, and where: as many boxes of each image, filled up where there are fewer. */
export interface BoundingBoxes {
  /** [boxes, 4] or [batch, boxes, 4] */
  readonly boxes: Tensor;
  /** [boxes] or [batch, boxes] */
  readonly labels: Tensor;
}

export interface MaxNumBoundingBoxesOptions extends ImageLayerOptions {
  /** What boxes and labels are filled up with; -1 by default. */
  readonly fillValue?: number;
  /** Keras's name of the boxes' coordinates, such as `xyxy`; it is kept, and does not matter here. */
  readonly boundingBoxFormat?: string | null;
}
/** All arguments of `MaxNumBoundingBoxes`, by name. */
export interface MaxNumBoundingBoxesArguments extends MaxNumBoundingBoxesOptions {
  readonly maxNumber: number;
}

/**
 * Makes the boxes of each image `maxNumber`: further ones are left out, missing ones are filled up. Called with `{ images, boundingBoxes: { boxes, labels } }`,
 * and perhaps `labels` and `segmentationMasks`, which stay; also with images alone. For tensors, not when a functional model is described.
 */
export class MaxNumBoundingBoxes extends ImageLayer {
  declare static readonly fromConfig: FromConfig<MaxNumBoundingBoxes>;
  declare readonly maxNumber: number;
  declare readonly fillValue: number;
  declare readonly boundingBoxFormat: string | null;

  constructor(
    ...args:
      | [maxNumber: number, options?: MaxNumBoundingBoxesOptions]
      | [options: MaxNumBoundingBoxesArguments]
  ) {
    super(argumentsOf<MaxNumBoundingBoxesArguments>(MaxNumBoundingBoxes, new.target, args));
  }
  protected override get always(): boolean {
    return true;
  }
  protected override transform(images: Tensor): Tensor {
    return images;
  }

  override call(inputs: Tensor | ImageData, options: CallOptions = {}): LayerOutput {
    if (!isByNames(inputs)) return super.call(inputs as Tensor, options);
    const { boundingBoxes, ...others } = inputs as Readonly<Record<string, unknown>>;
    const images = super.call(others as unknown as ImageData, options);
    if (boundingBoxes === undefined) return images;
    return { ...(images as object), boundingBoxes: this.#limited(boundingBoxes) } as never;
  }

  #limited(given: unknown): BoundingBoxes {
    const { boxes, labels, ...others } = given as Partial<BoundingBoxes>;
    if (boxes === undefined || labels === undefined || Object.keys(others).length > 0)
      return fail(this, `takes boundingBoxes { boxes, labels }, got ${show(given)}`);
    const axis = labels.rank - 1;
    if (axis < 0 || axis > 1 || boxes.rank !== axis + 2 || boxes.shape.at(-1) !== 4)
      fail(
        this,
        `takes boxes [batch, boxes, 4] and labels [batch, boxes], got ${showShape(boxes.shape)} and ${showShape(labels.shape)}`,
      );
    return { boxes: this.#resized(values(this, boxes), axis), labels: this.#resized(labels, axis) };
  }

  #resized(x: Tensor, axis: number): Tensor {
    const sizes: Dims = dims(x).map((n, i) => (i === axis ? this.maxNumber : n));
    const more = fill(toShape(sizes), this.fillValue, x.dtype);
    return slice(
      concat([x, more], axis),
      sizes.map(() => 0),
      toShape(sizes),
    );
  }
}
export interface MaxNumBoundingBoxes {
  <T extends ImageData & { readonly boundingBoxes: BoundingBoxes }>(data: T, options?: CallOptions): T;
}
ownsTemporaries(MaxNumBoundingBoxes);

const whole: Option<number> = {
  read: (given = -1, _, layer) => {
    if (!Number.isSafeInteger(given))
      fail(layer as MaxNumBoundingBoxes, `needs fillValue to be an integer, got ${show(given)}`);
    return given as number;
  },
};
takesOptions<MaxNumBoundingBoxesArguments, MaxNumBoundingBoxes>(
  {
    positional: ['maxNumber'],
    options: {
      dataFormat,
      maxNumber: integer(),
      fillValue: whole,
      boundingBoxFormat: {
        read: (given = null, name, layer) => {
          if (given !== null && typeof given !== 'string')
            fail(layer as MaxNumBoundingBoxes, `needs ${name} to be a string or null, got ${show(given)}`);
          return given;
        },
        write: (value) => value ?? undefined,
      },
      ...layerOptions,
    },
  },
  MaxNumBoundingBoxes,
);
