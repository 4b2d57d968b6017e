// What networks for small devices share.
import type { KerasTensor } from '../models/keras-tensor.ts';

/** The nearest multiple of a number of channels, at least one, and not below nine tenths of what was asked for. */
export function divisible(channels: number, divisor = 8): number {
  const nearest = multiple(channels, divisor);
  return nearest < 0.9 * channels ? nearest + divisor : nearest;
}
/** The nearest multiple, at least one. */
export const multiple = (channels: number, divisor = 8): number =>
  Math.max(divisor, Math.floor(Math.trunc(channels + divisor / 2) / divisor) * divisor);

/** The border that makes a convolution with stride 2 halve images as `same` does, but with its windows at the same pixels for all sizes. */
export function halvingPad(
  x: KerasTensor,
  kernelSize: number,
): [[top: number, bottom: number], [left: number, right: number]] {
  const half = Math.floor(kernelSize / 2);
  const [, rows, columns] = x.shape;
  const side = (n: number | null): [number, number] => [
    half - (rows === null || n === null ? 1 : 1 - (n % 2)),
    half,
  ];
  return [side(rows), side(columns)];
}
