// The generator of random words on every backend that computes on the host.

/** The upper half of the 64-bit product of two 32-bit words. */
function multiplyHigh(a: number, b: number): number {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  // Below 2^32 + 2^17, so exact.
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const other = a0 * b1 + (middle % 0x10000);
  return a1 * b1 + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000);
}

/**
 * A block of Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011).
 * `words` holds the counter, and then the block.
 */
export function philox(words: Uint32Array, k0: number, k1: number): void {
  let a = words[0];
  let b = words[1];
  let c = words[2];
  let d = words[3];
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(a, 0xd2511f53);
    const low0 = Math.imul(a, 0xd2511f53);
    const high1 = multiplyHigh(c, 0xcd9e8d57);
    const low1 = Math.imul(c, 0xcd9e8d57);
    a = (high1 ^ b ^ k0) >>> 0;
    b = low1;
    c = (high0 ^ d ^ k1) >>> 0;
    d = low0;
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  words[0] = a;
  words[1] = b;
  words[2] = c;
  words[3] = d;
}
