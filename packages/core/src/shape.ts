import { InvalidArgumentError, MAX_RANK } from '@eagre/backend';
import { isPlain } from './plain.ts';
import { isUnknownSize, sameShape } from './sizes.ts';

export { sameShape };

/** The dimensions of a tensor. */
export type Shape = readonly number[];
/** Dimensions of which some are not known yet (`null`). */
export type PartialShape = readonly (number | null)[];
/** An axis, several, or all (`null`). Negative axes count from the end. */
export type Axis = number | readonly number[] | null;

/** Number of elements of a shape. */
export function sizeOf(shape: Shape): number {
  let size = 1;
  for (let i = 0; i < shape.length; i++) size *= shape[i] as number;
  return size;
}

/** `[2, 3]` as people write it; unknown dimensions are `null`. */
export function showShape(shape: PartialShape): string {
  const one = (d: number | null): string =>
    d !== null && isUnknownSize(d) ? '?' : typeof d === 'object' ? show(d) : String(d);
  return `[${shape.map(one).join(', ')}]`;
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
export function listOf(value: number | readonly number[], what: string, op?: string): readonly number[] {
  if (typeof value === 'number') return [value];
  if (Array.isArray(value)) return value as readonly number[];
  throw new InvalidArgumentError(`${what} must be a number or a list of numbers, got ${show(value)}`, op);
}

/**
 * NumPy's broadcasting: shapes are aligned at their ends, and a dimension of 1 stretches.
 * @throws InvalidArgumentError when two dimensions differ and neither is 1.
 */
export function broadcastShapes(a: Shape, b: Shape, op?: string): Shape {
  if (sameShape(a, b) || b.length === 0) return a;
  if (a.length === 0) return b;
  const rank = Math.max(a.length, b.length);
  const out = new Array<number>(rank);
  for (let i = 1; i <= rank; i++) {
    const x = i <= a.length ? (a[a.length - i] as number) : 1;
    const y = i <= b.length ? (b[b.length - i] as number) : 1;
    if (x !== y && x !== 1 && y !== 1) {
      throw new InvalidArgumentError(
        `shapes ${showShape(a)} and ${showShape(b)} do not broadcast: ${x} and ${y} differ and neither is 1`,
        op,
      );
    }
    out[rank - i] = x === 1 ? y : x;
  }
  return out;
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
  if (axis === null || axis === undefined) return Array.from({ length: rank }, (_, i) => i);
  const axes = listOf(axis, 'axis', op).map((a) => normalizeAxis(a, rank, op));
  const sorted = [...new Set(axes)].sort((a, b) => a - b);
  if (sorted.length !== axes.length)
    throw new InvalidArgumentError(`axis ${showShape(axes)} names one axis twice`, op);
  return sorted;
}

/** The shape after a reduction over normalised axes. */
export function reducedShape(shape: Shape, axes: readonly number[], keepdims: boolean): number[] {
  const out: number[] = [];
  for (let i = 0; i < shape.length; i++) {
    if (!axes.includes(i)) out.push(shape[i] as number);
    else if (keepdims) out.push(1);
  }
  return out;
}

/** @throws InvalidArgumentError unless it is a list of at most 8 integers of at least 0. */
export function checkShape(shape: Shape, op?: string): Shape {
  checkList(shape, 'a shape', op);
  if (shape.length > MAX_RANK) {
    throw new InvalidArgumentError(
      `${showShape(shape)} has rank ${shape.length}; at most ${MAX_RANK} is possible`,
      op,
    );
  }
  for (const d of shape) {
    if (!Number.isSafeInteger(d) || d < 0) {
      throw new InvalidArgumentError(
        `${showShape(shape)} is no shape: dimensions are integers of at least 0`,
        op,
      );
    }
  }
  return shape;
}

/** @throws InvalidArgumentError unless it is a list as of `checkShape`, in which null may stand for a size. */
export function checkPartialShape(shape: PartialShape, op?: string): void {
  checkShape(
    checkList(shape, 'a shape', op).map((d) => (d === null ? 0 : d)),
    op,
  );
}

/** True when `shape` fits a partially known one; `null` as a whole fits all. */
export function isCompatible(shape: Shape, partial: PartialShape | null): boolean {
  return (
    partial === null ||
    (shape.length === partial.length && partial.every((d, i) => d === null || d === shape[i]))
  );
}
