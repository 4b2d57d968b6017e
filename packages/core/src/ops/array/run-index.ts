// Indices that are tensors: known ones are numbers, others are looked up at each run of a traced function.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import { isPlain } from '../../arguments/plain.ts';
import { context } from '../../dispatch/context.ts';
import { knownTensor } from '../../dispatch/symbolic.ts';
import { type Dim, type DimExpr, isExpression } from '../../shapes/dim.ts';
import { dimsOf, hasUnknown } from '../../shapes/dims.ts';
import { show } from '../../shapes/shape.ts';
import { hostDims } from '../../shapes/sizes.ts';
import { toTensor } from '../../tensor/convert.ts';
import { isInteger } from '../../tensor/dtypes.ts';
import { Tensor, viewOf } from '../../tensor/tensor.ts';
import { Variable } from '../../tensor/variable.ts';
import { where } from '../elementwise/select.ts';
import type { IndexRange } from './index-item.ts';
import { iota } from './iota.ts';
import { reshape } from './shaping.ts';

/** A number, or an integer scalar. */
export type Index = IntegerLike;

/**
 * A range of an axis, as Python's `start:end:step`, whose ends may be integer scalars: `x.at({ end: n })` is `x[:n]`. Ends that are left out
 * or null are those of the axis; negative ones count from its end. The step is a number that is known.
 */
export interface SliceRange {
  readonly start?: Index | null;
  readonly end?: Index | null;
  readonly step?: number | null;
}

export function isSliceRange(value: unknown): value is SliceRange {
  return isPlain(value);
}

const RANGE_KEYS: ReadonlySet<string> = new Set(['start', 'end', 'step']);

/** Whether an object names nothing but what a range has, and not nothing. */
export function namesRange(value: object): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => RANGE_KEYS.has(key));
}

/** A range whose ends are numbers or sizes. @throws InvalidArgumentError for what is no range */
export function rangeOf(range: SliceRange, op: string): IndexRange {
  const other = Object.keys(range).find((key) => !RANGE_KEYS.has(key));
  if (other !== undefined)
    throw new InvalidArgumentError(`a range has start, end and step, but not ${other}`, op);
  const endOf = (value: Index | null | undefined, what: string): Dim | null => {
    if (value === undefined || value === null) return null;
    const index = indexOf(value, what, op);
    const end = index instanceof Tensor ? (hostDims(index, what, op)[0] as Dim) : index;
    if (typeof end === 'number' && !Number.isSafeInteger(end))
      throw new InvalidArgumentError(`the ${what} of a range is ${show(end)}, expected an integer`, op);
    return end;
  };
  const step = endOf(range.step, 'step') ?? 1;
  if (typeof step !== 'number')
    throw new InvalidArgumentError('the step of a range has to be known while the function is traced', op);
  return { begin: endOf(range.start, 'start'), end: endOf(range.end, 'end'), step };
}

export function isIndexTensor(value: unknown): value is Tensor | Variable {
  return value instanceof Tensor || value instanceof Variable;
}

/** A number or a size where it is known, else an int scalar. @throws InvalidArgumentError for a tensor that is no integer scalar. */
export function indexOf(value: Index | DimExpr, what: string, op: string): Dim | Tensor {
  if (typeof value === 'number' || isExpression(value)) return value;
  const t = toTensor(value);
  if (!isInteger(t.dtype) || t.size !== 1)
    throw new InvalidArgumentError(
      `${what} is ${t.dtype} [${t.shape}], expected one integer: index.cast('int32'), or tf.range(n, { dtype: 'int32' })`,
      op,
    );
  const found = knownTensor(t);
  if (found !== null) return Number(viewOf(found)[0]);
  const size = context.tracer?.integers(t)?.[0];
  return size ?? (t.rank === 0 ? t : reshape(t, []));
}

/** A list of as many indices as a tensor has, or as are in the list. */
export function indicesOf(
  given: readonly Index[] | Tensor | Variable,
  what: string,
  op: string,
): (Dim | Tensor)[] {
  const value = given instanceof Variable ? given.taken() : given;
  if (!(value instanceof Tensor)) {
    if (!Array.isArray(value)) throw new InvalidArgumentError(`${what} must be a list of integers`, op);
    return dimsOf(value as number[]).map((v: Index | DimExpr) => indexOf(v, what, op));
  }
  if (value.rank !== 1 || !isInteger(value.dtype))
    throw new InvalidArgumentError(
      `${what} is ${value.dtype} [${value.shape}], expected a list of integers`,
      op,
    );
  const found = knownTensor(value);
  if (found !== null) return Array.from(viewOf(found), Number);
  const sizes = context.tracer?.integers(value);
  if (sizes !== null && sizes !== undefined) return [...sizes];
  return Array.from({ length: value.size }, (_, i) => indexOf(value.gather(i), what, op));
}

/** Sizes: numbers, or expressions. @throws UnimplementedError for values that differ from run to run. */
export function sizesOf(given: readonly Index[] | Tensor | Variable, what: string, op: string): Dim[] {
  if (Array.isArray(given) && hasUnknown(given as number[])) return [...dimsOf(given as number[])];
  const value = given instanceof Variable ? given.taken() : given;
  if (value instanceof Tensor) {
    if (value.rank !== 1)
      throw new InvalidArgumentError(
        `${what} is ${value.dtype} [${value.shape}], expected a list of integers`,
        op,
      );
    return hostDims(value, what, op);
  }
  return indicesOf(value, what, op).map((v) => (v instanceof Tensor ? hostDims(v, what, op)[0] : v));
}

/** What stands at an index of an axis, which goes; from the end if the index is negative. */
export function takeAt(x: Tensor, index: Tensor, axis: number): Tensor {
  const size = x.shape[axis];
  return x.gather(where(index.less(0), index.add(size), index), axis);
}

/** As many elements of an axis from an index on. */
export function takeFrom(x: Tensor, index: Tensor, size: Dim, axis: number): Tensor {
  return x.gather(iota(size).cast(index.dtype).add(index), axis);
}
