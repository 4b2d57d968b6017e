// The ways to say how values fall into rows: each gives the splits. `values` is how many values there are.
import { InvalidArgumentError } from '@eagre/backend';
import { concat } from '../ops/array/join.ts';
import { type Dim, floorDivDims, mulDims } from '../shapes/dim.ts';
import { differs, hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import type { TensorLike } from '../tensor/convert.ts';
import { Tensor } from '../tensor/tensor.ts';
import { integerFrom } from './ragged-base.ts';
import {
  checkIds,
  checkSplits,
  rowIntegers,
  rowsOfIds,
  type SplitsDType,
  sizeScalar,
  splitsOfIds,
  splitsOfLengths,
  uniformSplits,
} from './row-partition.ts';

function checked(splits: Tensor, values: Dim, validate: boolean, op: string): Tensor {
  if (validate) checkSplits(splits, values, op);
  return splits;
}

export function fromRowSplits(rowSplits: TensorLike, values: Dim, validate: boolean, op: string): Tensor {
  return checked(rowIntegers(rowSplits, 'rowSplits', op), values, validate, op);
}

export function fromRowLengths(rowLengths: TensorLike, values: Dim, validate: boolean, op: string): Tensor {
  return checked(splitsOfLengths(rowIntegers(rowLengths, 'rowLengths', op)), values, validate, op);
}

export function fromRowStarts(rowStarts: TensorLike, values: Dim, validate: boolean, op: string): Tensor {
  const starts = rowIntegers(rowStarts, 'rowStarts', op);
  const end = sizeScalar(values, starts.dtype as SplitsDType).reshape([1]);
  return checked(concat([starts, end], 0), values, validate, op);
}

export function fromRowLimits(rowLimits: TensorLike, values: Dim, validate: boolean, op: string): Tensor {
  const limits = rowIntegers(rowLimits, 'rowLimits', op);
  return checked(concat([constant([0], limits.dtype), limits], 0), values, validate, op);
}

export function fromValueRowids(
  valueRowids: TensorLike,
  nrows: number | Tensor | null,
  values: Dim,
  validate: boolean,
  op: string,
): Tensor {
  const ids = rowIntegers(valueRowids, 'valueRowids', op);
  const rows = nrows === null ? rowsOfIds(ids, op) : sizeFrom(nrows, 'nrows', op);
  if (validate) checkIds(ids, rows, values, op);
  return splitsOfIds(ids, rows);
}

export function fromUniformRowLength(
  uniformRowLength: number | Tensor,
  nrows: number | Tensor | null,
  values: Dim,
  validate: boolean,
  op: string,
  dtype: SplitsDType,
): { readonly splits: Tensor; readonly length: number } {
  const length = sizeFrom(uniformRowLength, 'uniformRowLength', op);
  const rows: Dim =
    nrows !== null ? sizeFrom(nrows, 'nrows', op) : length === 0 ? 0 : floorDivDims(values, length);
  if (validate && differs(mulDims(rows, length), values))
    throw new InvalidArgumentError(`${String(rows)} rows of ${length} are not ${String(values)} values`, op);
  return { splits: uniformSplits(rows, length, dtype), length };
}

function sizeFrom(value: unknown, what: string, op: string): number {
  const [n] = value instanceof Tensor ? hostDims(value, what, op) : [integerFrom(value, what, op)];
  if (typeof n === 'number' && n < 0)
    throw new InvalidArgumentError(`${what} must be an integer of at least 0, got ${n}`, op);
  return n as number;
}
