import { describe, expect, it } from 'vitest';
import { nativeCrc32c } from './index.ts';

describe.runIf(nativeCrc32c !== undefined)('the native CRC-32C', () => {
  const crc = nativeCrc32c as NonNullable<typeof nativeCrc32c>;

  it('has the values of RFC 3720', () => {
    expect(crc(new TextEncoder().encode('123456789'), 0)).toBe(0xe3069283);
    expect(crc(new Uint8Array(32), 0)).toBe(0x8a9136aa);
    expect(crc(Buffer.alloc(32, 255), 0)).toBe(0x62a8ab43);
    expect(crc(new Uint8Array(0), 5)).toBe(5);
  });

  it('goes on where another one ended, at any offset', () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * 167) >> 3);
    const whole = crc(bytes, 0);
    for (const cut of [0, 1, 3, 767, 24_577, 99_999])
      expect(crc(bytes.subarray(cut), crc(bytes.subarray(0, cut), 0))).toBe(whole);
  });

  it('takes bytes only', () => {
    expect(() => crc('text' as unknown as Uint8Array, 0)).toThrow(TypeError);
  });
});
