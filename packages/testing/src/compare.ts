import { dtypeTraits } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { hostValues } from '@eagre/core/internal';

/** Distance of two numbers in steps of their dtype at the size of the larger one of `expected` and `scale`. */
function distance(got: number, expected: number, scale: number, unit: number): number {
  if (Object.is(got, expected) || got === expected) return 0;
  if (Number.isNaN(got) && Number.isNaN(expected)) return 0;
  const size = Math.max(Math.abs(expected), scale, 1e-30);
  return Math.abs(got - expected) / (size * unit);
}

/**
 * The largest distance between two tensors in units in the last place; sums may cancel, so small elements are measured
 * against a thousandth of the largest one.
 */
export function maxUlp(got: Tensor, expected: Tensor): number {
  const a = hostValues(got);
  const b = hostValues(expected);
  const unit = 2 ** (1 - dtypeTraits[got.dtype].digits);
  let scale = 0;
  for (let i = 0; i < b.length; i++) {
    const v = Math.abs(Number(b[i]));
    if (Number.isFinite(v) && v > scale) scale = v;
  }
  let max = 0;
  for (let i = 0; i < a.length; i++) {
    const d = distance(Number(a[i]), Number(b[i]), scale / 1000, unit);
    if (!(d <= max)) max = d;
  }
  return max;
}
