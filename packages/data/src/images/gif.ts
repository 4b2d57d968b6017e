// GIF files, with all of their frames.
import { InvalidArgumentError } from '@eagre/backend';
import { MAX_PIXELS } from './png.ts';

/** Pictures of RGB, one after another. */
export interface Frames {
  readonly width: number;
  readonly height: number;
  /** [frames, height, width, 3] */
  readonly data: Uint8Array;
  readonly count: number;
}

export function isGif(bytes: Uint8Array): boolean {
  return bytes[0] === 0x47 && bytes[1] === 0x49 && bytes[2] === 0x46 && bytes[3] === 0x38;
}

/** Reads a GIF file piece by piece. */
class GifReader {
  readonly #bytes: Uint8Array;
  readonly #what: string;
  #at = 0;

  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes;
    this.#what = what;
  }
  fail(why: string): InvalidArgumentError {
    return new InvalidArgumentError(`damaged GIF file: ${why}`, this.#what);
  }
  byte(): number {
    if (this.#at >= this.#bytes.length) throw this.fail('it ends too early');
    return this.#bytes[this.#at++];
  }
  short(): number {
    const low = this.byte();
    return low | (this.byte() << 8);
  }
  take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) throw this.fail('it ends too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
  /** Blocks up to an empty one. */
  blocks(): Uint8Array {
    const parts: number[] = [];
    for (let size = this.byte(); size > 0; size = this.byte())
      for (const byte of this.take(size)) parts.push(byte);
    return Uint8Array.from(parts);
  }
  /** A table of so many colours as the flags say. */
  colors(flags: number): Uint8Array | null {
    return (flags & 0x80) === 0 ? null : this.take(3 << ((flags & 7) + 1));
  }
}

/**
 * The frames of a GIF file. A frame that does not fill the picture, and transparent pixels, show the frame before, or black.
 * @throws InvalidArgumentError for what is none, and for one that is too large
 */
export function decodeGif(bytes: Uint8Array, what: string): Frames {
  const reader = new GifReader(bytes, what);
  if (!isGif(bytes)) throw reader.fail('it does not begin as one');
  reader.take(6);
  const [width, height] = [reader.short(), reader.short()];
  const flags = reader.byte();
  reader.take(2);
  const shared = reader.colors(flags);
  if (width * height === 0) throw new InvalidArgumentError(`a GIF file of ${width} × ${height} pixels`, what);
  const size = width * height * 3;
  const frames: Uint8Array[] = [];
  let clear = -1;
  for (let kind = reader.byte(); kind !== 0x3b; kind = reader.byte()) {
    if (kind === 0x21) {
      const label = reader.byte();
      const content = reader.blocks();
      if (label === 0xf9 && content.length >= 4) clear = (content[0] & 1) === 1 ? content[3] : -1;
      continue;
    }
    if (kind !== 0x2c) throw reader.fail(`there is no block ${kind}`);
    if (frames.length + 1 > MAX_PIXELS / (width * height))
      throw new InvalidArgumentError(`a GIF file of more than ${MAX_PIXELS} pixels`, what);
    frames.push(frameOf(reader, frames.at(-1) ?? new Uint8Array(size), width, height, shared, clear));
    clear = -1;
  }
  if (frames.length === 0) throw reader.fail('it has no frame');
  const data = new Uint8Array(size * frames.length);
  frames.forEach((frame, i) => {
    data.set(frame, i * size);
  });
  return { width, height, data, count: frames.length };
}

function frameOf(
  reader: GifReader,
  before: Uint8Array,
  width: number,
  height: number,
  shared: Uint8Array | null,
  clear: number,
): Uint8Array {
  const [left, top, w, h] = [reader.short(), reader.short(), reader.short(), reader.short()];
  const flags = reader.byte();
  const colors = reader.colors(flags) ?? shared;
  if (colors === null) throw reader.fail('a frame has no colours');
  if (w * h > MAX_PIXELS) throw reader.fail('a frame is too large');
  const bits = reader.byte();
  if (bits < 1 || bits > 11) throw reader.fail(`codes of ${bits} bits`);
  const indices = unpacked(reader.blocks(), bits, w * h, reader);
  const out = before.slice();
  const rows = (flags & 0x40) === 0 ? null : interlacedRows(h);
  for (let row = 0; row < h; row++) {
    const y = top + (rows === null ? row : rows[row]);
    for (let column = 0; column < w; column++) {
      const x = left + column;
      const index = indices[row * w + column];
      if (y >= height || x >= width || index === clear) continue;
      if (3 * index + 2 >= colors.length) throw reader.fail(`there is no colour ${index}`);
      out.set(colors.subarray(3 * index, 3 * index + 3), 3 * (y * width + x));
    }
  }
  return out;
}

/** Where the rows of an interlaced frame stand. */
function interlacedRows(height: number): number[] {
  const rows: number[] = [];
  for (const [start, step] of [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const)
    for (let y = start; y < height; y += step) rows.push(y);
  return rows;
}

const MOST_CODES = 4096;

/** The values that codes of Lempel, Ziv and Welch stand for. */
function unpacked(bytes: Uint8Array, bits: number, count: number, reader: GifReader): Uint8Array {
  const out = new Uint8Array(count);
  const clear = 1 << bits;
  const prefix = new Uint16Array(MOST_CODES);
  const last = new Uint8Array(MOST_CODES);
  const lengths = new Uint16Array(MOST_CODES);
  for (let i = 0; i < clear; i++) [last[i], lengths[i]] = [i, 1];
  let [size, next, previous, at, bit] = [bits + 1, clear + 2, -1, 0, 0];
  while (at < count) {
    if (bit + size > bytes.length * 8) throw reader.fail('a frame ends too early');
    let code = 0;
    for (let i = 0; i < size; i++, bit++) code |= ((bytes[bit >> 3] >> (bit & 7)) & 1) << i;
    if (code === clear) {
      [size, next, previous] = [bits + 1, clear + 2, -1];
      continue;
    }
    if (code === clear + 1) throw reader.fail('a frame ends too early');
    if (code > next || (code === next && previous < 0) || (code >= clear && code < clear + 2))
      throw reader.fail(`there is no code ${code}`);
    const source = code === next ? previous : code;
    const length = lengths[source];
    let value = source;
    for (let i = length - 1; i >= 0; i--) {
      if (at + i < count) out[at + i] = last[value];
      if (i > 0) value = prefix[value];
    }
    const first = last[value];
    if (code === next && at + length < count) out[at + length] = first;
    at += code === next ? length + 1 : length;
    if (previous >= 0 && next < MOST_CODES) {
      prefix[next] = previous;
      last[next] = first;
      lengths[next] = lengths[previous] + 1;
      next++;
      if (next === 1 << size && size < 12) size++;
    }
    previous = code;
  }
  return out;
}
