// `tf.TensorShape`: shapes of which parts, or even the rank, are not known.
import { InvalidArgumentError } from '@eagre/backend';
import type { ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, defineMethods, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { stack } from '../ops/array/join.ts';
import { toTensor } from '../tensor/convert.ts';
import { showInConsole } from '../tensor/format.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { Dims } from './dim.ts';
import { dimsOf, partialShape } from './dims.ts';
import {
  broadcastShapes,
  checkPartialShape,
  checkShape,
  type PartialShape,
  type Shape,
  showShape,
} from './shape.ts';
import { sizeValue } from './sizes.ts';

/** What stands for a shape: sizes, of which null are not known, null for an unknown rank, or a TensorShape. */
export type TensorShapeLike = PartialShape | null | TensorShape;

const OP = 'TensorShape';
function sizesOf(shape: TensorShapeLike | number): PartialShape | null {
  if (shape instanceof TensorShape) return shape.dims;
  if (shape === null) return null;
  const list = typeof shape === 'number' ? [shape] : shape;
  if (!Array.isArray(list)) throw new InvalidArgumentError(`expected a shape, got ${shown(shape)}`, OP);
  checkPartialShape(list, OP);
  return partialShape(list);
}
const agree = (a: number | null, b: number | null): boolean => a === null || b === null || a === b;

/** A shape of which parts, or even the rank, are not known: `new tf.TensorShape([null, 3])`, `new tf.TensorShape(null)`. Functions take `asList()`. */
export class TensorShape {
  /** The sizes, null for those that are not known; null as a whole where the rank is not known. */
  readonly dims: PartialShape | null;

  constructor(...args: Arguments<[dims: TensorShapeLike | number], ['dims']>) {
    const { dims } = argumentsOf<{ readonly dims: TensorShapeLike | number }>(TensorShape, new.target, args);
    if (dims === undefined)
      throw new InvalidArgumentError('dims must be given; null stands for an unknown rank', OP);
    this.dims = sizesOf(dims);
  }
  /** The number of axes; null where it is not known. */
  get rank(): number | null {
    return this.dims?.length ?? null;
  }
  /** The number of axes; null where it is not known. */
  get ndims(): number | null {
    return this.rank;
  }
  /** The sizes. @throws InvalidArgumentError where the rank is not known */
  asList(): (number | null)[] {
    if (this.dims === null) throw new InvalidArgumentError('the rank is not known, so there is no list', OP);
    return [...this.dims];
  }
  /** The number of elements; null where it is not known. */
  numElements(): number | null {
    if (!this.isFullyDefined()) return null;
    return (this.dims as Shape).reduce((n, d) => n * d, 1);
  }
  /** Whether the rank and all sizes are known. */
  isFullyDefined(): boolean {
    return this.dims?.every((d) => d !== null) ?? false;
  }
  /** Whether a tensor may have both shapes. */
  isCompatibleWith(...args: Arguments<[other: TensorShapeLike], ['other']>): boolean;
  isCompatibleWith(other: TensorShapeLike): boolean {
    const dims = sizesOf(other);
    if (this.dims === null || dims === null) return true;
    return dims.length === this.dims.length && this.dims.every((d, i) => agree(d, dims[i]));
  }
  /** Whether every tensor of this shape has the other one. */
  isSubtypeOf(...args: Arguments<[other: TensorShapeLike], ['other']>): boolean;
  isSubtypeOf(other: TensorShapeLike): boolean {
    const dims = sizesOf(other);
    if (dims === null) return true;
    return this.dims?.length === dims.length && this.dims.every((d, i) => dims[i] === null || d === dims[i]);
  }
  /** What both shapes together tell. @throws InvalidArgumentError where they contradict each other */
  mergeWith(...args: Arguments<[other: TensorShapeLike], ['other']>): TensorShape;
  mergeWith(other: TensorShapeLike): TensorShape {
    this.assertIsCompatibleWith(other);
    const dims = sizesOf(other);
    if (this.dims === null || dims === null) return new TensorShape(this.dims ?? dims);
    return new TensorShape(this.dims.map((d, i) => d ?? dims[i]));
  }
  /** The shape of which both are special cases. */
  mostSpecificCompatibleShape(...args: Arguments<[other: TensorShapeLike], ['other']>): TensorShape;
  mostSpecificCompatibleShape(other: TensorShapeLike): TensorShape {
    const dims = sizesOf(other);
    if (this.dims === null || dims?.length !== this.dims.length) return new TensorShape(null);
    return new TensorShape(this.dims.map((d, i) => (d === dims[i] ? d : null)));
  }
  /** The axes of this shape, then those of another. */
  concatenate(...args: Arguments<[other: TensorShapeLike], ['other']>): TensorShape;
  concatenate(other: TensorShapeLike): TensorShape {
    const dims = sizesOf(other);
    return new TensorShape(this.dims === null || dims === null ? null : [...this.dims, ...dims]);
  }
  /** This shape, of which the rank is known then. @throws InvalidArgumentError for another rank */
  withRank(...args: Arguments<[rank: number], ['rank']>): TensorShape;
  withRank(rank: number): TensorShape {
    return this.mergeWith(new Array<null>(rank).fill(null));
  }
  /** This shape. @throws InvalidArgumentError for a lower rank */
  withRankAtLeast(...args: Arguments<[rank: number], ['rank']>): TensorShape;
  withRankAtLeast(rank: number): TensorShape {
    if (this.rank !== null && this.rank < rank)
      throw wrong(`${String(this)} must have at least rank ${rank}`);
    return this;
  }
  /** This shape. @throws InvalidArgumentError for a higher rank */
  withRankAtMost(...args: Arguments<[rank: number], ['rank']>): TensorShape;
  withRankAtMost(rank: number): TensorShape {
    if (this.rank !== null && this.rank > rank) throw wrong(`${String(this)} must have at most rank ${rank}`);
    return this;
  }
  /** @throws InvalidArgumentError for another rank */
  assertHasRank(...args: Arguments<[rank: number], ['rank']>): void;
  assertHasRank(rank: number): void {
    if (this.rank !== null && this.rank !== rank) throw wrong(`${String(this)} must have rank ${rank}`);
  }
  /** @throws InvalidArgumentError where both have different ranks */
  assertSameRank(...args: Arguments<[other: TensorShapeLike], ['other']>): void;
  assertSameRank(other: TensorShapeLike): void {
    const dims = sizesOf(other);
    if (dims !== null) this.assertHasRank(dims.length);
  }
  /** @throws InvalidArgumentError where no tensor may have both shapes */
  assertIsCompatibleWith(...args: Arguments<[other: TensorShapeLike], ['other']>): void;
  assertIsCompatibleWith(other: TensorShapeLike): void {
    if (!this.isCompatibleWith(other))
      throw wrong(`${String(this)} and ${String(new TensorShape(other))} are not compatible`);
  }
  /** @throws InvalidArgumentError where a size, or the rank, is not known */
  assertIsFullyDefined(): void {
    if (!this.isFullyDefined()) throw wrong(`${String(this)} is not fully defined`);
  }
  /** Whether both tell the same. */
  equals(...args: Arguments<[other: TensorShapeLike], ['other']>): boolean;
  equals(other: TensorShapeLike): boolean {
    return String(this) === String(new TensorShape(other));
  }
  /** The size of an axis; negative ones count from the end. */
  at(...args: Arguments<[axis: number], ['axis']>): number | null;
  at(axis: number): number | null {
    const found = this.dims?.at(axis);
    if (this.dims !== null && found === undefined) throw wrong(`${String(this)} has no axis ${axis}`);
    return found ?? null;
  }
  get length(): number {
    return this.asList().length;
  }
  [Symbol.iterator](): IterableIterator<number | null> {
    return this.asList()[Symbol.iterator]();
  }
  toString(): string {
    if (this.dims === null) return '<unknown>';
    const list = this.dims.map((d) => (d === null ? 'None' : String(d))).join(', ');
    return this.dims.length === 1 ? `(${list},)` : `(${list})`;
  }
  toJSON(): (number | null)[] | null {
    return this.dims === null ? null : this.asList();
  }
}
const wrong = (text: string): InvalidArgumentError => new InvalidArgumentError(text, OP);

takesArguments<{ readonly dims: TensorShapeLike | number }>(
  { positional: ['dims'], required: 1, names: { dims: true } },
  TensorShape,
);
const other = { positional: ['other'] };
const rank = { positional: ['rank'] };
defineMethods(TensorShape.prototype, OP, {
  asList: {},
  numElements: {},
  isFullyDefined: {},
  isCompatibleWith: other,
  isSubtypeOf: other,
  mergeWith: other,
  mostSpecificCompatibleShape: other,
  concatenate: other,
  withRank: rank,
  withRankAtLeast: rank,
  withRankAtMost: rank,
  assertHasRank: rank,
  assertSameRank: other,
  assertIsCompatibleWith: other,
  assertIsFullyDefined: {},
  equals: other,
  at: { positional: ['axis'] },
});
showInConsole(TensorShape.prototype, String);

/** The shape of what two tensors of such shapes broadcast to. @throws InvalidArgumentError where they do not */
export const broadcastStaticShape: NamedFunction<
  [shapeX: TensorShapeLike, shapeY: TensorShapeLike],
  ['shapeX', 'shapeY'],
  unknown,
  TensorShape
> = /* @__PURE__ */ defineFunction(
  'broadcastStaticShape',
  { shapeX: kind.asIs, shapeY: kind.asIs },
  {},
  (shapeX, shapeY) => {
    const [x, y] = [sizesOf(shapeX), sizesOf(shapeY)];
    if (x === null || y === null) return new TensorShape(null);
    const count = Math.max(x.length, y.length);
    const size = (list: PartialShape, i: number): number | null =>
      i < count - list.length ? 1 : (list[i - count + list.length] as number | null);
    return new TensorShape(
      Array.from({ length: count }, (_, i) => {
        const [a, b] = [size(x, i), size(y, i)];
        if (a === 1) return b;
        if (b === 1) return a;
        // An unknown size beside a known one can only be that, or 1.
        if (a === null || b === null) return a ?? b;
        if (a !== b) throw wrong(`shapes ${showShape(x)} and ${showShape(y)} do not broadcast`);
        return a;
      }),
    );
  },
);

/** The shape of what two tensors of such shapes broadcast to: an int32 vector. @throws InvalidArgumentError where they do not */
export const broadcastDynamicShape: NamedFunction<
  [shapeX: ShapeLike, shapeY: ShapeLike],
  ['shapeX', 'shapeY']
> = /* @__PURE__ */ defineFunction(
  'broadcastDynamicShape',
  { shapeX: kind.shape, shapeY: kind.shape },
  {},
  (shapeX, shapeY) => {
    const op = 'broadcastDynamicShape';
    const [x, y] = [checkShape(shapeX as Shape, op), checkShape(shapeY as Shape, op)];
    const found: Dims = dimsOf(broadcastShapes(x, y, op));
    if (found.length === 0) return toTensor(new Int32Array(0));
    return stack(found.map((d): Tensor => toTensor(sizeValue(d, 'int32'), 'int32')));
  },
);
