import { concat, fill, slice, type Tensor } from '@eagre/core';
import { argumentsOf, type Dims, dims, type Option, takesOptions, toShape } from '@eagre/core/internal';
import { type CallOptions, type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail } from '../common.ts';
import { integer } from '../options.ts';
import {
  type BoundingBoxes,
  type ImageData,
  ImageLayer,
  type ImageLayerOptions,
  imageOptions,
} from './image-layer.ts';

export type { BoundingBoxes };

/** Options of `MaxNumBoundingBoxes`. */
export interface MaxNumBoundingBoxesOptions extends ImageLayerOptions {
  /** What boxes and labels are filled up with; -1 by default. */
  readonly fillValue?: number;
}
/** All arguments of `MaxNumBoundingBoxes`, by name. */
export interface MaxNumBoundingBoxesArguments extends MaxNumBoundingBoxesOptions {
  /** How many boxes each image has afterwards. */
  readonly maxNumber: number;
}

/**
 * Makes the boxes of each image `maxNumber`: further ones are left out, missing ones are filled up. Called with `{ images, boundingBoxes: { boxes, labels } }`,
 * and perhaps `labels` and `segmentationMasks`, which stay; also with images alone. For tensors, not when a functional model is described.
 */
export class MaxNumBoundingBoxes extends ImageLayer {
  declare static readonly fromConfig: FromConfig<MaxNumBoundingBoxes>;
  /** How many boxes each image has afterwards. */
  declare readonly maxNumber: number;
  /** What boxes and labels are filled up with. */
  declare readonly fillValue: number;

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

  /** The format of the boxes does not matter. */
  override transformBoundingBoxes(given: BoundingBoxes): BoundingBoxes {
    const { boxes, labels } = this.checkedBoxes(given);
    const axis = boxes.rank - 2;
    return { boxes: this.#resized(boxes, axis), labels: this.#resized(labels, axis) };
  }
  protected override get needsFormat(): boolean {
    return false;
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
      maxNumber: integer(),
      fillValue: whole,
      ...imageOptions,
    },
  },
  MaxNumBoundingBoxes,
);
