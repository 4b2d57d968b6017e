// Functions that code and decode, against TensorFlow.
import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { deflateSync } from 'node:zlib';
import { constant, EagreError, ResourceExhaustedError, type Tensor } from '@eagre/core';
import { bytesOf } from '@eagre/core/internal';
import { crc32 } from '@eagre/formats/internal';
import { describe, expect, test } from 'vitest';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import * as images from '../images/decode-image.ts';
import * as audio from './audio.ts';
import { decodeCsv } from './decode-csv.ts';
import * as raw from './raw.ts';
import * as tensors from './tensors.ts';

interface Values {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly values: readonly unknown[];
}
interface Case {
  readonly op: string;
  readonly note?: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result?: Values | readonly Values[];
  readonly error?: string;
}
const golden = JSON.parse(readFileSync(new URL('../../golden/io.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Case[];
};
const functions = new Map<string, unknown>(
  Object.entries({ ...raw, ...tensors, ...images, ...audio, decodeCsv }),
);

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && 'shape' in value;
const value = (v: unknown): unknown => {
  if (Array.isArray(v)) return { re: v[0], im: v[1] };
  if (typeof v !== 'object') return v;
  const { big, float } = v as { big?: string; float?: string };
  return big === undefined ? Number(float?.replace('inf', 'Infinity')) : BigInt(big);
};
function decoded(arg: unknown): unknown {
  if (isValues(arg)) {
    const wide = arg.dtype === 'int64' || arg.dtype === 'uint64';
    const values = arg.values.map(value).map((v) => (wide ? BigInt(v as number) : v));
    return constant(values as never, arg.dtype as never, { shape: arg.shape });
  }
  return Array.isArray(arg) && arg.some(isValues) ? arg.map(decoded) : arg;
}
function shown(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(shown);
  const { dtype, shape } = result as Tensor;
  const plain = (v: unknown): unknown => {
    if (typeof v === 'bigint') return Number.isSafeInteger(Number(v)) ? Number(v) : { big: String(v) };
    if (typeof v === 'object' && v !== null) return [(v as { re: number }).re, (v as { im: number }).im];
    if (typeof v !== 'number' || Number.isFinite(v)) return v;
    return { float: String(v).replace('Infinity', 'inf').replace('NaN', 'nan') };
  };
  const flat = (result as Tensor).reshape([-1]).array() as unknown[];
  return { dtype, shape, values: flat.map(plain) };
}

const groups = new Map<string, Case[]>();
for (const c of golden.cases) groups.set(c.op, [...(groups.get(c.op) ?? []), c]);

describe.each([...groups])('%s', (op, cases) => {
  test('gives what TensorFlow gives', () => {
    const different: unknown[] = [];
    for (const { args, note, result, error } of cases) {
      let got: unknown;
      try {
        const given = Object.fromEntries(Object.entries(args).map(([key, arg]) => [key, decoded(arg)]));
        got = shown((functions.get(op) as (args: unknown) => unknown)(given));
      } catch (fault) {
        if (error !== undefined && fault instanceof EagreError) continue;
        got = fault;
      }
      if (error !== undefined || !isDeepStrictEqual(got, result))
        different.push({ note, args, got, wanted: error ?? result });
    }
    expect(different).toEqual([]);
  });
});

describe('what was written is read again', () => {
  const picture = (channels: number, dtype: 'uint8' | 'uint16'): Tensor => {
    const top = dtype === 'uint8' ? 256 : 65536;
    const values = Array.from({ length: 7 * 5 * channels }, (_, i) => (i * i * 31) % top);
    return constant(values, dtype, { shape: [7, 5, channels] });
  };
  test('PNG', () => {
    for (const channels of [1, 3, 4])
      for (const dtype of ['uint8', 'uint16'] as const)
        for (const compression of [-1, 0, 9]) {
          const x = picture(channels, dtype);
          const read = images.decodePng(images.encodePng(x, { compression }), 0, dtype);
          expect(read.array()).toEqual(x.array());
        }
    expect(() => images.encodePng(constant([[1]], 'uint8'))).toThrow('image must have the shape');
    expect(() => images.encodePng(constant([[[1.5]]]))).toThrow('the dtype of image');
    expect(() => images.encodePng(picture(3, 'uint8'), 10)).toThrow('compression');
  });
  test('JPEG', () => {
    const values = Array.from({ length: 16 * 16 * 3 }, (_, i) => 3 * Math.floor(i / 48) + (i % 48));
    const x = constant(values, 'uint8', { shape: [16, 16, 3] });
    const apart = (y: Tensor): number =>
      y.cast('float32').sub(x.cast('float32')).abs().max().item() as number;
    expect(apart(images.decodeJpeg(images.encodeJpeg(x, '', 100)))).toBeLessThanOrEqual(4);
    expect(images.extractJpegShape(images.encodeJpeg(x)).array()).toEqual([16, 16, 3]);
    expect(images.adjustJpegQuality(x.cast('float32').div(255), 95).dtype).toBe('float32');
    expect(apart(images.adjustJpegQuality(x, 100))).toBeLessThanOrEqual(4);
    expect(() => images.encodeJpeg(x, 'grayscale')).toThrow('image must have the shape');
  });
  test('bytes are taken as strings, vectors and arrays', () => {
    const [png] = images.encodePng(picture(3, 'uint8')).strings();
    const bytes = bytesOf(png as string);
    for (const contents of [png as string, bytes, constant(bytes)])
      expect(images.decodePng(contents).shape).toEqual([7, 5, 3]);
    expect(() => images.decodePng(constant([png as string]))).toThrow('must be a scalar');
    expect(() => images.decodePng(constant([1.5]))).toThrow('must be strings');
  });
});

test('what a file or an argument stands for costs no more than the result', () => {
  // A picture of one pixel, with 32 MiB of packed data behind it.
  const [png] = images.encodePng(constant([[[7]]], 'uint8')).strings();
  const bytes = Buffer.from(bytesOf(png as string));
  const data = deflateSync(Buffer.concat([Buffer.from([0, 7]), Buffer.alloc(2 ** 25)]));
  const at = bytes.indexOf('IDAT') - 4;
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write('IDAT', 4);
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  const end = bytes.subarray(at + 12 + bytes.readUInt32BE(at));
  expect(images.decodePng(Buffer.concat([bytes.subarray(0, at), chunk, end])).array()).toEqual([[[7]]]);

  const sound = audio.encodeWav([[0.5], [-0.5]], 8000);
  const [long] = audio.decodeWav(sound, 3, 10 ** 6);
  expect(long.shape).toEqual([10 ** 6, 3]);
  expect(long.slice([0, 0], [3, 3]).array()).toEqual([
    [0.5, 0.5, 0.5],
    [-0.5, -0.5, -0.5],
    [0, 0, 0],
  ]);
  expect(audio.decodeWav(sound, 0, 1)[0].array()).toEqual([[0.5]]);
  expect(() => audio.decodeWav(sound, 1, 2 ** 50)).toThrow(ResourceExhaustedError);
  expect(() => audio.decodeWav(sound, 1e6)).toThrow('at most 65535');
});

test('damaged bytes give typed errors, or values', () => {
  const random = randomSource(5);
  const contents = golden.cases.filter(
    ({ op, result }) => result !== undefined && /^decode(Png|Gif|Bmp|Wav|Webp)$|parseTensor/.test(op),
  );
  let refused = 0;
  for (let run = 0; run < 3000; run++) {
    const { op, args } = contents[run % contents.length] as Case;
    const [text] = ((args['contents'] ?? args['serialized']) as Values).values as string[];
    const bytes = mutate(bytesOf(text as string), random);
    try {
      (functions.get(op) as (contents: Uint8Array, dtype: unknown) => unknown)(
        bytes,
        op === 'parseTensor' ? 'float32' : op === 'decodeGif' ? {} : 0,
      );
    } catch (error) {
      if (!(error instanceof EagreError)) throw new Error(`run ${run}, ${op}`, { cause: error });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(1000);
  expect(refused).toBeLessThan(2990);
});
