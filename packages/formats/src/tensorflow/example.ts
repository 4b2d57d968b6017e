import { errorsFor, quote } from '../errors.ts';
import { Example, type Feature, type FeatureList, SequenceExample } from './example-messages.ts';

/**
 * A value that becomes a feature. Numbers and arrays of floats become a `float_list`; bigints, booleans and arrays of integers an
 * `int64_list`; text (in UTF-8) and bytes a `bytes_list`. A `Uint8Array` is one byte string. null is a value that is missing.
 */
export type FeatureInput =
  | null
  | number
  | bigint
  | boolean
  | string
  | Uint8Array
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | readonly number[]
  | readonly bigint[]
  | readonly boolean[]
  | readonly (string | Uint8Array)[];

/** What a feature holds; null when it is missing. */
export type FeatureValue = Float32Array | BigInt64Array | readonly Uint8Array[] | null;

/** Features to be written. */
export type FeatureInputs = ReadonlyMap<string, FeatureInput> | Readonly<Record<string, FeatureInput>>;

/** Sequences to be written: for each name the values of its steps. */
export type FeatureListInputs =
  | ReadonlyMap<string, readonly FeatureInput[]>
  | Readonly<Record<string, readonly FeatureInput[]>>;

/** What a `SequenceExample` holds. */
export interface SequenceExampleValue {
  readonly context: Map<string, FeatureValue>;
  readonly featureLists: Map<string, FeatureValue[]>;
}

/** Options of those who read examples. */
export interface DecodeExampleOptions {
  /** The file's name, for error messages. */
  readonly file?: string | undefined;
}

/**
 * The bytes of a `tf.train.Example`.
 *
 * @throws FormatError for a value that no feature can hold.
 */
export function encodeExample(features: FeatureInputs): Uint8Array {
  return Example.encode({ features: { feature: featuresOf(features) } });
}

/**
 * The features in the bytes of a `tf.train.Example`.
 *
 * @throws FormatError when they are something else.
 */
export function decodeExample(
  bytes: Uint8Array,
  options: DecodeExampleOptions = {},
): Map<string, FeatureValue> {
  return valuesOf(Example.decode(bytes, options).features?.feature);
}

/**
 * The bytes of a `tf.train.SequenceExample`.
 *
 * @throws FormatError for a value that no feature can hold.
 */
export function encodeSequenceExample(example: {
  readonly context?: FeatureInputs;
  readonly featureLists?: FeatureListInputs;
}): Uint8Array {
  const lists = new Map<string, FeatureList>();
  for (const [name, steps] of entriesOf<readonly FeatureInput[]>(example.featureLists ?? {}))
    lists.set(name, { feature: steps.map((step) => toFeature(step, name)) });
  return SequenceExample.encode({
    context: { feature: featuresOf(example.context ?? {}) },
    feature_lists: { feature_list: lists },
  });
}

/**
 * What the bytes of a `tf.train.SequenceExample` hold.
 *
 * @throws FormatError when they are something else.
 */
export function decodeSequenceExample(
  bytes: Uint8Array,
  options: DecodeExampleOptions = {},
): SequenceExampleValue {
  const { context, feature_lists } = SequenceExample.decode(bytes, options);
  const featureLists = new Map<string, FeatureValue[]>();
  for (const [name, list] of feature_lists?.feature_list ?? [])
    featureLists.set(name, (list.feature ?? []).map(fromFeature));
  return { context: valuesOf(context?.feature), featureLists };
}

/**
 * A value as the message of a feature.
 *
 * @param name for the error.
 * @throws FormatError for a value that no feature can hold.
 */
export function toFeature(value: FeatureInput, name: string = ''): Feature {
  if (value === null) return {};
  switch (typeof value) {
    case 'number':
      return floats([value]);
    case 'bigint':
      return integers([value], name);
    case 'boolean':
      return integers([BigInt(value)], name);
    case 'string':
      return strings([value]);
  }
  if (value instanceof Uint8Array) return strings([value]);
  if (value instanceof Float32Array) return { float_list: { value } };
  if (value instanceof BigInt64Array) return { int64_list: { value } };
  if (value instanceof Float64Array) return floats(value);
  if (ArrayBuffer.isView(value)) return integers(Array.from(value as Int32Array, BigInt), name);
  return listFeature(value, name);
}

/** The value in the message of a feature. An empty list is an empty array. */
export function fromFeature(feature: Feature): FeatureValue {
  const { bytes_list, float_list, int64_list } = feature;
  if (bytes_list !== undefined) return bytes_list.value ?? [];
  if (float_list !== undefined) return float_list.value ?? new Float32Array(0);
  if (int64_list !== undefined) return int64_list.value ?? new BigInt64Array(0);
  return null;
}

function listFeature(
  list: readonly (number | bigint | boolean | string | Uint8Array)[],
  name: string,
): Feature {
  const refuse = (got: string): never => {
    throw errorsFor('Example', undefined)(
      `feature ${quote(name)}`,
      'numbers, bigints, booleans, or text and bytes',
      got,
    );
  };
  if (!Array.isArray(list)) refuse(typeof list);
  const [first] = list;
  const kind = typeof first;
  const odd = list.findIndex((item) => typeof item !== kind && !(isText(item) && isText(first)));
  if (odd >= 0) refuse(`${kind} and ${typeof list[odd]}`);
  const known = ['number', 'bigint', 'boolean'].includes(kind) || isText(first);
  if (list.length > 0 && !known) refuse(`an array of ${kind}s`);
  switch (kind) {
    case 'bigint':
      return integers(list as readonly bigint[], name);
    case 'boolean':
      return integers((list as readonly boolean[]).map(BigInt), name);
    case 'string':
    case 'object':
      return strings(list as readonly (string | Uint8Array)[]);
    default:
      return floats(list as readonly number[]);
  }
}

function isText(item: unknown): boolean {
  return typeof item === 'string' || item instanceof Uint8Array;
}

function floats(values: readonly number[] | Float64Array): Feature {
  return { float_list: { value: Float32Array.from(values) } };
}

function integers(values: readonly bigint[], name: string): Feature {
  const odd = values.find((value) => BigInt.asIntN(64, value) !== value);
  if (odd !== undefined)
    throw errorsFor('Example', undefined)(`feature ${quote(name)}`, 'integers of 64 bits', String(odd));
  return { int64_list: { value: BigInt64Array.from(values) } };
}

function strings(values: readonly (string | Uint8Array)[]): Feature {
  const encoder = new TextEncoder();
  const value = values.map((item) => (typeof item === 'string' ? encoder.encode(item) : item));
  return { bytes_list: { value } };
}

function featuresOf(inputs: FeatureInputs): Map<string, Feature> {
  const features = new Map<string, Feature>();
  for (const [name, value] of entriesOf<FeatureInput>(inputs)) features.set(name, toFeature(value, name));
  return features;
}

function valuesOf(features: ReadonlyMap<string, Feature> | undefined): Map<string, FeatureValue> {
  const values = new Map<string, FeatureValue>();
  for (const [name, feature] of features ?? []) values.set(name, fromFeature(feature));
  return values;
}

function entriesOf<T>(inputs: ReadonlyMap<string, T> | Readonly<Record<string, T>>): Iterable<[string, T]> {
  return inputs instanceof Map ? inputs : Object.entries(inputs as Readonly<Record<string, T>>);
}
