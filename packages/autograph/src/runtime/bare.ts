// Bare numbers of the code that a graph has to hold: they become tensors, and still take the dtype of what they meet.
import { type DType, Tensor } from '@eagre/core';
import { context, isFloating, isInteger, opHooks } from '@eagre/core/internal';

/** The dtypes that a number has met. */
export type Met = Set<DType>;

export interface Bare {
  readonly integer: boolean;
  /** Of the variables that it comes from. */
  readonly met: readonly Met[];
}

const marks = new WeakMap<Tensor, Bare>();

/** What is known of a number without a dtype of its own; undefined for other values. */
export function bareOf(value: unknown): Bare | undefined {
  if (typeof value === 'number') return { integer: Number.isInteger(value), met: [] };
  return value instanceof Tensor ? marks.get(value) : undefined;
}

/** A tensor that stands for a bare number. */
export function mark(tensor: Tensor, bare: Bare): Tensor {
  opHooks.meeting = meeting;
  marks.set(tensor, bare);
  return tensor;
}

/** A number that came from others, which is bare if all of these are. @param whole whether it is an integer where they are. */
export function derived<T>(result: T, from: readonly unknown[], whole: boolean): T {
  if (context.tracer === null || !(result instanceof Tensor)) return result;
  const all = from.map(bareOf);
  if (!all.every((b) => b !== undefined)) return result;
  mark(result, {
    integer: whole && all.every((b) => b.integer),
    met: [...new Set(all.flatMap((b) => b.met))],
  });
  return result;
}

/** Writes down that a bare number has met a dtype. */
export function meets(value: unknown, dtype: DType): void {
  for (const met of bareOf(value)?.met ?? []) met.add(dtype);
}

/** Bare numbers that meet: as fractions, where one of them or the result may be one. */
export function together(a: unknown, b: unknown, fraction: boolean): readonly [unknown, unknown] {
  if (context.tracer === null) return [a, b];
  const [x, y] = [bareOf(a), bareOf(b)];
  if (x === undefined || y === undefined || (!fraction && x.integer && y.integer)) return [a, b];
  return [broken(a, x), broken(b, y)];
}

/** An integer as a number that may have a fraction. */
function broken(value: unknown, bare: Bare): unknown {
  if (!(value instanceof Tensor) || isFloating(value.dtype)) return value;
  return mark(value.cast(value.dtype === 'int64' ? 'float64' : 'float32'), bare);
}

/** The dtype that holds a bare number, from those that it has been given and those that it has met. */
export function heldAs(dtypes: Iterable<DType>, integer: boolean): DType {
  const all = new Set(dtypes);
  const whole = integer ? [...all].filter(isInteger) : [];
  if (whole.length === 0) return all.has('float64') ? 'float64' : 'float32';
  return whole.some((d) => d === 'int64' || d === 'uint32' || d === 'uint64') ? 'int64' : 'int32';
}

function meeting(x: Tensor, y: Tensor): DType | null {
  const [a, b] = [marks.get(x), marks.get(y)];
  if (a !== undefined && b !== undefined) return heldAs([x.dtype, y.dtype], a.integer && b.integer);
  const bare = a ?? b;
  if (bare === undefined) return null;
  const { dtype } = a === undefined ? x : y;
  if (dtype === 'bool' || dtype === 'string' || (isInteger(dtype) && !bare.integer)) return null;
  for (const met of bare.met) met.add(dtype);
  return dtype;
}
