// Variables of TensorFlow 1 in parts, as TensorFlow wrote them.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BundleReader, FormatError } from '@eagre/formats';
import { afterAll, expect, test } from 'vitest';
import { type Golden, goldenFile, type StoredModel, temporaryFolder, unpack } from '../testing/golden.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const model = goldenFile<Golden>('more-models').models.find(({ name }) => name === 'v1-parts') as StoredModel;

test('a variable in parts is read whole, in each way', async () => {
  const prefix = join(unpack(model, folder.path), 'variables', 'variables');
  const reader = BundleReader.openSync(prefix);
  for (const [key, starts] of [
    ['scope/w', [0, 3, 5]],
    ['scope/table', [0, 50, 100]],
  ] as const) {
    const entry = reader.entries().get(key);
    expect(entry?.parts.map(({ start }) => start[0])).toEqual(starts);
    const whole = reader.read(key);
    expect(whole.data.length).toBe(entry?.shape.reduce((n, size) => n * size, 1));
    expect(new Set(whole.data as unknown as number[]).size).toBe(whole.data.length);
    expect((await reader.readAsync(key)).data).toEqual(whole.data);
    const target = new Uint8Array(entry?.bytes ?? 0);
    await reader.readIntoAsync(key, target);
    expect(new Float32Array(target.buffer)).toEqual(whole.data);
    expect(reader.readBytes(key)).toEqual(target);
    reader.checkSizes([key]);
    reader.verify([key]);
  }
  // Along the second axis: rows of the whole are those of the parts side by side.
  expect(
    reader
      .entries()
      .get('scope/wide')
      ?.parts.map(({ start }) => start),
  ).toEqual([
    [0, 0],
    [0, 3],
  ]);
});

test('damage in a part is found', () => {
  const prefix = join(unpack(model, folder.path, 'damaged'), 'variables', 'variables');
  const path = `${prefix}.data-00000-of-00001`;
  const bytes = readFileSync(path);
  const reader = BundleReader.openSync(prefix);
  const { offset = 0 } = reader.entries().get('scope/w')?.parts[1]?.entry ?? {};
  bytes[offset] = (bytes[offset] as number) ^ 1;
  writeFileSync(path, bytes);
  expect(() => reader.read('scope/w')).toThrow(FormatError);
  expect(() => reader.verify(['scope/w'])).toThrow('checksum');
  writeFileSync(path, bytes.subarray(0, 8));
  expect(() => reader.checkSizes(['scope/w'])).toThrow('truncated');
  expect(() => reader.read('scope/w')).toThrow('truncated');
});
