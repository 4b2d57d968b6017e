import { InvalidArgumentError } from '@eagre/backend';
import { declared } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import * as datasets from './index.ts';
import { contactSheetText, defineIdxDataset, getFile, mnist, padSequences, split } from './index.ts';
import { tinySpec } from './testing/catalogues.ts';

const array = { dtype: 'uint8', shape: [4], data: new Uint8Array([1, 2, 3, 4]) } as const;

describe('the functions of a data set', () => {
  const sets = Object.entries(datasets).filter(([, value]) => typeof value === 'object');
  const functions = sets.flatMap(([name, set]) =>
    Object.entries(set)
      .filter(([, value]) => typeof value === 'function')
      .map(([key, fn]) => [`${name}.${key}`, fn as (...args: unknown[]) => Promise<unknown>] as const),
  );

  test('are all declared', () => {
    expect(sets).toHaveLength(8);
    expect(functions.length).toBeGreaterThan(15);
    for (const [, fn] of functions) expect(declared(fn)?.positional).toEqual([]);
  });

  // Names of labels are there without anything to load.
  const loaders = functions.filter(([name]) => !name.endsWith('.getLabelNames'));
  test.each(loaders)('%s refuses what it does not take', async (_, fn) => {
    const refused = async (message: string, ...args: unknown[]): Promise<void> => {
      const error = await fn(...args).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(InvalidArgumentError);
      expect((error as Error).message).toMatch(message);
    };
    await refused("'fodler' is not an option", { fodler: '/none' });
    await refused("write { folder: '/none' }", '/none');
    await refused('folder must be a path, got 3', { folder: 3 });
    await refused('retries must be an integer of at least 0', { retries: -1 });
    await refused('mirrors[0] must be a string', { mirrors: [1] });
    await refused('signal must be', { signal: {} });
    await refused('progress must be a function', { progress: 'yes' });
  });
});

test('names of labels take no arguments', () => {
  const { getLabelNames } = datasets.reuters as unknown as { getLabelNames: (given: unknown) => unknown };
  expect(() => getLabelNames({ folder: '/none' })).toThrow("'folder' is not an option");
});

test('arguments by name', () => {
  expect(padSequences({ sequences: [[1]], maxlen: 2 }).data).toEqual(new Int32Array([0, 1]));
  expect(padSequences([[1]], null).data).toEqual(new Int32Array([1]));
  const [[x]] = split({ x: array, y: array, counts: [2] });
  expect(x.data).toEqual(new Uint8Array([1, 2]));
  expect(defineIdxDataset(tinySpec).name).toBe('tiny');
});

test('wrong arguments are refused before anything is looked for', async () => {
  await expect(mnist.loadData({ offline: 'no' as never })).rejects.toThrow('offline is');
  await expect(getFile('not a URL')).rejects.toThrow("origin must be a URL, got 'not a URL'");
  await expect(getFile('http://localhost/a', { fileHash: 'abc' as never })).rejects.toThrow(
    "fileHash must be a checksum, 'sha256:…' or 'md5:…', got 'abc'",
  );
  expect(() => padSequences([['a']] as never)).toThrow("sequences[0][0] must be a number, got 'a'");
  for (const wrong of [3, 'a'] as never[]) {
    expect(() => padSequences(wrong)).toThrow('sequences must be an array');
    expect(() => split(wrong, array, [1])).toThrow('x must be an array');
    expect(() => split(array, array, wrong)).toThrow('counts must be an array');
    expect(() => contactSheetText(wrong)).toThrow('images must be an array');
  }
  await expect(getFile(3 as never)).rejects.toThrow('origin must be a string, got 3');
  expect(() => padSequences([3] as never)).toThrow('sequences[0] must be a list, got 3');
  expect(() => split([1] as never, array, [1])).toThrow('x must be an array { dtype, shape, data }');
  expect(() => defineIdxDataset({ ...tinySpec, train: undefined as never })).toThrow('train must be given');
  expect(() => defineIdxDataset({ ...tinySpec, train: { ...tinySpec.train, images: 'a' as never } })).toThrow(
    "train.images must be an object { name, checksum }, got 'a'",
  );
});
