import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { InvalidArgumentError, NotFoundError, UnimplementedError } from '@eagre/backend';
import { constant, type NestedArray, zeros } from '@eagre/core';
import { camelCaseKeys } from '@eagre/core/internal';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { goldenPath } from '../testing/golden.ts';
import { arrayToImg, imgToArray, saveImg } from './image-arrays.ts';
import { loadImg } from './load-image.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-images-'));
afterAll(() => rmSync(folder, { recursive: true }));

// What Keras and Pillow do: tools/golden/image_files.py.
const golden = JSON.parse(readFileSync(goldenPath('images.json'), 'utf8')) as {
  readonly png: string;
  readonly loads: readonly {
    readonly options: Record<string, unknown>;
    readonly shape: readonly number[];
    readonly values: readonly number[];
  }[];
  readonly arrays: readonly {
    readonly x: NestedArray<number>;
    readonly options: Record<string, unknown>;
    readonly size: readonly [width: number, height: number];
    readonly values: readonly number[];
  }[];
};
const png = new Uint8Array(Buffer.from(golden.png, 'base64'));
const camelValue = (value: unknown): unknown => (value === 'channels_first' ? 'channelsFirst' : value);
const ours = (options: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(camelCaseKeys(options)).map(([key, value]) => [key, camelValue(value)]));

describe('loadImg gives what Keras gives', () => {
  test.each(golden.loads.map((c) => [JSON.stringify(c.options), c] as const))(
    '%s',
    async (_, { options, shape, values }) => {
      const array = imgToArray(await loadImg(png, ours(options)));
      expect([array.shape, array.dtype]).toEqual([shape, 'float32']);
      expect(Array.from(array.data() as Float32Array)).toEqual(values);
    },
  );

  test('of a file', async () => {
    const path = join(folder, 'a.png');
    writeFileSync(path, png);
    const picture = await loadImg({ path, targetSize: [3, 2] });
    expect(picture).toMatchObject({ height: 3, width: 2, channels: 3 });
    await expect(loadImg(join(folder, 'none.png'))).rejects.toThrow(NotFoundError);
    await expect(loadImg(png.subarray(0, 40))).rejects.toThrow(InvalidArgumentError);
    await expect(loadImg(Uint8Array.of(1, 2, 3))).rejects.toThrow(UnimplementedError);
    for (const options of [
      { colorMode: 'bgr' },
      { interpolation: 'cubic' },
      { targetSize: 3 },
      { targetSize: [0, 3] },
    ])
      await expect(loadImg(png, options as never)).rejects.toThrow(InvalidArgumentError);
  });
});

describe('arrayToImg gives what Keras gives', () => {
  test.each(golden.arrays.map((c) => [JSON.stringify(c.options), c] as const))(
    '%s',
    (_, { x, options, size, values }) => {
      const { width, height, data } = arrayToImg(x, ours(options));
      expect([width, height]).toEqual(size);
      expect(Array.from(data)).toEqual(values);
    },
  );
  test('refuses other shapes and values', () => {
    for (const fn of [
      () => arrayToImg(zeros([2, 2])),
      () => arrayToImg(zeros([2, 2, 2])),
      () => arrayToImg(zeros([0, 2, 3])),
      () => arrayToImg(constant([[[256]]]), { scale: false }),
      () => arrayToImg(constant([[[Number.NaN]]])),
      () => arrayToImg(zeros([2, 2, 1]), { dataFormat: 'last' as never }),
      () => imgToArray(png as never),
      () => imgToArray({ width: 2, height: 2, channels: 3, data: png }),
    ])
      expect(fn, String(fn)).toThrow(InvalidArgumentError);
    const back = imgToArray(arrayToImg(zeros([2, 3, 1])), { dataFormat: 'channelsFirst', dtype: 'float64' });
    expect([back.shape, back.dtype]).toEqual([[1, 2, 3], 'float64']);
  });
});

test('saveImg writes what loadImg reads', async () => {
  const image = imgToArray(await loadImg(png, { colorMode: 'rgba' }));
  const path = join(folder, 'b.png');
  await saveImg(path, image, { scale: false });
  const again = imgToArray(await loadImg(path, { colorMode: 'rgba' }));
  expect(again.array()).toEqual(image.array());

  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const smooth = constant(Array.from({ length: 16 }, (_, i) => Array(16).fill([i * 16, 100, 50, 255])));
  const jpeg = join(folder, 'c.jpg');
  await saveImg({ path: jpeg, x: smooth, scale: false });
  expect(warn.mock.calls[0]?.[0]).toContain('JPEG has no transparency');
  warn.mockRestore();
  const off = imgToArray(await loadImg(jpeg)).sub(smooth.slice([0, 0, 0], [16, 16, 3]));
  expect(off.abs().max().item()).toBeLessThan(12);
  await saveImg(join(folder, 'grey'), zeros([2, 2, 1]), { fileFormat: 'jpg' });
  await expect(saveImg(join(folder, 'd.gif'), smooth)).rejects.toThrow(UnimplementedError);
});
