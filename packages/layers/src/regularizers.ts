import { InvalidArgumentError, Tensor, Variable } from '@eagre/core';
import { checkOptionNames, toTensor } from '@eagre/core/internal';
import { markOurs } from './ours.ts';

/** A penalty on a weight, as a scalar to add to the loss. */
export type Regularizer = (weight: Variable | Tensor) => Tensor;

function own(regularizer: Regularizer): Regularizer {
  return markOurs((w: Variable | Tensor) =>
    regularizer(w instanceof Tensor || w instanceof Variable ? w : toTensor(w)),
  );
}

/** `l1 · Σ|w|` */
export function l1(factor = 0.01): Regularizer {
  return own((w) => w.abs().sum().mul(factor));
}
/** `l2 · Σw²` */
export function l2(factor = 0.01): Regularizer {
  return own((w) => w.square().sum().mul(factor));
}
/** `l1 · Σ|w| + l2 · Σw²` */
export function l1l2(options: { l1?: number; l2?: number } = {}): Regularizer {
  checkOptionNames(options, { l1: true, l2: true }, 'l1l2');
  const { l1: first = 0, l2: second = 0 } = options;
  return own((w) => l1(first)(w).add(l2(second)(w)));
}

/** A name (Keras's own are understood too), or a function of a weight. */
export type RegularizerLike = 'l1' | 'l2' | 'l1l2' | Regularizer | (string & {});

/** The regularizer of a name, or the function itself; null of null. @throws InvalidArgumentError for an unknown name. */
export function get(regularizer: RegularizerLike): Regularizer;
export function get(regularizer: RegularizerLike | null | undefined): Regularizer | null;
export function get(regularizer: RegularizerLike | null | undefined): Regularizer | null {
  if (regularizer === null || regularizer === undefined) return null;
  if (typeof regularizer === 'function') return regularizer;
  switch (String(regularizer).replace('_', '').toLowerCase()) {
    case 'l1':
      return l1();
    case 'l2':
      return l2();
    case 'l1l2':
      return l1l2({ l1: 0.01, l2: 0.01 });
    default:
      throw new InvalidArgumentError(`unknown regularizer '${String(regularizer)}'; known: l1, l2, l1l2`);
  }
}
