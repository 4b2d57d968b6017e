import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { fuzz } from '../testing/fuzz.ts';
import { goldenBytes, goldenFiles, toGolden } from '../testing/golden.ts';
import type { NDArray } from './ndarray.ts';
import { decodeNpy, decodeNpyHeader, encodeNpy } from './npy.ts';

function file(header: string, data: number[] = [], version: number = 1): Uint8Array {
  const text = new TextEncoder().encode(header);
  const length =
    version === 1 ? [text.length & 255, text.length >> 8] : [text.length & 255, text.length >> 8, 0, 0];
  return Uint8Array.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0, ...length, ...text, ...data]);
}

describe('files of NumPy', () => {
  for (const { name, array, unsupported } of goldenFiles('npy')) {
    it(`${unsupported ? 'refuses' : 'reads'} ${name}`, () => {
      if (unsupported) expect(() => decodeNpy(goldenBytes(name))).toThrow(UnsupportedFormatError);
      else expect(toGolden(decodeNpy(goldenBytes(name)))).toEqual(array);
    });
  }

  for (const name of ['f4.npy', 'f4-scalar.npy', 'f4-empty.npy', 'i8.npy', 'u1.npy', 'bool.npy']) {
    it(`writes ${name} byte for byte`, () => {
      expect(Buffer.from(encodeNpy(decodeNpy(goldenBytes(name)))).equals(goldenBytes(name))).toBe(true);
    });
  }
});

describe('encodeNpy', () => {
  it('round-trips any array', () => {
    const shapes = fc.array(fc.nat(4), { maxLength: 5 });
    fc.assert(
      fc.property(shapes, fc.infiniteStream(fc.double()), (shape, values) => {
        const length = shape.reduce((a, b) => a * b, 1);
        const array: NDArray = { dtype: 'float64', shape, data: Float64Array.from(values.take(length)) };
        expect(decodeNpy(encodeNpy(array))).toEqual(array);
      }),
    );
  });

  it('uses version 2 for headers beyond 64 KiB', () => {
    const array: NDArray = { dtype: 'uint8', shape: new Array(30_000).fill(1), data: new Uint8Array([7]) };
    const bytes = encodeNpy(array);
    expect(bytes[6]).toBe(2);
    expect(decodeNpy(bytes)).toEqual(array);
  });

  it('refuses arrays whose parts disagree', () => {
    const data = new Float32Array(2);
    expect(() => encodeNpy({ dtype: 'float32', shape: [3], data })).toThrow(/expected 3 elements, got 2/);
    expect(() => encodeNpy({ dtype: 'int32', shape: [2], data } as unknown as NDArray)).toThrow(/Int32Array/);
    expect(() => encodeNpy({ dtype: 'half', shape: [2], data } as unknown as NDArray)).toThrow(/got half/);
  });
});

describe('decodeNpy', () => {
  it('reads headers in any spelling', () => {
    const spellings = [
      `{"shape":(2L,),"fortran_order":False,"descr":"|u1"}`,
      ` { 'fortran_order' : True , 'shape' : [ 2 ] , 'descr' : u'|u1' , } \n\n`,
      `{'descr':'=u1','fortran_order':False,'shape':(+2,)}`.replace('+', ''),
    ];
    for (const header of spellings) {
      expect(decodeNpy(file(header, [1, 2], 3))).toEqual({
        dtype: 'uint8',
        shape: [2],
        data: new Uint8Array([1, 2]),
      });
    }
  });

  const dict = (descr: string, shape: string, order: string = 'False'): string =>
    `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${shape}, }\n`;
  const cases: [string, Uint8Array, RegExp][] = [
    ['an empty file', new Uint8Array(0), /truncated/],
    ['another format', new Uint8Array(20), /magic/],
    ['version 4', file(dict('|u1', '()'), [0], 4), /version.*got 4.0/],
    ['a header beyond the file', file(dict('|u1', '()')).slice(0, 30), /truncated header/],
    ['a header that is not a dict', file('(1, 2)'), /expected a dict/],
    ['a missing key', file(`{'descr': '|u1', 'shape': ()}`, [0]), /keys/],
    ['an additional key', file(`{'descr': '|u1', 'fortran_order': False, 'shape': (), 'x': 1}`, [0]), /keys/],
    ['a key twice', file(`{'descr': '|u1', 'descr': '|u1'}`), /there already/],
    ['code', file(`{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}`), /expected a value/],
    ['an order that is no bool', file(dict('|u1', '()', '0'), [0]), /fortran_order/],
    ['a shape that is a number', file(dict('|u1', '(1)'), [0]), /shape/],
    ['a negative size', file(dict('|u1', '(-1,)')), /shape/],
    ['a product beyond 2^53', file(dict('|u1', '(99999999999, 99999999999)')), /shape/],
    ['missing data', file(dict('<f4', '(2,)'), [0, 0, 0, 0]), /expected 8 bytes, got 4/],
    ['trailing data', file(dict('|u1', '(1,)'), [0, 0]), /expected 1 bytes, got 2/],
    ['a made-up descr', file(dict('f', '()')), /descr/],
    ['deep nesting', file(`${'('.repeat(5000)}`), /nested/],
    ['an open string', file(`{'descr: 1}`), /closing/],
  ];
  for (const [what, bytes, message] of cases) {
    it(`refuses ${what}`, () => {
      expect(() => decodeNpy(bytes, { file: 'x.npy' })).toThrow(FormatError);
      expect(() => decodeNpy(bytes, { file: 'x.npy' })).toThrow(message);
    });
  }

  it('never fails otherwise on damaged files', () => {
    const samples = goldenFiles('npy').map(({ name }) => goldenBytes(name));
    const result = fuzz(samples, (bytes) => [decodeNpy(bytes)]);
    expect(result.rejected).toBeGreaterThan(1000);
    expect(result.decoded).toBeGreaterThan(20);
  });
});

it('reads headers of any dtype, from the beginning alone', () => {
  for (const { name, array, unsupported } of goldenFiles('npy')) {
    const info = decodeNpyHeader(goldenBytes(name).subarray(0, 500));
    if (!unsupported) expect(info.shape).toEqual(array?.shape);
  }
  expect(decodeNpyHeader(file("{'descr': '<U2', 'fortran_order': False, 'shape': (3, 2), }"))).toMatchObject({
    descr: '<U2',
    shape: [3, 2],
  });
  expect(
    decodeNpyHeader(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }")).descr,
  ).toBeNull();
  expect(() => decodeNpyHeader(file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"))).toThrow(
    FormatError,
  );
});
