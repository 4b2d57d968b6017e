import { describe, expect, it } from 'vitest';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { fuzz } from '../testing/fuzz.ts';
import { decodeIdx, encodeIdx } from './idx.ts';
import type { NDArray } from './ndarray.ts';

const images: NDArray = {
  dtype: 'uint8',
  shape: [2, 2, 3],
  data: Uint8Array.from({ length: 12 }, (_, i) => i),
};
const floats: NDArray = { dtype: 'float32', shape: [2], data: new Float32Array([1, -2.5]) };

describe('IDX', () => {
  it('has the documented layout', () => {
    expect([...encodeIdx(images).subarray(0, 16)]).toEqual([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3]);
    expect([...encodeIdx(floats)]).toEqual([0, 0, 13, 1, 0, 0, 0, 2, 0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0]);
  });

  it('round-trips every dtype it has', () => {
    const arrays: NDArray[] = [
      images,
      floats,
      { dtype: 'int32', shape: [3], data: new Int32Array([-(2 ** 31), 0, 2 ** 31 - 1]) },
      { dtype: 'float64', shape: [], data: new Float64Array([Math.PI]) },
      { dtype: 'uint8', shape: [0, 28, 28], data: new Uint8Array(0) },
    ];
    for (const array of arrays) expect(decodeIdx(encodeIdx(array))).toEqual(array);
  });

  it('reads int8 and int16', () => {
    expect(decodeIdx(Uint8Array.of(0, 0, 9, 1, 0, 0, 0, 2, 0x80, 1))).toEqual({
      dtype: 'int8',
      shape: [2],
      data: new Int8Array([-128, 1]),
    });
    expect([...decodeIdx(Uint8Array.of(0, 0, 11, 1, 0, 0, 0, 1, 0xff, 0xfe)).data]).toEqual([-2]);
  });

  it('refuses dtypes it lacks', () => {
    const bools: NDArray = { dtype: 'bool', shape: [1], data: new Uint8Array(1) };
    expect(() => encodeIdx(bools)).toThrow(UnsupportedFormatError);
  });

  it('refuses damaged files with what was expected and found', () => {
    const bytes = encodeIdx(images);
    const decode = (data: Uint8Array) => () => decodeIdx(data, { file: 'x-ubyte' });
    expect(decode(bytes.subarray(0, 3))).toThrow('x-ubyte: truncated: expected at least 4 bytes, got 3');
    expect(decode(bytes.subarray(0, 10))).toThrow(/truncated header of rank 3: expected 16 bytes, got 10/);
    expect(decode(bytes.subarray(0, 20))).toThrow(
      'x-ubyte: data of shape [2, 2, 3]: expected 12 bytes, got 4',
    );
    expect(decode(Uint8Array.of(...bytes, 0))).toThrow(/expected 12 bytes, got 13/);
    expect(decode(Uint8Array.of(0x1f, 0x8b, 8, 0))).toThrow(/magic.*got 1f 8b 08 00/);
    expect(decode(Uint8Array.of(0, 0, 8, 2, ...new Array(8).fill(255)))).toThrow(FormatError);
  });

  it('never fails otherwise on damaged files', () => {
    const result = fuzz([encodeIdx(images), encodeIdx(floats)], (bytes) => [decodeIdx(bytes)]);
    expect(result.rejected).toBeGreaterThan(1000);
    expect(result.decoded).toBeGreaterThan(20);
  });
});
