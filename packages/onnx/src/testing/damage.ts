/** For tests: damages files at random, the same way each time. */

/** A random number in [0, 1) from a 32-bit state (mulberry32). */
export function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A copy of `bytes` with one to three random faults: bits, bytes, cuts, insertions and moves. */
export function damaged(bytes: Uint8Array, random: () => number): Uint8Array {
  let out = new Uint8Array(bytes);
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let faults = 1 + below(3); faults > 0 && out.length > 0; faults--) {
    const at = below(out.length);
    const length = 1 + below(8);
    switch (below(5)) {
      case 0:
        out[at] = (out[at] as number) ^ (1 << below(8));
        break;
      case 1:
        out[at] = below(256);
        break;
      case 2:
        out = out.slice(0, at);
        break;
      case 3:
        out = Uint8Array.from([
          ...out.subarray(0, at),
          ...Array.from({ length }, () => below(256)),
          ...out.subarray(at),
        ]);
        break;
      default:
        out.copyWithin(below(out.length), at, at + length);
    }
  }
  return out;
}
