// Files of every kind, with what TensorFlow makes of them: tools/golden/picture_codecs.py.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { EagreError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { bytesOf, camelCaseKeys } from '@eagre/core/internal';
import { expect, test } from 'vitest';
import { decodeAndCropJpeg, decodeJpeg, decodePng, encodeJpeg, encodePng } from '../images/decode-image.ts';
import { isPng } from '../images/png.ts';
import { goldenPath } from './golden.ts';

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
export const files: ReadonlyMap<string, Uint8Array> = new Map(
  Object.entries(golden.files).map(([name, text]) => [name, bytes(text)]),
);
export const pictures: ReadonlyMap<string, Tensor> = new Map(
  Object.entries(golden.pictures).map(([name, { shape, data }]) => [
    name,
    constant(new Uint8Array(inflateSync(bytes(data))), 'uint8', { shape }),
  ]),
);
/** The hash of values. */
export const hash = (values: Uint8Array | Uint16Array): string =>
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

/** Compares codecs, those that are in use then, with TensorFlow. */
export function testCodecs(): void {
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

  test('what was written as PNG is read again', () => {
    for (const picture of pictures.values())
      for (const level of [-1, 0, 1, 9]) {
        expect(decodePng(encodePng(picture, level)).array()).toEqual(picture.array());
        const deep = picture.cast('uint16').mul(constant(251, 'uint16'));
        expect(decodePng(encodePng(deep, level), 0, 'uint16').array()).toEqual(deep.array());
      }
  });
}
