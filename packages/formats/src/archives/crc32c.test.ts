import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { crc32c, crc32cOfEight, crc32cPortable, maskCrc, unmaskCrc, useCrc32c } from './crc32c.ts';

/** Bit by bit, from the definition. */
function reference(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

afterEach(() => useCrc32c(undefined));

describe('crc32c', () => {
  it('has the values of RFC 3720 and of TensorFlow', () => {
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(0))).toBe(0);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
    expect(maskCrc(0xe3069283)).toBe(0xc78ab0e5);
    expect(maskCrc(0)).toBe(0xa282ead8);
  });

  it('is that of the definition, at any offset and in any number of parts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(15), fc.nat(200), (bytes, offset, cut) => {
        const moved = new Uint8Array(bytes.length + offset).subarray(offset);
        moved.set(bytes);
        const expected = reference(bytes);
        expect(crc32cPortable(moved)).toBe(expected);
        expect(crc32c(moved.subarray(cut), crc32c(moved.subarray(0, cut)))).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('of eight bytes is that of all others', () => {
    const eight = fc.uint8Array({ minLength: 8, maxLength: 20 });
    fc.assert(
      fc.property(eight, (bytes) => {
        const at = bytes.length - 8;
        return crc32cOfEight(bytes, at) === reference(bytes.subarray(at));
      }),
    );
  });

  it('is masked and unmasked', () => {
    fc.assert(fc.property(fc.nat(0xffffffff), (crc) => unmaskCrc(maskCrc(crc)) === crc));
  });

  it('takes another implementation, for more than a few bytes', () => {
    useCrc32c((bytes, previous) => bytes.length + previous);
    expect(crc32c(new Uint8Array(1000), 5)).toBe(1005);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  });
});
