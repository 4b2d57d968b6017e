// `tf.browser`: pixels of pages as tensors, and tensors as pixels.
import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction, Tensor, TensorLike } from '@eagre/core';
import {
  checkNumber,
  checkOneOf,
  defineFunction,
  emptyTensor,
  hostValues,
  isFloating,
  isInteger,
  isPlain,
  kind,
  onKnown,
  shown,
  showShape,
  spaceOf,
  toTensor,
  uploaded,
} from '@eagre/core/internal';
import {
  type CanvasLike,
  checkCanvas,
  classOfObject,
  type ImageLike,
  type PixelData,
  type PixelSource,
  pixelsOf,
  putPixels,
} from './sources.ts';

/** How many values a pixel gets, the first ones of red, green, blue and opacity. */
type Channels = 1 | 2 | 3 | 4;

function checkChannels(numChannels: number, op: string): void {
  checkOneOf(numChannels, [1, 2, 3, 4], 'numChannels', op);
}

/** Whether the first byte of an integer is its lowest. */
const isLittle = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** What a device copies from: new memory for each picture would cost more than all of the rest. Pictures of a camera have one size. */
let staging = new Int32Array(0);
/** Of pictures that are larger nothing is kept. */
const MOST_KEPT = 2 ** 23;

function spaceFor(x: Tensor): Int32Array {
  const { size } = x;
  if (x.storage.allocator.isHost || size > MOST_KEPT) return spaceOf(x) as Int32Array;
  if (staging.length !== size) staging = new Int32Array(size);
  return staging;
}

/** Pixels as a tensor int32 [height, width, channels]. */
function tensorOf({ data, width, height }: PixelData, channels: Channels): Tensor {
  const x = emptyTensor('int32', [height, width, channels]);
  const space = spaceFor(x);
  if (isLittle && data.byteOffset % 4 === 0)
    fill(space, new Uint32Array(data.buffer, data.byteOffset, width * height), channels);
  else
    for (let from = 0, at = 0; from < data.length; from += 4)
      for (let c = 0; c < channels; c++) space[at++] = data[from + c];
  return uploaded(x, space);
}

/** One read for each pixel, and a loop for each number of channels, is several times as fast as reads of bytes. */
function fill(space: Int32Array, pixels: Uint32Array, channels: Channels): void {
  const n = pixels.length;
  if (channels === 3)
    for (let i = 0, at = 0; i < n; i++, at += 3) {
      const pixel = pixels[i];
      space[at] = pixel & 255;
      space[at + 1] = (pixel >>> 8) & 255;
      space[at + 2] = (pixel >>> 16) & 255;
    }
  else if (channels === 4)
    for (let i = 0, at = 0; i < n; i++, at += 4) {
      const pixel = pixels[i];
      space[at] = pixel & 255;
      space[at + 1] = (pixel >>> 8) & 255;
      space[at + 2] = (pixel >>> 16) & 255;
      space[at + 3] = pixel >>> 24;
    }
  else if (channels === 1) for (let i = 0; i < n; i++) space[i] = pixels[i] & 255;
  else
    for (let i = 0, at = 0; i < n; i++, at += 2) {
      const pixel = pixels[i];
      space[at] = pixel & 255;
      space[at + 1] = (pixel >>> 8) & 255;
    }
}

/**
 * The pixels of an image, video, canvas, `ImageData`, `ImageBitmap`, `OffscreenCanvas` or `VideoFrame`, or of `{ data, width, height }`, as a tensor of
 * int32 [height, width, numChannels], with values from 0 to 255.
 *
 * It gives what TensorFlow.js gives: an image has the width and height that it has in the page, and colours are cut off, not weighted, for one channel. Other
 * than there, a canvas gets no context by being read, so that one with WebGL or none can be read too; a `VideoFrame` can be read; and in Node `{ data, width, height }` alone works.
 * In a traced function these are the pixels of the trace.
 * @param numChannels how many values each pixel has, of red, green, blue and opacity; 3 by default
 * @throws FailedPreconditionError for what is not loaded, PermissionDeniedError for what the page may not read, InvalidArgumentError for anything else without pixels
 */
export const fromPixels: NamedFunction<
  [pixels: PixelSource, numChannels?: Channels],
  ['pixels', 'numChannels'],
  unknown,
  Tensor<'int32'>
> = /* @__PURE__ */ defineFunction(
  'browser.fromPixels',
  { pixels: kind.structure, numChannels: kind.integer },
  {},
  (pixels, numChannels: number = 3) => {
    const op = 'browser.fromPixels';
    checkChannels(numChannels, op);
    const read = pixelsOf(pixels, op);
    return onKnown(op, [], () => tensorOf(read, numChannels as Channels)) as Tensor<'int32'>;
  },
);

/** `fromPixels`, which waits for an image to be loaded, and has the page decode it beside the program. */
export const fromPixelsAsync: NamedFunction<
  [pixels: PixelSource, numChannels?: Channels],
  ['pixels', 'numChannels'],
  unknown,
  Promise<Tensor<'int32'>>
> = /* @__PURE__ */ defineFunction(
  'browser.fromPixelsAsync',
  { pixels: kind.structure, numChannels: kind.integer },
  {},
  async (pixels, numChannels: number = 3) => {
    const op = 'browser.fromPixelsAsync';
    checkChannels(numChannels, op);
    // What cannot be decoded is an error of `pixelsOf`.
    if (classOfObject(pixels) === 'HTMLImageElement')
      await (pixels as ImageLike).decode().catch(() => undefined);
    return tensorOf(pixelsOf(pixels, op), numChannels as Channels) as Tensor<'int32'>;
  },
);

/** A picture in bytes of RGBA. */
interface Drawn {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** @param alpha the opacity, from 0 to 255, of pixels without one */
async function drawn(given: TensorLike, alpha: number, op: string): Promise<Drawn> {
  const x = toTensor(given);
  const [height, width, channels = 1] = x.shape;
  if (!(x.rank === 2 || (x.rank === 3 && [1, 3, 4].includes(channels))) || x.size === 0)
    throw new InvalidArgumentError(
      `expected an image of shape [height, width], or [height, width, 1, 3 or 4], got ${showShape(x.shape)}`,
      op,
    );
  const isFraction = isFloating(x.dtype);
  if (!isFraction && !isInteger(x.dtype))
    throw new InvalidArgumentError(
      `expected floats from 0 to 1, or integers from 0 to 255, got a tensor of ${x.dtype}`,
      op,
    );
  const stored = x.storage.allocator.isHost ? hostValues(x) : await x.read();
  const values = (
    typeof stored[0] === 'bigint' ? Float64Array.from(stored as BigInt64Array, Number) : stored
  ) as Float32Array;
  const most = isFraction ? 1 : 255;
  const scale = isFraction ? 255 : 1;
  const data = new Uint8ClampedArray(width * height * 4);
  let from = 0;
  for (let i = 0, at = 0; i < width * height; i++, at += 4) {
    for (let c = 0; c < channels; c++) {
      const value = values[from++];
      if (!(value >= 0 && value <= most)) {
        const where = `[${Math.floor(i / width)}, ${i % width}${x.rank === 3 ? `, ${c}` : ''}]`;
        throw new InvalidArgumentError(
          `a tensor of ${x.dtype} must have values from 0 to ${most}, got ${value} at ${where}`,
          op,
        );
      }
      data[at + c] = value * scale;
    }
    if (channels === 1) data[at + 1] = data[at + 2] = data[at];
    if (channels !== 4) data[at + 3] = alpha;
  }
  return { data, width, height };
}

/**
 * A tensor [height, width], or [height, width, channels] with 1, 3 or 4 channels, as bytes of RGBA: floats from 0 to 1, integers from 0 to 255. A canvas that is
 * given gets the size of the picture, and the picture.
 * @throws (the promise) InvalidArgumentError for other shapes and values, and for a canvas with a context that is not 2D
 */
export const toPixels: NamedFunction<
  [img: TensorLike, canvas?: CanvasLike | null],
  ['img', 'canvas'],
  unknown,
  Promise<Uint8ClampedArray>
> = /* @__PURE__ */ defineFunction(
  'browser.toPixels',
  { img: kind.tensor, canvas: kind.structure },
  {},
  async (img, canvas: CanvasLike | null = null) => {
    const op = 'browser.toPixels';
    if (canvas !== null) checkCanvas(canvas, op);
    const { data, width, height } = await drawn(img, 255, op);
    if (canvas !== null) putPixels(canvas, data, width, height, op);
    return data;
  },
);

/** Options of `draw`. */
export interface DrawOptions {
  /** How the canvas is asked for its context: `contextType` is `'2d'`, and `contextAttributes` are those of the page's `getContext`. */
  readonly canvasOptions?: { readonly contextType?: '2d'; readonly contextAttributes?: object } | null;
  /** `alpha` is the opacity, from 0 to 1, of pictures without one; 1 by default. */
  readonly imageOptions?: { readonly alpha?: number } | null;
}

/**
 * Draws a tensor, as `toPixels` takes it, into a canvas, which gets the size of the picture. Other than in TensorFlow.js this is a promise: values that a GPU has come
 * later.
 */
export const draw: NamedFunction<
  [image: TensorLike, canvas: CanvasLike],
  ['image', 'canvas'],
  DrawOptions,
  Promise<void>
> = /* @__PURE__ */ defineFunction(
  'browser.draw',
  { image: kind.tensor, canvas: kind.structure },
  { canvasOptions: true, imageOptions: true },
  async (image, canvas, { canvasOptions, imageOptions }) => {
    const op = 'browser.draw';
    const { contextType = '2d', contextAttributes = {} } = fields(canvasOptions, 'canvasOptions', op);
    const { alpha = 1 } = fields(imageOptions, 'imageOptions', op);
    checkOneOf(contextType, ['2d'], 'canvasOptions.contextType', op);
    checkNumber(alpha, 'imageOptions.alpha', op, 0);
    if ((alpha as number) > 1)
      throw new InvalidArgumentError(`imageOptions.alpha must be from 0 to 1, got ${alpha}`, op);
    checkCanvas(canvas, op);
    const { data, width, height } = await drawn(image, 255 * (alpha as number), op);
    putPixels(canvas, data, width, height, op, contextAttributes as object);
  },
);

/** The options in an option. @throws InvalidArgumentError for what is no plain object, or has other names */
function fields(given: unknown, what: 'canvasOptions' | 'imageOptions', op: string): Record<string, unknown> {
  const names = what === 'canvasOptions' ? ['contextType', 'contextAttributes'] : ['alpha'];
  const options = given ?? {};
  const isObject = isPlain(options) && typeof options === 'object';
  const unknown = isObject ? Object.keys(options).find((name) => !names.includes(name)) : undefined;
  if (!isObject || unknown !== undefined)
    throw new InvalidArgumentError(
      `${what} takes { ${names.join(', ')} }, got ${unknown === undefined ? shown(given) : `'${unknown}'`}`,
      op,
    );
  return options as Record<string, unknown>;
}
