import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@eagre/backend-js';
import { EagreError, InvalidArgumentError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import type { Dataset } from '../pipeline/dataset.ts';
import { golden, goldenPath } from '../testing/golden.ts';
import { type CsvColumn, CsvDataset } from './csv-dataset.ts';
import { JsonLinesDataset } from './json-lines.ts';
import { TFRecordWriter } from './record-writer.ts';
import { type StandardSchema, validated, validatedAsync } from './schema.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-records-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const put = (content: string | Uint8Array): string => {
  writeFileSync(join(root, 'file'), content);
  return join(root, 'file');
};
const rows = (dataset: Dataset<Tensor[]>): unknown[][] => [...dataset].map((row) => row.map((t) => t.item()));
const spelled = (row: unknown[]): unknown[] =>
  row.map((v) => (typeof v === 'number' && !Number.isFinite(v) ? String(v) : v));
const columns: CsvColumn[] = [
  { dtype: 'int32', default: 7 },
  { dtype: 'float32', default: 0.5 },
  { dtype: 'string', default: 'none' },
];

/** A schema as libraries make them. */
const labelled: StandardSchema<{ text: string; label: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const { text, label } = value as { text?: unknown; label?: unknown };
      const issues = [
        ...(typeof text === 'string' ? [] : [{ message: 'expected text', path: ['text'] }]),
        ...(typeof label === 'number' ? [] : [{ message: 'expected a number', path: [{ key: 'label' }, 0] }]),
      ];
      return issues.length > 0 ? { issues } : { value: { text: String(text).trim(), label: Number(label) } };
    },
  },
};
const slow: StandardSchema<{ text: string; label: number }> = {
  '~standard': { ...labelled['~standard'], validate: async (v) => await labelled['~standard'].validate(v) },
};

/** A point of two columns, at least 0. */
const point: StandardSchema<{ at: number[]; name: string }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate(value) {
      const [x, name] = value as readonly unknown[];
      if (typeof x !== 'number' || x < 0) return { issues: [{ message: 'expected at least 0', path: [0] }] };
      return { value: { at: [x, 2 * x], name: String(name).toUpperCase() } };
    },
  },
};
const slowPoint: StandardSchema<{ at: number[]; name: string }> = {
  '~standard': { ...point['~standard'], validate: async (v) => await point['~standard'].validate(v) },
};

describe('CsvDataset', () => {
  for (const [name, expected] of Object.entries(golden.csv)) {
    it(`reads what TensorFlow reads: ${name}`, () => {
      for (const bufferSize of [1, 5, 1000]) {
        const dataset = new CsvDataset(goldenPath(`csv-${name}.csv`), columns, { header: true, bufferSize });
        expect(rows(dataset).map(spelled)).toEqual(expected);
      }
    });
  }

  it('takes columns by number', () => {
    const options = { header: true, selectCols: [1, 2] };
    expect(rows(new CsvDataset(goldenPath('csv-plain.csv'), ['float32', 'string'], options))).toEqual(
      golden.csvSelected,
    );
  });

  it('leaves columns out by number', () => {
    const without = (...excludeCols: number[]) =>
      rows(new CsvDataset(goldenPath('csv-plain.csv'), ['float32', 'string'], { header: true, excludeCols }));
    // As TensorFlow gives it: the same as the complement.
    expect(without(0)).toEqual(golden.csvSelected);
    expect(() => without(1, 0)).toThrow(/excludeCols/);
    expect(() => without(3)).toThrow(/does not exist/);
    expect(() => without(0, 1)).toThrow(/expected 4 fields, got 3/);
    const both = { selectCols: [0], excludeCols: [1] };
    expect(() => new CsvDataset('a', ['float32'], both)).toThrow(/either/);
  });

  it('has other delimiters and missing values', () => {
    const path = put('1;NA;"a\n2;3;b"\n');
    const options = { fieldDelim: ';', naValue: 'NA', useQuoteDelim: false };
    const int = { dtype: 'int64', default: 9n } as const;
    expect(rows(new CsvDataset(path, ['float64', int, 'string'], options))).toEqual([
      [1, 9, '"a'],
      [2, 3, 'b"'],
    ]);
  });

  it('goes on where it was', () => {
    const make = () => new CsvDataset(goldenPath('csv-quotes.csv'), columns, { header: true });
    const first = make().iterator();
    first.next();
    const second = make().iterator();
    second.restoreState(first.saveState());
    expect(second.next().value?.map((t) => t.item())).toEqual([2, 0.25, 'two\nlines']);
    expect(second.next().done).toBe(true);
  });

  const wrong: [string, string, RegExp][] = [
    ['too few fields', '1,2\n', /file, line 1: expected 3 fields, got 2/],
    ['too many fields', '1,2,3,4\n', /expected 3 fields, got 4/],
    ['an empty line', '1,2,3\n\n', /line 2: expected 3 fields, got 1/],
    ['no number', 'x,2,3\n', /line 1: field 0 is not of dtype int32: "x"/],
    ['a number too large', '2147483648,2,3\n', /not of dtype int32/],
    ['a fraction', '1.5,2,3\n', /not of dtype int32/],
    ['a quote in a field', '1,2,a"b\n', /line 1: a quote inside of a field that is not quoted/],
    ['text behind a quote', '1,2,"a"b\n', /a quote inside of a quoted field/],
    ['a quote without its end', '1,2,3\n1,2,"a\nb', /line 2: a quoted field without its end/],
    ['a missing value', '1,2,\n', /field 2 is missing/],
    ['bytes', '1,2,\xff\n', /not UTF-8/],
  ];
  for (const [what, content, message] of wrong) {
    it(`refuses ${what}`, () => {
      const path = put(Uint8Array.from(content, (c) => c.charCodeAt(0)));
      expect(() => rows(new CsvDataset(path, ['int32', 'float32', 'string']))).toThrow(message);
    });
  }

  it('goes on behind a wrong record', () => {
    const iterator = new CsvDataset(put('1,a"b\nx,c\n3,d\n'), ['int32', 'string']).iterator();
    expect(() => iterator.next()).toThrow(/line 1/);
    expect(() => iterator.next()).toThrow(/line 2/);
    expect((iterator.next().value as Tensor[]).map((t) => t.item())).toEqual([3, 'd']);
  });

  it('checks rows by a schema, whose output is the element', async () => {
    const path = put('x,name\n1,a\n-1,b\n2,c\n');
    const dataset = new CsvDataset(path, ['float32', 'string'], { header: true, schema: point });
    expectTypeOf(dataset).toExtend<Dataset<{ at: Tensor; name: Tensor }>>();
    const iterator = dataset.iterator();
    const first = iterator.getNext();
    expect([first.at.array(), first.name.item()]).toEqual([[1, 2], 'A']);
    expect(() => iterator.next()).toThrow(`${path}, line 3: 0: expected at least 0`);
    expect(iterator.getNext().name.item()).toBe('C');
    expect(dataset.elementSpec).toBe(null);
    const elementSpec = { at: new TensorSpec([2], 'float64'), name: new TensorSpec([], 'string') };
    const known = new CsvDataset(path, ['float32', 'string'], { header: true, schema: point, elementSpec });
    expect(known.elementSpec).toBe(elementSpec);
    expect(known.iterator().getNext().at.dtype).toBe('float64');
    const later = new CsvDataset(path, ['float32', 'string'], { header: true, schema: slowPoint });
    expect(() => [...later]).toThrow(/for await/);
    const names: string[] = [];
    for await (const { name } of later.ignoreErrors()) names.push(name.item<string>());
    expect(names).toEqual(['A', 'C']);
    const wrong = () => new CsvDataset(path, ['float32', 'string'], { schema: 3 as never });
    expect(wrong).toThrow(/standardschema.dev/);
  });

  it('goes on where it was while a row is being checked', async () => {
    const path = put('1,a\n2,b\n3,c\n');
    const make = () => new CsvDataset(path, ['float32', 'string'], { schema: slowPoint });
    const first = make().iterator();
    await first.nextAsync();
    const pending = first.nextAsync();
    const second = make().iterator();
    second.restoreState(first.saveState());
    expect((await second.nextAsync()).value?.name.item()).toBe('B');
    expect((await pending).value?.name.item()).toBe('B');
  });

  it('refuses wrong options', () => {
    expect(() => new CsvDataset('a', [])).toThrow(/at least one column/);
    expect(() => new CsvDataset('a', ['bool' as 'int32'])).toThrow(/column 0: the dtype/);
    expect(() => new CsvDataset('a', [{ dtype: 'int32', default: 'x' }])).toThrow(/is not of dtype int32/);
    expect(() => new CsvDataset('a', ['int32'], { fieldDelim: '"' })).toThrow(/fieldDelim/);
    expect(() => new CsvDataset('a', ['int32', 'int32'], { selectCols: [2, 1] })).toThrow(/selectCols/);
  });

  it('reads back whatever was written by the rules', () => {
    const field = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'ü'), minLength: 1 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(field, field), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        (all, size) => {
          const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
          const path = put(all.map((row) => row.map(quoted).join(',')).join('\r\n'));
          expect(rows(new CsvDataset(path, ['string', 'string'], { bufferSize: size }))).toEqual(all);
        },
      ),
    );
  });

  it('gives records or typed errors whatever the bytes', () => {
    const good = readFileSync(goldenPath('csv-quotes.csv'));
    for (let i = 0; i < good.length * 8; i++) {
      const damaged = Uint8Array.from(good);
      damaged[i % good.length] = [0x22, 0x2c, 0x0a, 0x0d, 0xff, 0, 0x2d, 0x65][
        Math.floor(i / good.length)
      ] as number;
      const iterator = new CsvDataset(put(damaged), columns, { header: true }).iterator();
      for (let steps = 0; ; steps++) {
        expect(steps).toBeLessThan(good.length);
        try {
          if (iterator.next().done) break;
        } catch (error) {
          expect(error).toBeInstanceOf(EagreError);
        }
      }
      iterator.close();
    }
  });
});

describe('JsonLinesDataset', () => {
  const content = '{"text": " a ", "label": 1}\n\n{"text": "b", "label": 2}\n';

  it('makes elements of values', () => {
    const [first] = [
      ...new JsonLinesDataset<{ text: string; label: number; v: number[] }>(
        put('{"text":"a","label":1,"v":[1,2]}'),
      ),
    ];
    expect(first?.text.item()).toBe('a');
    expect(first?.v.array()).toEqual([1, 2]);
    const elementSpec = { label: new TensorSpec([], 'int64') };
    const spec = new JsonLinesDataset<{ label: bigint }>(put('{"label": 3}'), { elementSpec });
    expect([...spec].map((e) => e.label.item())).toEqual([3]);
    expect(spec.elementSpec).toBe(elementSpec);
  });

  it('checks records by a schema, also an asynchronous one', async () => {
    const texts: unknown[] = [];
    for (const { text } of new JsonLinesDataset(put(content), { schema: labelled })) texts.push(text.item());
    for await (const { text } of new JsonLinesDataset(put(content), { schema: slow }))
      texts.push(text.item());
    expect(texts).toEqual(['a', 'b', 'a', 'b']);
    expect(() => [...new JsonLinesDataset(put(content), { schema: slow })]).toThrow(/for await/);
  });

  it('names file and line of what is wrong, and goes on behind it', async () => {
    const path = put(`${content}{"text": 1}\n{"text":\nnull\n{"text": "c", "label": 3}\n`);
    const iterator = new JsonLinesDataset(path, { schema: labelled }).iterator();
    iterator.next();
    iterator.next();
    expect(() => iterator.next()).toThrow(`${path}, line 4: text: expected text; label.0: expected a number`);
    expect(() => iterator.next()).toThrow(/line 5: .*JSON/);
    expect(() => [...new JsonLinesDataset(put('null'))]).toThrow(/file, line 1: .*null/);
    const fitting = new JsonLinesDataset(put('{"a": 1}'), {
      elementSpec: { b: new TensorSpec([], 'int32') },
    });
    expect(() => [...fitting]).toThrow(/line 1: .*'b' is missing/);
  });

  it('goes on where it was, also while a record is being checked', async () => {
    const make = () => new JsonLinesDataset(put(content), { schema: slow });
    const first = make().iterator();
    await first.nextAsync();
    const pending = first.nextAsync();
    const second = make().iterator();
    second.restoreState(first.saveState());
    expect((await second.nextAsync()).value?.text.item()).toBe('b');
    expect((await pending).value?.text.item()).toBe('b');
  });

  it('refuses what is no schema', () => {
    expect(() => new JsonLinesDataset('a', { schema: {} as StandardSchema })).toThrow(/standardschema.dev/);
  });
});

describe('validated', () => {
  it('checks records of any source', async () => {
    const good = [{ text: 'a ', label: 1 }];
    expect([...validated(labelled, good)]).toEqual([{ text: 'a', label: 1 }]);
    expect(() => [...validated(labelled, [...good, { text: 'b' }], 'rows')]).toThrow(
      /rows, record 2: label.0: expected a number/,
    );
    expect(() => [...validated(slow, good)]).toThrow(/validatedAsync/);
    const found: unknown[] = [];
    for await (const record of validatedAsync(slow, good)) found.push(record);
    expect(found).toEqual([{ text: 'a', label: 1 }]);
    await expect(validatedAsync(slow, [{}]).next()).rejects.toThrow(/records, record 1/);
  });
});

it('a writer of records refuses options that it does not know, before it touches the file', () => {
  const path = put('kept');
  const make = (options: unknown) => () => new TFRecordWriter(path, options as never);
  expect(make({ bogus: 1 })).toThrow(InvalidArgumentError);
  expect(make({ compresion: 'GZIP' })).toThrow("TFRecordWriter: 'compresion' is not an option");
  expect(readFileSync(path, 'utf8')).toBe('kept');
});
