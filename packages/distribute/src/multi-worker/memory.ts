// Tensors as plain memory that an engine reduces or moves.
import {
  type Allocator,
  type DType,
  dtypeTraits,
  InvalidArgumentError,
  partOf,
  type Storage,
  type TypedArray,
  UnimplementedError,
} from '@eagre/backend';
import type { Shape, Tensor } from '@eagre/core';
import { emptyTensor, spaceOf, uploaded, viewOf } from '@eagre/core/internal';
import type { ReducedDType } from '../engine/native-engine.ts';
import type { Compression } from '../strategy/collectives.ts';

/** How the elements of a dtype are added up: as what they are, as others of the same bits, or as wider ones. */
const reducedAs: { readonly [dtype in DType]?: ReducedDType } = {
  float32: 'float32',
  float64: 'float64',
  float16: 'float16',
  bfloat16: 'bfloat16',
  int32: 'int32',
  int64: 'int64',
  complex64: 'float32',
  complex128: 'float64',
  // Sums wrap around, so signs do not matter.
  uint32: 'int32',
  uint64: 'int64',
  int8: 'int32',
  int16: 'int32',
  uint8: 'int32',
  uint16: 'int32',
};

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int32: Int32Array,
  int64: BigInt64Array,
} as const;

/** Elements in memory of a GPU. */
export interface GpuElements {
  readonly storage: Storage;
  readonly bytes: number;
}

/** Tensors of a list whose elements are added up in the same way, in one piece of memory: the host's, or the GPU's. */
export interface Pack {
  readonly dtype: ReducedDType;
  readonly data: TypedArray | GpuElements;
  /** Their places in the list. */
  readonly at: readonly number[];
}

/** What knows which elements a GPU adds up where they lie: those of this number among the driver's. */
export interface Adder {
  readonly gpu: number | null;
  reducesOnGpu(dtype: ReducedDType): boolean;
}

export interface PackOptions {
  readonly compression?: Compression | undefined;
  /** Where what lies on its GPU is to stay there. */
  readonly adder?: Adder;
  /** Packs of the same values whose memory nobody uses any more. */
  readonly free?: readonly Pack[] | undefined;
}

/** The elements of tensors, by how they are added up. @throws InvalidArgumentError for dtypes that have no sum */
export function packed(
  values: readonly Tensor[],
  op: string,
  { compression = 'NONE', adder, free = [] }: PackOptions = {},
): readonly Pack[] {
  const groups: { readonly dtype: ReducedDType; readonly on: Allocator | null; readonly at: number[] }[] = [];
  values.forEach((x, i) => {
    const dtype = reducedAs[x.dtype];
    if (dtype === undefined)
      throw new InvalidArgumentError(`values of dtype ${x.dtype} have no sum; cast them first`, op);
    const on = compression === 'NONE' && staysOnGpu(x, dtype, adder) ? x.storage.allocator : null;
    const group = groups.find((each) => each.dtype === dtype && each.on === on);
    if (group === undefined) groups.push({ dtype, on, at: [i] });
    else group.at.push(i);
  });
  return groups.map(({ dtype, on, at }, k) => {
    if (on !== null)
      return {
        dtype,
        data: packedOn(
          on,
          at.map((i) => values[i]),
        ),
        at,
      };
    const views = at.map((i) => viewOf(values[i]));
    const size = views.reduce((sum, view) => sum + view.length, 0);
    const old = free[k]?.data;
    // New memory is cleared, page by page, and counts for V8 as a reason to collect.
    const data =
      old instanceof arrays[dtype] && free[k]?.dtype === dtype && old.length === size
        ? old
        : new arrays[dtype](size);
    let next = 0;
    for (const view of views) {
      (data as Float32Array).set(sameKind(view, data) as Float32Array, next);
      next += view.length;
    }
    return compression === 'BFLOAT16' && data instanceof Float32Array
      ? { dtype: 'bfloat16', data: toBfloat16(data), at }
      : { dtype, data, at };
  });
}

function staysOnGpu(x: Tensor, dtype: ReducedDType, adder: Adder | undefined): boolean {
  const { allocator } = x.storage;
  return (
    adder !== undefined &&
    allocator.cuda !== undefined &&
    allocator.cuda.gpu === adder.gpu &&
    allocator === x.backend.allocator &&
    x.size > 0 &&
    adder.reducesOnGpu(dtype) &&
    // Not those that are added up as wider ones.
    dtypeTraits[x.dtype].bytes >= dtypeTraits[dtype].bytes
  );
}

/** Copies of tensors in one piece of memory of their device. Nobody but `unpacked` gives it back. */
function packedOn(allocator: Allocator, values: readonly Tensor[]): GpuElements {
  const bytes = values.reduce((sum, x) => sum + byteSize(x), 0);
  const storage = allocator.allocate(bytes);
  let next = 0;
  for (const x of values) {
    // A part of its own each: what the host knows of a value, it would take for what all begin with.
    allocator.copy(x.storage, partOf(storage, next, byteSize(x)), byteSize(x));
    next += byteSize(x);
  }
  return { storage, bytes };
}

/** The bytes of a list of tensors. */
export const byteSize = ({ size, dtype }: Pick<Tensor, 'size' | 'dtype'>): number =>
  size * dtypeTraits[dtype].bytes;

/**
 * 32-bit floats rounded to the nearest of 16 bits, of two the even one, as their bits: as `halfBits` of `@eagre/backend` does one value, in a
 * loop of its own, as all gradients pass here.
 */
export function toBfloat16(data: Float32Array): Uint16Array {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const rounded = new Uint16Array(data.length);
  for (let i = 0; i < bits.length; i++) {
    const x = bits[i];
    // What is no number stays none: rounding could make it infinite.
    rounded[i] = (x & 0x7fffffff) > 0x7f800000 ? (x >>> 16) | 0x40 : (x + 0x7fff + ((x >>> 16) & 1)) >>> 16;
  }
  return rounded;
}

/** 16-bit floats, by their bits, as 32-bit ones. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const wide = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) wide[i] = bits[i] << 16;
  return new Float32Array(wide.buffer);
}

/** Unsigned integers of 64 bits as signed ones. */
const sameKind = (view: TypedArray, like: TypedArray): TypedArray =>
  view instanceof BigUint64Array && like instanceof BigInt64Array
    ? new BigInt64Array(view.buffer, view.byteOffset, view.length)
    : view;

/** Tensors like those of a list, with the elements of packs. */
export function unpacked(values: readonly Like[], packs: readonly Pack[]): readonly Tensor[] {
  const results: Tensor[] = [];
  for (const { data: given, dtype, at } of packs) {
    if (!ArrayBuffer.isView(given)) {
      let next = 0;
      for (const i of at) {
        const result = emptyLike(values[i], values[i].shape, values[i].size);
        const part = partOf(given.storage, next, byteSize(result));
        given.storage.allocator.copy(part, result.storage, byteSize(result));
        next += byteSize(result);
        results[i] = result;
      }
      given.storage.release();
      continue;
    }
    const isCompressed = dtype === 'bfloat16' && values[at[0]].dtype !== 'bfloat16';
    const data = isCompressed ? fromBfloat16(given as Uint16Array) : given;
    let next = 0;
    for (const i of at) {
      const result = emptyLike(values[i], values[i].shape, values[i].size);
      const space = spaceOf(result);
      const part = data.subarray(next, next + space.length);
      // Narrower integers keep the low bits.
      if (space instanceof BigUint64Array)
        space.set(new BigUint64Array(part.buffer, part.byteOffset, part.length));
      else (space as Float32Array).set(part as Float32Array);
      next += space.length;
      results[i] = uploaded(result, space);
    }
  }
  return results;
}

/** What tells how a tensor like it is made. */
export type Like = Pick<Tensor, 'dtype' | 'backend' | 'shape' | 'size'>;

function emptyLike({ dtype, backend }: Like, shape: Shape, size: number): Tensor {
  return emptyTensor(dtype, shape, size, backend);
}

/** The bytes of tensors, one behind the other. @throws UnimplementedError for strings */
export function bytesOf(values: readonly Tensor[], op: string): Uint8Array {
  const views = values.map((x) => {
    if (x.dtype === 'string') throw new UnimplementedError('strings cannot be sent to other processes', op);
    const view = viewOf(x);
    return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  });
  const bytes = new Uint8Array(views.reduce((sum, view) => sum + view.length, 0));
  let next = 0;
  for (const view of views) {
    bytes.set(view, next);
    next += view.length;
  }
  return bytes;
}

/** A tensor like another one, of a shape, with these bytes. */
export function fromBytes(like: Tensor, shape: Shape, bytes: Uint8Array): Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const result = emptyLike(like, shape, size);
  const space = spaceOf(result);
  new Uint8Array(space.buffer, space.byteOffset, space.byteLength).set(bytes);
  return uploaded(result, space);
}
