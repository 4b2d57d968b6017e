// Sixteen bytes a step: tables[k << 8 | b] is the CRC of the byte b with k zero bytes behind it. Made on first use, not on every import.
const STEP = 16;
let made: Int32Array | undefined;
const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
const MASK_DELTA = 0xa282ead8;

// Below this many bytes a call of native code costs more than it saves.
const WORTH_A_CALL = 64;

let native: ((bytes: Uint8Array, previous: number) => number) | undefined;

/**
 * The CRC-32C (Castagnoli, polynomial 0x1edc6f41, reflected) of `bytes`, as an unsigned 32-bit number.
 *
 * @param previous the CRC of what stands before `bytes`, which gives the CRC of both together.
 */
export function crc32c(bytes: Uint8Array, previous: number = 0): number {
  return native !== undefined && bytes.length >= WORTH_A_CALL
    ? native(bytes, previous)
    : crc32cPortable(bytes, previous);
}

/** What TensorFlow stores instead of a CRC, because the CRC of bytes that hold their own CRC is a weak check. */
export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

/** The CRC behind a stored one: undoes {@link maskCrc}. */
export function unmaskCrc(masked: number): number {
  const rotated = (masked - MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}

/** Has {@link crc32c} call `fn` for all but few bytes; undefined puts the portable code back. */
export function useCrc32c(fn: ((bytes: Uint8Array, previous: number) => number) | undefined): void {
  native = fn;
}

/** The CRC-32C of the eight bytes at `at`, as many as the length of a record has. */
export function crc32cOfEight(bytes: Uint8Array, at: number): number {
  const tables = (made ??= makeTables());
  let crc = -1;
  for (let i = at; i < at + 8; i++) crc = tables[(crc ^ bytes[i]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** {@link crc32c} without native code. */
export function crc32cPortable(bytes: Uint8Array, previous: number = 0): number {
  const tables = (made ??= makeTables());
  const length = bytes.length;
  let crc = ~previous;
  let at = 0;
  if (LITTLE && length >= 2 * STEP) {
    for (; ((bytes.byteOffset + at) & 3) !== 0; at++) crc = tables[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, ((length - at) >> 4) << 2);
    const steps = words.length;
    for (let w = 0; w < steps; w += 4) {
      const a = words[w] ^ crc;
      const b = words[w + 1];
      const c = words[w + 2];
      const d = words[w + 3];
      crc =
        tables[3840 | (a & 255)] ^
        tables[3584 | ((a >>> 8) & 255)] ^
        tables[3328 | ((a >>> 16) & 255)] ^
        tables[3072 | (a >>> 24)] ^
        tables[2816 | (b & 255)] ^
        tables[2560 | ((b >>> 8) & 255)] ^
        tables[2304 | ((b >>> 16) & 255)] ^
        tables[2048 | (b >>> 24)] ^
        tables[1792 | (c & 255)] ^
        tables[1536 | ((c >>> 8) & 255)] ^
        tables[1280 | ((c >>> 16) & 255)] ^
        tables[1024 | (c >>> 24)] ^
        tables[768 | (d & 255)] ^
        tables[512 | ((d >>> 8) & 255)] ^
        tables[256 | ((d >>> 16) & 255)] ^
        tables[d >>> 24];
    }
    at += steps * 4;
  }
  for (; at < length; at++) crc = tables[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(STEP * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256];
    tables[at] = tables[before & 255] ^ (before >>> 8);
  }
  return tables;
}
