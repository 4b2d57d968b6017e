// Byte strings as arguments: string tensors, and bytes as Eagre's datasets give them.
import { InvalidArgumentError } from '@eagre/backend';
import type { Tensor, TensorLike, Variable } from '@eagre/core';
import { bytesIn, knownStrings, onKnown, toStrings, toTensor } from '@eagre/core/internal';
import { needsValue } from '../pipeline/plain-code.ts';

/** Byte strings: a string tensor, or for one of them the bytes, as a Uint8Array or a uint8 vector. */
export type BytesLike = TensorLike;

/** Byte strings in the shape of their tensor. */
export interface ByteStrings {
  readonly bytes: readonly Uint8Array[];
  readonly shape: readonly number[];
}

/** @throws InvalidArgumentError for what are no byte strings, UnimplementedError for those that only a run of a graph knows. */
export function byteStringsOf(value: BytesLike, what: string, op: string): ByteStrings {
  if (value instanceof Uint8Array) return { bytes: [value], shape: [] };
  const isBytes = typeof value === 'object' && value !== null && 'dtype' in value && value.dtype === 'uint8';
  if (!isBytes) {
    const x = knownStrings(toStrings(value, what, op), op);
    return { bytes: bytesIn(x), shape: x.shape };
  }
  const x = toTensor(value as Tensor | Variable);
  needsValue(x, op);
  if (x.rank !== 1)
    throw new InvalidArgumentError(`${what} as uint8 must be a vector, got shape [${x.shape}]`, op);
  return { bytes: [x.data() as Uint8Array], shape: [] };
}

/** One byte string. @throws InvalidArgumentError for more than a scalar */
export function bytesFrom(value: BytesLike, what: string, op: string): Uint8Array {
  const { bytes, shape } = byteStringsOf(value, what, op);
  if (shape.length > 0) throw new InvalidArgumentError(`${what} must be a scalar, got shape [${shape}]`, op);
  return bytes[0];
}

/** Computes with values at once, also while a function is traced, of which the results are then constants. */
export function atOnce<R>(op: string, fn: () => R): R {
  return onKnown(op, [], fn);
}
