// The messages of examples, as classes: `tf.train.Example` and what it consists of.
import { DataLossError, InvalidArgumentError } from '@eagre/backend';
import {
  type Arguments,
  argumentsOf,
  bytesOf,
  checkList,
  defineMethods,
  isPlain,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { FormatError, tensorflow } from '@eagre/formats';

/** Fields of a message by name, or alone where it has one. */
type Fields<T, N extends string> = Arguments<[value?: T], [N]>;

function decoded<T>(decode: (bytes: Uint8Array) => T, bytes: unknown, what: string): T {
  if (!(bytes instanceof Uint8Array))
    throw new InvalidArgumentError(`expected the bytes of a message, got ${shown(bytes)}`, what);
  try {
    return decode(bytes);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(cause.message, what, { cause });
  }
}

/** Each of a list, as `read` makes it. */
function listOf<T>(
  value: unknown,
  what: string,
  read: (item: unknown) => T | undefined,
  kind: string,
): readonly T[] {
  if (value === undefined) return [];
  const list = ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<unknown>) : value;
  return checkList(list as readonly unknown[], 'value', what).map((item, i) => {
    const one = read(item);
    if (one === undefined)
      throw new InvalidArgumentError(`value[${i}] must be ${kind}, got ${shown(item)}`, what);
    return one;
  });
}

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];
function integerOf(item: unknown): bigint | undefined {
  if (typeof item === 'boolean') return item ? 1n : 0n;
  if (typeof item !== 'bigint' && !Number.isSafeInteger(item)) return undefined;
  const value = BigInt(item as number);
  return value >= LEAST && value <= MOST ? value : undefined;
}

/** Integers of 64 bits. */
export class Int64List {
  readonly value: readonly bigint[];
  constructor(...args: Fields<ArrayLike<number | bigint | boolean>, 'value'>) {
    const { value } = argumentsOf<{ value?: unknown }>(Int64List, new.target, args);
    this.value = listOf(value, 'Int64List', integerOf, 'an integer of 64 bits');
  }
  /** The list in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): Int64List {
    return Int64List.of(decoded(tensorflow.Int64List.decode, serialized, 'Int64List'));
  }
  /** @internal */
  static of({ value = new BigInt64Array(0) }: tensorflow.Int64List): Int64List {
    return new Int64List({ value });
  }
  /** @internal */
  get message(): tensorflow.Int64List {
    return { value: BigInt64Array.from(this.value) };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.Int64List.encode(this.message);
  }
}

/** Numbers of 32 bits. */
export class FloatList {
  readonly value: readonly number[];
  constructor(...args: Fields<ArrayLike<number>, 'value'>) {
    const { value } = argumentsOf<{ value?: unknown }>(FloatList, new.target, args);
    const read = (item: unknown): number | undefined =>
      typeof item === 'number' ? Math.fround(item) : typeof item === 'boolean' ? Number(item) : undefined;
    this.value = listOf(value, 'FloatList', read, 'a number');
  }
  /** The list in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): FloatList {
    return FloatList.of(decoded(tensorflow.FloatList.decode, serialized, 'FloatList'));
  }
  /** @internal */
  static of({ value = new Float32Array(0) }: tensorflow.FloatList): FloatList {
    return new FloatList({ value });
  }
  /** @internal */
  get message(): tensorflow.FloatList {
    return { value: Float32Array.from(this.value) };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.FloatList.encode(this.message);
  }
}

/** Byte strings; texts are taken as their UTF-8. */
export class BytesList {
  readonly value: readonly Uint8Array[];
  constructor(...args: Fields<readonly (Uint8Array | string)[], 'value'>) {
    const { value } = argumentsOf<{ value?: unknown }>(BytesList, new.target, args);
    const read = (item: unknown): Uint8Array | undefined =>
      typeof item === 'string' ? bytesOf(item) : item instanceof Uint8Array ? item : undefined;
    // Bytes alone are no list of byte strings.
    if (ArrayBuffer.isView(value))
      throw new InvalidArgumentError(
        'value must be a list of bytes or texts, got an array of bytes',
        'BytesList',
      );
    this.value = listOf(value, 'BytesList', read, 'bytes or text');
  }
  /** The list in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): BytesList {
    return BytesList.of(decoded(tensorflow.BytesList.decode, serialized, 'BytesList'));
  }
  /** @internal */
  static of({ value = [] }: tensorflow.BytesList): BytesList {
    return new BytesList({ value });
  }
  /** @internal */
  get message(): tensorflow.BytesList {
    return { value: this.value };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.BytesList.encode(this.message);
  }
}

/** The fields of a `Feature`, of which one is given, or none for a value that is missing. */
export interface FeatureFields {
  /** Texts or bytes. */
  readonly bytesList?: BytesList;
  /** Numbers with a point. */
  readonly floatList?: FloatList;
  /** Integers. */
  readonly int64List?: Int64List;
}

/** A value of an example: one of the lists. */
export class Feature {
  /** Texts or bytes. */
  readonly bytesList: BytesList | undefined;
  /** Numbers with a point. */
  readonly floatList: FloatList | undefined;
  /** Integers. */
  readonly int64List: Int64List | undefined;
  constructor(fields: FeatureFields = {}) {
    const given = argumentsOf<FeatureFields>(Feature, new.target, [fields] as never);
    this.bytesList = instance(given.bytesList, BytesList, 'bytesList', 'Feature');
    this.floatList = instance(given.floatList, FloatList, 'floatList', 'Feature');
    this.int64List = instance(given.int64List, Int64List, 'int64List', 'Feature');
    if ([this.bytesList, this.floatList, this.int64List].filter((list) => list !== undefined).length > 1)
      throw new InvalidArgumentError('a feature has one list', 'Feature');
  }
  /** The feature in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): Feature {
    return Feature.of(decoded(tensorflow.Feature.decode, serialized, 'Feature'));
  }
  /** @internal */
  static of({ bytes_list, float_list, int64_list }: tensorflow.Feature): Feature {
    return new Feature({
      ...(bytes_list && { bytesList: BytesList.of(bytes_list) }),
      ...(float_list && { floatList: FloatList.of(float_list) }),
      ...(int64_list && { int64List: Int64List.of(int64_list) }),
    });
  }
  /** @internal */
  get message(): tensorflow.Feature {
    return {
      ...(this.bytesList && { bytes_list: this.bytesList.message }),
      ...(this.floatList && { float_list: this.floatList.message }),
      ...(this.int64List && { int64_list: this.int64List.message }),
    };
  }
  /** Which list it has: `bytesList`, `floatList` or `int64List`; null for a value that is missing. */
  whichOneof(): 'bytesList' | 'floatList' | 'int64List' | null {
    return this.bytesList ? 'bytesList' : this.floatList ? 'floatList' : this.int64List ? 'int64List' : null;
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.Feature.encode(this.message);
  }
}

function instance<T extends object>(
  value: unknown,
  of: abstract new (...args: never) => T,
  name: string,
  what: string,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof of) return value;
  throw new InvalidArgumentError(`${name} must be a tf.train.${of.name}, got ${shown(value)}`, what);
}

/** Messages by name. */
export type ByName<T> = Readonly<Record<string, T>> | ReadonlyMap<string, T>;

function byName<T extends object>(
  value: unknown,
  of: abstract new (...args: never) => T,
  what: string,
): ReadonlyMap<string, T> {
  if (value === undefined) return new Map();
  if (!isPlain(value) && !(value instanceof Map))
    throw new InvalidArgumentError(`expected an object or a map, got ${shown(value)}`, what);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([name, item]) => [String(name), instance(item, of, `'${name}'`, what) as T]));
}
const mapped = <T, R>(map: ReadonlyMap<string, T>, fn: (value: T) => R): Map<string, R> =>
  new Map([...map].map(([name, value]) => [name, fn(value)]));

/** Features by name. */
export class Features {
  /** Features by name: an object or a map. */
  readonly feature: ReadonlyMap<string, Feature>;
  constructor(
    fields: {
      /** Features by name: an object or a map. None by default. */
      readonly feature?: ByName<Feature>;
    } = {},
  ) {
    const { feature } = argumentsOf<{ feature?: unknown }>(Features, new.target, [fields] as never);
    this.feature = byName(feature, Feature, 'Features');
  }
  /** The features in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): Features {
    return Features.of(decoded(tensorflow.Features.decode, serialized, 'Features'));
  }
  /** @internal */
  static of({ feature = new Map() }: tensorflow.Features): Features {
    return new Features({ feature: mapped(feature, Feature.of) });
  }
  /** @internal */
  get message(): tensorflow.Features {
    return { feature: mapped(this.feature, (own) => own.message) };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.Features.encode(this.message);
  }
}

/** The values of a feature, one for each step. */
export class FeatureList {
  /** The features, one for each step. */
  readonly feature: readonly Feature[];
  constructor(...args: Fields<readonly Feature[], 'feature'>) {
    const { feature } = argumentsOf<{ feature?: unknown }>(FeatureList, new.target, args);
    this.feature = listOf(
      feature,
      'FeatureList',
      (item) => (item instanceof Feature ? item : undefined),
      'a tf.train.Feature',
    );
  }
  /** The list in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): FeatureList {
    return FeatureList.of(decoded(tensorflow.FeatureList.decode, serialized, 'FeatureList'));
  }
  /** @internal */
  static of({ feature = [] }: tensorflow.FeatureList): FeatureList {
    return new FeatureList({ feature: feature.map(Feature.of) });
  }
  /** @internal */
  get message(): tensorflow.FeatureList {
    return { feature: this.feature.map((own) => own.message) };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.FeatureList.encode(this.message);
  }
}

/** Lists by name. */
export class FeatureLists {
  /** Lists of features by name: an object or a map. */
  readonly featureList: ReadonlyMap<string, FeatureList>;
  constructor(
    fields: {
      /** Lists of features by name: an object or a map. None by default. */
      readonly featureList?: ByName<FeatureList>;
    } = {},
  ) {
    const given = argumentsOf<{ featureList?: unknown }>(FeatureLists, new.target, [fields] as never);
    this.featureList = byName(given.featureList, FeatureList, 'FeatureLists');
  }
  /** The lists in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): FeatureLists {
    return FeatureLists.of(decoded(tensorflow.FeatureLists.decode, serialized, 'FeatureLists'));
  }
  /** @internal */
  static of({ feature_list = new Map() }: tensorflow.FeatureLists): FeatureLists {
    return new FeatureLists({ featureList: mapped(feature_list, FeatureList.of) });
  }
  /** @internal */
  get message(): tensorflow.FeatureLists {
    return { feature_list: mapped(this.featureList, (own) => own.message) };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.FeatureLists.encode(this.message);
  }
}

/**
 * An example for training: what most TFRecord files hold.
 *
 *     const example = new tf.train.Example({
 *       features: new tf.train.Features({
 *         feature: { label: new tf.train.Feature({ int64List: new tf.train.Int64List({ value: [3] }) }) },
 *       }),
 *     });
 *     writer.write(example.serializeToString());
 *
 * `tf.io.encodeExample({ label: 3n })` gives the same bytes.
 */
export class Example {
  /** What the example has. */
  readonly features: Features;
  constructor(
    fields: {
      /** What the example has; nothing by default. */
      readonly features?: Features;
    } = {},
  ) {
    const { features } = argumentsOf<{ features?: unknown }>(Example, new.target, [fields] as never);
    this.features = instance(features, Features, 'features', 'Example') ?? new Features();
  }
  /** The example in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): Example {
    return Example.of(decoded(tensorflow.Example.decode, serialized, 'Example'));
  }
  /** @internal */
  static of({ features = {} }: tensorflow.Example): Example {
    return new Example({ features: Features.of(features) });
  }
  /** @internal */
  get message(): tensorflow.Example {
    return { features: this.features.message };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.Example.encode(this.message);
  }
}

/** An example with sequences. */
export class SequenceExample {
  /** What is not a sequence. */
  readonly context: Features;
  /** For each name a list, with features of each step. */
  readonly featureLists: FeatureLists;
  constructor(
    fields: {
      /** Features of the whole sequence; none by default. */
      readonly context?: Features;
      /** For each name a list, with features of each step; none by default. */
      readonly featureLists?: FeatureLists;
    } = {},
  ) {
    const given = argumentsOf<{ context?: unknown; featureLists?: unknown }>(SequenceExample, new.target, [
      fields,
    ] as never);
    this.context = instance(given.context, Features, 'context', 'SequenceExample') ?? new Features();
    this.featureLists =
      instance(given.featureLists, FeatureLists, 'featureLists', 'SequenceExample') ?? new FeatureLists();
  }
  /** The example in bytes. @throws DataLossError for other bytes */
  static fromString(serialized: Uint8Array): SequenceExample {
    return SequenceExample.of(decoded(tensorflow.SequenceExample.decode, serialized, 'SequenceExample'));
  }
  /** @internal */
  static of({ context = {}, feature_lists = {} }: tensorflow.SequenceExample): SequenceExample {
    return new SequenceExample({
      context: Features.of(context),
      featureLists: FeatureLists.of(feature_lists),
    });
  }
  /** @internal */
  get message(): tensorflow.SequenceExample {
    return { context: this.context.message, feature_lists: this.featureLists.message };
  }
  /** The bytes of the message. */
  serializeToString(): Uint8Array {
    return tensorflow.SequenceExample.encode(this.message);
  }
}

const one = (name: string) => ({ positional: [name], required: 0, names: { [name]: true } }) as const;
takesArguments<{ value?: unknown }>(one('value') as never, Int64List);
takesArguments<{ value?: unknown }>(one('value') as never, FloatList);
takesArguments<{ value?: unknown }>(one('value') as never, BytesList);
takesArguments<{ feature?: unknown }>(one('feature') as never, FeatureList);
takesArguments<FeatureFields>(
  { positional: [], names: { bytesList: true, floatList: true, int64List: true } },
  Feature,
);
takesArguments<{ feature?: unknown }>({ positional: [], names: { feature: true } }, Features);
takesArguments<{ featureList?: unknown }>({ positional: [], names: { featureList: true } }, FeatureLists);
takesArguments<{ features?: unknown }>({ positional: [], names: { features: true } }, Example);
takesArguments<{ context?: unknown; featureLists?: unknown }>(
  { positional: [], names: { context: true, featureLists: true } },
  SequenceExample,
);
for (const of of [
  Int64List,
  FloatList,
  BytesList,
  Feature,
  Features,
  FeatureList,
  FeatureLists,
  Example,
  SequenceExample,
])
  defineMethods(of.prototype, of.name, { serializeToString: {} });
