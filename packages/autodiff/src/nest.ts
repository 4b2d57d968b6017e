import { type CompositeTensor, InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import { isComposite, shown, tree } from '@eagre/core/internal';

/** What a gradient can be taken with respect to. */
export type Source = Tensor | Variable;
/** Sources in arrays, maps and plain objects, to any depth. */
export type Nested<T> =
  | T
  | CompositeTensor
  | readonly Nested<T>[]
  | ReadonlyMap<unknown, Nested<T>>
  | { readonly [key: string]: Nested<T> };

/** The structure of `S` with a gradient in the place of every tensor and variable. */
export type GradientsOf<S, G> = [Nested<Source>] extends [S]
  ? Nested<G>
  : S extends Source
    ? G
    : S extends ReadonlyMap<infer K, infer T>
      ? Map<K, GradientsOf<T, G>>
      : { -readonly [K in keyof S]: GradientsOf<S[K], G> };

export function isSource(value: unknown): value is Source {
  return value instanceof Tensor || value instanceof Variable;
}

const OP = 'GradientTape';

/** The leaves of a structure, in order. */
export function flatten(value: unknown, what: string): Source[] {
  // Ragged and sparse tensors have the gradients of their values.
  const leaves = tree
    .leavesOf(value, OP, tree.wholeComposites)
    .map((leaf) => (isComposite(leaf) ? (leaf.dense ?? leaf.differentiable) : leaf));
  for (const leaf of leaves) {
    if (!isSource(leaf))
      throw new InvalidArgumentError(
        `${what} must be tensors and variables in arrays, maps and plain objects, got ${shown(leaf)}`,
        OP,
      );
  }
  return leaves as Source[];
}

/** The same structure with each leaf replaced by the next of `leaves`. */
export function rebuild(structure: unknown, leaves: readonly unknown[]): unknown {
  return tree.mapLeaves(
    structure,
    OP,
    (leaf, i) => (isComposite(leaf) && leaf.dense === null ? leaf.withDifferentiable(leaves[i]) : leaves[i]),
    tree.wholeComposites,
  );
}
