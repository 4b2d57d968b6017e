import { deflateRawSync, crc32 as zlibCrc32 } from 'node:zlib';
import { unzipSync, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { crc32 } from '../archives/crc32.ts';
import { unzip } from '../archives/zip.ts';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { fuzz } from '../testing/fuzz.ts';
import { goldenBytes, goldenFiles, toGolden } from '../testing/golden.ts';
import type { NDArray } from './ndarray.ts';
import { encodeNpy } from './npy.ts';
import { decodeNpz, encodeNpz } from './npz.ts';

const zeros: NDArray = { dtype: 'uint8', shape: [100_000], data: new Uint8Array(100_000) };

/** The first central directory entry, to be tampered with. */
function entryOf(bytes: Uint8Array): DataView {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf('PK\x01\x02');
  return new DataView(bytes.buffer, bytes.byteOffset + at);
}

describe('files of NumPy', () => {
  for (const { name, arrays } of goldenFiles('npz')) {
    it(`reads ${name}`, () => {
      const decoded = decodeNpz(goldenBytes(name));
      expect(Object.fromEntries([...decoded].map(([key, array]) => [key, toGolden(array)]))).toEqual(arrays);
    });
  }
});

describe('encodeNpz', () => {
  it('round-trips, stored and deflated', () => {
    const arrays = new Map<string, NDArray>([
      ['arr_0', zeros],
      ['10', { dtype: 'int64', shape: [], data: new BigInt64Array([-5n]) }],
      ['__proto__', { dtype: 'bool', shape: [1, 2], data: new Uint8Array([1, 0]) }],
      ['layer/ü', { dtype: 'float32', shape: [0], data: new Float32Array(0) }],
    ]);
    const stored = encodeNpz(arrays);
    const deflated = encodeNpz(arrays, { compress: true });
    expect(decodeNpz(stored)).toEqual(arrays);
    expect(decodeNpz(deflated)).toEqual(arrays);
    expect(stored.length).toBeGreaterThan(100_000);
    expect(deflated.length).toBeLessThan(2000);
    expect(encodeNpz(arrays)).toEqual(stored);
    for (const file of [stored, deflated]) {
      const members = Object.entries(unzipSync(file));
      expect(members.map(([name]) => name)).toEqual([...arrays.keys()].map((name) => `${name}.npy`));
      for (const [i, array] of [...arrays.values()].entries())
        expect(Buffer.from(members[i]![1]).equals(encodeNpy(array))).toBe(true);
    }
  });

  it('refuses names that ZIP cannot hold', () => {
    expect(() => encodeNpz({ ['ü'.repeat(40_000)]: zeros })).toThrow(/name.*65535 bytes/);
  });
});

describe('decodeNpz', () => {
  it('decodes only what the filter accepts', () => {
    const bytes = encodeNpz({ a: zeros, b: zeros });
    expect([...decodeNpz(bytes, { filter: (name) => name === 'b' }).keys()]).toEqual(['b']);
  });

  it('refuses a bomb before it unpacks anything', () => {
    const bytes = encodeNpz({ a: zeros, b: zeros }, { compress: true });
    expect(() => decodeNpz(bytes, { maxBytes: 150_000 })).toThrow(/at most 150000 bytes unpacked/);
    const lying = new Uint8Array(bytes);
    entryOf(lying).setUint32(24, 0xf0000000, true);
    expect(() => decodeNpz(lying, { maxBytes: Number.MAX_VALUE })).toThrow(/size: expected at most/);
  });

  it('refuses members that share bytes', () => {
    const bytes = encodeNpz({ a: zeros, b: zeros });
    const second = Buffer.from(bytes).lastIndexOf('PK\x01\x02');
    new DataView(bytes.buffer).setUint32(second + 42, 0, true);
    expect(() => decodeNpz(bytes)).toThrow(/overlapping/);
  });

  it('checks sizes and CRC-32', () => {
    for (const compress of [false, true]) {
      const wrongCrc = encodeNpz({ a: zeros }, { compress });
      entryOf(wrongCrc).setUint32(16, 1, true);
      expect(() => decodeNpz(wrongCrc, { file: 'x.npz' })).toThrow(
        /x.npz: member "a.npy": CRC-32: expected 1/,
      );
    }
    const long = encodeNpz({ a: zeros }, { compress: true });
    entryOf(long).setUint32(24, 100_000, true);
    expect(() => decodeNpz(long)).toThrow(FormatError);
    const corrupt = encodeNpz({ a: zeros }, { compress: true });
    corrupt.fill(0xff, 40, 60);
    expect(() => decodeNpz(corrupt)).toThrow(/corrupt deflated data/);
  });

  it('refuses what is not an array, encrypted, packed otherwise, or twice there', () => {
    expect(() => decodeNpz(zipSync({ 'readme.txt': new Uint8Array(1) }))).toThrow(UnsupportedFormatError);
    const encrypted = encodeNpz({ a: zeros });
    entryOf(encrypted).setUint16(8, 1, true);
    expect(() => decodeNpz(encrypted)).toThrow(/encrypted/);
    const lzma = encodeNpz({ a: zeros });
    entryOf(lzma).setUint16(10, 14, true);
    expect(() => decodeNpz(lzma)).toThrow(/method.*got 14/);
    const twice = encodeNpz({ a: zeros, b: zeros });
    twice[Buffer.from(twice).lastIndexOf('b.npy')] = 'a'.charCodeAt(0);
    expect(() => decodeNpz(twice)).toThrow(/"a.npy" twice/);
  });

  it('unpacks no bomb unless it is told to', () => {
    // Its directory says that it stands for more than 256 MiB, which as many bytes could.
    let state = 1;
    const noise = Uint8Array.from({ length: 300_000 }, () => (state = (state * 48271) % 2147483647) >> 16);
    const bytes = zipSync(
      { 'a.npy': encodeNpy({ dtype: 'uint8', shape: [noise.length], data: noise }) },
      { level: 1 },
    );
    entryOf(bytes).setUint32(24, 2 ** 28 + 1, true);
    const bomb = /members too large: expected at most 268435456 bytes unpacked/;
    expect(() => decodeNpz(bytes)).toThrow(bomb);
    expect(() => unzip(bytes)).toThrow(bomb);
    expect(() => decodeNpz(bytes, { maxBytes: 2 ** 29, filter: () => false })).not.toThrow();
  });

  it('names the member in errors', () => {
    const bytes = zipSync({ 'w.npy': encodeNpy(zeros).subarray(0, 500) }, { level: 0 });
    expect(() => decodeNpz(bytes, { file: 'x.npz' })).toThrow(/^x.npz\/w.npy: data of shape/);
  });

  it('refuses other files', () => {
    for (const length of [0, 21, 22, 70_000])
      expect(() => decodeNpz(new Uint8Array(length))).toThrow(FormatError);
  });

  it('reads a file with a comment', () => {
    const bytes = new Uint8Array([...encodeNpz({ a: zeros }), 1, 2, 3]);
    bytes[bytes.length - 5] = 3;
    expect(decodeNpz(bytes).get('a')).toEqual(zeros);
  });

  it('never fails otherwise on damaged files', () => {
    const samples = goldenFiles('npz').map(({ name }) => goldenBytes(name));
    const result = fuzz(samples, (bytes) => decodeNpz(bytes).values(), { runs: 4000, maxGrowth: 1032 });
    expect(result.rejected).toBeGreaterThan(1000);
    expect(result.decoded).toBeGreaterThan(20);
  });
});

describe('crc32', () => {
  it('agrees with zlib', () => {
    const bytes = deflateRawSync(zeros.data);
    expect(crc32(bytes)).toBe(zlibCrc32(bytes));
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926);
  });
});
