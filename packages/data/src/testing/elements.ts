// What the tests of pipelines share.
import { Tensor } from '@eagre/core';
import { type Element, isDataset, mapLeaves } from '../elements/structure.ts';
import type { Dataset } from '../pipeline/dataset.ts';

/** An element as plain values; int64 as numbers. */
export function plain(element: unknown): unknown {
  return mapLeaves(element as Element, (leaf) => {
    if (isDataset(leaf)) return { window: [...leaf].map(plain) };
    return leaf instanceof Tensor ? numbers(leaf.array()) : leaf;
  });
}
function numbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(numbers);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** All elements of a dataset without an asynchronous part, as plain values. */
export function values(dataset: Dataset<unknown>): unknown[] {
  return [...dataset].map(plain);
}
/** The same of any dataset. */
export async function valuesLater(dataset: Dataset<unknown>): Promise<unknown[]> {
  return (await dataset.toArray()).map(plain);
}
