// States of iterators as bytes: a length, JSON, and behind it the bytes of tensors and typed arrays.
import {
  DataLossError,
  type DType,
  dtypeTraits,
  InternalError,
  type TypedArray,
  typedView,
  valuesOf,
} from '@eagre/backend';
import { constant, Tensor } from '@eagre/core';
import { sizeOf, viewOf } from '@eagre/core/internal';
import type { State } from './iterator.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

// In JSON, a value that is bytes is an object with this key alone; an object of the user's with it is wrapped once more.
const BYTES = '$bytes';
const OBJECT = '$object';
const ALIGN = 8;
const HEADER = 8;

const arrayDType = (v: TypedArray): DType =>
  v instanceof Float32Array
    ? 'float32'
    : v instanceof Float64Array
      ? 'float64'
      : v instanceof Int32Array
        ? 'int32'
        : v instanceof BigInt64Array
          ? 'int64'
          : 'uint8';

/** A state as a uint8 tensor, for checkpoints. */
export function stateToTensor(state: State): Tensor {
  const parts: { readonly at: number; readonly bytes: Uint8Array }[] = [];
  let end = 0;
  const put = (data: TypedArray): number => {
    const at = end;
    parts.push({ at, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) });
    end = Math.ceil((at + data.byteLength) / ALIGN) * ALIGN;
    return at;
  };
  const visit = (v: State): Json => {
    if (v instanceof Tensor) {
      const { dtype, shape } = v;
      if (dtype === 'string') return { [BYTES]: { dtype, shape, strings: v.strings() } };
      return { [BYTES]: { dtype, shape, at: put(viewOf(v)) } };
    }
    if (ArrayBuffer.isView(v)) {
      const data = v;
      return { [BYTES]: { dtype: arrayDType(data), length: data.length, at: put(data) } };
    }
    if (typeof v === 'number' && !Number.isFinite(v))
      throw new InternalError(`a state contains the number ${v}`);
    if (typeof v !== 'object' || v === null) return v;
    if (Array.isArray(v)) return (v as readonly State[]).map(visit);
    const entries = Object.entries(v).map(([k, item]) => [k, visit(item)] as const);
    const object = Object.fromEntries(entries) as Json;
    return Object.hasOwn(v, BYTES) || Object.hasOwn(v, OBJECT) ? { [OBJECT]: object } : object;
  };
  const json = new TextEncoder().encode(JSON.stringify(visit(state)));
  const start = Math.ceil((HEADER + json.length) / ALIGN) * ALIGN;
  const all = new Uint8Array(start + end);
  new DataView(all.buffer).setUint32(0, json.length, true);
  all.set(json, HEADER);
  for (const { at, bytes } of parts) all.set(bytes, start + at);
  return constant(all);
}

/** @throws DataLossError for bytes that `stateToTensor` did not write. */
export function stateFromTensor(tensor: Tensor): State {
  if (tensor.dtype !== 'uint8' || tensor.rank !== 1)
    throw new DataLossError(
      `the state of an iterator must be bytes, got ${tensor.dtype} of rank ${tensor.rank}`,
    );
  const all = tensor.data() as Uint8Array;
  const length = all.length < HEADER ? -1 : new DataView(all.buffer).getUint32(0, true);
  const start = Math.ceil((HEADER + length) / ALIGN) * ALIGN;
  if (length < 0 || start > all.length) throw damaged();
  let json: Json;
  try {
    json = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(all.subarray(HEADER, HEADER + length)),
    ) as Json;
  } catch (cause) {
    throw damaged(cause);
  }
  return revive(json, all.subarray(start));
}

function revive(json: Json, data: Uint8Array): State {
  const visit = (v: Json): State => {
    if (typeof v !== 'object' || v === null) return v;
    if (Array.isArray(v)) return (v as readonly Json[]).map(visit);
    const object = v as Readonly<Record<string, Json>>;
    if (Object.hasOwn(object, BYTES)) return leafOf(object[BYTES], data);
    const of = Object.hasOwn(object, OBJECT) ? (object[OBJECT] as Readonly<Record<string, Json>>) : object;
    if (typeof of !== 'object' || of === null) throw damaged();
    return Object.fromEntries(Object.entries(of).map(([k, item]) => [k, visit(item)]));
  };
  return visit(json);
}

const isSize = (v: unknown): v is number => typeof v === 'number' && Number.isSafeInteger(v) && v >= 0;

function leafOf(json: Json, data: Uint8Array): Tensor | TypedArray {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw damaged();
  const { dtype, shape, strings, length, at } = json as Readonly<Record<string, unknown>>;
  if (typeof dtype !== 'string' || !Object.hasOwn(dtypeTraits, dtype)) throw damaged();
  const isShape = Array.isArray(shape) && shape.every(isSize);
  if (dtype === 'string') {
    if (!isShape || !Array.isArray(strings) || strings.length !== sizeOf(shape)) throw damaged();
    if (!strings.every((s) => typeof s === 'string')) throw damaged();
    return strings.length === 0
      ? constant([], 'string', { shape: shape })
      : constant(strings, 'string', { shape: shape });
  }
  const size = isShape ? sizeOf(shape) : length;
  const { bytes } = dtypeTraits[dtype as DType];
  if (!isSize(size) || !isSize(at) || at % ALIGN !== 0 || at + size * bytes > data.length) throw damaged();
  const own = data.slice(at, at + size * bytes);
  const values = typedView(dtype as DType, own.buffer, own.byteOffset, size);
  return isShape
    ? constant({ data: valuesOf(values, dtype as DType), shape: shape, dtype: dtype as DType })
    : values;
}

function damaged(cause?: unknown): DataLossError {
  return new DataLossError('the bytes are not the state of an iterator', 'Dataset', { cause });
}
