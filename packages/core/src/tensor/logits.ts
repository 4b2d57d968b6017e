// Keras's logits: what a sigmoid or softmax made a tensor of. Cross-entropies behind it compute from them, which loses nothing where the
// probabilities are 0 or 1.
import { context } from '../dispatch/context.ts';
import type { Tensor } from './tensor.ts';

interface Carried {
  readonly logits: Tensor;
  /** The op of a graph that made the tensor; null where an activation said it, which counts for each cross-entropy, as in Keras. */
  readonly op: string | null;
}
const carried = new WeakMap<Tensor, Carried>();

/** Has a tensor carry its logits: whoever keeps it keeps them. @returns the tensor */
export function carryLogits(y: Tensor, logits: Tensor): Tensor {
  carried.set(y, { logits, op: null });
  context.tracker?.hold?.(y, logits);
  return y;
}

/** Notes what a Sigmoid or Softmax of a graph was made of: cross-entropies look behind the op there, as in Keras. */
export function noteLogits(op: string, y: Tensor, logits: Tensor): void {
  carried.set(y, { logits, op });
  context.tracker?.hold?.(y, logits);
}

const warned = new Set<string>();

/**
 * The logits that a cross-entropy computes from; null where there are only probabilities.
 * @param op of a graph whose results are probabilities to it
 * @param name of the cross-entropy. It warns where it was told that probabilities are logits.
 */
export function logitsFor(
  y: Tensor,
  op: 'Sigmoid' | 'Softmax',
  fromLogits: boolean,
  name: string,
): Tensor | null {
  const found = carried.get(y);
  if (found === undefined || (found.op ?? op) !== op || found.logits.storage.refs === 0)
    return fromLogits ? y : null;
  if (fromLogits && !warned.has(name)) {
    warned.add(name);
    console.warn(
      `${name}: fromLogits is set, but the predictions are the results of a ${op.toLowerCase()}, which are no logits; the loss is computed from what went into it`,
    );
  }
  return found.logits;
}
