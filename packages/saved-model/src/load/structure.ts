// Structures in files: the arguments and results of functions, with specs in the places of tensors.
import {
  type DType,
  InvalidArgumentError,
  Tensor,
  type TensorLike,
  UnimplementedError,
  Variable,
} from '@eagre/core';
import { isCompatible, isComposite, isPlain, toTensor } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { IndexedSlicesSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec } from '@eagre/graph';
import { tensorOf } from '../import/constants.ts';
import { type AttrShape, dtypeOf, partialShapeOf } from '../import/op-call.ts';

type CompositeSpec = RaggedTensorSpec | SparseTensorSpec | IndexedSlicesSpec;

/** A structure of specs and values. */
export type Structure =
  | { readonly kind: 'tensor'; readonly spec: TensorSpec }
  /** A tensor of several parts, each with a spec. */
  | { readonly kind: 'composite'; readonly spec: CompositeSpec }
  | { readonly kind: 'value'; readonly value: unknown }
  /** Tensors of a value that has no counterpart: calls are refused. */
  | { readonly kind: 'refused'; readonly specs: readonly TensorSpec[]; readonly why: UnimplementedError }
  | { readonly kind: 'list'; readonly items: readonly Structure[] }
  /** In the order of `tf.nest`: sorted keys, but for named tuples. */
  | { readonly kind: 'dict'; readonly keys: readonly string[]; readonly items: readonly Structure[] };

/** A structure of a message. @throws UnimplementedError for what has no counterpart, such as datasets. */
export function structureOf(proto: tensorflow.StructuredValue | undefined, where: string): Structure {
  if (proto === undefined) return { kind: 'value', value: null };
  const value = (value: unknown): Structure => ({ kind: 'value', value });
  const { tensor_spec_value: spec, bounded_tensor_spec_value: bounded } = proto;
  const tensor = spec ?? bounded;
  if (tensor !== undefined) {
    const shape = partialShapeOf(tensor.shape);
    const dtype = dtypeOf(tensor.dtype ?? 0, where);
    return { kind: 'tensor', spec: new TensorSpec(shape, dtype, tensor.name || undefined) };
  }
  const list = proto.list_value ?? proto.tuple_value;
  if (list !== undefined)
    return { kind: 'list', items: (list.values ?? []).map((item) => structureOf(item, where)) };
  if (proto.dict_value !== undefined) {
    const fields = [...(proto.dict_value.fields ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    return dictOf(fields, where);
  }
  if (proto.named_tuple_value !== undefined) {
    const fields = (proto.named_tuple_value.values ?? []).map(
      ({ key = '', value: v = {} }) => [key, v] as const,
    );
    return dictOf(fields, where);
  }
  if (proto.bool_value !== undefined) return value(proto.bool_value);
  if (proto.int64_value !== undefined) return value(Number(proto.int64_value));
  if (proto.float64_value !== undefined) return value(proto.float64_value);
  if (proto.string_value !== undefined) return value(proto.string_value);
  if (proto.tensor_shape_value !== undefined) return value(partialShapeOf(proto.tensor_shape_value));
  if (proto.tensor_dtype_value !== undefined) return value(dtypeOf(proto.tensor_dtype_value, where));
  if (proto.numpy_value !== undefined) return value(tensorOf(proto.numpy_value, where));
  if (proto.tensor_value !== undefined) return value(tensorOf(proto.tensor_value, where));
  if (proto.type_spec_value !== undefined) return compositeOf(proto.type_spec_value, where);
  return value(null);
}

/** The numbers of `TypeSpecProto.TypeSpecClass`. */
const SPECS: Readonly<Record<number, (state: readonly unknown[], lacks: Lacks) => Structure>> = {
  1: ([shape, dtype]) => ({
    kind: 'composite',
    spec: new SparseTensorSpec(shape as AttrShape, dtype as DType),
  }),
  2: ([shape, dtype, indices, denseShape], lacks) => {
    if (denseShape !== 'int32') {
      const rows = shape as AttrShape;
      const specs = [
        new TensorSpec(rows === null ? null : [null, ...rows.slice(1)], dtype as DType),
        new TensorSpec([null], indices as 'int64'),
        ...(denseShape == null ? [] : [new TensorSpec([rows?.length ?? null], denseShape as DType)]),
      ];
      return { kind: 'refused', specs, why: lacks('with a shape of int32') };
    }
    const spec = new IndexedSlicesSpec(shape as AttrShape, dtype as DType, indices as 'int64');
    return { kind: 'composite', spec };
  },
  3: ([shape, dtype, raggedRank, splits, values], lacks) => {
    if (values !== undefined && values !== null) throw lacks('of tensors');
    // Nothing of it is ragged.
    if (raggedRank === 0) return { kind: 'tensor', spec: new TensorSpec(shape as AttrShape, dtype as DType) };
    const rank = raggedRank as number;
    const spec = new RaggedTensorSpec(shape as AttrShape, dtype as DType, rank, splits as 'int64');
    return { kind: 'composite', spec };
  },
};
type Lacks = (which: string) => UnimplementedError;

/** @throws UnimplementedError for what has no counterpart, such as datasets. */
function compositeOf(proto: tensorflow.TypeSpecProto, where: string): Structure {
  const name = proto.type_spec_class_name || 'value of several tensors';
  const make = SPECS[proto.type_spec_class ?? 0];
  if (make === undefined)
    throw new UnimplementedError(
      `'${where}' takes or gives a ${name}: only tensors, ragged and sparse ones and slices are supported`,
    );
  const state = valueOf(structureOf(proto.type_state, where));
  if (!Array.isArray(state)) throw new InvalidArgumentError(`the ${name} of '${where}' has no state`);
  const lacks: Lacks = (which) =>
    new UnimplementedError(`'${where}' takes or gives a ${name}: only those ${which} are supported`);
  return make(state, lacks);
}

function dictOf(
  fields: readonly (readonly [string, tensorflow.StructuredValue])[],
  where: string,
): Structure {
  return {
    kind: 'dict',
    keys: fields.map(([key]) => key),
    items: fields.map(([, item]) => structureOf(item, where)),
  };
}

/** The specs in a structure, in order. */
export function specsIn(structure: Structure): TensorSpec[] {
  switch (structure.kind) {
    case 'tensor':
      return [structure.spec];
    case 'composite':
      return [...structure.spec.parts] as TensorSpec[];
    case 'refused':
      return [...structure.specs];
    case 'value':
      return [];
    default:
      return structure.items.flatMap(specsIn);
  }
}

/** @throws UnimplementedError for a structure that has no counterpart, before anything runs. */
export function checkCallable(structure: Structure): void {
  if (structure.kind === 'refused') throw structure.why;
  if (structure.kind === 'list' || structure.kind === 'dict') structure.items.forEach(checkCallable);
}

/** A structure as values: arrays, objects and specs. */
export function valueOf(structure: Structure): unknown {
  return packed(structure, specsIn(structure));
}

/** Values in the places of the specs. */
export function packed(structure: Structure, tensors: readonly unknown[]): unknown {
  let next = 0;
  const pack = (s: Structure): unknown => {
    switch (s.kind) {
      case 'tensor':
        return tensors[next++];
      case 'composite': {
        const count = s.spec.parts.length;
        const parts = tensors.slice(next, (next += count));
        return parts.every((part) => part instanceof TensorSpec) ? s.spec : s.spec.withParts(parts);
      }
      case 'refused': {
        const parts = tensors.slice(next, (next += s.specs.length));
        if (parts.some((part) => !(part instanceof TensorSpec))) throw s.why;
        return parts;
      }
      case 'value':
        return s.value;
      case 'list':
        return s.items.map(pack);
      default:
        return objectOf(s.keys.map((key, i) => [key, pack(s.items[i] as Structure)]));
    }
  };
  return pack(structure);
}

/** An object with own properties of any names. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  // To assign it would set the prototype. To define the others takes ten times as long.
  for (const [key, value] of entries)
    if (key === '__proto__')
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    else object[key] = value;
  return object;
}

/** Whether a structure has specs alone, and no named tuple or value: a signature of `tf.function`. */
export function isSignature(structure: Structure): boolean {
  switch (structure.kind) {
    case 'tensor':
    case 'composite':
      return true;
    case 'value':
    case 'refused':
      return false;
    case 'list':
      return structure.items.every(isSignature);
    default:
      return (
        structure.keys.every((key, i) => i === 0 || (structure.keys[i - 1] as string) < key) &&
        structure.items.every(isSignature)
      );
  }
}

/** Whether a value is a tensor that fits a structure of one. */
export function fitsTensor(structure: Structure, value: unknown): boolean {
  if (structure.kind !== 'tensor' || !(value instanceof Tensor)) return false;
  return value.dtype === structure.spec.dtype && isCompatible(value.shape, structure.spec.shape);
}

/**
 * The tensors of arguments that fit a structure, in its order; why they do not fit otherwise.
 * @param converts whether numbers and arrays may become tensors.
 */
export function fit(structure: Structure, given: unknown, converts: boolean, at: string): Tensor[] | string {
  const found: Tensor[] = [];
  const why = collect(structure, given, converts, at, found);
  return why ?? found;
}

function collect(
  structure: Structure,
  given: unknown,
  converts: boolean,
  at: string,
  found: Tensor[],
): string | null {
  switch (structure.kind) {
    case 'tensor': {
      const { spec } = structure;
      const value = given instanceof Variable ? given.read() : given;
      if (!(value instanceof Tensor) && !(converts && isTensorLike(value))) return `${at} is no tensor`;
      let tensor: Tensor;
      try {
        tensor = toTensor(value as TensorLike, spec.dtype);
      } catch (error) {
        return `${at}: ${(error as Error).message}`;
      }
      if (tensor.dtype !== spec.dtype || !isCompatible(tensor.shape, spec.shape))
        return `${at} is ${tensor.dtype} [${tensor.shape}], expected ${String(spec)}`;
      found.push(tensor);
      return null;
    }
    case 'composite': {
      const value = isComposite(given) ? given.general : null;
      if (value === null || value.facts !== structure.spec.facts)
        return `${at} is ${show(given)}, expected ${String(structure.spec)}`;
      for (const [i, spec] of specsIn(structure).entries()) {
        const place = `${at}.${structure.spec.partNames[i]}`;
        const why = collect({ kind: 'tensor', spec }, value.parts[i], converts, place, found);
        if (why !== null) return why;
      }
      return null;
    }
    case 'refused':
      throw structure.why;
    case 'value':
      return sameValue(structure.value, given)
        ? null
        : `${at} is ${show(given)}, expected ${show(structure.value)}`;
    case 'list': {
      if (!Array.isArray(given) || given.length !== structure.items.length)
        return `${at} must be an array of ${structure.items.length}`;
      for (const [i, item] of structure.items.entries()) {
        const why = collect(item, given[i], converts, `${at}[${i}]`, found);
        if (why !== null) return why;
      }
      return null;
    }
    default: {
      if (typeof given !== 'object' || given === null || Array.isArray(given) || given instanceof Tensor)
        return `${at} must be an object with ${structure.keys.join(', ')}`;
      const read = (key: string): unknown =>
        given instanceof Map ? given.get(key) : (given as Record<string, unknown>)[key];
      const has = (key: string): boolean =>
        given instanceof Map ? given.has(key) : Object.hasOwn(given, key);
      const names = given instanceof Map ? [...given.keys()] : Object.keys(given);
      const unknown = names.find((name) => !structure.keys.includes(name as string));
      if (unknown !== undefined)
        return `${at} has no '${String(unknown)}', only ${structure.keys.join(', ')}`;
      for (const [i, key] of structure.keys.entries()) {
        if (!has(key)) return `${at}.${key} is missing`;
        const why = collect(structure.items[i] as Structure, read(key), converts, `${at}.${key}`, found);
        if (why !== null) return why;
      }
      return null;
    }
  }
}

const isTensorLike = (value: unknown): boolean =>
  value !== null && value !== undefined && typeof value !== 'function' && !isPlainOptions(value);
const isPlainOptions = (value: unknown): boolean =>
  isPlain(value) && !Array.isArray(value) && !('data' in (value as object)) && !('re' in (value as object));

function sameValue(expected: unknown, given: unknown): boolean {
  if (expected === null) return given === null || given === undefined;
  if (expected instanceof Tensor || given instanceof Tensor) return false;
  if (Array.isArray(expected))
    return (
      Array.isArray(given) &&
      given.length === expected.length &&
      expected.every((item, i) => sameValue(item, given[i]))
    );
  return Object.is(expected, given) || (expected === 0 && given === 0);
}

/** A value in messages. */
export function show(value: unknown, depth = 0): string {
  // What is nested deeper is cut off: it may hold itself.
  if (depth > 8) return '…';
  if (value instanceof Tensor) return `a ${value.dtype} tensor [${value.shape}]`;
  if (value instanceof TensorSpec || isComposite(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => show(item, depth + 1)).join(', ')}]`;
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, item]) => `${key}: ${show(item, depth + 1)}`)
      .join(', ')} }`;
  return String(value);
}

/** The parts of a canonical signature: positional arguments, and those by name. */
export function argumentsIn(
  structure: Structure,
  where: string,
): { readonly args: readonly Structure[]; readonly named: Extract<Structure, { kind: 'dict' }> } {
  const [args, named] = structure.kind === 'list' ? structure.items : [];
  if (args?.kind !== 'list' || named?.kind !== 'dict')
    throw new InvalidArgumentError(`the signature of '${where}' is no pair of a tuple and a dict`);
  return { args: args.items, named };
}
