import {
  FailedPreconditionError,
  InvalidArgumentError,
  PermissionDeniedError,
  UnimplementedError,
} from '@eagre/backend';
import { constant, ones, Tensor } from '@eagre/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { draw, fromPixels, fromPixelsAsync, toPixels } from './from-pixels.ts';

const data = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 250, 251, 252, 253, 254, 255, 0, 128]);
const picture = { data, width: 1, height: 4 };
const named = (name: string, fields: object): never =>
  Object.assign(Object.create({ [Symbol.toStringTag]: name }), fields) as never;

describe('fromPixels', () => {
  it('has the first channels of each pixel', async () => {
    const rows: Record<number, number[]> = {
      1: [1, 5, 250, 254],
      2: [1, 2, 5, 6, 250, 251, 254, 255],
      3: [1, 2, 3, 5, 6, 7, 250, 251, 252, 254, 255, 0],
      4: [...data],
    };
    for (const [channels, values] of Object.entries(rows)) {
      const x = fromPixels(picture, Number(channels) as 3);
      expect([x.dtype, x.shape, [...x.data()]]).toEqual(['int32', [4, 1, Number(channels)], values]);
      const y = await fromPixelsAsync({ pixels: picture, numChannels: Number(channels) as 3 });
      expect([...y.data()]).toEqual(values);
    }
    expect(fromPixels(picture).shape).toEqual([4, 1, 3]);
  });
  it('takes bytes that lie anywhere', () => {
    const odd = new Uint8Array(17);
    odd.set(data, 1);
    const clamped = new Uint8ClampedArray(odd.buffer, 1);
    for (const channels of [1, 2, 3, 4] as const)
      expect(fromPixels({ data: clamped, width: 2, height: 2 }, channels).array()).toEqual(
        fromPixels({ data, width: 2, height: 2 }, channels).array(),
      );
  });
  it.each<[string, unknown, RegExp]>([
    ['a number', 3, /pixels must be an image, .* got 3; here is no page/],
    ['nothing', null, /got null/],
    ['a tensor', ones([2, 2]), /got a tensor/],
    ['floats', { data: new Float32Array(4), width: 1, height: 1 }, /pixels.data must be bytes/],
    ['too few bytes', { data, width: 2, height: 4 }, /2 × 4 pixels have 32 bytes of RGBA, .* has 16/],
    ['no pixels', { data: new Uint8Array(0), width: 0, height: 4 }, /of 1 at least, got 0 × 4/],
    ['half a pixel', { data, width: 0.5, height: 8 }, /got 0.5 × 8/],
    ['negative sizes', { data, width: -1, height: -4 }, /got -1 × -4/],
    ['an endless size', { data, width: Number.NaN, height: 4 }, /got NaN × 4/],
  ])('refuses %s', async (_, source, message) => {
    expect(() => fromPixels(source as never)).toThrow(InvalidArgumentError);
    expect(() => fromPixels(source as never)).toThrow(message);
    await expect(fromPixelsAsync(source as never)).rejects.toThrow(message);
  });
  it('refuses other numbers of channels', () => {
    for (const bad of [0, 5, 1.5, '3'])
      expect(() => fromPixels(picture, bad as never)).toThrow(InvalidArgumentError);
  });
  it('says what works outside of pages', () => {
    const image = named('HTMLImageElement', { width: 2, height: 2, naturalWidth: 2, complete: true });
    expect(() => fromPixels(image)).toThrow(UnimplementedError);
    expect(() => fromPixels(image)).toThrow('{ data, width, height } works everywhere');
  });
});

describe('in a page', () => {
  afterEach(() => vi.unstubAllGlobals());
  it('says what a source lacks', () => {
    const cases: [object, new (...args: never[]) => Error, string][] = [
      [
        named('HTMLImageElement', { width: 2, height: 2, naturalWidth: 0, complete: false }),
        FailedPreconditionError,
        'the image is not loaded yet',
      ],
      [
        named('HTMLImageElement', { width: 2, height: 2, naturalWidth: 0, complete: true }),
        FailedPreconditionError,
        'could not be loaded',
      ],
      [
        named('HTMLVideoElement', { videoWidth: 2, videoHeight: 2, readyState: 1 }),
        FailedPreconditionError,
        "wait for its event 'loadeddata'",
      ],
      [named('OffscreenCanvas', { width: 0, height: 5 }), InvalidArgumentError, 'its size is 0 × 5'],
      [named('ImageBitmap', { width: 0, height: 0 }), InvalidArgumentError, 'which may be closed'],
      [
        named('VideoFrame', { displayWidth: 0, displayHeight: 0 }),
        InvalidArgumentError,
        'which may be closed',
      ],
    ];
    for (const [source, error, message] of cases) {
      expect(() => fromPixels(source as never)).toThrow(error);
      expect(() => fromPixels(source as never)).toThrow(message);
    }
  });
  it('a canvas that may not be read is given up', () => {
    let made = 0;
    let wrong: Error | undefined = Object.assign(new Error('tainted'), { name: 'SecurityError' });
    vi.stubGlobal(
      'OffscreenCanvas',
      class {
        width = 1;
        height = 4;
        constructor() {
          made++;
        }
        getContext(): object {
          return {
            drawImage: () => undefined,
            getImageData: () => {
              if (wrong !== undefined) throw wrong;
              return picture;
            },
          };
        }
      },
    );
    const canvas = named('HTMLCanvasElement', { width: 1, height: 4 });
    expect(() => fromPixels(canvas)).toThrow(PermissionDeniedError);
    expect(() => fromPixels(canvas)).toThrow(/of another origin: .* crossOrigin = 'anonymous'/);
    wrong = Object.assign(new Error('broken'), { name: 'InvalidStateError' });
    expect(() => fromPixels(canvas)).toThrow(FailedPreconditionError);
    wrong = undefined;
    expect(fromPixels(canvas, 1).data().length).toBe(4);
    fromPixels(canvas);
    expect(made).toBe(4);
  });
});

describe('toPixels', () => {
  it('makes bytes of all kinds of images', async () => {
    const bytes = async (x: unknown): Promise<number[]> => [...(await toPixels(x as Tensor))];
    expect(await bytes([[0, 0.5, 1]])).toEqual([0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255]);
    expect(await bytes(constant([[[7], [255]]], 'int32'))).toEqual([7, 7, 7, 255, 255, 255, 255, 255]);
    expect(await bytes(constant([[[1, 2, 3]]], 'uint8'))).toEqual([1, 2, 3, 255]);
    expect(await bytes(constant([[[1, 2, 3]]], 'int64'))).toEqual([1, 2, 3, 255]);
    expect(await bytes(constant([[[0, 1, 0, 0.25]]], 'float16'))).toEqual([0, 255, 0, 64]);
    expect(await bytes(fromPixels(picture, 4))).toEqual([...data]);
  });
  it.each<[unknown, RegExp]>([
    [[[1.5]], /float32 must have values from 0 to 1, got 1.5 at \[0, 0\]/],
    [[[0, Number.NaN]], /got NaN at \[0, 1\]/],
    [constant([[[0, 0, 256]]], 'int32'), /int32 must have values from 0 to 255, got 256 at \[0, 0, 2\]/],
    [constant([[-1]], 'int32'), /got -1/],
    [[1, 2], /expected an image of shape .* got \[2\]/],
    [ones([2, 2, 2]), /got \[2, 2, 2\]/],
    [ones([0, 2, 3]), /got \[0, 2, 3\]/],
    [[['a']], /got a tensor of string/],
    [[[true]], /got a tensor of bool/],
  ])('refuses %s', async (image, message) => {
    await expect(toPixels(image as never)).rejects.toThrow(InvalidArgumentError);
    await expect(toPixels(image as never)).rejects.toThrow(message);
  });
  it('refuses what is no canvas, and options of other names', async () => {
    const x = ones([1, 1]);
    const canvas = named('HTMLCanvasElement', { getContext: () => null });
    await expect(toPixels(x, {} as never)).rejects.toThrow('canvas must be a canvas of the page');
    await expect(toPixels(x, canvas)).rejects.toThrow("a context of another kind, such as 'webgl'");
    await expect(draw(x, 3 as never)).rejects.toThrow(InvalidArgumentError);
    await expect(draw(x, canvas, { imageOptions: { alpha: 2 } })).rejects.toThrow(
      'alpha must be from 0 to 1',
    );
    await expect(draw(x, canvas, { imageOptions: { beta: 2 } as never })).rejects.toThrow("got 'beta'");
    await expect(draw(x, canvas, { canvasOptions: 3 as never })).rejects.toThrow('canvasOptions takes');
    await expect(draw(x, canvas, { canvasOptions: { contextType: 'webgl' as never } })).rejects.toThrow(
      'contextType must be one of',
    );
    expect(x).toBeInstanceOf(Tensor);
  });
});
