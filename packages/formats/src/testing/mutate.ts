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

/** Bytes that parsers trip over: ends of ranges, signs, quotes, brackets, digits. */
const NASTY = [0x00, 0x01, 0x7f, 0x80, 0xff, ...new TextEncoder().encode('"\'\\{}[](),:-019eLTN ')];

/** A copy of `bytes` with one to four random faults: bits, bytes, runs, cuts, insertions and moves. */
export function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  let out = new Uint8Array(bytes);
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let faults = 1 + below(4); faults > 0; faults--) {
    // Headers and trailers are where the structure is.
    const spread = random() < 0.5 ? out.length : Math.min(out.length, 128);
    const at = random() < 0.8 ? below(spread) : Math.max(0, out.length - 1 - below(spread));
    const length = Math.min(out.length - at, 1 + below(8));
    const nasty = NASTY[below(NASTY.length)]!;
    switch (below(7)) {
      case 0:
        out[at]! ^= 1 << below(8);
        break;
      case 1:
        out[at] = nasty;
        break;
      case 2:
        out.fill(nasty, at, at + length);
        break;
      case 3:
        out = out.slice(0, at);
        break;
      case 4:
        out = concat(out.subarray(0, at), new Uint8Array(length).fill(nasty), out.subarray(at));
        break;
      case 5:
        out = concat(out.subarray(0, at), out.subarray(at + length));
        break;
      default:
        out.copyWithin(below(out.length), at, at + length);
    }
  }
  return out;
}

function concat(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
