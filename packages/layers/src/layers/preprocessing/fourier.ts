// What spectrograms share: windows, and the matrices of Fourier transforms of windowed frames.
import type { Option } from '@eagre/core/internal';
import type { Layer } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { fail } from '../common.ts';

/** A window by its name, or a factor for each place of a frame. */
export type Window = 'hann' | 'hamming' | readonly number[];

// a of the window a − (1 − a) · cos.
const shares: Readonly<Record<string, number>> = { hann: 0.5, hamming: 0.54 };

export const window: Option<Window | null> = {
  read: (given, name, layer) => {
    if (given === null) return null;
    const value = given ?? 'hann';
    if (typeof value === 'string' && Object.hasOwn(shares, value)) return value as Window;
    if (!Array.isArray(value) || !value.every((v) => typeof v === 'number'))
      return fail(layer as Layer, `needs ${name} 'hann', 'hamming' or a list of numbers, got ${show(value)}`);
    return value as readonly number[];
  },
};

// Numbers of a matrix of ours: 1 GB of doubles, which takes seconds to fill.
const MOST = 2 ** 27;
/** @param sizes the options that decide how large a matrix is. @throws InvalidArgumentError for one that is larger than this package fills */
export function checkMatrix(layer: Layer, rows: number, columns: number, sizes: string): void {
  if (rows * columns > MOST)
    fail(
      layer,
      `needs a smaller ${sizes}: its matrix would have ${rows} · ${columns} numbers, and may have ${MOST}`,
    );
}

/** The factors of a window. @param periodic whether the first would come again behind the last. */
export function factorsOf(
  layer: Layer,
  given: Window | null,
  length: number,
  periodic: boolean,
): readonly number[] {
  if (given === null) return new Array<number>(length).fill(1);
  if (typeof given !== 'string') {
    if (given.length !== length)
      fail(layer, `needs a window as long as its frames, ${length}, got ${given.length} numbers`);
    return given;
  }
  const a = shares[given] as number;
  const period = periodic ? length : length - 1;
  return Array.from({ length }, (_, i) =>
    length === 1 ? 1 : a - (1 - a) * Math.cos((2 * Math.PI * i) / period),
  );
}

/** The real or the imaginary part of exp(−2πi · t · f / period), times a factor for each t: [factors, bins], row after row. */
export function fourier(
  side: 'real' | 'imag',
  factors: readonly number[],
  bins: number,
  period: number,
): Float64Array {
  const angle = (i: number): number => (2 * Math.PI * i) / period;
  const wave = Float64Array.from({ length: period }, (_, i) =>
    side === 'real' ? Math.cos(angle(i)) : -Math.sin(angle(i)),
  );
  const all = new Float64Array(factors.length * bins);
  factors.forEach((factor, t) => {
    for (let f = 0; f < bins; f++) all[t * bins + f] = factor * (wave[(t * f) % period] as number);
  });
  return all;
}
