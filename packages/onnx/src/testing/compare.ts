/** For tests: compares what a model gives with what it has to give. */
import type { Tensor } from '@eagre/core';

const numbers = (x: Tensor): number[] => Array.from(x.cast('float64').data() as Float64Array);

/** What differs, in words; undefined where nothing does. */
export function difference(got: Tensor, wanted: Tensor, rtol: number, atol: number): string | undefined {
  if (got.dtype !== wanted.dtype) return `dtype ${got.dtype}, expected ${wanted.dtype}`;
  if (String(got.shape) !== String(wanted.shape)) return `shape [${got.shape}], expected [${wanted.shape}]`;
  if (got.dtype === 'string')
    return got.strings().join('\n') === wanted.strings().join('\n')
      ? undefined
      : `${got.strings()}, expected ${wanted.strings()}`;
  const [a, b] = [numbers(got), numbers(wanted)];
  const at = a.findIndex((v, i) => !near(v, b[i] as number, rtol, atol));
  return at < 0 ? undefined : `${a[at]} at ${at}, expected ${b[at]}`;
}

function near(a: number, b: number, rtol: number, atol: number): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return a === b || Math.abs(a - b) <= atol + rtol * Math.abs(b);
}
