import type { TypedArray } from '@eagre/backend';

/** Pixels of a canvas, `ImageData`, or what decoders of images give: a tensor [height, width, 4] of red, green, blue and opacity. */
export interface PixelsLike {
  readonly data: TypedArray | Uint8ClampedArray;
  /** In pixels. */
  readonly width: number;
  /** In pixels. */
  readonly height: number;
}

/** @internal Whether an object is pixels with a width and a height. */
export const isPixels = (value: object): value is PixelsLike =>
  'width' in value &&
  'height' in value &&
  'data' in value &&
  ArrayBuffer.isView(value.data) &&
  typeof value.width === 'number' &&
  typeof value.height === 'number';
