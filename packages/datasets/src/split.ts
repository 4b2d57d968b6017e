import type { DataOf, DTypeName, NDArrayOf } from '@eagre/formats';

/** One part of what {@link split} returns. */
export type Part<X extends DTypeName, Y extends DTypeName> = readonly [x: NDArrayOf<X>, y: NDArrayOf<Y>];

/**
 * Cuts examples and their labels along the first dimension into consecutive parts of the given sizes, in order and
 * without copying: `const [[x, y], [xHeld, yHeld]] = split(images, labels, [8000, 2000])`. What is left over is left out.
 *
 * @throws RangeError when there are not as many labels as examples, or fewer than asked for.
 */
export function split<X extends DTypeName, Y extends DTypeName, const C extends readonly number[]>(
  x: NDArrayOf<X>,
  y: NDArrayOf<Y>,
  counts: C,
): { [I in keyof C]: Part<X, Y> } {
  const length = x.shape[0];
  if (length === undefined || length !== y.shape[0]) {
    throw new RangeError(`split: x is [${x.shape}] and y is [${y.shape}]; their first sizes must be equal`);
  }
  const wanted = counts.reduce((total, count) => total + count, 0);
  if (!counts.every((count) => Number.isInteger(count) && count >= 0) || wanted > length) {
    throw new RangeError(`split: cannot take parts of [${counts}] from ${length} examples`);
  }
  let begin = 0;
  const parts = counts.map((count): Part<X, Y> => {
    const end = begin + count;
    const part = [rows(x, begin, end), rows(y, begin, end)] as const;
    begin = end;
    return part;
  });
  return parts as { [I in keyof C]: Part<X, Y> };
}

function rows<D extends DTypeName>(array: NDArrayOf<D>, begin: number, end: number): NDArrayOf<D> {
  const [, ...rest] = array.shape;
  const size = rest.reduce((product, length) => product * length, 1);
  const data = array.data.subarray(begin * size, end * size) as DataOf[D];
  return { dtype: array.dtype, shape: [end - begin, ...rest], data };
}
