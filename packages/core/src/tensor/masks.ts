// Keras's masks: which places of a tensor count. A layer gives them to what it returns; layers and losses behind it look them up.
import type { Tensor } from './tensor.ts';

const masks = new WeakMap<object, Tensor>();
let inUse = false;

/** Whether any tensor may have a mask: until then, no call looks for one. */
export function masksInUse(): boolean {
  return inUse;
}
/** Says that there are layers which make masks. */
export function useMasks(): void {
  inUse = true;
}

/** The mask of a tensor, bool; null for none. */
export function maskOf(x: unknown): Tensor | null {
  return inUse && typeof x === 'object' && x !== null ? (masks.get(x) ?? null) : null;
}

/** Gives a tensor a mask, which whoever holds the tensor holds too; null takes it away. */
export function setMask(x: Tensor, mask: Tensor | null): void {
  if (mask !== null) {
    inUse = true;
    masks.set(x, mask);
  } else if (inUse) masks.delete(x);
}
