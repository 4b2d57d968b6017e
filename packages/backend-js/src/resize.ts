import { type Kernel, type KernelName, OutOfRangeError, type TensorRef } from '@eagre/backend';
import { numbers } from './view.ts';

type Round = (x: number) => number;

/** The two pixels around each new one of an axis, and how much the second one counts. */
function placesOf(from: number, to: number, round: Round): { low: number; high: number; share: number }[] {
  const scale = round(from / to);
  const clipped = (place: number): number => Math.max(0, Math.min(place, from - 1));
  return Array.from({ length: to }, (_, i) => {
    const place = round(round(round(i + 0.5) * scale) - 0.5);
    const low = Math.floor(place);
    return { low: clipped(low), high: clipped(Math.ceil(place)), share: round(place - low) };
  });
}

function resizeBilinear(x: TensorRef, y: TensorRef): void {
  const [, h, w, c] = x.shape as readonly [number, number, number, number];
  const [n, height, width] = y.shape as readonly [number, number, number];
  const [from, to] = [numbers(x), numbers(y)];
  const round: Round = x.dtype === 'float32' ? Math.fround : (value) => value;
  const [rows, columns] = [placesOf(h, height, round), placesOf(w, width, round)];
  const mix = (a: number, b: number, share: number): number => round(a + round(round(b - a) * share));
  let at = 0;
  for (let image = 0; image < n; image++)
    for (const row of rows) {
      const [low, high] = [(image * h + row.low) * w * c, (image * h + row.high) * w * c];
      const mixed = (column: number, k: number): number =>
        mix(from[low + column * c + k], from[high + column * c + k], row.share);
      for (const column of columns)
        for (let k = 0; k < c; k++) to[at++] = mix(mixed(column.low, k), mixed(column.high, k), column.share);
    }
}

/** Sums of pixels along the middle axis, each of a span of it. */
function resizeAxis(
  x: TensorRef,
  spans: TensorRef,
  weights: TensorRef,
  y: TensorRef,
  transposed: boolean,
): void {
  const [n, size, c] = x.shape as readonly [number, number, number];
  const [to, k] = weights.shape as readonly [number, number];
  const from = transposed ? (y.shape[1] as number) : size;
  const [pixels, sums, ends, parts] = [numbers(x), numbers(y), numbers(spans), numbers(weights)];
  for (let i = 0; i < to; i++) {
    const [start, end] = [ends[2 * i], ends[2 * i + 1]];
    if (!(start >= 0 && start <= end && end <= from && end - start <= k))
      throw new OutOfRangeError(
        `span ${i} from ${start} to ${end} is not in [0, ${from}] and at most ${k} long`,
      );
  }
  sums.fill(0);
  for (let image = 0; image < n; image++)
    for (let i = 0; i < to; i++) {
      const [start, end] = [ends[2 * i], ends[2 * i + 1]];
      for (let j = start; j < end; j++) {
        const weight = parts[i * k + j - start];
        const [whole, part] = [(image * from + j) * c, (image * to + i) * c];
        const [read, write] = transposed ? [part, whole] : [whole, part];
        for (let channel = 0; channel < c; channel++)
          sums[write + channel] += weight * pixels[read + channel];
      }
    }
}

/** The kernels of images of another size. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  ResizeBilinear: ([x], [y]) => resizeBilinear(x, y),
  ResizeAxis: ([x, spans, weights], [y], { transposed }) =>
    resizeAxis(x, spans, weights, y, transposed as boolean),
};
