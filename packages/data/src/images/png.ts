// PNG files (ISO/IEC 15948), read and written at once: by the addon, or without it, as in browsers, by what is here.
import { InvalidArgumentError } from '@eagre/backend';
import { deflateBytes, Inflater } from '@eagre/formats';
import { crc32 } from '@eagre/formats/internal';
import { codecs, guarded } from './codecs.ts';

/** The values of a picture of 8 or 16 bits, row by row, the values of each pixel together. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  /** Grey, grey and alpha, RGB, or RGBA. */
  readonly channels: 1 | 2 | 3 | 4;
  readonly depth: 8 | 16;
  readonly data: Uint8Array | Uint16Array;
}

/** A PNG file as it is stored. */
interface PngFile {
  readonly width: number;
  readonly height: number;
  /** Bits of a value. */
  readonly depth: number;
  readonly color: PngColor;
  readonly palette: Uint8Array | null;
  readonly transparency: Uint8Array | null;
  /** A value for each channel of each pixel. */
  readonly values: Uint16Array;
}
type PngColor = 0 | 2 | 3 | 4 | 6;

export const MAX_PIXELS: number = 2 ** 27;
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS: Readonly<Record<PngColor, 1 | 2 | 3 | 4>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const DEPTHS: Readonly<Record<PngColor, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
// The first pixel and the steps of the seven passes of an interlaced picture.
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

export function isPng(bytes: Uint8Array): boolean {
  return SIGNATURE.every((byte, i) => bytes[i] === byte);
}

/** @throws InvalidArgumentError for what is no PNG file, or a damaged one. */
function readPng(bytes: Uint8Array, what: string): PngFile {
  const fail = (why: string): InvalidArgumentError =>
    new InvalidArgumentError(`damaged PNG file: ${why}`, what);
  if (!isPng(bytes)) throw fail('it does not begin as one');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const data: Uint8Array[] = [];
  let header: DataView | null = null;
  let palette: Uint8Array | null = null;
  let transparency: Uint8Array | null = null;
  let ended = false;
  for (let at = 8; !ended; ) {
    if (at + 12 > bytes.length) throw fail('it ends too early');
    const size = view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const end = at + 8 + size;
    if (end + 4 > bytes.length) throw fail(`the chunk ${name} ends too early`);
    const content = bytes.subarray(at + 8, end);
    const isKnown = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'].includes(name);
    if (isKnown && crc32(bytes.subarray(at + 4, end)) !== view.getUint32(end))
      throw fail(`the checksum of the chunk ${name} is wrong`);
    if (name === 'IHDR' && size === 13) header = new DataView(content.buffer, content.byteOffset, 13);
    else if (name === 'PLTE') palette = content;
    else if (name === 'tRNS') transparency = content;
    else if (name === 'IDAT') data.push(content);
    else if (name === 'IEND') ended = true;
    else if (!isKnown && (bytes[at + 4] & 0x20) === 0) throw fail(`the chunk ${name} is not known`);
    at = end + 4;
  }
  if (header === null) throw fail('it has no header');
  const [width, height] = [header.getUint32(0), header.getUint32(4)];
  const [depth, color] = [header.getUint8(8), header.getUint8(9) as PngColor];
  if (!DEPTHS[color]?.includes(depth) || header.getUint8(10) !== 0 || header.getUint8(11) !== 0)
    throw fail(`colours of the type ${color} do not have ${depth} bits`);
  // The decoder allocates by the header.
  if (width * height === 0 || width * height > MAX_PIXELS)
    throw new InvalidArgumentError(
      `a PNG file of ${width} × ${height} pixels; expected 1 to ${MAX_PIXELS}`,
      what,
    );
  if (color === 3 && palette === null) throw fail('it has no palette');
  const interlaced = header.getUint8(12) === 1;
  const channels = CHANNELS[color];
  const bits = channels * depth;
  const passes = interlaced ? PASSES : ([[0, 0, 1, 1]] as const);
  const parts = passes
    .map(([x, y, dx, dy]) => ({
      x,
      y,
      dx,
      dy,
      w: Math.ceil((width - x) / dx),
      h: Math.ceil((height - y) / dy),
    }))
    .filter(({ w, h }) => w > 0 && h > 0);
  const total = parts.reduce((n, { w, h }) => n + h * (1 + Math.ceil((w * bits) / 8)), 0);
  const raw = inflated(data, total, fail);
  const values = new Uint16Array(width * height * channels);
  let at = 0;
  for (const { x, y, dx, dy, w, h } of parts) {
    const rowBytes = Math.ceil((w * bits) / 8);
    unfilter(raw.subarray(at, at + h * (rowBytes + 1)), rowBytes, h, Math.max(1, bits >> 3), fail);
    for (let row = 0; row < h; row++) {
      const start = at + row * (rowBytes + 1) + 1;
      for (let i = 0; i < w * channels; i++) {
        const pixel = (y + row * dy) * width + x + Math.floor(i / channels) * dx;
        values[pixel * channels + (i % channels)] = valueAt(raw, start, i, depth);
      }
    }
    at += h * (rowBytes + 1);
  }
  return { width, height, depth, color, palette, transparency, values };
}

function valueAt(raw: Uint8Array, start: number, i: number, depth: number): number {
  if (depth === 8) return raw[start + i];
  if (depth === 16) return (raw[start + 2 * i] << 8) | raw[start + 2 * i + 1];
  const bit = i * depth;
  return (raw[start + (bit >> 3)] >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
}

/** What the data unpack to: so many bytes. What follows does not matter. */
function inflated(data: readonly Uint8Array[], size: number, fail: (why: string) => Error): Uint8Array {
  const out = new Uint8Array(size);
  let at = 0;
  const inflater = new Inflater('ZLIB', (piece) => {
    const part = piece.subarray(0, size - at);
    out.set(part, at);
    at += part.length;
    return at < size;
  });
  try {
    for (const part of data) inflater.push(part, false);
  } catch (cause) {
    throw fail((cause as Error).message);
  }
  if (at < size) throw fail('it has too little data');
  return out;
}

/** Undoes the filters of rows, each of which begins with the kind of its filter. */
function unfilter(
  rows: Uint8Array,
  rowBytes: number,
  height: number,
  step: number,
  fail: (why: string) => Error,
): void {
  for (let row = 0; row < height; row++) {
    const start = row * (rowBytes + 1);
    const kind = rows[start];
    if (kind > 4) throw fail(`there is no filter ${kind}`);
    for (let i = 1; kind > 0 && i <= rowBytes; i++) {
      const left = i > step ? rows[start + i - step] : 0;
      const up = row > 0 ? rows[start + i - rowBytes - 1] : 0;
      const corner = row > 0 && i > step ? rows[start + i - step - rowBytes - 1] : 0;
      const guess = [0, left, up, (left + up) >> 1, kind === 4 ? paeth(left, up, corner) : 0][kind];
      rows[start + i] += guess;
    }
  }
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** How a PNG file is to be given. */
export interface PngWishes {
  /** How many; as many as there are for 0. */
  readonly channels: 0 | 1 | 2 | 3 | 4;
  /** Bits of a value; 8 of those of 16 bits are their upper half. */
  readonly depth: 8 | 16;
}

/**
 * The picture in a PNG file, converted as TensorFlow does: with libpng's weights for grey, and opaque where it has no transparency.
 * @throws InvalidArgumentError for what is none, and for one that is too large
 */
export function decodePng(bytes: Uint8Array, wishes: PngWishes, what: string): Raster {
  const native = codecs();
  if (native === undefined) return decodedHere(bytes, wishes, what);
  const data = guarded(what, () => native.decodePng(bytes, wishes.channels, wishes.depth, shape));
  return {
    height: shape[0],
    width: shape[1],
    channels: shape[2] as 1 | 2 | 3 | 4,
    depth: wishes.depth,
    data,
  };
}
const shape = new Int32Array(3);

function decodedHere(bytes: Uint8Array, wishes: PngWishes, what: string): Raster {
  const file = readPng(bytes, what);
  const { width, height, color, transparency } = file;
  const stored = color === 3 ? (transparency === null ? 3 : 4) : CHANNELS[color];
  const channels = wishes.channels === 0 ? stored : wishes.channels;
  const n = width * height;
  const data = wishes.depth === 16 ? new Uint16Array(n * channels) : new Uint8Array(n * channels);
  const pixel = new Uint16Array(4);
  const top = file.depth === 16 ? 0xffff : 0xff;
  const shift = file.depth === 16 && wishes.depth === 8 ? 8 : 0;
  // Values of 8 bits fill 16 by standing there twice.
  const scale = file.depth < 16 && wishes.depth === 16 ? 257 : 1;
  for (let i = 0; i < n; i++) {
    readPixel(file, i, pixel, top);
    const from = i * channels;
    const [r, g, b, alpha] = pixel;
    if (channels < 3) data[from] = (grey(r, g, b, top) >> shift) * scale;
    else {
      data[from] = (r >> shift) * scale;
      data[from + 1] = (g >> shift) * scale;
      data[from + 2] = (b >> shift) * scale;
    }
    if (channels % 2 === 0) data[from + channels - 1] = (alpha >> shift) * scale;
  }
  return { width, height, channels, depth: wishes.depth, data };
}

/** The colours and the alpha of a pixel, of 8 or 16 bits. */
function readPixel(file: PngFile, i: number, out: Uint16Array, top: number): void {
  const { color, values, depth, palette, transparency } = file;
  const channels = CHANNELS[color];
  const at = i * channels;
  if (color === 3) {
    const index = values[at];
    for (let c = 0; c < 3; c++) out[c] = palette?.[3 * index + c] ?? 0;
    out[3] = transparency === null ? 2 ** depth - 1 : (transparency[index] ?? 0xff);
    return;
  }
  // Grey of few bits fills 8.
  const scale = depth < 8 ? 0xff / ((1 << depth) - 1) : 1;
  for (let c = 0; c < 3; c++) out[c] = values[channels < 3 ? at : at + c] * scale;
  // As in TensorFlow, also of few bits, which is not opaque.
  out[3] = transparency === null ? 2 ** depth - 1 : top;
  if (channels % 2 === 0) out[3] = values[at + channels - 1];
  else if (transparency !== null) {
    const isClear = Array.from({ length: channels }, (_, c) => c).every(
      (c) => values[at + c] === ((transparency[2 * c] << 8) | transparency[2 * c + 1]),
    );
    if (isClear) out[3] = 0;
  }
}

// libpng's weights, in parts of 32768.
const [RED, GREEN] = [9797, 19234];
const BLUE = 32768 - RED - GREEN;

function grey(r: number, g: number, b: number, top: number): number {
  if (r === g && g === b) return r;
  const sum = RED * r + GREEN * g + BLUE * b;
  return Math.floor((top === 0xff ? sum : sum + 16384) / 32768);
}

/** The bytes of a PNG file. @param level of compression, from 0 to 9; -1 is the compressor's own choice */
export function encodePng(raster: Raster, level: number = -1): Uint8Array {
  const native = codecs();
  if (native === undefined) return encodedHere(raster, level);
  const { width, height, channels, data } = raster;
  return guarded('EncodePng', () => native.encodePng(data, height, width, channels, level));
}

function encodedHere({ width, height, channels, depth, data }: Raster, level: number): Uint8Array {
  const rowBytes = width * channels * (depth / 8);
  const raw = new Uint8Array(height * (rowBytes + 1));
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1) + 1;
    const row = data.subarray(y * width * channels, (y + 1) * width * channels);
    if (depth === 8) raw.set(row, start);
    else
      row.forEach((value, i) => {
        raw[start + 2 * i] = value >> 8;
        raw[start + 2 * i + 1] = value & 0xff;
      });
  }
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, depth);
  header.setUint8(9, [0, 4, 2, 6][channels - 1]);
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('IDAT', deflateBytes(filterRows(raw, rowBytes, height, (channels * depth) / 8), 'ZLIB', level)),
    chunk('IEND', new Uint8Array(0)),
  ];
  const out = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Rows as differences to the values at the left: most pictures become smaller by it. */
function filterRows(raw: Uint8Array, rowBytes: number, height: number, step: number): Uint8Array {
  const out = new Uint8Array(raw.length);
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1);
    out[start] = 1;
    for (let i = 1; i <= rowBytes; i++)
      out[start + i] = raw[start + i] - (i > step ? raw[start + i - step] : 0);
  }
  return out;
}

function chunk(name: string, content: Uint8Array): Uint8Array {
  const out = new Uint8Array(content.length + 12);
  const view = new DataView(out.buffer);
  view.setUint32(0, content.length);
  for (let i = 0; i < 4; i++) out[4 + i] = name.charCodeAt(i);
  out.set(content, 8);
  view.setUint32(8 + content.length, crc32(out.subarray(4, 8 + content.length)));
  return out;
}
