import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError } from '@eagre/backend';
import { encodeNpz } from '@eagre/formats';
import { describe, expect, it } from 'vitest';
import { defineHousing } from './california-housing.ts';
import { checksumLike } from './checksum.ts';
import { DatasetError } from './errors.ts';
import { defineImdb } from './imdb.ts';
import { numpyShuffler } from './numpy-random.ts';
import { padSequences } from './pad-sequences.ts';
import { defineReuters, reuters } from './reuters.ts';
import { mutateFile } from './testing/catalogues.ts';
import { camelCased, golden, goldenFile, goldenFolder } from './testing/golden.ts';
import { defineText } from './tiny-shakespeare.ts';

const folder = goldenFolder;
const imdbFrom = (name: string) => defineImdb({ name: 'imdb', mirrors: [], files: [goldenFile(name)] });
const reutersSmall = defineReuters({ name: 'reuters', mirrors: [], files: [goldenFile('reuters.npz')] });
const housingSmall = defineHousing({ name: 'housing', mirrors: [], files: [goldenFile('housing.npz')] });

const plain = (sequences: readonly Int32Array[]): number[][] => sequences.map((sequence) => [...sequence]);

describe('the same as Keras', () => {
  for (const [options, [x, y, x2, y2]] of golden.imdb) {
    it(`IMDB with ${JSON.stringify(options)}`, async () => {
      for (const name of ['imdb-3.npz', 'imdb-4.npz']) {
        const [train, test] = await imdbFrom(name).loadData({ folder, ...camelCased(options) });
        expect([plain(train[0]), [...train[1].data].map(Number)]).toEqual([x, y]);
        expect([plain(test[0]), [...test[1].data].map(Number)]).toEqual([x2, y2]);
        expect(train[1].shape).toEqual([y.length]);
      }
    });
  }

  for (const [options, [x, y, x2, y2]] of golden.reuters) {
    it(`Reuters with ${JSON.stringify(options)}`, async () => {
      const [train, test] = await reutersSmall.loadData({ folder, ...camelCased(options) });
      expect([plain(train[0]), [...train[1].data].map(Number)]).toEqual([x, y]);
      expect([plain(test[0]), [...test[1].data].map(Number)]).toEqual([x2, y2]);
    });
  }

  for (const [options, [x, y, x2, y2]] of golden.housing) {
    it(`California Housing with ${JSON.stringify(options)}`, async () => {
      const [train, test] = await housingSmall.loadData({ folder, ...camelCased(options) });
      expect(train[0].shape).toEqual([x.length, 8]);
      expect([...train[0].data]).toEqual(x.flat());
      expect([...train[1].data]).toEqual(y);
      expect([...test[0].data]).toEqual(x2.flat());
      expect([...test[1].data]).toEqual(y2);
    });
  }

  it('padding', () => {
    const sequences = [[1], [2, 3], [4, 5, 6], []];
    for (const [options, expected] of golden.pad) {
      const { shape, data } = padSequences(sequences, camelCased(options));
      expect(shape).toEqual([expected.length, expected[0]!.length]);
      expect([...data]).toEqual(expected.flat());
    }
  });

  it('padded sequences of other dtypes, of steps with features', () => {
    const steps = [
      [
        [1, 2],
        [3, 4.5],
      ],
      [],
      [Float32Array.of(-1, 0.25)],
    ];
    expect(padSequences(steps, { dtype: 'float32', padding: 'post', value: 0.5 })).toEqual({
      dtype: 'float32',
      shape: [3, 2, 2],
      data: Float32Array.of(1, 2, 3, 4.5, 0.5, 0.5, 0.5, 0.5, -1, 0.25, 0.5, 0.5),
    });
    expect(padSequences([[1.9, -1.9], [7]], { dtype: 'int64', value: -1 })).toEqual({
      dtype: 'int64',
      shape: [2, 2],
      data: BigInt64Array.of(1n, -1n, -1n, 7n),
    });
    expect(() => padSequences([[[1, 2]], [[3]]])).toThrow(
      /sequences\[1\]\[0\] must be a list of 2, as the first/,
    );
    expect(() => padSequences([[1], ['2' as never]])).toThrow(/sequences\[1\]\[0\] must be a number/);
    expect(() => padSequences([[1]], { value: 0.5 })).toThrow(/value must be an integer, which int32 needs/);
    expect(() => padSequences([[1]], { dtype: 'complex64' as 'int8' })).toThrow(/dtype must be/);
  });

  it('the order of a seed', () => {
    for (const [count, seed, order] of golden.shuffled)
      expect([...numpyShuffler(seed)(count)]).toEqual(order);
  });

  it('the topics of Reuters', () => {
    expect(reuters.classNames).toEqual(golden.labels);
    const names = reuters.getLabelNames();
    expect(names).toEqual(golden.labels);
    // The list is the caller's.
    names.pop();
    expect(reuters.getLabelNames()).toEqual(golden.labels);
    expect(() => (reuters.getLabelNames as unknown as (n: number) => string[])(3)).toThrow(
      InvalidArgumentError,
    );
  });
});

describe('wrong options', () => {
  it('are refused', async () => {
    const imdb = imdbFrom('imdb-3.npz');
    await expect(imdb.loadData({ folder, maxlen: 1 })).rejects.toThrow(/leaves no text/);
    await expect(imdb.loadData({ folder, numWords: 0 })).rejects.toThrow(
      /numWords must be an integer of at least 1/,
    );
    await expect(imdb.loadData({ folder, indexFrom: -1 })).rejects.toThrow(InvalidArgumentError);
    await expect(imdb.loadData({ folder, seed: -1 })).rejects.toThrow(/seed/);
    await expect(reutersSmall.loadData({ folder, testSplit: 1 })).rejects.toThrow(/testSplit/);
    await expect(housingSmall.loadData({ folder, version: 'medium' as 'small' })).rejects.toThrow(/version/);
    expect(() => padSequences([])).toThrow(/give maxlen/);
    expect(() => padSequences([[1]], { maxlen: 0 })).toThrow(InvalidArgumentError);
    expect(() => padSequences([[1]], { padding: 'middle' as 'pre' })).toThrow(/padding/);
  });
});

describe('wrong files', () => {
  it('are refused with their name', async () => {
    const root = mkdtempSync(join(tmpdir(), 'eagre-keras-'));
    try {
      const path = join(root, 'imdb-3.npz');
      const labels = (dtype: 'float32' | 'int32', ...values: number[]) =>
        dtype === 'int32'
          ? ({ dtype, shape: [values.length], data: Int32Array.from(values) } as const)
          : ({ dtype, shape: [values.length], data: Float32Array.from(values) } as const);
      writeFileSync(path, encodeNpz({ x_train: labels('int32', 1), y_train: labels('int32', 1) }));
      const loading = imdbFrom('imdb-3.npz').loadData({ folder: root, verify: false });
      await expect(loading).rejects.toThrow(`${path}: x_train: expected lists of integers, got numbers`);

      writeFileSync(join(root, 'housing.npz'), encodeNpz({ x: labels('int32', 1), y: labels('int32', 1) }));
      await expect(housingSmall.loadData({ folder: root, verify: false })).rejects.toThrow(DatasetError);
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it('that are damaged give a typed error or a valid result', async () => {
    const results = await mutateFile('imdb-3.npz', folder, 300, (at) =>
      imdbFrom('imdb-3.npz').loadData({ folder: at, verify: false }),
    );
    expect(results.refused).toBeGreaterThan(100);
  });
});

describe('word indices and texts', () => {
  it('are read, and refused when wrong', async () => {
    const root = mkdtempSync(join(tmpdir(), 'eagre-keras-'));
    const define = (content: string) => {
      const bytes = new TextEncoder().encode(content);
      writeFileSync(join(root, 'words.json'), bytes);
      const file = { name: 'words.json', checksum: checksumLike('sha256:', bytes), bytes: bytes.length };
      const files = [goldenFile('imdb-3.npz'), file];
      return defineImdb({ name: 'imdb', mirrors: [], files }).getWordIndex({ folder: root });
    };
    try {
      const index = await define('{"the": 1, "__proto__": 2}');
      expect([...index]).toEqual([
        ['the', 1],
        ['__proto__', 2],
      ]);
      await expect(define('{"the": 0}')).rejects.toThrow(/numbers from 1, got 0/);
      await expect(define('[1]')).rejects.toThrow(/an object/);
      await expect(define('{')).rejects.toThrow(/JSON/);

      writeFileSync(join(root, 'a.txt'), 'Þou');
      const text = { name: 'a.txt', checksum: 'md5:', bytes: 10 } as const;
      const shakespeare = defineText({ name: 'text', mirrors: [], files: [text] });
      expect(await shakespeare.loadText({ folder: root, verify: false })).toBe('Þou');
      await expect(shakespeare.loadText({ folder: root })).rejects.toThrow(/wrong content/);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
});
