import '@eagre/backend-js';
import { EagreError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { encodeExample } from '@eagre/formats';
import { tfFunction } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';
import { golden, goldenPath } from '../testing/golden.ts';
import { FixedLenFeature, FixedLenSequenceFeature, VarLenFeature } from './features.ts';
import { TFRecordDataset } from './file-datasets.ts';
import { parseExample, parseSingleExample } from './parse-example.ts';

const one = {
  id: new FixedLenFeature([2], 'int64'),
  name: new FixedLenFeature([], 'string'),
  matrix: new FixedLenFeature([2, 3], 'float32'),
  sometimes: new FixedLenFeature([], 'float32', { defaultValue: -1.5 }),
  words: new VarLenFeature('string'),
  weights: new VarLenFeature('float32'),
  absent: new VarLenFeature('int64'),
};
const several = { ...one, filled: new FixedLenSequenceFeature([], 'float32', { allowMissing: true }) };
const records = (): Tensor[] => [...new TFRecordDataset(goldenPath('examples.tfrecord'))];

interface Sparse {
  readonly indices: readonly (readonly number[])[];
  readonly values: readonly (number | string)[];
  readonly denseShape: readonly number[];
}

/** What `tf.sparse.to_dense` makes of a golden sparse tensor. */
function dense({ indices, values, denseShape }: Sparse, filler: number | string): unknown {
  const at = (prefix: readonly number[]): unknown => {
    const size = denseShape[prefix.length];
    if (size !== undefined) return Array.from({ length: size }, (_, i) => at([...prefix, i]));
    const found = indices.findIndex((index) => index.join() === prefix.join());
    return found < 0 ? filler : values[found];
  };
  return at([]);
}

function expectSame(parsed: Record<string, Tensor>, expected: Readonly<Record<string, unknown>>): void {
  expect(Object.keys(parsed).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, tensor] of Object.entries(parsed)) {
    const value = expected[name];
    const isSparse = typeof value === 'object' && value !== null && 'denseShape' in value;
    const want = isSparse ? dense(value as Sparse, tensor.dtype === 'string' ? '' : 0) : value;
    const got = JSON.parse(JSON.stringify(tensor.array(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));
    const near = (a: unknown, b: unknown): void => {
      if (typeof b === 'number') expect(a).toBeCloseTo(b, 5);
      else if (Array.isArray(b)) {
        expect((a as unknown[]).length).toBe(b.length);
        b.forEach((item, i) => {
          near((a as unknown[])[i], item);
        });
      } else expect(a).toEqual(b);
    };
    near(got, want);
  }
}

describe('examples that TensorFlow wrote', () => {
  it('are parsed one by one', () => {
    records().forEach((record, i) => {
      expectSame(parseSingleExample(record, one), golden.single[i] as Readonly<Record<string, unknown>>);
    });
  });

  it('are parsed together', () => {
    const parsed = parseExample(records(), several);
    expectSame(parsed, golden.batch);
    expect(parsed.filled.shape).toEqual([4, 0]);
    expect(parsed.matrix.shape).toEqual([4, 2, 3]);
  });

  it('give the bytes of byte strings', () => {
    const { raw } = parseSingleExample(records()[3] as Tensor, { raw: new FixedLenFeature([3], 'uint8') });
    expect(raw.array()).toEqual([3, 255, 0]);
    expect(parseSingleExample(records()[1] as Tensor, { raw: new VarLenFeature('uint8') }).raw.shape).toEqual(
      [3],
    );
    // Bytes that are no text are kept in strings too.
    const { raw: text } = parseSingleExample(records()[3] as Tensor, {
      raw: new FixedLenFeature([], 'string'),
    });
    expect(text.strings()).toEqual(['\x03\udcff\x00']);
  });

  it('are parsed inside of a pipeline of records', () => {
    const names = records().map(
      (r) => parseSingleExample(r, { name: new FixedLenFeature([], 'string') }).name,
    );
    expect(names.map((name) => name.item())).toEqual(['näme 0', 'näme 1', 'näme 2', 'näme 3']);
  });
});

describe('features', () => {
  const bytes = encodeExample({ a: [1.5, 2.5, 3.5, 4.5], n: [1n, 2n], none: null });

  it('become sequences of tensors, padded in batches', () => {
    const spec = { a: new FixedLenSequenceFeature([2], 'float32') };
    expect(parseSingleExample(bytes, spec).a.array()).toEqual([
      [1.5, 2.5],
      [3.5, 4.5],
    ]);
    const other = encodeExample({ a: [9.5, 8.5] });
    const padded = new FixedLenSequenceFeature([2], 'float32', { defaultValue: -1 });
    expect(parseExample([other, bytes], { a: padded }).a.array()).toEqual([
      [
        [9.5, 8.5],
        [-1, -1],
      ],
      [
        [1.5, 2.5],
        [3.5, 4.5],
      ],
    ]);
    expect(parseExample([], { n: new VarLenFeature('int64') }).n.shape).toEqual([0, 0]);
  });

  it('take defaults', () => {
    const spec = { x: new FixedLenFeature([2], 'int64', { defaultValue: [5n, 6n] }) };
    expect(parseSingleExample(bytes, spec).x.array()).toEqual([5n, 6n]);
    expect(parseSingleExample(bytes, { none: new VarLenFeature('string') }).none.shape).toEqual([0]);
  });

  const wrong: [Parameters<typeof parseExample>[1], RegExp][] = [
    [
      { x: new FixedLenFeature([], 'float32') },
      /example 1: the feature 'x' is missing; give it a defaultValue/,
    ],
    [{ a: new FixedLenFeature([3], 'float32') }, /has 4 values where the shape \[3\] has 3/],
    [{ a: new FixedLenFeature([4], 'int64') }, /holds float32 where int64 is expected/],
    [{ a: new FixedLenSequenceFeature([3], 'float32') }, /no whole number/],
    [{ x: new FixedLenSequenceFeature([3], 'float32') }, /set allowMissing/],
    [{ x: new FixedLenFeature([3], 'float32', { defaultValue: [1] }) }, /1 default values where 3/],
  ];
  for (const [spec, message] of wrong) {
    it(`are refused: ${message}`, () => {
      expect(() => parseSingleExample(bytes, spec)).toThrow(EagreError);
      expect(() => parseExample([bytes, bytes], spec)).toThrow(EagreError);
      if (message.source.startsWith('example 1'))
        expect(() => parseExample([encodeExample({ x: 1 }), bytes], spec)).toThrow(message);
      else expect(() => parseSingleExample(bytes, spec)).toThrow(message);
    });
  }

  it('refuse other dtypes and other bytes', () => {
    expect(() => new FixedLenFeature([], 'float64' as 'float32')).toThrow(
      /the dtype of a feature must be float32/,
    );
    expect(() => parseSingleExample(Uint8Array.of(255, 255), {})).toThrow(/example 0/);
  });

  it('give tensors or typed errors whatever the bytes', () => {
    const good = records()[3]?.data() as Uint8Array;
    let failed = 0;
    for (let i = 0; i < good.length * 4; i++) {
      const damaged = Uint8Array.from(good);
      damaged[i % good.length] = (i * 37) % 256;
      try {
        parseSingleExample(damaged, one);
      } catch (error) {
        expect(error).toBeInstanceOf(EagreError);
        failed++;
      }
    }
    expect(failed).toBeGreaterThan(100);
  });
});

describe('in functions of elements', () => {
  const features = { id: one.id, name: one.name };
  const expected = records().map((r) => parseSingleExample(r, features).id.array());
  const file = (): TFRecordDataset => new TFRecordDataset(goldenPath('examples.tfrecord'));

  it('they run as plain code', () => {
    let calls = 0;
    const parsed = file().map((record) => {
      const { id, name } = parseSingleExample(record, features);
      calls++;
      return [id, name];
    });
    expect([...parsed].map(([id]) => id.array())).toEqual(expected);
    expect(calls).toBe(expected.length);
    expect([...file().filter((r) => parseSingleExample(r, features).id.sum().greaterEqual(0n))]).not.toEqual(
      [],
    );
  });

  it('also where nothing is known before elements come', () => {
    const bytes = Dataset.fromGenerator(() => records());
    expect(bytes.elementSpec).toBeNull();
    const ids = bytes.map((r) => parseSingleExample(r, features).id);
    for (let pass = 0; pass < 2; pass++) expect([...ids].map((id) => id.array())).toEqual(expected);
  });

  it('a traced function is told', () => {
    const [record] = records();
    const traced = tfFunction((r: Tensor) => parseSingleExample(r, features).id);
    expect(() => traced(record as Tensor)).toThrow(
      'parseSingleExample: reads bytes, which a traced function does not have',
    );
  });
});

it('refuses examples that would be padded to more values than a list holds', () => {
  const long = encodeExample({ a: Array.from({ length: 2 ** 13 }, () => 1n) });
  const many = [long, ...Array.from({ length: 2 ** 13 }, () => new Uint8Array(0))];
  const sequence = new FixedLenSequenceFeature([], 'int64', { allowMissing: true });
  const fixed = new FixedLenFeature([2 ** 13], 'int64', { defaultValue: 0 });
  for (const a of [sequence, fixed])
    expect(() => parseExample(many, { a })).toThrow(
      expect.objectContaining({ code: 'RESOURCE_EXHAUSTED' }) as Error,
    );
});
