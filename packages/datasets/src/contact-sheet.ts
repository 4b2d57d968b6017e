import { InvalidArgumentError } from '@eagre/backend';
import { callCodecs, openCodecs } from '@eagre/backend-wasm/codecs';
import { defineFunction, type NamedFunction, shown } from '@eagre/core/internal';
import type { NDArray } from '@eagre/formats';
import { checkArray } from './kinds.ts';

/** How pictures are laid out. */
export interface ContactSheetOptions {
  /** How many of them, from the first. Default: 64, or all if there are fewer. */
  count?: number | undefined;
  /** How many in a row. Default: as many as make the sheet about square. */
  columns?: number | undefined;
  /** Every pixel becomes a square of so many. Default: 1. */
  scale?: number | undefined;
  /** Pixels between pictures. Default: 2. */
  gap?: number | undefined;
}

/** Colour pixels, 3 bytes each. */
interface Sheet {
  width: number;
  height: number;
  data: Uint8Array;
}

const sheetOptions = { count: true, columns: true, scale: true, gap: true } as const;

const BACKGROUND = 0x80;
const MAX_PIXELS = 2 ** 26;

/**
 * Pictures side by side as a PNG file. `images` is [count, height, width] or [count, height, width, 1 or 3]: uint8 from 0
 * to 255, or floats from 0 to 1 (what is beyond is cut).
 *
 * @throws InvalidArgumentError for another shape or dtype, a wrong option, or a sheet of more than 2^26 pixels.
 */
export const contactSheet: NamedFunction<
  [images: NDArray],
  ['images'],
  ContactSheetOptions,
  Promise<Uint8Array>
> = defineFunction(
  'tf.keras.datasets.contactSheet',
  { images: true },
  sheetOptions,
  async (images, options) => {
    const op = 'tf.keras.datasets.contactSheet';
    const { width, height, data } = layOut(images, options, op);
    await openCodecs();
    return callCodecs(op, (codecs) => codecs.encodePng(data, height, width, 3, -1));
  },
);

/**
 * Pictures side by side as text for a terminal with colours: two pixels per character, one above the other.
 *
 * @throws as {@link contactSheet}.
 */
export const contactSheetText: NamedFunction<[images: NDArray], ['images'], ContactSheetOptions, string> =
  defineFunction('tf.keras.datasets.contactSheetText', { images: true }, sheetOptions, textOf);

function textOf(images: NDArray, options: ContactSheetOptions): string {
  const { width, height, data } = layOut(images, options, 'tf.keras.datasets.contactSheetText');
  // Below the last row is the terminal's own background.
  const colour = (layer: 38 | 48, x: number, y: number): string =>
    y < height ? `${layer};2;${data.subarray((y * width + x) * 3, (y * width + x) * 3 + 3).join(';')}` : '49';
  let text = '';
  for (let y = 0; y < height; y += 2) {
    for (let x = 0; x < width; x++) text += `\x1b[${colour(38, x, y)}m\x1b[${colour(48, x, y + 1)}m▀`;
    text += '\x1b[0m\n';
  }
  return text;
}

function layOut(images: NDArray, options: ContactSheetOptions, op: string): Sheet {
  checkArray(images, 'images', op);
  const [available = 0, height = 0, width = 0, channels = 1] = images.shape;
  const { count = Math.min(64, available), scale = 1, gap = 2 } = options;
  if (images.shape.length < 3 || images.shape.length > 4 || (channels !== 1 && channels !== 3))
    throw new InvalidArgumentError(
      `expected images of shape [count, height, width] or [count, height, width, 1 or 3], got [${images.shape}]`,
      op,
    );
  if (!['uint8', 'float32', 'float64'].includes(images.dtype))
    throw new InvalidArgumentError(`expected uint8, float32 or float64, got ${images.dtype}`, op);
  const columns = options.columns ?? Math.max(1, Math.ceil(Math.sqrt(count)));
  within('count', count, 1, available, op);
  within('columns', columns, 1, MAX_PIXELS, op);
  within('scale', scale, 1, 64, op);
  within('gap', gap, 0, 1024, op);

  const used = Math.min(columns, count);
  const rows = Math.ceil(count / columns);
  const sheet = {
    width: used * width * scale + (used - 1) * gap,
    height: rows * height * scale + (rows - 1) * gap,
  };
  within("the sheet's pixels", sheet.width * sheet.height, 1, MAX_PIXELS, op);
  const data = new Uint8Array(sheet.width * sheet.height * 3).fill(BACKGROUND);
  const isBytes = images.dtype === 'uint8';
  for (let i = 0; i < count; i++) {
    const left = (i % columns) * (width * scale + gap);
    const top = Math.floor(i / columns) * (height * scale + gap);
    for (let y = 0; y < height * scale; y++) {
      for (let x = 0; x < width * scale; x++) {
        const from = ((i * height + Math.floor(y / scale)) * width + Math.floor(x / scale)) * channels;
        const to = ((top + y) * sheet.width + left + x) * 3;
        for (let c = 0; c < 3; c++) {
          const value = Number(images.data[from + (channels === 3 ? c : 0)]);
          data[to + c] = isBytes ? value : Math.round(Math.min(Math.max(value, 0), 1) * 255);
        }
      }
    }
  }
  return { ...sheet, data };
}

function within(name: string, value: number, least: number, most: number, op: string): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new InvalidArgumentError(
    `${name} must be an integer from ${least} to ${most}, got ${shown(value)}`,
    op,
  );
}
