// Made on first use, not on every import.
let table: Uint32Array | undefined;

/**
 * The CRC-32 of ZIP and gzip (polynomial 0x04c11db7, reflected), as an unsigned 32-bit number.
 * @param before that of what comes before the bytes.
 */
export function crc32(bytes: Uint8Array, before: number = 0): number {
  const entries = (table ??= makeTable());
  let crc = ~before;
  for (let i = 0; i < bytes.length; i++) crc = entries[(crc ^ bytes[i]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    return crc;
  });
}
