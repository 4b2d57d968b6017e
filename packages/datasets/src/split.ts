import { InvalidArgumentError } from '@eagre/backend';
import { defineFunction, type NamedFunction } from '@eagre/core/internal';
import type { DataOf, DTypeName, NDArray, NDArrayOf } from '@eagre/formats';
import * as kind from './kinds.ts';

const OP = 'tf.keras.datasets.split';

/** One part of what {@link split} returns. */
export type Part<X extends DTypeName, Y extends DTypeName> = readonly [x: NDArrayOf<X>, y: NDArrayOf<Y>];

interface SplitFunction {
  <X extends DTypeName, Y extends DTypeName, const C extends readonly number[]>(
    x: NDArrayOf<X>,
    y: NDArrayOf<Y>,
    counts: C,
  ): { [I in keyof C]: Part<X, Y> };
  <X extends DTypeName, Y extends DTypeName, const C extends readonly number[]>(options: {
    /** The inputs, one example in each row. */
    readonly x: NDArrayOf<X>;
    /** The targets, in the same order. */
    readonly y: NDArrayOf<Y>;
    /** How many examples each part gets. */
    readonly counts: C;
  }): { [I in keyof C]: Part<X, Y> };
}

/**
 * Cuts examples and their labels along the first dimension into consecutive parts of the given sizes, in order and
 * without copying: `const [[x, y], [xHeld, yHeld]] = split(images, labels, [8000, 2000])`. What is left over is left out.
 *
 * @throws InvalidArgumentError when there are not as many labels as examples, or fewer than asked for.
 */
export const split: SplitFunction = defineFunction<
  NamedFunction<
    [x: NDArray, y: NDArray, counts: readonly number[]],
    ['x', 'y', 'counts'],
    unknown,
    readonly Part<DTypeName, DTypeName>[]
  >
>(OP, { x: true, y: true, counts: kind.listOf(kind.count(0)) }, {}, cut) as never;

function cut(x: NDArray, y: NDArray, counts: readonly number[]): readonly Part<DTypeName, DTypeName>[] {
  kind.checkArray(x, 'x', OP);
  kind.checkArray(y, 'y', OP);
  if (!Array.isArray(counts)) kind.refuse('counts', 'an array', counts, OP);
  const length = x.shape[0];
  if (length === undefined || length !== y.shape[0]) {
    throw new InvalidArgumentError(
      `x is [${x.shape}] and y is [${y.shape}]; their first sizes must be equal`,
      OP,
    );
  }
  const wanted = counts.reduce((total, count) => total + count, 0);
  if (wanted > length)
    throw new InvalidArgumentError(`cannot split ${length} examples into parts of [${counts}]`, OP);
  let begin = 0;
  return counts.map((count) => {
    const end = begin + count;
    const part = [rows(x, begin, end), rows(y, begin, end)] as const;
    begin = end;
    return part;
  });
}

function rows<D extends DTypeName>(array: NDArrayOf<D>, begin: number, end: number): NDArrayOf<D> {
  const [, ...rest] = array.shape;
  const size = rest.reduce((product, length) => product * length, 1);
  const data = array.data.subarray(begin * size, end * size) as DataOf[D];
  return { dtype: array.dtype, shape: [end - begin, ...rest], data };
}
