import { expect, test } from 'vitest';
import { FormatError } from '../errors.ts';
import { fuzz } from '../testing/fuzz.ts';
import { parseTfjsModel, tfjsWeightsPath } from './model-json.ts';
import { decodeWeightGroup, parseWeightsManifest, type TfjsWeightGroup } from './weights.ts';

const bytes = (...parts: readonly ArrayBufferView[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((p) => Buffer.from(p.buffer, p.byteOffset, p.byteLength))));
const group = (weights: readonly object[], paths: readonly string[] = ['a.bin']): TfjsWeightGroup =>
  parseWeightsManifest([{ paths, weights }], 'model.json')[0] as TfjsWeightGroup;
const decode = (weights: readonly object[], ...files: readonly Uint8Array[]) =>
  decodeWeightGroup(
    group(
      weights,
      files.map((_, i) => `f${i}.bin`),
    ),
    files,
    'model.json',
  );

test('arrays of every dtype, over the borders of files', () => {
  const text = new TextEncoder().encode('hé');
  const all = bytes(
    Float32Array.of(1.5, -2),
    Int32Array.of(-7),
    Uint8Array.of(1, 0, 1),
    Float32Array.of(1, 2, 3, 4),
    Uint32Array.of(0),
    Uint32Array.of(text.length),
    text,
    Uint8Array.of(0, 255),
    Uint16Array.of(0, 65535),
    Uint16Array.of(0x3c00, 0xc000),
    Uint8Array.of(0, 3),
  );
  const weights = [
    { name: 'f', shape: [2, 1], dtype: 'float32' },
    { name: 'i', shape: [], dtype: 'int32' },
    { name: 'b', shape: [3], dtype: 'bool' },
    { name: 'c', shape: [2], dtype: 'complex64' },
    { name: 's', shape: [2], dtype: 'string' },
    { name: 'q8', shape: [2], dtype: 'float32', quantization: { dtype: 'uint8', scale: 0.1, min: -1 } },
    { name: 'q16', shape: [2], dtype: 'float32', quantization: { dtype: 'uint16', scale: 1, min: 0.5 } },
    { name: 'h', shape: [2], dtype: 'float32', quantization: { dtype: 'float16' } },
    { name: 'qi', shape: [2], dtype: 'int32', quantization: { dtype: 'uint8', scale: 0.5, min: -1 } },
    { name: 'none', shape: [0, 9007199254740991], dtype: 'float32' },
  ];
  for (const files of [[all], [all.slice(0, 5), all.slice(5, 33), new Uint8Array(0), all.slice(33)]]) {
    const found = decode(weights, ...files);
    expect(
      [...found].map(([name, { dtype, data }]) => [name, dtype, [...(data as Iterable<unknown>)]]),
    ).toEqual([
      ['f', 'float32', [1.5, -2]],
      ['i', 'int32', [-7]],
      ['b', 'bool', [1, 0, 1]],
      ['c', 'complex64', [1, 2, 3, 4]],
      ['s', 'string', [new Uint8Array(0), text]],
      ['q8', 'float32', [-1, Math.fround(255 * 0.1 - 1)]],
      ['q16', 'float32', [0.5, 65535.5]],
      ['h', 'float32', [1, -2]],
      ['qi', 'int32', [-1, 1]],
      ['none', 'float32', []],
    ]);
  }
});

test.each([
  [
    [{ name: 'a', shape: [3], dtype: 'float32' }],
    /weight "a" of the shape \[3\]: expected 12 bytes from 0 on, got 8 bytes in f0.bin \(8\)/,
  ],
  [[{ name: 'a', shape: [1], dtype: 'float32' }], /the weights: expected 4 bytes, got 8 bytes in f0.bin/],
  [[{ name: 'a', shape: [1e7, 1e7], dtype: 'bool' }], /expected 100000000000000 bytes/],
  [[{ name: 'a', shape: [3], dtype: 'string' }], /weight "a": expected 3 texts behind their lengths/],
  [[{ name: 'a', shape: [1e12], dtype: 'string' }], /expected 1000000000000 texts/],
  [[{ name: 'a', shape: [1], dtype: 'string' }], /weight "a": expected 1 texts/],
  [
    [{ name: 'a', shape: [-1], dtype: 'float32' }],
    /weight "a": shape: expected sizes that are not negative, got \[-1\]/,
  ],
  [[{ name: 'a', shape: '3', dtype: 'float32' }], /shape/],
  [[{ name: 'a', shape: ['3'], dtype: 'float32' }], /shape/],
  [[{ name: 'a', dtype: 'float32' }], /shape/],
  [
    [{ name: 'a', shape: [], dtype: 'int64' }],
    /weight "a": dtype: expected float32, int32, bool, string, complex64, got "int64"/,
  ],
  [[{ shape: [], dtype: 'int32' }], /weightsManifest\[0\].weights\[0\].name: expected text/],
  [[null], /weights\[0\]: expected an object, got null/],
  [
    [{ name: 'a', shape: [2], dtype: 'bool', quantization: { dtype: 'uint8', scale: 1, min: 0 } }],
    /quantization: expected a weight of float32 or int32/,
  ],
  [
    [{ name: 'a', shape: [2], dtype: 'int32', quantization: { dtype: 'float16' } }],
    /quantization in float16: expected a weight of float32/,
  ],
  [
    [{ name: 'a', shape: [2], dtype: 'float32', quantization: { dtype: 'uint8', scale: '1', min: 0 } }],
    /numbers scale and min, got "1" and 0/,
  ],
  [
    [
      { name: 'a', shape: [], dtype: 'int32' },
      { name: 'a', shape: [], dtype: 'int32' },
    ],
    /distinct names, got "a"/,
  ],
])('%j is refused', (weights, message) => {
  const run = () => decode(weights as object[], new Uint8Array([255, 255, 255, 255, 1, 2, 3, 4]));
  expect(run).toThrow(FormatError);
  expect(run).toThrow(message);
});

test('paths stay in the folder', () => {
  for (const path of [
    '../a',
    '/a',
    'a/../../b',
    'C:\\a',
    'C:/a',
    'https://x.y/a',
    'a\\b',
    '',
    '..',
    'a/',
    'a\0',
    'a?b',
    3,
    null,
  ])
    expect(() => group([], [path as string]), String(path)).toThrow(/the path of a file in the folder/);
  for (const path of ['a.bin', 'b/c.bin', '..a', './a']) expect(group([], [path]).paths).toEqual([path]);
  expect(tfjsWeightsPath('x/model.json', 'a.bin')).toBe('x/a.bin');
  expect(tfjsWeightsPath('model.json', 'a.bin')).toBe('a.bin');
});

test('what a file is', () => {
  const parse = (value: unknown) => parseTfjsModel(new TextEncoder().encode(JSON.stringify(value)), 'm.json');
  expect(parse({ modelTopology: { node: [] } }).kind).toBe('graph-model');
  expect(parse({ modelTopology: { model_config: {} } }).kind).toBe('layers-model');
  expect(parse({ modelTopology: { class_name: 'Sequential', config: [] } }).kind).toBe('layers-model');
  expect(parse({ format: 'layers-model', modelTopology: {}, generatedBy: 'x' })).toMatchObject({
    kind: 'layers-model',
    manifest: [],
    generatedBy: 'x',
  });
  expect(() => parse({ format: 'x', modelTopology: {} })).toThrow(
    /m.json: format: expected graph-model or layers-model/,
  );
  expect(() => parse({ modelTopology: { node: [] }, signature: 3 })).toThrow(
    /m.json: signature: expected an object/,
  );
  expect(() => parse({ weightsManifest: [] })).toThrow(/m.json: modelTopology/);
});

test('damaged lists and files give FormatErrors, or arrays no larger than the files', () => {
  const list = JSON.stringify([
    {
      paths: ['a.bin'],
      weights: [
        { name: 'f', shape: [2, 2], dtype: 'float32' },
        { name: 's', shape: [2], dtype: 'string' },
        { name: 'q', shape: [4], dtype: 'float32', quantization: { dtype: 'uint8', scale: 0.1, min: -1 } },
      ],
    },
  ]);
  const data = bytes(
    Float32Array.of(1, 2, 3, 4),
    Uint32Array.of(1),
    Uint8Array.of(65),
    Uint32Array.of(0),
    Uint8Array.of(1, 2, 3, 4),
  );
  const sample = bytes(Uint8Array.of(list.length), new TextEncoder().encode(list), data);
  const { decoded, rejected } = fuzz([sample], function* (damaged) {
    const length = list.length;
    let json: unknown;
    try {
      json = JSON.parse(new TextDecoder().decode(damaged.subarray(1, 1 + length)));
    } catch {
      throw new FormatError({ format: 'JSON', what: 'none' });
    }
    for (const one of parseWeightsManifest(json, 'm.json'))
      for (const array of decodeWeightGroup(one, [damaged.subarray(1 + length)], 'm.json').values())
        if (array.dtype !== 'string') yield array;
  });
  expect(rejected).toBeGreaterThan(500);
  expect(decoded).toBeGreaterThan(10);
});
