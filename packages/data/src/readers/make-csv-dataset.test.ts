import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import type { Tensor } from '@eagre/core';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { golden, goldenPath } from '../testing/golden.ts';
import { makeCsvDataset } from './make-csv-dataset.ts';
import type { StandardSchema } from './schema.ts';

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-csv-'));
  writeFileSync(join(root, '1.csv'), 'a,b,c,d,e\n1,5000000000,1.5,1e300,x\n2,,,,nan\n');
  writeFileSync(join(root, '2.csv'), 'a,b,c,d,e\n3,4,5,6,y\n');
});
afterAll(() => rmSync(root, { recursive: true }));

describe('makeCsvDataset', () => {
  it('gives what TensorFlow gives', () => {
    const options = { labelName: 'a', numEpochs: 1, shuffle: false } as const;
    const all = [...makeCsvDataset(goldenPath('csv-plain.csv'), 2, options)].map(([features, label]) => [
      Object.fromEntries(Object.entries(features).map(([name, t]) => [name, t.array()])),
      label.array(),
    ]);
    expect(all).toEqual(golden.makeCsv);
  });

  it('finds dtypes, and fills in what is missing', () => {
    const [batch] = [...makeCsvDataset(`${root}/*.csv`, 4, { numEpochs: 1, shuffle: false })];
    const found = Object.entries(batch ?? {}).map(([name, t]) => [name, t.dtype, t.array()]);
    expect(found).toEqual([
      ['a', 'int32', [1, 2, 3]],
      ['b', 'int64', [5000000000n, 0n, 4n]],
      ['c', 'float32', [1.5, 0, 5]],
      ['d', 'float64', [1e300, 0, 6]],
      ['e', 'string', ['x', 'nan', 'y']],
    ]);
  });

  it('checks rows by a schema before it batches them', () => {
    const schema: StandardSchema<{ a: number; pair: number[] }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate(value) {
          const { a, b, c } = value as { a: number; b: bigint; c: number };
          return c === 0
            ? { issues: [{ message: 'expected a number', path: ['c'] }] }
            : { value: { a, pair: [Number(b), c] } };
        },
      },
    };
    const options = { schema, numEpochs: 1, shuffle: false } as const;
    const [batch] = [...makeCsvDataset(`${root}/2.csv`, 4, options)];
    expectTypeOf(batch).toExtend<{ a: Tensor; pair: Tensor } | undefined>();
    expect([batch?.a.array(), batch?.pair.array()]).toEqual([[3], [[4, 5]]]);
    const [labelled] = [...makeCsvDataset(`${root}/2.csv`, 4, { ...options, labelName: 'a' })];
    expectTypeOf(labelled).toExtend<[features: { pair: Tensor }, label: Tensor] | undefined>();
    expect([Object.keys(labelled?.[0] ?? {}), labelled?.[1].array()]).toEqual([['pair'], [3]]);
    expect(() => [...makeCsvDataset(`${root}/1.csv`, 4, options)]).toThrow(
      /1.csv, line 3: c: expected a number/,
    );
    expect(() => [...makeCsvDataset(`${root}/2.csv`, 4, { ...options, labelName: 'b' })]).toThrow(
      /2.csv, line 2: the value that the schema returned has no 'b'/,
    );
  });

  it('leaves out rows that cannot be read, if wanted', () => {
    writeFileSync(join(root, 'bad'), 'a,b\n1,2\n\n3,4,5\nx,6\n7,8\n');
    const options = { numEpochs: 1, shuffle: false, columnDefaults: ['int32', 'int32'] } as const;
    const read = (ignoreErrors: boolean) =>
      [...makeCsvDataset(`${root}/bad`, 2, { ...options, ignoreErrors })].map(({ a, b }) => [
        a?.array(),
        b?.array(),
      ]);
    expect(read(true)).toEqual([
      [
        [1, 7],
        [2, 8],
      ],
    ]);
    expect(() => read(false)).toThrow(/line 3: expected 2 fields/);
  });

  it('shuffles by the seed, and repeats without end in whole batches', () => {
    const options = {
      shuffleSeed: 2,
      selectColumns: ['e', 'a'],
      columnDefaults: ['float32', 'string'],
    } as const;
    const take = () =>
      [...makeCsvDataset(`${root}/*.csv`, 2, options).take(6)].map(({ a }) => [...(a?.data() ?? [])]);
    const first = take();
    expect(take()).toEqual(first);
    expect(first.every((batch) => batch.length === 2)).toBe(true);
    expect(first.flat().sort()).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  });

  it('refuses names that are none', () => {
    expect(() => makeCsvDataset(`${root}/x*`, 1)).toThrow(/no file matches/);
    expect(() => makeCsvDataset(`${root}/*`, 1, { labelName: 'z' })).toThrow(
      /no column 'z' among a, b, c, d, e/,
    );
    expect(() => makeCsvDataset(`${root}/*`, 1, { selectColumns: ['z'] })).toThrow(/no column 'z'/);
    expect(() => makeCsvDataset(`${root}/*`, 1, { header: false })).toThrow(/need columnNames/);
    expect(() => makeCsvDataset(`${root}/*`, 1, { columnNames: ['a', 'a'] })).toThrow(/the same name/);
    expect(() => makeCsvDataset(`${root}/*`, 1, { columnDefaults: ['int32'] })).toThrow(
      /1 items for 5 columns/,
    );
    expect(() => makeCsvDataset(`${root}/*`, 0)).toThrow(/batchSize/);
  });
});
