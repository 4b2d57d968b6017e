// What several families of ops need.
import type { DType } from '@eagre/backend';
import { constant, reshape, type Tensor, transpose } from '@eagre/core';
import { type Dim, dims, mulDims, toShape } from '@eagre/core/internal';

/** A scalar of the dtype of another tensor. */
export const constantLike = (x: Tensor, value: number): Tensor => constant(value, x.dtype as 'float32');
export const scalar = (value: number, dtype: DType): Tensor => constant(value, dtype as 'float32');

/** `x` in another shape, some of whose sizes may be expressions. */
export const shaped = (x: Tensor, shape: readonly Dim[]): Tensor => reshape(x, toShape(shape));

/** The product of sizes. */
export const product = (sizes: readonly Dim[]): Dim => sizes.reduce<Dim>(mulDims, 1);

/** [n, c, …] as [n, …, c]. */
export const channelsLast = (x: Tensor): Tensor =>
  x.rank <= 2 ? x : transpose(x, [0, ...range(2, x.rank), 1]);
/** [n, …, c] as [n, c, …]. */
export const channelsFirst = (x: Tensor): Tensor =>
  x.rank <= 2 ? x : transpose(x, [0, x.rank - 1, ...range(1, x.rank - 1)]);

/** The integers from `from` up to `to`. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

/** A vector over the channels of [n, c, …], to be broadcast. */
export const alongChannels = (vector: Tensor, rank: number): Tensor =>
  rank < 2 ? vector : shaped(vector, [1, dims(vector)[0], ...range(2, rank).map(() => 1)]);
