// The sizes of tensors: what users read, and what the library computes with.
// Types in a circle: shapes are lists of numbers to users and of expressions inside.

import { type Dim, type DimExpr, type Dims, isExpression, productOf } from './dim.ts';
import type { PartialShape, Shape } from './shape.ts';
import { equalDims, knownDim } from './shape-env.ts';

/** Under which a shape for users has its expressions. */
const DIMS = Symbol('dims');

/** What the library computes with: expressions where users would read the numbers of the call that is traced. */
export function dimsOf(shape: Dims | Shape): Dims {
  return (shape as { readonly [DIMS]?: Dims })[DIMS] ?? shape;
}

/** The sizes of a tensor, of which some may be expressions. */
export function dims(x: { readonly shape: Shape }): Dims {
  return dimsOf(x.shape);
}

/**
 * A shape for users. Where a size is not known while a function is traced they read the number that it is in the call that is traced; the
 * trace then serves calls with this number only.
 */
export function toShape(of: Dims | Shape): Shape {
  if (dimsOf(of) !== of || !holdsExpression(of)) return of as Shape;
  const shape = [...of] as number[];
  of.forEach((d, i) => {
    if (isExpression(d)) hideDim(shape, i, d);
  });
  const text = (): string => of.join(',');
  Object.defineProperties(shape, {
    join: { value: (separator = ',') => of.join(separator) },
    toString: { value: text },
    [Symbol.for('nodejs.util.inspect.custom')]: { value: () => `[${of.join(', ')}]` },
    [DIMS]: { value: of },
  });
  return shape;
}

/** Gives a property the value of a size, which is known once somebody reads it. */
export function hideDim(target: object, key: number | 'size', d: DimExpr): void {
  Object.defineProperty(target, key, { get: () => knownDim(d), enumerable: true, configurable: true });
}

/** Whether a size is not known while a function is traced. */
export function isUnknown(d: Dim): d is DimExpr {
  return typeof d !== 'number';
}

/** Whether some of the sizes are not known. */
export function hasUnknown(shape: Dims): boolean {
  return holdsExpression(dimsOf(shape));
}

function holdsExpression(of: Dims): boolean {
  // Lists of users may hold anything.
  for (let i = 0; i < of.length; i++) if (typeof of[i] !== 'number' && isExpression(of[i])) return true;
  return false;
}

/** A shape with null for sizes that are not known. */
export function partialShape(shape: Dims | PartialShape): PartialShape {
  const known: readonly (Dim | null)[] = dimsOf(shape as Dims);
  return known.map((d) => (typeof d === 'number' ? d : null));
}

/** The number of elements. */
export function sizeOfDims(shape: Dims | Shape): Dim {
  const of = dimsOf(shape);
  let size = 1;
  for (let i = 0; i < of.length; i++) {
    const d = of[i];
    if (typeof d !== 'number') return productOf(of);
    size *= d;
  }
  return size;
}

/** Whether two shapes are equal. */
export function sameShape(a: Dims, b: Dims): boolean {
  return a === b || everyDim(dimsOf(a), dimsOf(b), equalDims);
}

/** Whether two lists have the same length, and their sizes agree in pairs. */
export function everyDim(a: Dims, b: Dims, agree: (x: Dim, y: Dim) => boolean): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!agree(a[i], b[i])) return false;
  return true;
}
