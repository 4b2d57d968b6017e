// Complex numbers as JavaScript values.
import type { TypedArray } from '@eagre/backend';

/** A complex number: `tf.constant({ re: 1, im: -2 })`. */
export interface Complex {
  /** The real part. */
  readonly re: number;
  /** The imaginary part. */
  readonly im: number;
}

/** @internal Whether a value is a complex number. */
export function isComplexNumber(value: unknown): value is Complex {
  if (typeof value !== 'object' || value === null || !('re' in value && 'im' in value)) return false;
  return typeof value.re === 'number' && typeof value.im === 'number';
}

/** @internal The complex number at a place among parts. */
export function complexAt(parts: TypedArray, at: number): Complex {
  return { re: parts[2 * at] as number, im: parts[2 * at + 1] as number };
}

/** @internal 1-2j, each part as `part` shows it. */
export function complexText({ re, im }: Complex, part: (value: number) => string): string {
  const second = part(im);
  return `${part(re)}${second.startsWith('-') ? '' : '+'}${second}j`;
}
