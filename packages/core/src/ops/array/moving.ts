// What the ops that only move elements share.
import { type ByteStrings, InvalidArgumentError, MAX_RANK } from '@eagre/backend';
import { context, inInitScope, withoutTapes } from '../../dispatch/context.ts';
import { type Attrs, execute1, type Op } from '../../dispatch/op.ts';
import { knownTensor, symbolically, symbolicTensor } from '../../dispatch/symbolic.ts';
import type { Dim, Dims } from '../../shapes/dim.ts';
import { dimsOf, hasUnknown, toShape } from '../../shapes/dims.ts';
import { checkShape, type Shape, show } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import { emptyTensor, spaceOf, stringTensor, type Tensor, uploaded, viewOf } from '../../tensor/tensor.ts';
import { knownStrings } from '../strings/known-strings.ts';

/** Runs an op that moves elements. Strings have no kernels: their positions are moved, then looked up. */
export function move(op: Op, inputs: readonly Tensor[], attrs: Attrs): Tensor {
  if (inputs.every(({ dtype }) => dtype !== 'string')) return execute1(op, inputs, attrs);
  if (context.tracer !== null) {
    if (context.tracer.forFile && inputs.some((x) => knownTensor(x) === null))
      return execute1(op, inputs, attrs);
    const known = inputs.map((x) => knownStrings(x, op.name));
    return inInitScope(() => move(op, known, attrs));
  }
  return withoutTapes(() => {
    const { size } = symbolically(null, () =>
      execute1(
        op,
        inputs.map((x) => symbolicTensor(x.dtype === 'string' ? 'int32' : x.dtype, x.shape)),
        attrs,
      ),
    );
    checkListSize(size, 'strings', 'make smaller tensors', op.name);
    const elements: (string | Uint8Array)[] = [];
    let bytes: ByteStrings | null = null;
    const positions = inputs.map((x) => {
      if (x.dtype !== 'string') return x;
      const p = emptyTensor('int32', x.shape, x.size);
      const view = spaceOf(p) as Int32Array;
      for (let i = 0; i < x.size; i++) view[i] = elements.length + i;
      const strings = x.storage.strings ?? [];
      if ('elements' in strings) bytes = strings;
      for (const s of 'elements' in strings ? strings.elements : strings) elements.push(s);
      return uploaded(p, view);
    });
    const moved = execute1(op, positions, attrs);
    const found = Array.from(viewOf(moved) as Int32Array, (p) => elements[p]);
    return stringTensor((bytes as ByteStrings | null)?.of(found) ?? (found as string[]), moved.shape);
  });
}

/** @throws InvalidArgumentError when a result would have more axes than kernels take. */
export function checkRank(rank: number, op: string): void {
  if (rank > MAX_RANK)
    throw new InvalidArgumentError(`the result would have rank ${rank}; at most ${MAX_RANK} is possible`, op);
}

/** The shape. @throws InvalidArgumentError when it has more axes than kernels take. */
export function checkRankOf(shape: Shape, op: string): Shape {
  checkRank(shape.length, op);
  return shape;
}

/** A shape of one's own from what a user gave. @throws InvalidArgumentError for what is none, or has too many axes. */
export function ownShape(given: Dims, op: string): Shape {
  return checkRankOf(toShape([...dimsOf(checkShape(given, op))]), op);
}

/** A copy of a list of integers, of which sizes need not be known. @throws InvalidArgumentError unless there are `length` of them. */
export function checkDims(list: Dims, length: number, what: string, op: string): Dim[] {
  if (Array.isArray(list) && hasUnknown(list) && list.length === length) return [...dimsOf(list)];
  return checkIntegers(list as readonly number[], length, what, op);
}

/** A copy of a list of integers. @throws InvalidArgumentError unless there are `length` of them. */
export function checkIntegers(list: readonly number[], length: number, what: string, op: string): number[] {
  if (!Array.isArray(list) || list.length !== length || !list.every(Number.isSafeInteger)) {
    throw new InvalidArgumentError(`${what} must be ${length} integers, one per axis, got ${show(list)}`, op);
  }
  return [...(list as readonly number[])];
}

/**
 * Lets go of views made on the way to a result: a held view keeps its memory from the pool, and a variable behind it from being
 * written in place. Tapes have holds of their own.
 */
export function disposeAll<T>(result: T, ...views: readonly Tensor[]): T {
  for (const view of views) view.dispose();
  return result;
}

/** An argument of indices or labels: bare numbers become int32, and so does uint8. */
export function toIndices(value: TensorLike, what: string, op: string): Tensor {
  const t = toTensor(value, 'int32');
  if (t.dtype === 'uint8') return t.cast('int32');
  checkDType(t.dtype, 'index', what, op);
  return t;
}
