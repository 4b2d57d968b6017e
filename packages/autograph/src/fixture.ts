import { Tensor } from '@eagre/core';
import { toGraph } from './to-graph.ts';

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
