// tf.strings against TensorFlow.
import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { EagreError } from '@eagre/backend';
import { describe, expect, test } from 'vitest';
import * as strings from './strings.ts';
import { constant } from './tensor/constant.ts';
import { Tensor } from './tensor/tensor.ts';

interface Values {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly values: readonly unknown[];
}
interface Case {
  readonly op: keyof typeof strings;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: string;
}
const golden = JSON.parse(readFileSync(new URL('../golden/strings.json', import.meta.url), 'utf8')) as {
  readonly scripts: readonly (readonly [number, number])[];
  readonly cases: readonly Case[];
};

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && 'shape' in value;
const value = (v: unknown): unknown => {
  if (Array.isArray(v)) return { re: v[0], im: v[1] };
  if (typeof v !== 'object') return v;
  const { big, float } = v as { big?: string; float?: string };
  return big === undefined
    ? float === undefined
      ? v
      : Number(float.replace('inf', 'Infinity'))
    : BigInt(big);
};
function decoded(arg: unknown): unknown {
  if (isValues(arg)) {
    const wide = arg.dtype === 'int64' || arg.dtype === 'uint64';
    const values = arg.values.map(value).map((v) => (wide ? BigInt(v as number) : v));
    return constant(values as never, arg.dtype as never, { shape: arg.shape });
  }
  return Array.isArray(arg) && arg.some(isValues) ? arg.map(decoded) : arg;
}

function shown(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(shown);
  const plain = (v: unknown): unknown => {
    if (Array.isArray(v)) return v.map(plain);
    if (typeof v === 'bigint') return Number.isSafeInteger(Number(v)) ? Number(v) : { big: String(v) };
    if (typeof v !== 'number' || Number.isFinite(v)) return v;
    return { float: String(v).replace('Infinity', 'inf').replace('NaN', 'nan') };
  };
  if (!(result instanceof Tensor)) {
    const ragged = result as { toList(): unknown; dtype: string };
    return { ragged: plain(ragged.toList()), dtype: ragged.dtype };
  }
  const { dtype, shape } = result;
  const values = dtype === 'string' ? result.strings() : Array.from(result.data() as ArrayLike<unknown>);
  return { dtype, shape, values: plain(dtype === 'bool' ? values.map(Boolean) : values) };
}

const groups = new Map<string, Case[]>();
for (const c of golden.cases.filter(({ op }) => op in strings))
  groups.set(c.op, [...(groups.get(c.op) ?? []), c]);

describe.each([...groups])('%s', (op, cases) => {
  test('gives what TensorFlow gives', () => {
    const different: unknown[] = [];
    for (const { args, result, error } of cases) {
      let got: unknown;
      try {
        const given = Object.fromEntries(Object.entries(args).map(([key, arg]) => [key, decoded(arg)]));
        got = shown((strings[op as keyof typeof strings] as (args: unknown) => unknown)(given));
      } catch (fault) {
        if (error !== undefined && fault instanceof EagreError) continue;
        got = fault;
      }
      if (error !== undefined || !isDeepStrictEqual(got, result))
        different.push({ args, got, wanted: error ?? result });
    }
    expect(different).toEqual([]);
  });
});
