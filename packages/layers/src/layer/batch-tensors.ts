// What models take and give for a batch: one tensor, a list, or tensors by name.
import { Tensor } from '@eagre/core';
import { tree } from '@eagre/core/internal';

/** Of a model of several inputs or outputs, a list, or tensors by name. */
export type Tensors = Tensor | readonly Tensor[] | Readonly<Record<string, Tensor>>;

/** The same structure of what `fn` makes of each tensor. */
export function mapTensors<T>(given: Tensors, fn: (t: Tensor) => T): T | readonly T[] | Record<string, T> {
  return tree.mapLeaves(given, 'fit', (t) => fn(t as Tensor), tree.wholeComposites) as
    | T
    | readonly T[]
    | Record<string, T>;
}

/** One tensor or several as a list. */
export function flat(given: Tensors | undefined): readonly Tensor[] {
  if (given === undefined || given === null) return [];
  return given instanceof Tensor ? [given] : (tree.leavesOf(given, 'fit', tree.wholeComposites) as Tensor[]);
}
