// Windows of convolutions and pooling. Nothing here is public.
import { gather, InvalidArgumentError, type Tensor } from '@eagre/core';
import { addDims, dims, floorDivDims, iota, shown, sizeValue, toShape } from '@eagre/core/internal';
import { refuse } from '../define.ts';

/** A number for all directions, or one for each. */
export type Sizes = number | readonly number[];
/** Whether windows stay within the input, or reach beyond so that sizes stay. */
export type Padding = 'valid' | 'same';

/** As TensorFlow has it. */
export function paddingOf(padding: Padding | undefined, name: string): 'VALID' | 'SAME' {
  const given = padding ?? 'valid';
  if (given !== 'valid' && given !== 'same')
    refuse(`padding is '${String(given)}', expected 'valid' or 'same'`, name);
  return given === 'same' ? 'SAME' : 'VALID';
}

/** A list of sizes for each direction. */
export function each(given: Sizes | undefined, rank: number, otherwise: number): number[] {
  const all: unknown = given ?? otherwise;
  const least = Math.min(1, otherwise);
  const own = Array.isArray(all) ? (all as number[]) : [all as number];
  if (rank < 1 || ![1, rank].includes(own.length) || !own.every((n) => Number.isSafeInteger(n) && n >= least))
    throw new InvalidArgumentError(
      `expected an integer of at least ${least} for each of ${Math.max(0, rank)} directions, got ${shown(given)}`,
    );
  return own.length === 1 ? new Array<number>(rank).fill(own[0]) : [...own];
}

/**
 * One direction pooled by as many windows as asked for: that of number i is from ⌊i · size / n⌋ to ⌈(i + 1) · size / n⌉.
 */
export function adaptivelyPooled(x: Tensor, axis: number, n: number, reduction: 'mean' | 'max'): Tensor {
  const own = dims(x);
  const size = sizeValue(own[axis], 'int32');
  const i = iota(n).expandDims(1);
  const begin = i.mul(size).floorDiv(n);
  const end = i
    .add(1)
    .mul(size)
    .add(n - 1)
    .floorDiv(n);
  const longest = addDims(floorDivDims(addDims(own[axis], n - 1), n), 1);
  // Shorter windows see their last element again, which no maximum minds.
  const places = begin.add(iota(longest));
  const seen = gather(x, places.minimum(end.sub(1)), axis);
  if (reduction === 'max') return seen.max(axis + 1);
  const shares = places.less(end).cast(x.dtype).div(end.sub(begin).cast(x.dtype));
  return seen.mul(shares.reshape(toShape([n, longest, ...own.slice(axis + 1).map(() => 1)]))).sum(axis + 1);
}
