// Layers that put parts of other images, or noise, into images.
import { concat, type Tensor, UnimplementedError, where } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  iota,
  type Option,
  sizeValue,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import { type FromConfig, type Layer, ownsTemporaries } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import type { Corners } from '../../utils/box-formats.ts';
import { fail } from '../common.ts';
import { positive, seed } from '../options.ts';
import {
  type BoundingBoxes,
  chosen,
  drawn,
  type Factor,
  ImageLayer,
  imageOptions,
  perImage,
  type RandomImageOptions,
  range,
  sidesOf,
  type Transformation,
  valueRange,
} from './image-layer.ts';

type Range = readonly [low: number, high: number];

/** Rows mixed with others: weight · x + (1 − weight) · others. */
function mixed(x: Tensor, transformation: Transformation): Tensor {
  const floats = x.dtype === 'float64' ? x : x.cast('float32');
  const weight = drawn(transformation, 'mixWeight').cast(floats.dtype);
  const share = weight.reshape([-1, ...new Array<number>(x.rank - 1).fill(1)]);
  const others = floats.gather(drawn(transformation, 'permutationOrder'), 0);
  return share.mul(floats).add(share.neg().add(1).mul(others));
}

/** Options of `MixUp`. */
export interface MixUpOptions extends RandomImageOptions {
  /** Of the beta distribution that weights come from: the larger, the more even. 0.2 by default. */
  readonly alpha?: number;
}

/** Mixes each image, and its label, with another of the batch (Zhang and others, "mixup", 2018). Labels are one-hot, or probabilities. */
export class MixUp extends ImageLayer {
  declare static readonly fromConfig: FromConfig<MixUp>;
  /** Of the beta distribution that weights come from: the larger, the more even. */
  declare readonly alpha: number;

  constructor(...args: [alpha?: number | null | MixUpOptions, options?: MixUpOptions]) {
    super(argumentsOf<MixUpOptions>(MixUp, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [n] = sidesOf(images);
    return {
      permutationOrder: this.source.permutation(n),
      mixWeight: this.source.beta(toShape([n]), 'float32', this.alpha),
    };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    return mixed(images, transformation);
  }
  protected override transformRows(labels: Tensor, transformation: Transformation): Tensor {
    return mixed(labels, transformation);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return mixed(masks, transformation);
  }
  /** Boxes of both images. */
  override transformBoundingBoxes(
    given: BoundingBoxes,
    transformation: Transformation | null,
    training = true,
  ): BoundingBoxes {
    const { boxes, labels } = this.checkedBoxes(given);
    if (transformation === null || !training) return { boxes, labels };
    if (boxes.rank === 2) return fail(this, 'takes boxes of a batch, [batch, boxes, 4]');
    const both = (x: Tensor): Tensor =>
      concat([x, x.gather(drawn(transformation, 'permutationOrder'), 0)], 1);
    return { boxes: both(boxes), labels: both(labels) };
  }
}

/** Where rectangles lie: along one direction, [batch] each. */
function extent(layer: ImageLayer, n: Dim, side: Dim, share: Tensor): { start: Tensor; end: Tensor } {
  const whole = sizeValue(side, 'float32');
  const length = share.mul(whole);
  const start = layer.source.uniform(toShape([n]), 'float32').mul(length.neg().add(whole));
  return { start, end: start.add(length) };
}
/** The pixels inside of rectangles, [batch, h, w, 1]. */
function inside([h, w]: readonly [Dim, Dim], rows: Extent, columns: Extent): Tensor {
  const within = (place: Tensor, { start, end }: Extent): Tensor =>
    place.greaterEqual(perImage(start)).logicalAnd(place.less(perImage(end)));
  const y = iota(h).cast('float32').reshape([-1, 1, 1]);
  const x = iota(w).cast('float32').reshape([-1, 1]);
  return within(x, columns).logicalAnd(within(y, rows));
}
interface Extent {
  readonly start: Tensor;
  readonly end: Tensor;
}

/** Options of `CutMix`. */
export interface CutMixOptions extends RandomImageOptions {
  /** Of the beta distribution that sizes come from, or its bounds, from 0 to 1; 1 by default. */
  readonly factor?: Factor;
}

/** Puts a rectangle of another image of the batch into each; labels are mixed by area (Yun and others, "CutMix", 2019). */
export class CutMix extends ImageLayer {
  declare static readonly fromConfig: FromConfig<CutMix>;
  /** Of the beta distribution that sizes come from, or its bounds, from 0 to 1. */
  declare readonly factor: Range;

  constructor(...args: [factor?: Factor | null | CutMixOptions, options?: CutMixOptions]) {
    super(argumentsOf<CutMixOptions>(CutMix, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [n, h, w] = sidesOf(images);
    const alpha = this.source.uniform([], 'float32', ...this.factor).add(1e-6);
    const side = this.source
      .beta(toShape([n]), 'float32', alpha)
      .neg()
      .add(1)
      .sqrt();
    const [columns, rows] = [extent(this, n, w, side), extent(this, n, h, side)];
    const area = columns.end.sub(columns.start).mul(rows.end.sub(rows.start));
    const whole = area.mul(0).add(sizeValue(h, 'float32')).mul(sizeValue(w, 'float32'));
    return {
      permutationOrder: this.source.permutation(n),
      batchMasks: inside([h, w], rows, columns),
      mixWeight: area.div(whole).neg().add(1),
    };
  }
  protected override moved(): Corners {
    throw new UnimplementedError(
      'boxes beside images of which parts are others; Keras has none either',
      this.name,
    );
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const others = images.gather(drawn(transformation, 'permutationOrder'), 0);
    return where(drawn(transformation, 'batchMasks'), others, images);
  }
  protected override transformRows(labels: Tensor, transformation: Transformation): Tensor {
    return mixed(labels, transformation);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.transform(masks, transformation);
  }
}

/** Options of `RandomErasing`. */
export interface RandomErasingOptions extends RandomImageOptions {
  /** How likely an image is changed, or between which probabilities; 1 by default. */
  readonly factor?: Factor;
  /** Which share of an image is erased; between 0.02 and 0.33 by default. */
  readonly scale?: Factor;
  /** What stands there, one number or one for each of three channels; noise by default. */
  readonly fillValue?: number | readonly [number, number, number] | null;
  /** The least and the largest value of colours; [0, 255] by default. */
  readonly valueRange?: Range;
}

/** Erases a rectangle of some images (Zhong and others, "Random erasing data augmentation", 2020). */
export class RandomErasing extends ImageLayer {
  declare static readonly fromConfig: FromConfig<RandomErasing>;
  /** How likely an image is changed, or between which probabilities. */
  declare readonly factor: Range;
  /** Which share of an image is erased. */
  declare readonly scale: Range;
  /** What stands there, one number or one for each of three channels. */
  declare readonly fillValue: number | readonly number[] | null;
  /** The least and the largest value of colours. */
  declare readonly valueRange: Range;

  constructor(...args: [factor?: Factor | null | RandomErasingOptions, options?: RandomErasingOptions]) {
    super(argumentsOf<RandomErasingOptions>(RandomErasing, new.target, args));
  }
  protected override draw(images: Tensor): Transformation {
    const [n, h, w] = sidesOf(images);
    const [columns, rows] = [w, h].map((side) =>
      extent(this, n, side, this.source.uniform(toShape([n]), 'float32', ...this.scale).sqrt()),
    );
    const { fillValue } = this;
    const [low, high] = this.valueRange;
    const noise = (): Tensor => this.source.normal(images.shape, 'float32').mul(high);
    const fill =
      fillValue === null
        ? noise()
        : images
            .cast('float32')
            .mul(0)
            .add(fillValue as number | number[]);
    return {
      applyErasing: chosen(this, images, this.factor),
      batchMasks: inside([h, w], rows, columns),
      fillValue: fill.clip(low, high),
    };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    const erased = drawn(transformation, 'batchMasks').logicalAnd(
      perImage(drawn(transformation, 'applyErasing')),
    );
    return where(erased, drawn(transformation, 'fillValue').cast(images.dtype), images);
  }
}
ownsTemporaries(MixUp, CutMix, RandomErasing);

takesOptions<MixUpOptions, MixUp>(
  {
    positional: ['alpha'],
    required: 0,
    options: {
      alpha: positive(0.2),
      seed,
      ...imageOptions,
    },
  },
  MixUp,
);
takesOptions<CutMixOptions, CutMix>(
  {
    positional: ['factor'],
    required: 0,
    options: { factor: range([0, 1], 1), seed, ...imageOptions },
  },
  CutMix,
);
takesOptions<RandomErasingOptions, RandomErasing>(
  {
    positional: ['factor'],
    required: 0,
    options: {
      factor: range([0, 1], 1),
      scale: range([0, 1], [0.02, 0.33]),
      fillValue: {
        read: (given, name, layer) => {
          const ok =
            given === undefined ||
            given === null ||
            Number.isFinite(given) ||
            (Array.isArray(given) && given.length === 3 && given.every((v) => Number.isFinite(v)));
          if (!ok) fail(layer as Layer, `needs ${name} to be a number or three, got ${show(given)}`);
          return (given ?? null) as number | readonly number[] | null;
        },
      } satisfies Option<number | readonly number[] | null>,
      valueRange,
      seed,
      ...imageOptions,
    },
  },
  RandomErasing,
);
