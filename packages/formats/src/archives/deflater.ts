import { nodeBuiltin } from '../files/node.ts';

const ADLER_MODULUS = 65521;
// So many bytes can be added up before the sums need their modulus taken.
const ADLER_RUN = 3800;

/**
 * Packs a stream without waiting for another thread, which Node's own streams cannot: each part on its own, ended where a byte ends, and so at
 * once to be read. Node only.
 */
export class Deflater {
  readonly #format: 'GZIP' | 'ZLIB';
  #sum: number;
  #length = 0;

  constructor(format: 'GZIP' | 'ZLIB') {
    this.#format = format;
    this.#sum = format === 'GZIP' ? 0 : 1;
  }

  /** What the stream begins with. */
  get header(): Uint8Array {
    return this.#format === 'GZIP'
      ? Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)
      : Uint8Array.of(0x78, 0x9c);
  }

  /** The next part, packed. */
  push(bytes: Uint8Array): Uint8Array {
    const zlib = nodeBuiltin('node:zlib');
    this.#length += bytes.length;
    this.#sum = this.#format === 'GZIP' ? zlib.crc32(bytes, this.#sum) : adler32(bytes, this.#sum);
    return zlib.deflateRawSync(bytes, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
  }

  /** What the stream ends with: an empty last part, and checksums. */
  end(): Uint8Array {
    const out = new DataView(new ArrayBuffer(this.#format === 'GZIP' ? 10 : 6));
    out.setUint8(0, 3);
    out.setUint32(2, this.#sum, this.#format === 'GZIP');
    if (this.#format === 'GZIP') out.setUint32(6, this.#length % 2 ** 32, true);
    return new Uint8Array(out.buffer);
  }
}

/** The checksum of zlib streams (RFC 1950), of the bytes behind those whose checksum is `previous`. */
function adler32(bytes: Uint8Array, previous: number): number {
  let low = previous & 0xffff;
  let high = previous >>> 16;
  for (let at = 0; at < bytes.length; ) {
    for (const end = Math.min(at + ADLER_RUN, bytes.length); at < end; at++) {
      low += bytes[at];
      high += low;
    }
    low %= ADLER_MODULUS;
    high %= ADLER_MODULUS;
  }
  return high * 65536 + low;
}
