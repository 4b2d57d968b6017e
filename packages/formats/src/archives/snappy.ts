import { Cursor } from '../bytes.ts';

// A copy of 64 bytes takes three; so no more than this comes out of a byte.
const MOST_GROWTH = 22;

/**
 * Unpacks raw snappy (without framing), as blocks of tables may be packed.
 *
 * @returns undefined for what is no snappy data. Nothing is allocated that the bytes could not fill.
 */
export function unpackSnappy(bytes: Uint8Array): Uint8Array | undefined {
  const input = new Cursor(bytes);
  const length = input.varint();
  if (length === undefined || length > bytes.length * MOST_GROWTH) return undefined;
  const out = new Uint8Array(length);
  let end = 0;
  while (input.at < input.end) {
    const tag = bytes[input.at++];
    const kind = tag & 3;
    if (kind === 0) {
      const size = literalSize(tag >>> 2, input);
      const literal = size === undefined ? undefined : input.take(size);
      if (literal === undefined || literal.length > length - end) return undefined;
      out.set(literal, end);
      end += literal.length;
      continue;
    }
    const width = kind === 3 ? 4 : kind;
    const low = input.take(width);
    if (low === undefined) return undefined;
    const size = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = kind === 1 ? ((tag >>> 5) << 8) | low[0] : number(low);
    if (offset === 0 || offset > end || size > length - end) return undefined;
    // Byte by byte: what is copied may be what this copy writes.
    for (const stop = end + size; end < stop; end++) out[end] = out[end - offset];
  }
  return end === length ? out : undefined;
}

function literalSize(code: number, input: Cursor): number | undefined {
  if (code < 60) return code + 1;
  const more = input.take(code - 59);
  return more && number(more) + 1;
}

function number(little: Uint8Array): number {
  return little.reduceRight((value, byte) => value * 256 + byte, 0);
}
