// What has pixels in pages, by what is used of it: the declarations need no types of the DOM.
import {
  FailedPreconditionError,
  InvalidArgumentError,
  PermissionDeniedError,
  UnimplementedError,
} from '@eagre/backend';
import { shown } from '@eagre/core/internal';

/** Rows of pixels of four bytes each: red, green, blue, opacity. An `ImageData` is one, and so is a plain object. */
export interface PixelData {
  readonly data: Uint8Array | Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}
/** A canvas of the page, or an `OffscreenCanvas`. */
export interface CanvasLike {
  width: number;
  height: number;
  getContext(...args: never[]): unknown;
}
/** An `ImageBitmap`. */
export interface BitmapLike {
  readonly width: number;
  readonly height: number;
  close(): void;
}
/** An image of the page. */
export interface ImageLike {
  readonly width: number;
  readonly height: number;
  readonly naturalWidth: number;
  readonly complete: boolean;
  decode(): Promise<void>;
}
/** A video of the page. */
export interface VideoLike {
  readonly videoWidth: number;
  readonly videoHeight: number;
  readonly readyState: number;
}
/** A `VideoFrame`. */
export interface VideoFrameLike {
  readonly displayWidth: number;
  readonly displayHeight: number;
}
/** What has pixels. */
export type PixelSource = PixelData | CanvasLike | BitmapLike | ImageLike | VideoLike | VideoFrameLike;

interface Drawing {
  globalCompositeOperation: string;
  drawImage(source: unknown, ...box: number[]): void;
  getImageData(x: number, y: number, width: number, height: number): PixelData;
  putImageData(pixels: PixelData, x: number, y: number): void;
}
interface Place {
  OffscreenCanvas?: new (width: number, height: number) => CanvasLike;
  document?: { createElement(name: 'canvas'): CanvasLike };
  ImageData?: new (data: Uint8ClampedArray, width: number, height: number) => PixelData;
}
const here = globalThis as unknown as Place;

/** The class of an object of the page, of whatever frame it is. */
export const classOfObject = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const NAMES: Readonly<Record<string, string>> = {
  HTMLImageElement: 'image',
  HTMLVideoElement: 'video',
  HTMLCanvasElement: 'canvas',
  OffscreenCanvas: 'canvas',
  ImageBitmap: 'bitmap',
  VideoFrame: 'video frame',
};

const EXPECTED =
  'an image, a video or a canvas of the page, an ImageData, ImageBitmap, OffscreenCanvas or VideoFrame, or { data, width, height } with bytes of RGBA';

/** The pixels of a source. @throws typed errors for what has none, or none yet, and for those that the page may not read */
export function pixelsOf(source: unknown, op: string): PixelData {
  const name = NAMES[classOfObject(source)];
  if (name === undefined) return checkedData(source, op);
  const [width, height] = sizeOf(source as PixelSource, name, op);
  return read(source, name, width, height, op);
}

/** @throws InvalidArgumentError for what is no rows of pixels */
function checkedData(source: unknown, op: string): PixelData {
  const { data, width, height } = (typeof source === 'object' && source !== null ? source : {}) as Record<
    keyof PixelData,
    unknown
  >;
  if (!ArrayBuffer.isView(data) || typeof width !== 'number' || typeof height !== 'number') {
    const more = canDraw() ? '' : '; here is no page, so { data, width, height } alone works';
    throw new InvalidArgumentError(`pixels must be ${EXPECTED}, got ${shown(source)}${more}`, op);
  }
  if (!(data instanceof Uint8Array || data instanceof Uint8ClampedArray))
    throw new InvalidArgumentError(
      `pixels.data must be bytes, a Uint8Array or Uint8ClampedArray, got ${shown(data)}`,
      op,
    );
  const whole = (n: number): boolean => Number.isSafeInteger(n) && n > 0;
  if (!whole(width) || !whole(height))
    throw new InvalidArgumentError(
      `pixels must have a width and a height of 1 at least, got ${width} × ${height}`,
      op,
    );
  if (data.length !== width * height * 4)
    throw new InvalidArgumentError(
      `${width} × ${height} pixels have ${width * height * 4} bytes of RGBA, but pixels.data has ${data.length}`,
      op,
    );
  return { data, width, height };
}

/** @throws FailedPreconditionError for what has no pixels now */
function sizeOf(source: PixelSource, name: string, op: string): readonly [width: number, height: number] {
  if (name === 'image') {
    const { width, height, complete, naturalWidth } = source as ImageLike;
    if (!complete || naturalWidth === 0)
      throw new FailedPreconditionError(
        complete
          ? 'the image has no pixels: it could not be loaded, or has no src'
          : 'the image is not loaded yet: await image.decode() first, or use fromPixelsAsync',
        op,
      );
    return notEmpty(width, height, name, op);
  }
  if (name === 'video') {
    const { videoWidth, videoHeight, readyState } = source as VideoLike;
    if (readyState < 2)
      throw new FailedPreconditionError(
        `the video has no picture yet (its readyState is ${readyState}): wait for its event 'loadeddata'`,
        op,
      );
    return notEmpty(videoWidth, videoHeight, name, op);
  }
  if (name === 'video frame') {
    const { displayWidth, displayHeight } = source as VideoFrameLike;
    return notEmpty(displayWidth, displayHeight, 'video frame, which may be closed,', op);
  }
  const { width, height } = source as CanvasLike;
  return notEmpty(width, height, name === 'bitmap' ? 'bitmap, which may be closed,' : name, op);
}

function notEmpty(
  width: number,
  height: number,
  name: string,
  op: string,
): readonly [width: number, height: number] {
  if (width > 0 && height > 0) return [width, height];
  throw new InvalidArgumentError(`the ${name} has no pixels: its size is ${width} × ${height}`, op);
}

const canDraw = (): boolean => here.OffscreenCanvas !== undefined || here.document !== undefined;

function newCanvas(width: number, height: number): CanvasLike {
  if (here.OffscreenCanvas !== undefined) return new here.OffscreenCanvas(width, height);
  const canvas = (here.document as NonNullable<Place['document']>).createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  return canvas;
}

type ContextOf = (kind: string, attributes?: object) => unknown;

/** The 2D context of a canvas. */
export function contextOf(canvas: CanvasLike, op: string, attributes: object = {}): Drawing {
  const drawing = (canvas.getContext as ContextOf)('2d', attributes) as Drawing | null;
  if (drawing !== null && drawing !== undefined) return drawing;
  throw new InvalidArgumentError(
    "the canvas has a context of another kind, such as 'webgl', so nothing can be put into it: give one that has none, or a 2D context",
    op,
  );
}

/** Where sources are drawn, to be read: one canvas, which keeps its memory. */
let scratch: { readonly canvas: CanvasLike; readonly drawing: Drawing } | undefined;

/** Draws a source, and reads what was drawn. A canvas is drawn too: to ask it for a context would give it one. */
function read(source: unknown, name: string, width: number, height: number, op: string): PixelData {
  if (!canDraw())
    throw new UnimplementedError(
      `a ${name} is read by a canvas, which only pages and their workers have; { data, width, height } works everywhere`,
      op,
    );
  if (scratch === undefined) {
    const canvas = newCanvas(width, height);
    scratch = { canvas, drawing: contextOf(canvas, op, { willReadFrequently: true }) };
  }
  const { canvas, drawing } = scratch;
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  // Nothing of what was there before shows through.
  drawing.globalCompositeOperation = 'copy';
  try {
    drawing.drawImage(source, 0, 0, width, height);
    return drawing.getImageData(0, 0, width, height);
  } catch (cause) {
    // A canvas that has seen what the page may not read can never be read again.
    scratch = undefined;
    const { name: kind, message } = cause as Error;
    if (kind === 'SecurityError')
      throw new PermissionDeniedError(
        `the page may not read the ${name}, which is of another origin: serve it with CORS, and set crossOrigin = 'anonymous' before src`,
        op,
        { cause },
      );
    throw new FailedPreconditionError(`the ${name} cannot be read: ${message}`, op, { cause });
  }
}

/** Puts pixels into a canvas, which gets their size. */
export function putPixels(
  canvas: CanvasLike,
  data: Uint8ClampedArray,
  width: number,
  height: number,
  op: string,
  attributes: object = {},
): void {
  const drawing = contextOf(canvas, op, attributes);
  canvas.width = width;
  canvas.height = height;
  const { ImageData } = here;
  if (ImageData === undefined)
    throw new UnimplementedError('there is no ImageData here: without a canvas toPixels gives bytes', op);
  drawing.putImageData(new ImageData(data, width, height), 0, 0);
}

/** @throws InvalidArgumentError for what is no canvas */
export function checkCanvas(canvas: unknown, op: string): void {
  if (['HTMLCanvasElement', 'OffscreenCanvas'].includes(classOfObject(canvas))) return;
  throw new InvalidArgumentError(
    `canvas must be a canvas of the page or an OffscreenCanvas, got ${shown(canvas)}`,
    op,
  );
}
