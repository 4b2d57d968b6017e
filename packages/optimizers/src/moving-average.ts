import { equal, mod, type Scalar, select, sub } from './scalars.ts';

/** What an optimizer remembers of its variables' values over time. */
export interface MovingAverage {
  /** How much of the average stays at each step. */
  readonly momentum: number;
  /** After every that many steps the variables become their averages; null: never. */
  readonly overwriteFrequency: number | null;
}

/** The numbers of a step, from 1 on: shares of the old average and of the value, and whether (1) the variables become averages. */
export function averaging(
  { momentum, overwriteFrequency }: MovingAverage,
  step: Scalar,
): { readonly keep: Scalar; readonly take: Scalar; readonly overwrite: Scalar } {
  // The first value is the first average.
  const keep = select(equal(step, 1), 0, momentum);
  const overwrite = overwriteFrequency === null ? 0 : select(equal(mod(step, overwriteFrequency), 0), 1, 0);
  return { keep, take: sub(1, keep), overwrite };
}
