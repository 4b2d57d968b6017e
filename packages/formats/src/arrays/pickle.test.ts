import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import { encodeNpy } from './npy.ts';
import { decodeNpz, decodeNpzRagged } from './npz.ts';

const text = new TextEncoder();

/** A `.npy` file of objects around a pickle. */
function objects(pickle: Uint8Array | string, count = 2): Uint8Array {
  const header = encodeNpy({ dtype: 'uint8', shape: [count], data: new Uint8Array(count) }).slice(0, -count);
  header.set(text.encode(`{'descr': '|O', `), 10);
  const body = typeof pickle === 'string' ? Uint8Array.from(pickle, (c) => c.charCodeAt(0)) : pickle;
  return Uint8Array.from([...header, ...body]);
}

const ARRAY =
  '\x80\x03cnumpy.core.multiarray\n_reconstruct\nq\x00cnumpy\nndarray\nq\x01K\x00\x85q\x02C\x01bq\x03\x87q\x04Rq\x05';
const DTYPE =
  'cnumpy\ndtype\nq\x06X\x02\x00\x00\x00O8q\x07K\x00K\x01\x87q\x08Rq\x09(K\x03X\x01\x00\x00\x00|q\x0aNNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\x0bb';
const pickle = (rows: string, count = 2): string =>
  `${ARRAY}(K\x01K${String.fromCharCode(count)}\x85q\x0c${DTYPE}\x89]q\x0d(${rows}etq\x0eb.`;
const archive = (npy: Uint8Array): Uint8Array => zipSync({ 'x.npy': npy }, { level: 0 });
const read = (rows: string, count = 2): unknown =>
  decodeNpzRagged(archive(objects(pickle(rows, count)))).get('x');

describe('arrays of lists in .npz files', () => {
  it('are read, whichever instructions write the integers', () => {
    expect(read('](K\x01M\x2c\x01J\x70\x11\x01\x00e](I-5\n\x8a\x02\x00\x01e')).toEqual([
      Int32Array.of(1, 300, 70_000),
      Int32Array.of(-5, 256),
    ]);
    expect(read(']](K\x02K\x03e')).toEqual([Int32Array.of(), Int32Array.of(2, 3)]);
    expect(read(']K\x07a(K\x08l')).toEqual([Int32Array.of(7), Int32Array.of(8)]);
  });

  it('are read as Python 2 wrote them', () => {
    const old = pickle('](K\x01M\x2c\x01e]')
      .replace('\x80\x03', '\x80\x02')
      .replace('C\x01b', 'U\x01b')
      .replace('X\x02\x00\x00\x00O8', 'U\x02O8')
      .replace('X\x01\x00\x00\x00|', 'U\x01|');
    expect(decodeNpzRagged(archive(objects(old))).get('x')).toEqual([Int32Array.of(1, 300), Int32Array.of()]);
  });

  it('share lists that the pickle repeats', () => {
    const rows = read('](K\x01eq\x20h\x20') as Int32Array[];
    expect(rows[0]).toBe(rows[1]);
  });

  it('stand beside plain arrays, and decodeNpz refuses them', () => {
    const y = encodeNpy({ dtype: 'int64', shape: [2], data: BigInt64Array.of(4n, 5n) });
    const both = zipSync({ 'x.npy': objects(pickle(']]')), 'y.npy': y });
    expect(decodeNpzRagged(both).get('y')).toEqual({
      dtype: 'int64',
      shape: [2],
      data: BigInt64Array.of(4n, 5n),
    });
    expect(() => decodeNpz(both)).toThrow(UnsupportedFormatError);
  });
});

describe('other pickles', () => {
  it('name nothing but NumPy', () => {
    const evil = 'cos\nsystem\nX\x02\x00\x00\x00ls\x85R.';
    expect(() => decodeNpzRagged(archive(objects(evil)))).toThrow(
      /only what rebuilds a NumPy array.*os\.system/,
    );
    const stacked = '\x80\x04\x8c\x08builtins\x8c\x04eval\x93.';
    expect(() => decodeNpzRagged(archive(objects(stacked)))).toThrow(UnsupportedFormatError);
  });

  const wrong: [string, string, RegExp][] = [
    ['text in a list', ']X\x01\x00\x00\x00aa]', /row 0: expected integers/],
    ['a number for a list', 'K\x01]', /row 0: expected a list/],
    ['a list in itself', ']q\x20h\x20a]', /row 0: expected integers/],
    ['other numbers of rows', ']', /the shape of 1 rows, got 2/],
    ['unknown instructions', 'G\x00\x00\x00\x00\x00\x00\x00\x00]', /instruction.*0x47/],
    ['integers beyond 32 bits', '](\x8a\x05\x00\x00\x00\x00\x01e]', /integers of 32 bits/],
    ['nothing remembered', 'h\x63]', /something remembered/],
    ['text beyond the end', 'X\xff\xff\xff\x7fa', /more bytes/],
  ];
  for (const [what, rows, message] of wrong) {
    it(`are refused: ${what}`, () => {
      expect(() => read(rows)).toThrow(message);
      expect(() => read(rows)).toThrow(FormatError);
    });
  }

  it('damaged ones give an error or lists of bounded size', () => {
    const sample = objects(pickle('](K\x01M\x2c\x01J\x70\x11\x01\x00e](I-5\n\x8a\x02\x00\x01e'));
    const random = randomSource(3);
    let refused = 0;
    for (let run = 0; run < 4000; run++) {
      const bytes = mutate(sample, random);
      try {
        const rows = decodeNpzRagged(archive(bytes)).get('x')!;
        const distinct = new Set(Array.isArray(rows) ? rows : []);
        expect([...distinct].reduce((sum, row) => sum + row.length, 0)).toBeLessThan(bytes.length);
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });
});
