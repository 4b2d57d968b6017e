// JPEG and PNG files of every kind, against TensorFlow: tools/golden/picture_codecs.py.
import '@eagre/backend-js';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { EagreError, UnimplementedError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { bytesOf, camelCaseKeys } from '@eagre/core/internal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goldenPath } from '../testing/golden.ts';
import { codecs, useCodecs } from './codecs.ts';
import { decodeAndCropJpeg, decodeJpeg, decodePng, encodeJpeg, encodePng } from './decode-image.ts';
import { isPng } from './png.ts';

interface Case {
  readonly file: string;
  /** How many of its bytes. */
  readonly size?: number;
  readonly window?: readonly number[];
  readonly wishes: Readonly<Record<string, unknown>>;
  readonly shape?: readonly number[];
  readonly sha256?: string;
  readonly error?: string;
}
const golden = JSON.parse(readFileSync(goldenPath('picture-codecs.json'), 'utf8')) as {
  readonly files: Readonly<Record<string, string>>;
  readonly pictures: Readonly<Record<string, { readonly shape: readonly number[]; readonly data: string }>>;
  readonly cases: readonly Case[];
  readonly encodings: readonly {
    readonly picture: string;
    readonly options: Readonly<Record<string, unknown>>;
    readonly size: number;
    readonly sha256: string;
  }[];
};
const bytes = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, 'base64'));
const files = new Map(Object.entries(golden.files).map(([name, text]) => [name, bytes(text)]));
const pictures = new Map(
  Object.entries(golden.pictures).map(([name, { shape, data }]) => [
    name,
    constant(new Uint8Array(inflateSync(bytes(data))), 'uint8', { shape }),
  ]),
);
const hash = (values: Uint8Array | Uint16Array): string =>
  createHash('sha256')
    .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .digest('hex');

function decoded({ file, size, window, wishes }: Case): Tensor {
  const all = files.get(file) as Uint8Array;
  const contents = all.subarray(0, size ?? all.length);
  const options = camelCaseKeys(wishes) as object;
  if (isPng(all)) return decodePng({ contents, ...options });
  if (window !== undefined) return decodeAndCropJpeg({ contents, cropWindow: window, ...options });
  return decodeJpeg({ contents, ...options });
}

describe.runIf(codecs() !== undefined)('the native codecs', () => {
  test.each([...files.keys()])('%s: give what TensorFlow gives', (name) => {
    const different: unknown[] = [];
    for (const one of golden.cases.filter(({ file }) => file === name)) {
      let got: { shape?: readonly number[]; sha256?: string; error?: string };
      try {
        const tensor = decoded(one);
        got = { shape: tensor.shape, sha256: hash(tensor.data() as Uint8Array) };
      } catch (error) {
        if (!(error instanceof EagreError)) throw error;
        got = { error: `${error.name}: ${error.message}` };
      }
      const agrees =
        one.error === undefined
          ? got.sha256 === one.sha256 && `${got.shape}` === `${one.shape}`
          : got.error?.startsWith(one.error);
      if (!agrees) different.push({ one, got });
    }
    expect(different).toEqual([]);
  });

  test('write the JPEG files that TensorFlow writes', () => {
    for (const { picture, options, size, sha256 } of golden.encodings) {
      const image = pictures.get(picture) as Tensor;
      const file = bytesOf(encodeJpeg({ image, ...camelCaseKeys(options) }).item() as unknown as string);
      expect([picture, options, file.length, hash(file)]).toEqual([picture, options, size, sha256]);
    }
  });
});

describe.each(['native', 'JavaScript'])('PNG by %s', (where) => {
  beforeAll(() => useCodecs(where === 'native' ? null : undefined));
  afterAll(() => useCodecs(null));
  const isThere = where === 'JavaScript' || codecs() !== undefined;

  test.runIf(isThere)('gives what TensorFlow gives', () => {
    for (const one of golden.cases.filter(({ file }) => isPng(files.get(file) as Uint8Array))) {
      const tensor = decoded(one);
      expect([one, tensor.shape, hash(tensor.data() as Uint8Array)]).toEqual([one, one.shape, one.sha256]);
    }
  });
  test.runIf(isThere)('what was written is read again', () => {
    for (const picture of pictures.values())
      for (const level of [-1, 0, 1, 9]) {
        expect(decodePng(encodePng(picture, level)).array()).toEqual(picture.array());
        const deep = picture.cast('uint16').mul(constant(251, 'uint16'));
        expect(decodePng(encodePng(deep, level), 0, 'uint16').array()).toEqual(deep.array());
      }
  });
});

describe('JPEG without the native codecs', () => {
  beforeAll(() => useCodecs(undefined));
  afterAll(() => useCodecs(null));
  const file = files.get('4:2:0') as Uint8Array;

  test.runIf(codecs() !== undefined)('differs by what transforms are rounded', () => {
    const here = decodeJpeg(file).cast('int32');
    useCodecs(null);
    const there = decodeJpeg(file, 0, { dctMethod: 'INTEGER_ACCURATE' }).cast('int32');
    useCodecs(undefined);
    expect(here.sub(there).abs().max().item()).toBeLessThanOrEqual(3);
  });
  test('cuts rectangles out', () => {
    const whole = decodeJpeg(file).array() as number[][][];
    const part = decodeAndCropJpeg(file, [3, 5, 8, 10]).array();
    expect(part).toEqual(whole.slice(3, 11).map((row) => row.slice(5, 15)));
    expect(() => decodeAndCropJpeg(file, [30, 5, 8, 10])).toThrow('inside of 33 × 47 pixels');
  });
  test('refuses what it cannot do', () => {
    const picture = pictures.get('small') as Tensor;
    expect(() => decodeJpeg(file, 0, { ratio: 2 })).toThrow(UnimplementedError);
    expect(() => encodeJpeg(picture, '', 90, { progressive: true })).toThrow(UnimplementedError);
    expect(decodeJpeg(encodeJpeg(picture)).shape).toEqual([1, 1, 3]);
  });
});
