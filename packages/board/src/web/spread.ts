// Ranges of axes.
import type { PlotData } from './plot.tsx';

/** A range wide enough for its numbers to differ: those above 2^53 have neighbours 2 away. */
export function spread(from: number, to: number): [from: number, to: number] {
  const least = Math.max(Math.abs(from), Math.abs(to)) * 2 ** -40;
  if (to - from > least) return [from, to];
  const margin = Math.max(1, least);
  return [from - margin, to + margin];
}

/** How much is left out at each end. */
const TAIL = 0.05;

/** The range of the values between two places without the most extreme at each end; nulls where there is none. */
export function inlying({ series, log }: PlotData, from: number, to: number): [low: number, high: number] {
  const values: number[] = [];
  for (const { x, y, smoothed } of series)
    for (const [i, v] of (smoothed ?? y).entries())
      if (v !== null && (!log || v > 0) && (x[i] as number) >= from && (x[i] as number) <= to) values.push(v);
  values.sort((a, b) => a - b);
  const end = values.length - 1;
  return [values[Math.floor(end * TAIL)] ?? null, values[Math.ceil(end * (1 - TAIL))] ?? null] as [
    number,
    number,
  ];
}
