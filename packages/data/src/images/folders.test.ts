import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { crc32, deflateSync } from 'node:zlib';
import { EagreError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Dataset } from '../pipeline/dataset.ts';
import { textDatasetFromDirectory } from '../readers/text-dataset.ts';
import { golden, goldenFolder, goldenPath } from '../testing/golden.ts';
import type { ImageDatasetOptions } from './image-dataset.ts';
import { imageDatasetFromDirectory } from './image-dataset.ts';
import { encodePng, type Raster } from './png.ts';

const pictures = goldenPath('pictures');
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-folders-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const plain = { imageSize: [6, 8], shuffle: false, batchSize: null } as const;

/** The pictures whose decoders leave no choice. */
const isExact = (i: number): boolean => !(golden.pictureFiles[i] as string).endsWith('.jpg');

/** A PNG file of given rows, as the codecs write none. */
function png(
  width: number,
  height: number,
  depth: number,
  colorType: number,
  rows: readonly number[],
  palette?: readonly number[],
  interlace = 0,
): Uint8Array {
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const out = Buffer.alloc(12 + data.length);
    out.writeUInt32BE(data.length, 0);
    out.write(type, 4, 'latin1');
    out.set(data, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
    return out;
  };
  const header = Uint8Array.of(0, 0, 0, width, 0, 0, 0, height, depth, colorType, 0, 0, interlace);
  return Buffer.concat([
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    chunk('IHDR', header),
    ...(palette ? [chunk('PLTE', Uint8Array.from(palette))] : []),
    chunk('IDAT', deflateSync(Uint8Array.from(rows))),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

describe('imageDatasetFromDirectory', () => {
  const cases: Record<string, ImageDatasetOptions> = {
    bilinear: {},
    nearest: { interpolation: 'nearest', labelMode: 'categorical' },
    grayscale: { colorMode: 'grayscale', labelMode: 'binary' },
    cropped: { cropToAspectRatio: true },
    padded: { padToAspectRatio: true },
  };
  for (const [name, options] of Object.entries(cases)) {
    it(`gives what Keras gives: ${name}`, async () => {
      const dataset = await imageDatasetFromDirectory(pictures, { ...plain, ...options });
      expect(dataset.filePaths.map((p) => p.slice(goldenFolder.length + 1))).toEqual(golden.pictureFiles);
      expect(dataset.classNames).toEqual(['cats', 'dogs']);
      const elements = [...dataset];
      expect(elements.length).toBe(5);
      elements.forEach(([image, label], i) => {
        const [expectedImage, expectedLabel] = (golden.pictures[name] as (typeof golden.pictures)[string])[
          i
        ]!;
        expect(label.array()).toEqual(expectedLabel);
        const want = (expectedImage as readonly (readonly (readonly number[])[])[]).flat(2);
        const got = Array.from(image.data() as Float32Array);
        expect(got.length).toBe(want.length);
        // Decoders of JPEG differ, and so do weights of grey.
        const most = isExact(i) ? (name === 'grayscale' ? 1 : 1e-3) : 8;
        const off = Math.max(...got.map((value, j) => Math.abs(value - (want[j] as number))));
        expect(off).toBeLessThanOrEqual(most);
      });
    });
  }

  it('splits as Keras does', async () => {
    for (const [subset, expected] of Object.entries(golden.split)) {
      const options = { shuffle: false, validationSplit: 0.4, subset: subset as 'training' };
      const { filePaths } = await imageDatasetFromDirectory(pictures, options);
      expect(filePaths.map((p) => p.slice(goldenFolder.length + 1))).toEqual(expected);
    }
    const seeded = (subset: 'training' | 'validation') =>
      imageDatasetFromDirectory(pictures, { validationSplit: 0.4, subset, seed: 4 });
    const all = [...(await seeded('training')).filePaths, ...(await seeded('validation')).filePaths];
    expect(new Set(all).size).toBe(5);
  });

  it('gives both parts of a split, the second in one order', async () => {
    const options = { validationSplit: 0.4, seed: 4, imageSize: [2, 2] } as const;
    const [training, validation] = await imageDatasetFromDirectory(pictures, { ...options, subset: 'both' });
    for (const [part, subset] of [
      [training, 'training'],
      [validation, 'validation'],
    ] as const)
      expect(part.filePaths).toEqual(
        (await imageDatasetFromDirectory(pictures, { ...options, subset })).filePaths,
      );
    const pixels = () => [...validation].map(([images]) => images.array());
    expect(pixels()).toEqual(pixels());
    const paired: Dataset<[Tensor, Tensor]> = training;
    expect(paired.cardinality()).toBe(1);
    await expect(
      imageDatasetFromDirectory(pictures, { subset: 'both' as 'training', validationSplit: 0.4 }),
    ).rejects.toThrow(/give a seed/);
  });

  it('batches, shuffles by the seed, and goes on where it was', async () => {
    const make = () => imageDatasetFromDirectory(pictures, { imageSize: [2, 2], batchSize: 2, seed: 1 });
    const dataset = await make();
    const labels = (batches: Iterable<[Tensor, Tensor]>): number[] =>
      [...batches].flatMap(([, label]) => Array.from(label.data(), Number));
    const [first, second] = [labels(dataset), labels(dataset)];
    expect(labels(await make())).toEqual(first);
    expect([...first].sort()).toEqual([0, 0, 1, 1, 1]);
    expect([...second].sort()).toEqual([0, 0, 1, 1, 1]);
    expect([...dataset][0]?.[0].shape).toEqual([2, 2, 2, 3]);
    expect(dataset.cardinality()).toBe(3);

    const before = (await make()).iterator();
    before.next();
    const after = (await make()).iterator();
    after.restoreState(before.saveState());
    expect(labels(after)).toEqual(first.slice(2));
  });

  it('takes labels of any source, or none', async () => {
    const given = await imageDatasetFromDirectory(pictures, { ...plain, labels: [4, 3, 2, 1, 0] });
    expect([...given].map(([, label]) => label.item())).toEqual([4, 3, 2, 1, 0]);
    const none = await imageDatasetFromDirectory(pictures, { ...plain, labels: null });
    expect([...none].map((image) => image.shape)).toEqual(new Array(5).fill([6, 8, 3]));
    const turned = await imageDatasetFromDirectory(pictures, { ...plain, classNames: ['dogs', 'cats'] });
    expect([...turned].map(([, label]) => label.item())).toEqual([0, 0, 0, 1, 1]);
  });

  it('decodes by a function, also an asynchronous one', async () => {
    const decode = async (bytes: Uint8Array) =>
      ({ width: 1, height: 1, channels: 1, data: bytes.slice(0, 1) }) as const;
    const found: number[] = [];
    for await (const [image] of await imageDatasetFromDirectory(pictures, {
      ...plain,
      imageSize: [1, 1],
      decode,
    }))
      found.push(image.data()[0] as number);
    expect(found).toEqual([0x89, 0x89, 0xff, 0x89, 0x89]);
    const wrong = () => ({ width: 2, height: 1, channels: 3, data: new Uint8Array(5) }) as const;
    const dataset = await imageDatasetFromDirectory(pictures, { ...plain, decode: wrong });
    expect(() => [...dataset]).toThrow(/a.png: .*do not match a picture of 1×2×3/);
  });

  it('decodes several files at once where decoders have to be waited for, in order', async () => {
    let running = 0;
    let most = 0;
    const decode = async (bytes: Uint8Array) => {
      most = Math.max(most, ++running);
      for (let i = 0; i < (bytes.length % 3) + 1; i++) await new Promise((resolve) => setImmediate(resolve));
      running--;
      return { width: 1, height: 1, channels: 1, data: bytes.slice(0, 1) } as const;
    };
    const dataset = await imageDatasetFromDirectory(pictures, { ...plain, imageSize: [1, 1], decode });
    const labels: number[] = [];
    for await (const [, label] of dataset) labels.push(label.item());
    expect(labels).toEqual([0, 0, 1, 1, 1]);
    expect(most).toBe(5);
  });

  it('goes on where it was, also in later rounds', async () => {
    const make = async () => {
      const dataset = await imageDatasetFromDirectory(pictures, {
        imageSize: [1, 1],
        seed: 4,
        batchSize: null,
      });
      return dataset.map((_, label) => label).repeat(3);
    };
    const all = [...(await make())].map((label) => label.item());
    expect(new Set([0, 5, 10].map((at) => String(all.slice(at, at + 5)))).size).toBeGreaterThan(1);
    for (let at = 0; at < all.length; at++) {
      const first = (await make()).iterator();
      for (let i = 0; i < at; i++) first.next();
      const second = (await make()).iterator();
      second.restoreState(first.saveState());
      expect(
        [...second].map((label) => label.item()),
        `from ${at}`,
      ).toEqual(all.slice(at));
    }
  });

  it('reads other kinds of PNG', async () => {
    mkdirSync(join(root, 'a'));
    const put = (name: string, image: Omit<Raster, 'depth'> & Partial<Raster>): void =>
      writeFileSync(join(root, 'a', name), encodePng({ depth: 8, ...image }, 'test'));
    put('1.png', { width: 1, height: 1, data: Uint16Array.of(0x1234), channels: 1, depth: 16 });
    put('2.png', { width: 1, height: 1, data: Uint8Array.of(9, 8), channels: 2 });
    put('3.png', { width: 1, height: 1, data: Uint8Array.of(9, 8, 7, 6), channels: 4 });
    const read = async (colorMode: 'rgb' | 'rgba') =>
      [
        ...(await imageDatasetFromDirectory(root, { ...plain, imageSize: [1, 1], labels: null, colorMode })),
      ].map((image) => [...image.data()]);
    expect(await read('rgb')).toEqual([
      [0x12, 0x12, 0x12],
      [9, 9, 9],
      [9, 8, 7],
    ]);
    expect(await read('rgba')).toEqual([
      [0x12, 0x12, 0x12, 255],
      [9, 9, 9, 8],
      [9, 8, 7, 6],
    ]);
  });

  it('reads palettes and few bits', async () => {
    mkdirSync(join(root, 'a'));
    // Two rows of three pixels; each row begins with its filter, none.
    const rows = {
      1: [0, 0b10100000, 0, 0b01000000],
      2: [0, 0b00011000, 0, 0b11100100],
      4: [0, 0x01, 0x20, 0, 0xf1, 0x30],
    } as const;
    const colours = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120];
    writeFileSync(join(root, 'a', '1.png'), png(3, 2, 2, 3, rows[2], colours));
    writeFileSync(join(root, 'a', '2.png'), png(3, 2, 1, 0, rows[1]));
    writeFileSync(join(root, 'a', '3.png'), png(3, 2, 2, 0, rows[2]));
    writeFileSync(join(root, 'a', '4.png'), png(3, 2, 4, 0, rows[4]));
    const options = { ...plain, imageSize: [2, 3], labels: null } as const;
    const grey = [...(await imageDatasetFromDirectory(root, { ...options, colorMode: 'grayscale' }))];
    expect(grey.slice(1).map((image) => [...image.data()])).toEqual([
      [255, 0, 255, 0, 255, 0],
      [0, 85, 170, 255, 170, 85],
      [0, 17, 34, 255, 17, 51],
    ]);
    const [palette] = [...(await imageDatasetFromDirectory(root, options))];
    expect([...(palette?.data() ?? [])]).toEqual([
      10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 70, 80, 90, 40, 50, 60,
    ]);
    writeFileSync(join(root, 'a', '1.png'), png(3, 2, 2, 0, rows[2], undefined, 1));
    const interlaced = await imageDatasetFromDirectory(root, options);
    expect(() => [...interlaced]).toThrow(/1.png: damaged PNG file: it has too little data/);
  });

  it('refuses options that make no sense, and folders without pictures', async () => {
    const refused = (options: ImageDatasetOptions, message: RegExp) =>
      expect(imageDatasetFromDirectory(pictures, options)).rejects.toThrow(message);
    await refused({ colorMode: 'cmyk' as 'rgb' }, /colorMode/);
    await refused({ interpolation: 'bicubic' as 'nearest' }, /'bilinear' or 'nearest'/);
    await refused({ cropToAspectRatio: true, padToAspectRatio: true }, /choose one/);
    await refused({ validationSplit: 0.2 }, /go together/);
    await refused({ validationSplit: 0.2, subset: 'training' }, /give a seed/);
    await refused({ labels: [1] }, /1 labels for 5 files/);
    await refused({ classNames: ['cats'] }, /must be the folders/);
    await refused({ imageSize: [0, 1] }, /height/);
    await expect(imageDatasetFromDirectory(join(root, 'none'))).rejects.toThrow(/there is no folder/);
    await expect(imageDatasetFromDirectory(root)).rejects.toThrow(/no \.bmp, .*\.png in/);
  });

  it('names a picture that is damaged or of another format', async () => {
    cpSync(pictures, root, { recursive: true });
    writeFileSync(join(root, 'cats', 'a.bmp'), 'RIFF');
    const bmp = (await imageDatasetFromDirectory(root, plain)).iterator();
    expect(() => bmp.next()).toThrow(/a.bmp: only PNG, JPEG, GIF, BMP and WebP can be decoded/);
    expect(bmp.next().value?.[0].shape).toEqual([6, 8, 3]);
    rmSync(join(root, 'cats'), { recursive: true });
    for (const name of ['c.jpg', 'e.png']) {
      const good = readFileSync(join(pictures, 'dogs', name));
      let failed = 0;
      for (let i = 0; i < 60; i++) {
        const damaged = Uint8Array.from(good);
        damaged[(i * 7) % good.length] = (i * 83) % 256;
        writeFileSync(join(root, 'dogs', name), i % 3 ? damaged : damaged.subarray(0, (i * 7) % good.length));
        const dataset = await imageDatasetFromDirectory(root, { ...plain, labels: null });
        const iterator = dataset.iterator();
        for (let step = 0; step < 3; step++) {
          try {
            iterator.next();
          } catch (error) {
            expect(error).toBeInstanceOf(EagreError);
            failed++;
          }
        }
      }
      expect(failed).toBeGreaterThan(10);
      writeFileSync(join(root, 'dogs', name), good);
    }
    const bomb = Uint8Array.from(readFileSync(join(pictures, 'dogs', 'e.png')));
    bomb.set([0x7f, 0xff, 0xff, 0xff], 16);
    new DataView(bomb.buffer, bomb.byteOffset).setUint32(29, crc32(bomb.subarray(12, 29)));
    writeFileSync(join(root, 'dogs', 'e.png'), bomb);
    const dataset = await imageDatasetFromDirectory(root, plain);
    expect(() => [...dataset]).toThrow(/e.png: a PNG file of \d+ × \d+ pixels/);
  });
});

describe('textDatasetFromDirectory', () => {
  it('gives texts with labels', () => {
    for (const [path, text] of Object.entries({
      'bad/1.txt': 'grä',
      'good/2.txt': 'b',
      'good/d/3.txt': 'c',
    })) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const dataset = textDatasetFromDirectory(root, { shuffle: false, maxLength: 3 });
    const [batch] = [...dataset];
    expect(batch?.[0].strings()).toEqual(['gr', 'b', 'c']);
    expect([...(batch?.[1].data() ?? [])]).toEqual([0, 1, 1]);
    const alone = textDatasetFromDirectory(root, { shuffle: false, labelMode: null, batchSize: null });
    expect([...alone].map((t) => t.item())).toEqual(['grä', 'b', 'c']);
    writeFileSync(join(root, 'bad', '1.txt'), Uint8Array.of(0xff));
    expect(() => [...alone]).toThrow(/1.txt is not UTF-8/);
  });
});
