import type { Tensor } from '@eagre/core';
import { hasUnknownSizes, unknownSizes, viewOf } from '@eagre/core/internal';
import type { GraphNode } from './graph.ts';
import { SMALLEST_STAND_IN } from './stand-ins.ts';

/**
 * Whether what a node gives may depend on sizes that are not known yet, though it depends on no argument: the gradient of a mean is
 * divided by a count. False where all sizes are known.
 */
export function dependsOnSizes({ what, attrs, outputs }: GraphNode): boolean {
  if (unknownSizes() === null) return false;
  return (
    outputs.some((v) => hasUnknownSizes(v.shape)) ||
    (what.kind === 'constant' && holdsSize(what.tensor)) ||
    holdsSizes(attrs)
  );
}

/** Whether attributes have numbers that may be made of sizes that are not known yet. False where all sizes are known. */
export function holdsSizes(attrs: GraphNode['attrs']): boolean {
  return unknownSizes() !== null && Object.values(attrs).some(isSize);
}

const mayBeSize = (n: number): boolean =>
  Math.abs(n) >= SMALLEST_STAND_IN || (n !== 0 && Math.abs(n) <= 1 / SMALLEST_STAND_IN);

function holdsSize(tensor: Tensor): boolean {
  if (tensor.dtype === 'string') return false;
  return (viewOf(tensor) as Float32Array).some((v) => mayBeSize(Number(v)));
}

function isSize(value: unknown): boolean {
  return typeof value === 'number' ? mayBeSize(value) : Array.isArray(value) && value.some(isSize);
}
