import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { constant } from '@eagre/core';
import { describe, expect, it } from 'vitest';

interface Case {
  readonly dtype: 'float32' | 'float64' | 'int32' | 'int64' | 'uint8';
  readonly shape: readonly number[];
  readonly values?: readonly (number | string)[];
  readonly offset?: number;
  readonly scale?: number;
  readonly text: string;
}
const golden = JSON.parse(readFileSync(new URL('../../golden/printing.json', import.meta.url), 'utf8')) as {
  cases: readonly Case[];
};
const special: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, '-inf': -Infinity };

function valuesOf({ shape, values, offset = 0, scale = 1 }: Case): number[] {
  if (values !== undefined) return values.map((v) => (typeof v === 'string' ? (special[v] as number) : v));
  const size = shape.reduce((a, b) => a * b, 1);
  return Array.from({ length: size }, (_, i) => (i - offset) * scale);
}

describe('values are printed as by NumPy', () => {
  it.each(golden.cases.map((c) => [`${c.dtype} [${c.shape}] ${c.text.slice(0, 40)}`, c] as const))(
    '%s',
    (_, c) => {
      expect(String(constant(valuesOf(c), c.dtype, { shape: c.shape }))).toBe(c.text);
    },
  );
});
