// Products of vectors and matrices.

import type { Tensor } from '@eagre/core';
import {
  matmul as coreMatmul,
  type IntegerLike,
  type NamedFunction,
  stack,
  type TensorLike,
} from '@eagre/core';
import { defineFunction, dims, kind, mulDims, normalizeAxis, pair, toShape } from '@eagre/core/internal';
import { type Binary, binary, named, refuse } from '../define.ts';

export { einsum, outer } from '@eagre/core';

const byColumns = (a: Tensor, b: Tensor): Tensor => a.tensordot(b, [[a.rank - 1], [Math.max(0, b.rank - 2)]]);

/** NumPy's product of matrices: vectors are rows on the left and columns on the right. */
export const matmul: Binary = binary('matmul', (a, b) => {
  if (a.rank === 0 || b.rank === 0) refuse('scalars have no product of matrices', 'matmul');
  if (a.rank > 1 && b.rank > 1) return coreMatmul(a, b);
  if (a.rank === 1 && b.rank === 1) return a.mul(b).sum();
  return a.rank === 1
    ? coreMatmul(a.expandDims(0), b).squeeze(-2)
    : coreMatmul(a, b.expandDims(1)).squeeze(-1);
});
/** NumPy's dot: the product of scalars, the sum over the last axis of x1 and the last but one of x2 otherwise. */
export const dot: Binary = binary('dot', (a, b) =>
  a.rank === 0 || b.rank === 0 ? a.mul(b) : byColumns(a, b),
);
/** The sums of the products along the last axes of both. */
export const inner: Binary = binary('inner', (a, b) =>
  a.rank === 0 || b.rank === 0 ? a.mul(b) : a.tensordot(b, [[a.rank - 1], [b.rank - 1]]),
);
/** The sum of the products of all elements of x1, conjugated, and x2. */
export const vdot: Binary = binary('vdot', (a, b) => {
  const left = a.dtype === 'complex64' || a.dtype === 'complex128' ? a.conj() : a;
  return left.flatten().mul(b.flatten()).sum();
});

/** Sums of products along axes of both: the last and first so many, or two lists. */
export const tensordot: NamedFunction<
  [x1: TensorLike, x2: TensorLike, axes?: IntegerLike | readonly (IntegerLike | readonly IntegerLike[])[]],
  ['x1|a', 'x2|b', 'axes']
> = defineFunction(
  named('tensordot'),
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor, axes: kind.axisLists },
  {},
  (x1, x2, axes: unknown = 2) => {
    const [a, b] = pair(x1, x2, named('tensordot'));
    return a.tensordot(b, (Array.isArray(axes) ? axes.map((v: unknown) => [v].flat()) : axes) as number);
  },
);

/** Kronecker's product: each element of x1 times the whole of x2. */
export const kron: Binary = binary('kron', (x1, x2) => {
  const rank = Math.max(x1.rank, x2.rank);
  const own = (x: Tensor) => [...new Array<number>(rank - x.rank).fill(1), ...dims(x)];
  const [a, b] = [own(x1), own(x2)];
  const left = x1.reshape(toShape(a.flatMap((d) => [d, 1])));
  const right = x2.reshape(toShape(b.flatMap((d) => [1, d])));
  return left.mul(right).reshape(toShape(a.map((d, i) => mulDims(d, b[i]))));
});

/** The cross product of vectors of 2 or 3 elements, along an axis of each; of two vectors of the plane a number. */
export const cross: NamedFunction<
  [x1: TensorLike, x2: TensorLike],
  ['x1|a', 'x2|b'],
  {
    /** The axis of the vectors of the first input; the last by default. */
    readonly axisa?: IntegerLike;
    /** The axis of the vectors of the second input; the last by default. */
    readonly axisb?: IntegerLike;
    /** The axis of the vectors of the result; the last by default. */
    readonly axisc?: IntegerLike;
    /** All three. */
    readonly axis?: IntegerLike | null;
  }
> = defineFunction(
  named('cross'),
  { 'x1|a': kind.tensor, 'x2|b': kind.tensor },
  { axisa: kind.axis, axisb: kind.axis, axisc: kind.axis, axis: kind.axis },
  (x1, x2, { axisa = -1, axisb = -1, axisc = -1, axis = null }) => {
    const [a, b] = pair(x1, x2, named('cross'));
    const parts = (x: Tensor, at: IntegerLike): Tensor[] =>
      x.unstack(normalizeAxis((axis ?? at) as number, x.rank));
    const [u, v] = [parts(a, axisa), parts(b, axisb)];
    for (const list of [u, v])
      if (list.length !== 2 && list.length !== 3)
        refuse(`the vectors have ${list.length} elements, expected 2 or 3`, 'cross');
    const plane = u[0].mul(v[1]).sub(u[1].mul(v[0]));
    if (u.length === 2 && v.length === 2) return plane;
    const [u2, v2] = [u[2] ?? u[0].mul(0), v[2] ?? v[0].mul(0)];
    return stack(
      [u[1].mul(v2).sub(u2.mul(v[1])), u2.mul(v[0]).sub(u[0].mul(v2)), plane],
      (axis ?? axisc) as number,
    );
  },
);

/** The sums of products of two vectors as one slides along the other: where both are whole, as long as the longer one, or all. */
export const correlate: NamedFunction<
  [x1: TensorLike, x2: TensorLike, mode?: 'valid' | 'same' | 'full'],
  ['x1', 'x2', 'mode']
> = defineFunction(
  named('correlate'),
  { x1: kind.tensor, x2: kind.tensor, mode: kind.asIs },
  {},
  (x1, x2, mode: 'valid' | 'same' | 'full' = 'valid') => {
    const [a, b] = pair(x1, x2, named('correlate'));
    if (a.rank !== 1 || b.rank !== 1) refuse('x1 and x2 must be vectors', 'correlate');
    const [x, y] = a.dtype.startsWith('float') ? [a, b] : [a.cast('float32'), b.cast('float32')];
    const [n, m] = [x.shape[0], y.shape[0]];
    const least = Math.min(n, m);
    const long = Math.max(n, m);
    const before = m - 1;
    const every = slid(x.pad([[before, before]]), y, n + m - 1);
    if (mode === 'full') return every;
    if (mode === 'same') return every.slice([Math.floor((least - 1) / 2)], [long]);
    if (mode !== 'valid')
      refuse(`mode is '${String(mode)}', expected 'valid', 'same' or 'full'`, 'correlate');
    return every.slice([least - 1], [long - least + 1]);
  },
);

/** A row of `steps` sums. */
function slid(x: Tensor, y: Tensor, steps: number): Tensor {
  const parts = Array.from({ length: y.shape[0] }, (_, i) => x.slice([i], [steps]).mul(y.at(i)));
  return parts.reduce((sum, part) => sum.add(part));
}
