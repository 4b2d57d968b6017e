import { Tensor } from '@eagre/core';
import { convert } from '../convert.ts';
import * as helpers from '../internal.ts';
import { toGraph } from '../to-graph.ts';

type AnyFunction = (...args: never[]) => unknown;
/** A function of anything, as tests make them from text. */
export type Plain = (...args: readonly unknown[]) => unknown;

/** A function from its text, unconverted. */
export function plain(text: string, scope: Readonly<Record<string, unknown>> = {}): Plain {
  const make = new Function(...Object.keys(scope), `return (${text});`) as (...values: unknown[]) => Plain;
  return make(...Object.values(scope));
}

/** The same converted. */
export function converted(text: string, scope: Readonly<Record<string, unknown>> = {}): Plain {
  return toGraph(plain(text, scope) as AnyFunction, { scope, filename: 'test' }) as Plain;
}

/** Plain values of tensors in structures. */
export function values(x: unknown): unknown {
  if (x instanceof Tensor) return x.rank === 0 ? x.item() : x.array();
  if (Array.isArray(x)) return x.map(values);
  if (typeof x === 'object' && x !== null)
    return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, values(v)]));
  return x;
}

/**
 * What a converted module exports by `exports`, a list of names in it. Its imports are left out: `tf` and the like come from `scope`.
 */
export function moduleOf(
  source: string,
  exports: string,
  scope: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, Plain>> {
  const { code } = convert(source, { filename: 'user.ts' });
  const text = code.replace(/^import .*$/gm, '').replace(/^export (?=\w)/gm, '');
  const ag = /^import \* as (ag\$+) /m.exec(code)?.[1] ?? 'ag$';
  const make = new Function(ag, ...Object.keys(scope), `'use strict'; ${text}\nreturn { ${exports} };`);
  return make(helpers, ...Object.values(scope)) as Readonly<Record<string, Plain>>;
}
