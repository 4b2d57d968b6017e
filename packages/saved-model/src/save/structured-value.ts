// Structures of specs and host values, as SavedModels describe arguments and results.
import { type DType, dtypeTraits, UnimplementedError } from '@eagre/backend';
import { Variable } from '@eagre/core';
import { isComposite, isPlain, partialShape } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { IndexedSlicesSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec } from '@eagre/graph';

type StructuredValue = tensorflow.StructuredValue;

export const NONE: StructuredValue = { none_value: {} };

export const list = (values: readonly StructuredValue[]): StructuredValue => ({ list_value: { values } });
export const tuple = (values: readonly StructuredValue[]): StructuredValue => ({ tuple_value: { values } });
export const dict = (fields: Iterable<readonly [string, StructuredValue]>): StructuredValue => ({
  dict_value: { fields: new Map(fields) },
});
/** TensorFlow's number of a dtype. */
export const typeOf = (dtype: DType): number => dtypeTraits[dtype].tensorflow;
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
  if (isComposite(value)) return compositeProto(value);
  if (typeof value === 'boolean') return { bool_value: value };
  if (typeof value === 'bigint') return { int64_value: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { int64_value: value } : { float64_value: value };
  if (typeof value === 'string') return { string_value: value };
  if (Array.isArray(value)) return list(value.map(encode));
  if (value instanceof Map) return dict(entriesOf(value, what).map(([key, item]) => [key, encode(item)]));
  if (isPlain(value)) return dict(Object.entries(value as object).map(([key, item]) => [key, encode(item)]));
  throw new UnimplementedError(
    `${what} is for ${value instanceof Variable ? `the variable '${value.path}'` : nameOfClass(value)} as an argument, which a SavedModel cannot hold: make it an attribute of what is saved, and read it in the function`,
    'savedModel.save',
  );
}

/** A spec of a tensor of several parts, as TensorFlow numbers and describes them. */
function compositeProto(spec: unknown): StructuredValue {
  const dtype = (name: DType): StructuredValue => ({ tensor_dtype_value: dtypeTraits[name].tensorflow });
  const shape = (sizes: readonly (number | null)[] | null): StructuredValue => ({
    tensor_shape_value: shapeProto(sizes),
  });
  const typeSpec = (
    type_spec_class: number,
    type_spec_class_name: string,
    num_flat_components: number,
    state: readonly StructuredValue[],
  ): StructuredValue => ({
    type_spec_value: { type_spec_class, type_state: tuple(state), type_spec_class_name, num_flat_components },
  });
  if (spec instanceof SparseTensorSpec)
    return typeSpec(1, 'SparseTensorSpec', 3, [shape(spec.shape), dtype(spec.dtype)]);
  if (spec instanceof IndexedSlicesSpec)
    return typeSpec(2, 'IndexedSlicesSpec', 3, [
      shape(spec.shape),
      dtype(spec.dtype),
      dtype(spec.indicesDtype),
      dtype('int32'),
      shape([null]),
    ]);
  if (spec instanceof RaggedTensorSpec)
    return typeSpec(3, 'RaggedTensorSpec', 1 + spec.raggedRank, [
      shape(spec.shape),
      dtype(spec.dtype),
      { int64_value: spec.raggedRank },
      dtype(spec.rowSplitsDtype),
    ]);
  throw new UnimplementedError(`${nameOfClass(spec)} has no form in a SavedModel`, 'savedModel.save');
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
