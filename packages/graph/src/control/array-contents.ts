// What a TensorArray holds, and how many elements that are.
import { InvalidArgumentError } from '@eagre/backend';
import { Tensor, type TensorLike } from '@eagre/core';
import {
  checkListSize,
  context,
  type Dim,
  type DimExpr,
  isInteger,
  isUnknown,
  lessThan,
} from '@eagre/core/internal';
import { knownNumbers } from './known.ts';
import { Versions } from './versions.ts';

const OP = 'TensorArray';

/** As many elements as a size that is not known says, of which none is written. */
export class Unwritten {
  readonly length: DimExpr;
  constructor(length: DimExpr) {
    this.length = length;
  }
}

/** The elements, null where nothing was written; in a graph, maybe all of them in one tensor. */
export type Contents = Versions<Tensor | null> | Unwritten | Tensor;

/** @throws ResourceExhaustedError for more elements than lists of tensors hold. */
export function checkLength(size: number): void {
  checkListSize(size, 'elements', 'collect them in fewer, larger ones', OP);
}

/** Contents of which nothing is written. */
export function nothingOf(size: Dim): Contents {
  if (isUnknown(size)) return new Unwritten(size);
  checkLength(size);
  return new Versions<Tensor | null>(new Array<Tensor | null>(size).fill(null));
}

/** What follows one another in a list: written elements, or places of unwritten ones. */
export function runsOf(
  elements: readonly (Tensor | null)[],
): readonly { readonly count: number; readonly items: readonly Tensor[] }[] {
  const runs: { count: number; items: Tensor[] }[] = [];
  for (const element of elements) {
    let run = runs.at(-1);
    if (run === undefined || run.items.length > 0 !== (element !== null))
      runs.push((run = { count: 0, items: [] }));
    run.count++;
    if (element !== null) run.items.push(element);
  }
  return runs;
}

/** How many elements options ask for. @throws InvalidArgumentError for a size that depends on values while tracing. */
export function sizeOption(size: TensorLike | undefined, dynamicSize: boolean): Dim {
  if (size === undefined) {
    if (dynamicSize) return 0;
    throw new InvalidArgumentError("a size is needed: new tf.TensorArray('float32', { size })", OP);
  }
  const known =
    knownNumbers(size, OP) ??
    (size instanceof Tensor && isInteger(size.dtype)
      ? (context.tracer?.integers(size) ?? context.tracer?.measured(size) ?? null)
      : null);
  if (known === null) {
    throw new InvalidArgumentError(
      'the size of a TensorArray must be known while tracing: give a number, such as x.shape[0], or an upper bound',
      OP,
    );
  }
  const [n = Number.NaN] = known;
  const wrong = isUnknown(n) ? lessThan(n, 0) : !Number.isSafeInteger(n) || n < 0;
  if (known.length !== 1 || wrong)
    throw new InvalidArgumentError(`the size is [${known}], expected one integer of at least 0`, OP);
  return n;
}
