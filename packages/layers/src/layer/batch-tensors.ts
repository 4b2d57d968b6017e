// What models take and give for a batch: one tensor, a list, tensors by name, or such in each other.
import { Tensor } from '@eagre/core';
import { tree } from '@eagre/core/internal';

/** Of a model of several inputs or outputs, a list, tensors by name, or such in each other. */
export type Tensors = Tensor | readonly Tensors[] | { readonly [name: string]: Tensors };

/** The same structure of what `fn` makes of each tensor. Null, where an output has no target, stays. */
export function mapTensors<T>(given: Tensors, fn: (t: Tensor) => T): T | readonly T[] | Record<string, T> {
  const change = (t: unknown): unknown => (t === null ? null : fn(t as Tensor));
  return tree.mapLeaves(given, 'fit', change, tree.wholeComposites) as T | readonly T[] | Record<string, T>;
}

/** One tensor or several as a list. */
export function flat(given: Tensors | undefined): readonly Tensor[] {
  if (given === undefined || given === null) return [];
  if (given instanceof Tensor) return [given];
  return tree.leavesOf(given, 'fit', tree.wholeComposites).filter((t) => t !== null) as Tensor[];
}
