// ImageDecoder, on files that tools/golden/onnx_images.py has made.
import { readFileSync } from 'node:fs';
import { EagreError, InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { onnx } from '@eagre/formats';
import { describe, expect, test } from 'vitest';
import { load } from './load.ts';

type Format = 'RGB' | 'BGR' | 'Grayscale';
const golden = JSON.parse(readFileSync(new URL('../../golden/images.json', import.meta.url), 'utf8')) as {
  readonly models: Readonly<Record<Format, string>>;
  readonly cases: readonly {
    readonly kind: string;
    readonly file: string;
    readonly images: Readonly<Record<Format, string>>;
    readonly shapes: Readonly<Record<Format, readonly number[]>>;
  }[];
};
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
// Decoders of JPEG round differently.
const MOST: Readonly<Record<string, number>> = { jpeg: 3 };

describe.each(Object.keys(golden.models) as Format[])('pictures as %s', (format) => {
  test.each(golden.cases)('$kind', async ({ kind, file, images, shapes }) => {
    const model = await load(bytesOf(golden.models[format]));
    expect(model.traced).toBe(false);
    const image = model(bytesOf(file)) as Tensor;
    expect([image.dtype, [...image.shape]]).toEqual(['uint8', shapes[format]]);
    const wanted = bytesOf(images[format]);
    const most = (image.data() as Uint8Array).reduce(
      (worst, value, i) => Math.max(worst, Math.abs(value - (wanted[i] as number))),
      0,
    );
    expect(most).toBeLessThanOrEqual(MOST[kind] ?? 0);
  });
});

test('what is no picture, or of no format, is refused with the name of the node', async () => {
  const model = await load(bytesOf(golden.models.RGB));
  for (const bytes of [
    new Uint8Array(0),
    Uint8Array.of(1, 2, 3),
    bytesOf(golden.cases[0]?.file ?? '').subarray(0, 60),
  ]) {
    expect(() => model(bytes)).toThrow(EagreError);
    expect(() => model(bytes)).toThrow(/ImageDecoder number 0/);
  }
  const proto = onnx.ModelProto.decode(bytesOf(golden.models.RGB));
  const [node] = proto.graph?.node ?? [];
  const attribute = [{ name: 'pixel_format', type: 3, s: new TextEncoder().encode('CMYK') }];
  const other = onnx.ModelProto.encode({
    ...proto,
    graph: { ...proto.graph, node: [{ ...node, attribute }] },
  });
  const odd = await load(other);
  expect(() => odd(bytesOf(golden.cases[0]?.file ?? ''))).toThrow(InvalidArgumentError);
  expect(() => odd(bytesOf(golden.cases[0]?.file ?? ''))).toThrow(/pixel_format is 'CMYK'/);
});
