// Structures of specs and host values, as SavedModels describe arguments and results.
import { dtypeTraits, UnimplementedError } from '@eagre/backend';
import { Variable } from '@eagre/core';
import { isPlain, partialShape } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { TensorSpec } from '@eagre/graph';

type StructuredValue = tensorflow.StructuredValue;

export const NONE: StructuredValue = { none_value: {} };

export const list = (values: readonly StructuredValue[]): StructuredValue => ({ list_value: { values } });
export const tuple = (values: readonly StructuredValue[]): StructuredValue => ({ tuple_value: { values } });
export const dict = (fields: Iterable<readonly [string, StructuredValue]>): StructuredValue => ({
  dict_value: { fields: new Map(fields) },
});
export const text = (value: string): StructuredValue => ({ string_value: value });

/** The shape of a spec; any for null. */
export function shapeProto(shape: readonly (number | null)[] | null): tensorflow.TensorShapeProto {
  if (shape === null) return { unknown_rank: true };
  return { dim: partialShape(shape as readonly number[]).map((size) => ({ size: size ?? -1 })) };
}

export function specProto(spec: TensorSpec, name: string | undefined): StructuredValue {
  return {
    tensor_spec_value: {
      ...(name === undefined ? {} : { name }),
      shape: shapeProto(spec.shape),
      dtype: dtypeTraits[spec.dtype].tensorflow,
    },
  };
}

/**
 * A structure of specs and host values.
 * @param nameOf the name of each spec, in their order.
 * @param what it is of, for messages.
 * @throws UnimplementedError for an object that no file can hold.
 */
export function encodeStructure(
  value: unknown,
  what: string,
  nameOf: (spec: TensorSpec) => string | undefined = (spec) => spec.name,
): StructuredValue {
  const encode = (item: unknown): StructuredValue => encodeStructure(item, what, nameOf);
  if (value === undefined || value === null) return NONE;
  if (value instanceof TensorSpec) return specProto(value, nameOf(value));
  if (typeof value === 'boolean') return { bool_value: value };
  if (typeof value === 'bigint') return { int64_value: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { int64_value: value } : { float64_value: value };
  if (typeof value === 'string') return { string_value: value };
  if (Array.isArray(value)) return list(value.map(encode));
  if (value instanceof Map) return dict(entriesOf(value, what).map(([key, item]) => [key, encode(item)]));
  if (isPlain(value)) return dict(Object.entries(value as object).map(([key, item]) => [key, encode(item)]));
  throw new UnimplementedError(
    `${what} is for ${value instanceof Variable ? `the variable '${value.name}'` : nameOfClass(value)} as an argument, which a SavedModel cannot hold: make it an attribute of what is saved, and read it in the function`,
    'savedModel.save',
  );
}

function entriesOf(map: ReadonlyMap<unknown, unknown>, what: string): [string, unknown][] {
  return [...map].map(([key, value]) => {
    if (typeof key === 'string' || typeof key === 'number') return [String(key), value];
    throw new UnimplementedError(`${what} has a map with keys that are no strings`, 'savedModel.save');
  });
}

function nameOfClass(value: unknown): string {
  if (typeof value === 'function') return `the function '${value.name}'`;
  return typeof value === 'object' && value !== null ? `a ${value.constructor.name}` : String(value);
}
