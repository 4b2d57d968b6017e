import type { ZStream } from 'pako';
import { zlib } from '../late.ts';

const PIECE = 64 * 1024;
const WINDOW_BITS = 15;
// Added to the bits of the window: a gzip stream, not one of zlib.
const GZIP = 16;
// Flush modes and results of zlib.
const SYNC_FLUSH = 2;
const FINISH = 4;
const OK = 0;
const STREAM_END = 1;
const BUF_ERROR = -5;

/**
 * Unpacks a stream that comes in pieces without waiting for another thread, which Node's own streams cannot, and checks its checksums. A
 * gzip stream may have several members, one behind the other, and zeros behind them. No bytes at all are an empty stream.
 */
export class Inflater {
  readonly #several: boolean;
  readonly #out: (bytes: Uint8Array) => unknown;
  readonly #stream: ZStream = new zlib.ZStream();
  #ended = false;
  #padding = false;

  #enough = false;

  /** @param out gets what is unpacked, in pieces of at most 64 KiB; after it has returned false nothing more is unpacked. */
  constructor(format: 'GZIP' | 'ZLIB', out: (bytes: Uint8Array) => unknown) {
    this.#several = format === 'GZIP';
    this.#out = out;
    zlib.zlibInflateInit2(this.#stream, this.#several ? WINDOW_BITS + GZIP : WINDOW_BITS);
  }

  /**
   * Unpacks the next piece.
   * @param final whether it is the last.
   * @throws Error when the stream is broken, or ends too early.
   */
  push(bytes: Uint8Array, final: boolean): void {
    if (this.#enough) return;
    const stream = this.#stream;
    stream.input = bytes;
    stream.next_in = 0;
    stream.avail_in = bytes.length;
    for (let more = bytes.length > 0; more; ) {
      if (this.#ended && !this.#next()) return;
      if (stream.avail_out === 0) {
        stream.output = new Uint8Array(PIECE);
        stream.next_out = 0;
        stream.avail_out = PIECE;
      }
      const start = stream.next_out;
      const status = zlib.zlibInflate(stream, SYNC_FLUSH);
      if (stream.next_out > start && this.#out(stream.output.subarray(start, stream.next_out)) === false) {
        this.#enough = true;
        return;
      }
      if (status !== OK && status !== STREAM_END && status !== BUF_ERROR)
        throw new Error(stream.msg || `zlib error ${status}`);
      this.#ended = status === STREAM_END;
      more = stream.avail_in > 0 || (!this.#ended && stream.avail_out === 0);
    }
    if (final && !this.#ended && stream.total_in > 0) throw new Error('unexpected end');
  }

  /** Begins the next member; false where there is none. */
  #next(): boolean {
    const { input, next_in: at } = this.#stream;
    this.#padding ||= !this.#several || input[at] === 0;
    if (this.#padding) return false;
    zlib.zlibInflateReset(this.#stream);
    return true;
  }
}

/**
 * Unpacks deflated data of `size` bytes; allocates no more than those.
 * @throws Error when it is broken, or of more bytes.
 */
export function inflateRaw(packed: Uint8Array, size: number): Uint8Array {
  const stream = new zlib.ZStream();
  stream.input = packed;
  stream.avail_in = packed.length;
  stream.output = new Uint8Array(size);
  stream.avail_out = size;
  zlib.zlibInflateInit2(stream, -WINDOW_BITS);
  if (zlib.zlibInflate(stream, FINISH) !== STREAM_END)
    throw new Error(stream.msg || (stream.avail_out === 0 ? `more than ${size} bytes` : 'unexpected end'));
  return stream.output.subarray(0, stream.next_out);
}
