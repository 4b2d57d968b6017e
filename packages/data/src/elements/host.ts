// Elements as values of the host.
import { Tensor } from '@eagre/core';
import { type Element, mapLeaves } from './structure.ts';

/** `{ data, shape, dtype }` for each tensor, a list for each dataset. */
export function toHost(element: Element): unknown {
  return mapLeaves(element, (leaf) =>
    leaf instanceof Tensor
      ? leaf.dtype === 'string'
        ? { data: leaf.strings(), shape: leaf.shape, dtype: leaf.dtype }
        : leaf.ndarray()
      : [...leaf.asHostIterator()],
  );
}
