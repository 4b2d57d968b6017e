// Layers that give images another size: by interpolation, or by cutting.
import { type PartialShape, saturateCast, Tensor, where } from '@eagre/core';
import {
  type Arguments,
  addDims,
  argumentsOf,
  cropped,
  type Dim,
  floorDivDims,
  isFloating,
  lessThan,
  maxDims,
  minDims,
  mulDims,
  partialShape,
  resizeBatch,
  sizeValue,
  subDims,
  surrounded,
  takesOptions,
} from '@eagre/core/internal';
import { type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import type { Corners } from '../../utils/box-formats.ts';
import { fail, floats, values } from '../common.ts';
import { flag, integer, number, seed, word } from '../options.ts';
import {
  type BoundingBoxes,
  drawn,
  ImageLayer,
  type ImageLayerOptions,
  imageOptions,
  type RandomImageOptions,
  type Sides,
  sidesOf,
  type Transformation,
} from './image-layer.ts';

/** A layer whose images all have one size. */
abstract class Sized extends ImageLayer {
  declare readonly height: number;
  declare readonly width: number;

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    const shape = [...partialShape(this.checkImages(inputShape))];
    const first = shape.length - (this.dataFormat === 'channelsFirst' ? 2 : 3);
    shape[first] = this.height;
    shape[first + 1] = this.width;
    return shape;
  }
  protected override sidesAfter(): readonly [height: Dim, width: Dim] {
    return [this.height, this.width];
  }
  /** Corners of a part that becomes the whole image. */
  protected cut(corners: Corners, start: readonly (Dim | Tensor)[], size: readonly Dim[]): Corners {
    const of = (n: Dim | Tensor, x: Tensor): number | Tensor =>
      n instanceof Tensor ? n.cast(x.dtype) : sizeValue(n, x.dtype);
    return corners.map((x, i) => {
      const axis = 1 - (i % 2);
      const whole = axis === 0 ? this.height : this.width;
      const inside = x.sub(of(start[axis], x)).maximum(0).minimum(of(size[axis], x));
      return size[axis] === whole ? inside : inside.mul(whole).div(of(size[axis], x));
    }) as unknown as Corners;
  }
  protected override get always(): boolean {
    return true;
  }
  /** The size of the largest part in the middle with the proportions that are wanted, and where it begins. */
  protected middle([, h, w]: Sides): { readonly start: Box; readonly size: Box } {
    const tall = maxDims(minDims(h, floorDivDims(mulDims(w, this.height), this.width)), 1);
    const wide = maxDims(minDims(w, floorDivDims(mulDims(h, this.width), this.height)), 1);
    return { start: [half(subDims(h, tall)), half(subDims(w, wide))], size: [tall, wide] };
  }
  /** The part in the middle, resized. */
  protected smart(images: Tensor): Tensor {
    const { start, size } = this.middle(sidesOf(images));
    return resizeBatch(cropped(images, start, size), [this.height, this.width], 'bilinear', false);
  }
}
type Box = readonly [Dim, Dim];
const half = (n: Dim): Dim => floorDivDims(n, 2);

/** How `Resizing` finds values between pixels. */
export type ResizingInterpolation = 'bilinear' | 'nearest' | 'bicubic' | 'area' | 'lanczos3' | 'lanczos5';

/** Options of `Resizing`. */
export interface ResizingOptions extends ImageLayerOptions {
  /** `bilinear` by default. */
  readonly interpolation?: ResizingInterpolation;
  /** Whether what does not fit into the new proportions is cut off, so that nothing is stretched; false by default. */
  readonly cropToAspectRatio?: boolean;
  /** Whether images are surrounded where their proportions are others; false by default. */
  readonly padToAspectRatio?: boolean;
  /** `constant`, the only one. */
  readonly fillMode?: 'constant';
  /** What surrounds images; 0 by default. */
  readonly fillValue?: number;
  /** Whether images that become smaller are smoothed before; false by default. */
  readonly antialias?: boolean;
}
interface SizeArguments {
  readonly height: number;
  readonly width: number;
}
/** All arguments of `Resizing`, by name. */
export type ResizingArguments = ResizingOptions & SizeArguments;

/** Images in another size; integers stay integers. `new Resizing(224, 224)` */
export class Resizing extends Sized {
  declare static readonly fromConfig: FromConfig<Resizing>;
  /** How pixels between pixels are found. */
  declare readonly interpolation: ResizingInterpolation;
  /** Whether what does not fit into the new proportions is cut off, so that nothing is stretched. */
  declare readonly cropToAspectRatio: boolean;
  /** Whether images are surrounded where their proportions are others. */
  declare readonly padToAspectRatio: boolean;
  /** What surrounds images. */
  declare readonly fillValue: number;
  /** Whether images that become smaller are smoothed before. */
  declare readonly antialias: boolean;

  constructor(...args: Arguments<[height: number, width: number], ['height', 'width'], ResizingOptions>) {
    super(argumentsOf<ResizingArguments>(Resizing, new.target, args));
    if (this.cropToAspectRatio && this.padToAspectRatio)
      fail(this, 'takes cropToAspectRatio or padToAspectRatio, not both');
  }
  protected override prepared(images: Tensor): Tensor {
    return isFloating(images.dtype) ? values(this, images) : images;
  }
  protected override get keepsIntegers(): boolean {
    return true;
  }
  protected override transform(images: Tensor): Tensor {
    return this.#resized(images, this.interpolation);
  }
  protected override transformMasks(masks: Tensor): Tensor {
    return this.#resized(masks, 'nearest');
  }
  /** As in Keras; boxes of zeros, or of -1, stand for none. */
  override transformBoundingBoxes(...args: Parameters<ImageLayer['transformBoundingBoxes']>): BoundingBoxes {
    const { boxes: before } = this.checkedBoxes(args[0]);
    const { boxes, labels } = super.transformBoundingBoxes(...args);
    const none = (n: number): Tensor => before.equal(n).all(-1, { keepdims: true });
    return { boxes: where(none(0).logicalOr(none(-1)), 0, boxes), labels };
  }
  protected override moved(corners: Corners, _: Transformation, [, rows, columns]: Sides): Corners {
    const [like] = corners;
    const [h, w] = [rows, columns].map((n) => like.mul(0).add(sizeValue(n, like.dtype))) as [Tensor, Tensor];
    const { height, width } = this;
    let [scaleX, scaleY] = [w.reciprocal().mul(width), h.reciprocal().mul(height)];
    let [left, top] = [like.mul(0), like.mul(0)];
    if (this.padToAspectRatio) {
      scaleX = scaleY = scaleX.minimum(scaleY);
      left = w.mul(scaleX).neg().add(width).div(2).floor();
      top = h.mul(scaleY).neg().add(height).div(2).floor();
    } else if (this.cropToAspectRatio) {
      const ratio = w.div(h);
      const isWide = ratio.greater(width / height);
      const [newWidth, newHeight] = [
        where(isWide, ratio.mul(height), width),
        where(isWide, height, ratio.reciprocal().mul(width)),
      ];
      [scaleX, scaleY] = [newWidth.div(w), newHeight.div(h)];
      left = newWidth.sub(width).div(2).floor().neg();
      top = newHeight.sub(height).div(2).floor().neg();
    }
    return corners.map((x, i) =>
      i % 2 === 0 ? x.mul(scaleX).add(left) : x.mul(scaleY).add(top),
    ) as unknown as Corners;
  }
  #resized(images: Tensor, method: ResizingInterpolation): Tensor {
    const { dtype } = images;
    if (dtype === 'string') floats(this, images);
    let x = method === 'nearest' || isFloating(dtype) ? images : images.cast('float32');
    if (this.cropToAspectRatio) {
      const { start, size } = this.middle(sidesOf(x));
      x = cropped(x, start, size);
    } else if (this.padToAspectRatio) {
      const [, h, w] = sidesOf(x);
      const around = (side: Dim, least: Dim): Box => {
        const before = half(subDims(maxDims(side, least), side));
        return [before, before];
      };
      const rows = around(h, floorDivDims(mulDims(w, this.height), this.width));
      const columns = around(w, floorDivDims(mulDims(h, this.width), this.height));
      x = surrounded(x, rows, columns, this.fillValue);
    }
    const y = resizeBatch(x, [this.height, this.width], method, this.antialias);
    return y.dtype === dtype ? y : saturateCast(y.round(), dtype);
  }
}

/** All arguments of `CenterCrop`, by name. */
export type CenterCropArguments = ImageLayerOptions & SizeArguments;

/** The middle part of images; those that are smaller are resized. `new CenterCrop(224, 224)` */
export class CenterCrop extends Sized {
  declare static readonly fromConfig: FromConfig<CenterCrop>;

  constructor(...args: Arguments<[height: number, width: number], ['height', 'width'], ImageLayerOptions>) {
    super(argumentsOf<CenterCropArguments>(CenterCrop, new.target, args));
  }
  protected override transform(images: Tensor): Tensor {
    const [, h, w] = sidesOf(images);
    if (lessThan(h, this.height) || lessThan(w, this.width)) return this.smart(images);
    const start: Box = [half(subDims(h, this.height)), half(subDims(w, this.width))];
    return cropped(images, start, [this.height, this.width]);
  }
  protected override moved(corners: Corners, _: Transformation, sides: Sides): Corners {
    const [, h, w] = sides;
    const { start, size } = this.middle(sides);
    if (lessThan(h, this.height) || lessThan(w, this.width)) return this.cut(corners, start, size);
    const from: Box = [half(subDims(h, this.height)), half(subDims(w, this.width))];
    return this.cut(corners, from, [this.height, this.width]);
  }
  protected override transformMasks(masks: Tensor): Tensor {
    return this.transform(isFloating(masks.dtype) ? masks : masks.cast(this.computeDtype));
  }
}

/** All arguments of `RandomCrop`, by name. */
export type RandomCropArguments = RandomImageOptions & SizeArguments;

/** A part of images, somewhere by chance, the same for all of a batch; outside of training the middle, resized. `new RandomCrop(24, 24)` */
export class RandomCrop extends Sized {
  declare static readonly fromConfig: FromConfig<RandomCrop>;

  constructor(...args: Arguments<[height: number, width: number], ['height', 'width'], RandomImageOptions>) {
    super(argumentsOf<RandomCropArguments>(RandomCrop, new.target, args));
  }
  override getRandomTransformation(
    ...args: Parameters<ImageLayer['getRandomTransformation']>
  ): Transformation | null {
    const found = super.getRandomTransformation(...args);
    return args[1] === false && found !== null ? { inputShape: found['inputShape'] } : found;
  }
  protected override draw(images: Tensor): Transformation {
    const [, h, w] = sidesOf(images);
    if (!lessThan(this.height, h) || !lessThan(this.width, w)) return {};
    const place = (side: Dim, size: number): Tensor =>
      this.source
        .uniform([], 'float32')
        .mul(sizeValue(addDims(subDims(side, size), 1), 'float32'))
        .cast('int32');
    return { top: place(h, this.height), left: place(w, this.width) };
  }
  protected override transform(images: Tensor, transformation: Transformation): Tensor {
    if (transformation['top'] === undefined) return this.smart(images);
    const start = [drawn(transformation, 'top'), drawn(transformation, 'left')] as const;
    return cropped(images, start, [this.height, this.width]);
  }
  protected override moved(corners: Corners, transformation: Transformation, sides: Sides): Corners {
    const { start, size } = this.middle(sides);
    if (transformation['top'] === undefined) return this.cut(corners, start, size);
    const from = [drawn(transformation, 'top'), drawn(transformation, 'left')];
    return this.cut(corners, from, [this.height, this.width]);
  }
  protected override transformMasks(masks: Tensor, transformation: Transformation): Tensor {
    return this.transform(masks, transformation);
  }
}
ownsTemporaries(Resizing, CenterCrop, RandomCrop);

const size = { height: integer(), width: integer() };
takesOptions<ResizingArguments, Resizing>(
  {
    positional: ['height', 'width'],
    options: {
      ...size,
      interpolation: word<ResizingInterpolation>(
        ['bilinear', 'nearest', 'bicubic', 'area', 'lanczos3', 'lanczos5'],
        'bilinear',
        (value) =>
          `needs interpolation 'bilinear', 'nearest', 'bicubic', 'area', 'lanczos3' or 'lanczos5', got ${value}`,
      ),
      cropToAspectRatio: flag(false),
      padToAspectRatio: flag(false),
      fillMode: word(['constant'], 'constant', (value) => `knows the fillMode 'constant' only, got ${value}`),
      fillValue: number(0),
      antialias: flag(false),
      ...imageOptions,
    },
  },
  Resizing,
);
takesOptions<CenterCropArguments, CenterCrop>(
  { positional: ['height', 'width'], options: { ...size, ...imageOptions } },
  CenterCrop,
);
takesOptions<RandomCropArguments, RandomCrop>(
  { positional: ['height', 'width'], options: { ...size, seed, ...imageOptions } },
  RandomCrop,
);
