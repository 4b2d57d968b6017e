import { InvalidArgumentError, MAX_RANK } from '@eagre/backend';
import { isPlain } from '../arguments/plain.ts';
import { type Dim, type Dims, isExpression } from './dim.ts';
import { dimsOf, sameShape, sizeOfDims, toShape } from './dims.ts';
import { areTakenForEqual, equalDims, isSize, knownDim } from './shape-env.ts';

export { sameShape };

/** The dimensions of a tensor. */
export type Shape = readonly number[];
/** Dimensions of which some are not known yet (`null`). */
export type PartialShape = readonly (number | null)[];
/** An axis, several, or all (`null`). Negative axes count from the end. */
export type Axis = number | readonly number[] | null;

/** Number of elements of a shape; with unknown sizes, of the call that is traced. `sizeOfDims` gives the expression. */
export function sizeOf(shape: Shape): number {
  return knownDim(sizeOfDims(shape));
}

/** `[2, 3]` as people write it; unknown dimensions are `null`. */
export function showShape(shape: PartialShape | Dims): string {
  const dims: readonly (Dim | null)[] = dimsOf(shape as Dims);
  const one = (d: Dim | null): string => (typeof d === 'object' && !isExpression(d) ? show(d) : String(d));
  return `[${dims.map(one).join(', ')}]`;
}

/** Any value in a message. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  try {
    return Array.isArray(value) ? `[${value.map(show).join(', ')}]` : String(value);
  } catch {
    // An object that does not turn into text, such as one without a prototype.
    return typeof value;
  }
}

/** @throws InvalidArgumentError unless it is an array. */
export function checkList<T>(list: readonly T[], what: string, op?: string): readonly T[] {
  if (isPlain(list) || !Array.isArray(list))
    throw new InvalidArgumentError(`${what} must be an array, got ${show(list)}`, op);
  return list as readonly T[];
}

/** A switch, off unless given. @throws InvalidArgumentError for what is neither true nor false. */
export function checkFlag(value: boolean | null | undefined, what: string, op?: string): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw new InvalidArgumentError(`${what} is ${show(value)}, expected true or false`, op);
}

/** One number or a list of them, as a list. @throws InvalidArgumentError for anything else. */
export function listOf<T = number>(
  value: number | readonly (number | T)[],
  what: string,
  op?: string,
): readonly (number | T)[] {
  if (typeof value === 'number') return [value];
  if (Array.isArray(value)) return value as readonly (number | T)[];
  throw new InvalidArgumentError(`${what} must be a number or a list of numbers, got ${show(value)}`, op);
}

/** The size of two axes that are broadcast, null where that is not possible. A 1 leaves the other as it is, whatever that will be. */
export function broadcastDims(x: Dim, y: Dim): Dim | null {
  if (y === 1) return x;
  if (x === 1) return y;
  if (equalDims(x, y)) return typeof y === 'number' ? y : x;
  if (equalDims(x, 1)) return y;
  return equalDims(y, 1) || areTakenForEqual(x, y) ? x : null;
}

/** Whether an axis broadcasts to a size. */
export function stretchesTo(d: Dim, size: Dim): boolean {
  return d === 1 || equalDims(d, size) || equalDims(d, 1);
}

/**
 * NumPy's broadcasting: shapes are aligned at their ends, and a dimension of 1 stretches.
 * @throws InvalidArgumentError when two dimensions differ and neither is 1.
 */
export function broadcastShapes(first: Dims, second: Dims, op?: string): Shape {
  if (second.length === 0) return first as Shape;
  if (first.length === 0) return second as Shape;
  const a = dimsOf(first);
  const b = dimsOf(second);
  if (areSame(a, b)) return first as Shape;
  const rank = Math.max(a.length, b.length);
  const out = new Array<Dim>(rank);
  let same = a.length >= b.length;
  for (let i = 1; i <= rank; i++) {
    const x = i <= a.length ? a[a.length - i] : 1;
    const y = i <= b.length ? b[b.length - i] : 1;
    const d = broadcastDims(x, y);
    if (d === null) {
      throw new InvalidArgumentError(
        `shapes ${showShape(a)} and ${showShape(b)} do not broadcast: ${x} and ${y} differ and neither is 1`,
        op,
      );
    }
    if (d !== x) same = false;
    out[rank - i] = d;
  }
  return same ? (first as Shape) : toShape(out);
}

/** Whether two lists of sizes are the same at first sight, which most are. */
function areSame(a: Dims, b: Dims): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** An axis in 0 … rank-1. @throws InvalidArgumentError when it is no integer in that range. */
export function normalizeAxis(axis: number, rank: number, op?: string): number {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank) {
    throw new InvalidArgumentError(
      `axis ${show(axis)} is out of range for rank ${rank} (expected ${-rank} … ${rank - 1})`,
      op,
    );
  }
  return axis < 0 ? axis + rank : axis;
}

/** Sorted axes without duplicates; `null` means all. */
export function normalizeAxes(axis: Axis | undefined, rank: number, op?: string): number[] {
  if (typeof axis === 'number') return [normalizeAxis(axis, rank, op)];
  if (axis === null || axis === undefined) {
    const all: number[] = [];
    for (let i = 0; i < rank; i++) all.push(i);
    return all;
  }
  const axes = listOf(axis, 'axis', op).map((a) => normalizeAxis(a, rank, op));
  const sorted = [...new Set(axes)].sort((a, b) => a - b);
  if (sorted.length !== axes.length)
    throw new InvalidArgumentError(`axis ${showShape(axes)} contains an axis twice`, op);
  return sorted;
}

/** The shape after a reduction over normalised axes. */
export function reducedShape(shape: Dims, axes: readonly number[], keepdims: boolean): Shape {
  const dims = dimsOf(shape);
  const out: Dim[] = [];
  for (let i = 0; i < dims.length; i++) {
    if (!axes.includes(i)) out.push(dims[i]);
    else if (keepdims) out.push(1);
  }
  return toShape(out);
}

/** @throws InvalidArgumentError unless it is a list of at most 8 integers of at least 0. */
export function checkShape(given: Dims, op?: string): Shape {
  checkList(given, 'a shape', op);
  const shape = dimsOf(given);
  if (shape.length > MAX_RANK) {
    throw new InvalidArgumentError(
      `${showShape(shape)} has rank ${shape.length}; at most ${MAX_RANK} is possible`,
      op,
    );
  }
  for (const d of shape) {
    if (!isSize(d)) {
      throw new InvalidArgumentError(
        `${showShape(shape)} is not a shape: dimensions must be integers of at least 0`,
        op,
      );
    }
  }
  return shape === given ? toShape(shape) : (given as Shape);
}

/** @throws InvalidArgumentError unless it is a list as of `checkShape`, in which null may stand for a size. */
export function checkPartialShape(shape: PartialShape, op?: string): void {
  const list: readonly (Dim | null)[] = dimsOf(checkList(shape, 'a shape', op) as Shape);
  checkShape(
    list.map((d) => (d === null ? 0 : d)),
    op,
  );
}

/** True when `shape` fits a partially known one; `null` as a whole fits all. */
export function isCompatible(shape: Shape, partial: PartialShape | null): boolean {
  if (partial === null) return true;
  const own = dimsOf(shape);
  const wanted: readonly (Dim | null)[] = dimsOf(partial as Shape);
  return own.length === wanted.length && wanted.every((d, i) => d === null || equalDims(d, own[i]));
}
