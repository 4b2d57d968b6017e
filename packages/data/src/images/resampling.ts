// Pictures of other sizes, as Pillow makes them: the filter is as wide as what becomes one pixel, so that nothing is skipped.
import type { Box } from './picture.ts';

interface Filter {
  /** Where it ends, on both sides. */
  readonly support: number;
  at(x: number): number;
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

type FilterName = 'box' | 'bilinear' | 'hamming' | 'bicubic' | 'lanczos';
const FILTERS: Readonly<Record<FilterName, Filter>> = {
  box: { support: 0.5, at: (x) => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  bilinear: { support: 1, at: (x) => Math.max(0, 1 - Math.abs(x)) },
  hamming: {
    support: 1,
    at: (x) => (Math.abs(x) >= 1 ? 0 : sinc(x) * (0.54 + 0.46 * Math.cos(Math.PI * x))),
  },
  // Keys's cubic with a = -0.5.
  bicubic: {
    support: 2,
    at: (given) => {
      const x = Math.abs(given);
      if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
      return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
    },
  },
  lanczos: { support: 3, at: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};

/** How pixels of another size are found. */
export type Resampling = 'nearest' | FilterName;
/** Their names. */
export const resamplings: readonly Resampling[] = [
  'nearest',
  'box',
  'bilinear',
  'hamming',
  'bicubic',
  'lanczos',
];

/** Bytes, row by row, the values of each pixel together. */
interface Bytes {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** A rectangle of a picture in another size. */
export function resampled(
  { data, width, height }: Bytes,
  channels: number,
  box: Box,
  [outHeight, outWidth]: readonly [number, number],
  how: Resampling,
): Uint8Array {
  const across = { from: width, start: box.left, length: box.width, to: outWidth };
  const down = { from: height, start: box.top, length: box.height, to: outHeight };
  if (how === 'nearest') {
    const [xs, ys] = [nearest(across), nearest(down)];
    const rows = ys.flatMap((y) => xs.map((x) => (y * width + x) * channels));
    return Uint8Array.from({ length: rows.length * channels }, (_, i) => {
      const at = rows[Math.floor(i / channels)];
      return data[at + (i % channels)];
    });
  }
  // Of colours that nobody sees nothing is to appear: they are weighed by how much is seen of them.
  const alpha = channels === 4;
  const seen = alpha ? premultiplied(data) : data;
  // Columns first; then rows, which lie next to each other after an exchange of the two.
  const narrow = along(seen, height, channels, across, FILTERS[how]);
  const turned = exchanged(narrow, height, outWidth, channels);
  const short = along(turned, outWidth, channels, down, FILTERS[how]);
  const out = exchanged(short, outWidth, outHeight, channels);
  return alpha ? divided(out) : out;
}

/** A side of a picture, and what becomes of a part of it. */
interface Side {
  readonly from: number;
  readonly start: number;
  readonly length: number;
  readonly to: number;
}

const nearest = ({ start, length, to }: Side): number[] =>
  Array.from({ length: to }, (_, i) => Math.floor(start + ((i + 0.5) * length) / to));

const BITS = 2 ** 22;

/** Each row in another length. The weights are integers, and sums are rounded to bytes. */
function along(data: Uint8Array, rows: number, channels: number, side: Side, filter: Filter): Uint8Array {
  const { from, start, length, to } = side;
  if (start === 0 && length === from && to === from) return data;
  const scale = length / to;
  const wide = Math.max(1, scale);
  const support = filter.support * wide;
  const out = new Uint8Array(rows * to * channels);
  for (let i = 0; i < to; i++) {
    const centre = start + (i + 0.5) * scale;
    const low = Math.max(0, Math.trunc(centre - support + 0.5));
    const high = Math.min(from, Math.trunc(centre + support + 0.5));
    const raw = Array.from({ length: high - low }, (_, k) => filter.at((low + k - centre + 0.5) / wide));
    const total = raw.reduce((a, b) => a + b, 0) || 1;
    const weights = raw.map((w) => Math.trunc((w / total) * BITS + (w < 0 ? -0.5 : 0.5)));
    for (let row = 0; row < rows; row++) {
      for (let c = 0; c < channels; c++) {
        let sum = BITS / 2;
        const first = (row * from + low) * channels + c;
        for (let k = 0; k < weights.length; k++) sum += weights[k] * data[first + k * channels];
        out[(row * to + i) * channels + c] = Math.max(0, Math.min(255, Math.floor(sum / BITS)));
      }
    }
  }
  return out;
}

function exchanged(data: Uint8Array, rows: number, columns: number, channels: number): Uint8Array {
  const out = new Uint8Array(data.length);
  for (let y = 0; y < rows; y++)
    for (let x = 0; x < columns; x++)
      for (let c = 0; c < channels; c++)
        out[(x * rows + y) * channels + c] = data[(y * columns + x) * channels + c];
  return out;
}

function premultiplied(data: Uint8Array): Uint8Array {
  return data.map((value, i) => {
    if (i % 4 === 3) return value;
    const product = value * data[i - (i % 4) + 3] + 128;
    return ((product >> 8) + product) >> 8;
  });
}
function divided(data: Uint8Array): Uint8Array {
  return data.map((value, i) => {
    const alpha = data[i - (i % 4) + 3];
    return i % 4 === 3 || alpha === 0 || alpha === 255
      ? value
      : Math.min(255, Math.trunc((255 * value) / alpha));
  });
}
