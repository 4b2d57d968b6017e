import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Inflater, inflateRaw } from './inflater.ts';

const big = Uint8Array.from({ length: 200_000 }, (_, i) => (i * i) % 251);
const pack = { GZIP: gzipSync, ZLIB: deflateSync };

/** Unpacks in pieces of `size` bytes. */
function unpack(format: 'GZIP' | 'ZLIB', packed: Uint8Array, size: number = packed.length): Buffer {
  const parts: Uint8Array[] = [];
  const inflater = new Inflater(format, (bytes) => parts.push(bytes));
  for (let at = 0; at < packed.length; at += size) inflater.push(packed.subarray(at, at + size), false);
  inflater.push(new Uint8Array(0), true);
  return Buffer.concat(parts);
}

describe.each(['GZIP', 'ZLIB'] as const)('%s', (format) => {
  it('is unpacked in pieces of any size', () => {
    const content = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(big));
    fc.assert(
      fc.property(content, fc.nat(9), fc.integer({ min: 1, max: 999 }), (bytes, level, size) => {
        return unpack(format, pack[format](bytes, { level }), size).equals(bytes);
      }),
      { numRuns: 50 },
    );
  });

  it('shows at once what a piece holds', () => {
    let shown = 0;
    const inflater = new Inflater(format, (bytes) => {
      shown += bytes.length;
    });
    inflater.push(pack[format](big).subarray(0, format === 'GZIP' ? -8 : -4), false);
    expect(shown).toBe(big.length);
  });

  it('that ends too early or is changed is refused', () => {
    const packed = pack[format](big.subarray(0, 500));
    for (let length = 1; length < packed.length; length++)
      expect(() => unpack(format, packed.subarray(0, length), 100)).toThrow('unexpected end');
    for (const at of [0, 1, 30, packed.length - 1]) {
      const changed = packed.slice();
      changed[at]! ^= 4;
      expect(() => unpack(format, changed, 7)).toThrow();
    }
  });

  it('is unpacked no further than it is wanted', () => {
    let pieces = 0;
    const inflater = new Inflater(format, () => ++pieces < 2);
    const packed = pack[format](new Uint8Array(2 ** 20));
    inflater.push(packed.subarray(0, 400), false);
    inflater.push(packed.subarray(400), true);
    expect(pieces).toBe(2);
  });

  it('of no bytes is empty', () => {
    expect(unpack(format, new Uint8Array(0), 1)).toHaveLength(0);
  });
});

it('members of a gzip stream follow each other, zeros end them', () => {
  const members = [big.subarray(0, 90), new Uint8Array(0), big.subarray(3, 50)];
  const packed = Buffer.concat(members.map((member) => gzipSync(member)));
  const rest = [Buffer.from([0, 0]), gzipSync(big)];
  for (let size = 1; size <= packed.length; size++) {
    expect(unpack('GZIP', packed, size)).toEqual(Buffer.concat(members));
    expect(unpack('GZIP', Buffer.concat([packed, ...rest]), size)).toEqual(Buffer.concat(members));
    expect(() => unpack('GZIP', Buffer.concat([packed, Buffer.from('no')]), size)).toThrow(/./);
  }
});

describe('inflateRaw', () => {
  it('unpacks what has the size that was said', () => {
    for (const bytes of [new Uint8Array(0), big.subarray(0, 1), big])
      for (const level of [0, 1, 9])
        expect(Buffer.from(inflateRaw(deflateRawSync(bytes, { level }), bytes.length)).equals(bytes)).toBe(
          true,
        );
    expect(inflateRaw(deflateRawSync(big), big.length + 5)).toHaveLength(big.length);
  });

  it('refuses what has more, or is broken', () => {
    const packed = deflateRawSync(big);
    expect(() => inflateRaw(packed, big.length - 1)).toThrow('more than 199999 bytes');
    expect(() => inflateRaw(packed.subarray(0, -9), big.length)).toThrow('unexpected end');
    expect(() => inflateRaw(new Uint8Array(9).fill(255), 50)).toThrow('invalid block type');
  });
});
