import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { toIndices } from '../array/moving.ts';
import { clipByNorm } from '../reduce/statistics.ts';

/** Rows found for ids of a rank, of which longer ones are shortened to a norm. */
export function shortenedRows(found: Tensor, maxNorm: TensorLike | null | undefined, rank: number): Tensor {
  if (maxNorm === null || maxNorm === undefined) return found;
  const axes = Array.from({ length: found.rank - rank }, (_, i) => rank + i);
  return clipByNorm(found, maxNorm, axes);
}

/**
 * Rows of `params` at `ids` (int32 or int64): shape of ids, then that of a row.
 * Of ragged ids it is ragged as they are.
 * @param options.maxNorm the length to which longer rows are shortened.
 * @throws OutOfRangeError
 */
export const embeddingLookup: NamedFunction<
  [params: TensorLike, ids: TensorLike],
  ['params', 'ids'],
  {
    /** Rows longer than that are shortened; none by default. */
    maxNorm?: TensorLike | null;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.embeddingLookup',
  { params: kind.tensor, ids: kind.tensor },
  { maxNorm: kind.tensor },
  (params, ids, { maxNorm }) => {
    const at = toIndices(ids, 'ids', 'GatherV2');
    return shortenedRows(gather(params, at, 0), maxNorm, at.rank);
  },
);
