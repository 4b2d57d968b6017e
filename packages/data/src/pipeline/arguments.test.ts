import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { InvalidArgumentError } from '@eagre/backend';
import { encodeExample } from '@eagre/formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FixedLenFeature,
  makeBatchedFeaturesDataset,
  makeCsvDataset,
  parseExample,
  parseSingleExample,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  TFRecordDataset,
  TFRecordWriter,
  textDatasetFromDirectory,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '../index.ts';

let folder: string;
const file = (name: string): string => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-arguments-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const x = new FixedLenFeature([], 'int64');
const array = { dtype: 'float32', shape: [2], data: Float32Array.of(1, 2) } as const;

describe('records', () => {
  test('are written and parsed by names', () => {
    const bytes = encodeExample({ x: [3n] });
    const writer = new TFRecordWriter({ path: file('a.tfrecord') });
    writer.write({ record: bytes });
    writer.write(bytes);
    writer.close();
    expect([...new TFRecordDataset(file('a.tfrecord'))]).toHaveLength(2);
    expect(parseSingleExample({ serialized: bytes, features: { x } }).x.item()).toBe(3);
    expect(parseExample([bytes], { features: { x } }).x.array()).toEqual([3n]);
    const [batch] = makeBatchedFeaturesDataset({
      filePattern: file('a.tfrecord'),
      batchSize: 2,
      features: { x },
      numEpochs: 1,
    });
    expect(batch?.x.array()).toEqual([3n, 3n]);
  });

  test('a feature called `features` needs the name of the argument around it', () => {
    const bytes = encodeExample({ features: [3n] });
    expect(parseSingleExample(bytes, { features: { features: x } }).features.item()).toBe(3);
    expect(() => parseSingleExample(bytes, { features: x })).toThrow('features must be an object');
    expect(parseExample([bytes], { features: { features: x } }).features.array()).toEqual([3n]);
  });

  test('wrong arguments are refused', () => {
    const refused = (message: string, call: () => unknown): void => {
      expect(call).toThrow(InvalidArgumentError);
      expect(call).toThrow(message);
    };
    refused('path must be a path, got 3', () => new TFRecordWriter(3 as never));
    refused(
      "options must be one of '', 'GZIP', 'ZLIB', got 'ZIP'",
      () => new TFRecordWriter(file('b'), 'ZIP' as never),
    );
    const writer = new TFRecordWriter(file('b.tfrecord'));
    refused('record must be bytes, a text or a scalar of dtype string, got 3', () =>
      writer.write(3 as never),
    );
    refused('takes at most', () => (writer.close as (x: number) => void)(3));
    writer.close();
    refused('features.x must be a FixedLenFeature', () => parseExample([], { x: 3 } as never));
    refused('expected the bytes of an Example, got 3', () => parseExample([3] as never, { x }));
    refused('serialized must be an array of bytes', () => parseExample(3 as never, { x }));
  });
});

describe('files of arrays', () => {
  test('take their arguments by name', async () => {
    await writeNpyFile({ path: file('a.npy'), array });
    expect(await readNpyFile({ path: file('a.npy') })).toEqual(array);
    await writeNpzFile(file('a.npz'), { arrays: { a: array }, compress: true });
    expect((await readNpzFile(file('a.npz'), { filter: (name) => name === 'b' })).size).toBe(0);
    await writeSafetensorsFile(file('a.safetensors'), { a: array }, { by: 'me' });
    expect((await readSafetensorsFile(file('a.safetensors'))).metadata).toEqual({ by: 'me' });
    await writeSafetensorsFile(file('a.safetensors'), { a: array }, { metadata: { by: 'you' } });
    expect((await readSafetensorsFile(file('a.safetensors'))).metadata).toEqual({ by: 'you' });
    await writeNpzFile(file('b.npz'), { arrays: { arrays: array } });
    expect([...(await readNpzFile(file('b.npz'))).keys()]).toEqual(['arrays']);
  });

  test('refuse what is no array', async () => {
    const refused = async (message: string, call: Promise<unknown>): Promise<void> => {
      const error = await call.catch((e: unknown) => e);
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect((error as Error).message).toContain(message);
    };
    await refused('path must be a path', readNpyFile(3 as never));
    await refused('array must be { dtype, shape, data }', writeNpyFile(file('c.npy'), [1] as never));
    await refused('3 elements', writeNpyFile(file('c.npy'), { ...array, shape: [3] }));
    await refused('arrays must be an object or a map', writeNpzFile(file('c.npz'), 3 as never));
    await refused('arrays.a must be { dtype', writeNpzFile(file('c.npz'), { a: 3 } as never));
    await refused(
      'metadata.a must be a string',
      writeSafetensorsFile(file('c'), { a: array }, { a: 3 } as never),
    );
  });
});

test('data sets of files by names', () => {
  writeFileSync(file('a.csv'), 'a,b\n1,2\n3,4\n');
  const [rows] = makeCsvDataset({
    filePattern: file('a.csv'),
    batchSize: 2,
    labelName: 'b',
    shuffle: false,
    numEpochs: 1,
  });
  expect(rows?.[1].array()).toEqual([2, 4]);
  expect(() => makeCsvDataset(file('a.csv'), 2, { labelNam: 'b' } as never)).toThrow(
    "did you mean 'labelName'?",
  );
  expect(() => textDatasetFromDirectory({ directory: 3 as never })).toThrow('directory must be a path');
});
