import { InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import { checkLevel, isPlain, shown } from '@eagre/core/internal';

/** What a gradient can be taken with respect to. */
export type Source = Tensor | Variable;
/** Sources in arrays and plain objects, to any depth. */
export type Nested<T> = T | readonly Nested<T>[] | { readonly [key: string]: Nested<T> };

/** The structure of `S` with a gradient in the place of every tensor and variable. */
export type GradientsOf<S, G> = [Nested<Source>] extends [S]
  ? Nested<G>
  : S extends Source
    ? G
    : S extends readonly unknown[]
      ? { -readonly [K in keyof S]: GradientsOf<S[K], G> }
      : { -readonly [K in keyof S]: GradientsOf<S[K], G> };

export function isSource(value: unknown): value is Source {
  return value instanceof Tensor || value instanceof Variable;
}

/** The leaves of a structure, in order. */
export function flatten(value: unknown, what: string): Source[] {
  const out: Source[] = [];
  const visit = (v: unknown, level: number): void => {
    checkLevel(level, 'GradientTape');
    if (isSource(v)) out.push(v);
    else if (Array.isArray(v)) for (const item of v) visit(item, level + 1);
    else if (isPlain(v)) for (const item of Object.values(v)) visit(item, level + 1);
    else {
      throw new InvalidArgumentError(
        `${what} must be tensors and variables in arrays and plain objects, got ${shown(v)}`,
        'GradientTape',
      );
    }
  };
  visit(value, 0);
  return out;
}

/** The same structure with each leaf replaced by the next of `leaves`. */
export function rebuild<T>(structure: unknown, leaves: readonly T[]): unknown {
  let next = 0;
  const visit = (v: unknown): unknown => {
    if (isSource(v)) return leaves[next++];
    if (Array.isArray(v)) return v.map(visit);
    return Object.fromEntries(Object.entries(v as object).map(([key, item]) => [key, visit(item)]));
  };
  return visit(structure);
}
