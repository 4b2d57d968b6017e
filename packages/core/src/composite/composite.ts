// Types in a circle: a composite tensor is made of tensors.
// The base of values that are made of several tensors: ragged tensors, sparse tensors, slices of a tensor.

import type { Tensor } from '../tensor/tensor.ts';

/** What is known of the function that a composite tensor was given to. */
export interface Call {
  /** As messages call the function: `add`, `sum`, `nn.softmax`. */
  readonly name: string;
  /** The names of the positional arguments. */
  readonly positional: readonly string[];
  /** Whether each element of the result depends on those in the same place of its tensors alone. */
  readonly elementwise: boolean;
  /** Whether it is a function of tensors, and no method of a class. */
  readonly ofTensors: boolean;
  /** The positional arguments, undefined where they were not given; the list of a variadic function behind them. */
  readonly values: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
  /** Calls the function itself, with other values in the places of its arguments. */
  readonly run: (values: readonly unknown[], options?: Readonly<Record<string, unknown>>) => unknown;
}

/** What `tf.print` and `tf.strings.format` show of a value: the tensors whose values that takes, and the text of these. */
export interface Printed {
  readonly tensors: readonly Tensor[];
  /** @param atEnds how many elements at both ends of each axis are shown, -1 for all */
  readonly text: (now: readonly Tensor[], atEnds: number) => string;
}

/**
 * A value that is made of several tensors. Functions of tensors ask it what to do (`dispatch`), and structures look into it: `tree` walks
 * its parts, so it passes through traced functions, loops and tapes.
 *
 * Its parts need not be tensors: what maps structures also makes one of specs, or of numbers of tensors.
 */
export abstract class CompositeTensor {
  /** @internal The tensors that it is made of, in TensorFlow's order. */
  abstract get parts(): readonly unknown[];
  /** @internal What the parts are called. */
  abstract get partNames(): readonly string[];
  /** @internal All else that tells it from others: two of one class with the same facts differ by their parts alone. */
  abstract get facts(): string;
  /** @internal One of the same kind with other parts. */
  abstract withParts(parts: readonly unknown[]): unknown;
  /** @internal The tensor that has the gradient: the values; null where none has. */
  get differentiable(): unknown {
    return null;
  }
  /** @internal One like it whose values are a gradient. */
  withDifferentiable(_values: unknown): unknown {
    return null;
  }
  /** @internal The same without what a spec does not tell. */
  get general(): CompositeTensor {
    return this;
  }
  /** @internal The spec that its parts make, where these are specs. */
  get specOfParts(): CompositeTensor {
    return this;
  }
  /** @internal The one tensor that it stands for everywhere; null for what has to be converted in the open. */
  get dense(): Tensor | null {
    return null;
  }
  /** @internal How it is printed; null for what its `toString` says. */
  get printed(): Printed | null {
    return null;
  }
  /** @internal What to do instead, in messages of functions that do not take it. */
  abstract get advice(): string;
  /** @internal What a function of tensors makes of it; undefined where that function looks at it itself. */
  abstract dispatch(call: Call): unknown;
}

/** Whether a value is made of several tensors. */
export function isComposite(value: unknown): value is CompositeTensor {
  try {
    return value instanceof CompositeTensor;
  } catch {
    // What cannot be looked at is none.
    return false;
  }
}

/** The first value of several that is a composite tensor, also in lists; null where there is none. */
export function findComposite(
  values: readonly unknown[],
  isList: (index: number) => boolean,
): CompositeTensor | null {
  for (const [i, value] of values.entries()) {
    if (isComposite(value)) return value;
    const found = isList(i) && Array.isArray(value) ? inList(value) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The first composite tensor of a list. */
export function inList(list: readonly unknown[]): CompositeTensor | null {
  for (let i = 0; i < list.length; i++)
    if (typeof list[i] === 'object' && isComposite(list[i])) return list[i] as CompositeTensor;
  return null;
}
