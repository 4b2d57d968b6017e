import { DataLossError, InvalidArgumentError } from '@eagre/backend';
import { constant, type RaggedTensor, SparseTensor, Tensor } from '@eagre/core';
import {
  checkListSize,
  defineFunction,
  kind,
  type NamedFunction,
  shown,
  sizeOf,
  textOf,
} from '@eagre/core/internal';
import { decodeExample, type FeatureValue, FormatError } from '@eagre/formats';
import { byteStringsOf, bytesFrom } from '../io/byte-strings.ts';
import { needsValue } from '../pipeline/plain-code.ts';
import type { Ragged } from '../transformations/ragged-batch.ts';
import {
  checkFeatures,
  type FeatureDefault,
  type FeatureSpecs,
  FixedLenFeature,
  FixedLenSequenceFeature,
  SparseFeature,
} from './features.ts';
import {
  type FeatureDType,
  type Parts,
  partitioned,
  RaggedFeature,
  rowsOf as rowsOfLengths,
} from './ragged-feature.ts';

/** A ragged tensor of bytes, or its parts. */
type Rows = Pick<Ragged, 'values' | 'rowSplits'>;

/** The bytes of a message: a uint8 vector, or a scalar of them as a string. */
export type Serialized = Uint8Array | Tensor;

/** A tensor for each feature; a ragged one for those that are to be. */
type Parsed<F extends FeatureSpecs, R> = {
  [K in keyof F]: F[K] extends RaggedFeature ? R : F[K] extends SparseFeature ? SparseTensor : Tensor;
};

interface Parser<S, R> {
  <F extends FeatureSpecs>(
    serialized: S,
    options: {
      /** What each feature is, by its name. */
      readonly features: F;
    },
  ): Parsed<F, R>;
  <F extends FeatureSpecs>(options: {
    /** Examples as bytes. */
    readonly serialized: S;
    /** What each feature is, by its name. */
    readonly features: F;
  }): Parsed<F, R>;
  <F extends FeatureSpecs>(serialized: S, features: F): Parsed<F, R>;
}
type Parse<S> = NamedFunction<
  [serialized: S, features: FeatureSpecs],
  ['serialized', 'features'],
  unknown,
  Record<string, Tensor | RaggedTensor | SparseTensor>
>;

/** A feature whose values are in one feature of an example. */
export type DenseFeature = Exclude<FeatureSpecs[string], SparseFeature>;

/** Values of one feature of one example, as the dtype has them. */
export type Values = ArrayLike<number | bigint | string>;

/**
 * The features of one serialized `tf.train.Example`: a tensor for each name in `features`. Others are left out.
 *
 * Byte strings that are no UTF-8 are kept, see `tf.strings`; dtype uint8 gives the bytes of one byte string.
 *
 * @param serialized uint8 [length], as TFRecordDataset gives it.
 * Reads values, so it is no part of graphs: a function given to `map` that calls it runs as plain code.
 *
 * `{ features }` and `{ serialized, features }` are the arguments by their names: a feature alone that is called `features` itself is given
 * as `{ features: { features } }`.
 *
 * @throws InvalidArgumentError for a feature that is missing, of another dtype or another number of values.
 * @throws DataLossError for bytes that are no Example.
 */
export const parseSingleExample: Parser<Serialized, Tensor | RaggedTensor> = defineFunction<
  Parse<Serialized>
>('tf.io.parseSingleExample', { serialized: true, features: kind.structure }, {}, (serialized, features) => {
  checkFeatures(features, 'parseSingleExample');
  const example = decode(serialized, 0, 'parseSingleExample');
  return each<Tensor | RaggedTensor | SparseTensor>(features, (name, spec) => {
    if (spec instanceof SparseFeature) return sparseOf([example], name, spec, false, 'parseSingleExample');
    const values = valuesOf(example, name, spec, 0, 'parseSingleExample');
    if (spec instanceof RaggedFeature)
      return partsOf([values], spec, [example], name, 'parseSingleExample').values;
    return tensor(values, spec.dtype, shapeOf(spec, values.length));
  });
}) as never;

/**
 * {@link parseSingleExample} of several examples at once: each tensor has a first axis of their number.
 *
 * @param serialized the bytes of each, or what `raggedBatch` makes of records: `records.raggedBatch(32).map((batch) => parseExample(batch, …))`.
 * @throws as `parseSingleExample`; the message says which example it is.
 */
export const parseExample: Parser<readonly Serialized[] | Tensor | Rows, RaggedTensor> = defineFunction<
  Parse<readonly Serialized[] | Tensor | Rows>
>('tf.io.parseExample', { serialized: kind.structure, features: kind.structure }, {}, parseAll) as never;

function parseAll(
  serialized: readonly Serialized[] | Tensor | Rows,
  features: FeatureSpecs,
): Record<string, Tensor | RaggedTensor | SparseTensor> {
  const what = 'parseExample';
  checkFeatures(features, what);
  const all = messagesOf(serialized, what);
  const examples = all.map((bytes, i) => decode(bytes, i, what));
  return each<Tensor | RaggedTensor | SparseTensor>(features, (name, spec) => {
    if (spec instanceof SparseFeature) return sparseOf(examples, name, spec, true, what);
    if (spec instanceof FixedLenFeature)
      checkListSize(examples.length * sizeOf(spec.shape), 'values', 'parse fewer examples at once', what);
    const values = examples.map((example, i) => valuesOf(example, name, spec, i, what));
    if (spec instanceof RaggedFeature) return raggedOf(values, spec, examples, name, what);
    const size = values.reduce((most, own) => Math.max(most, own.length), 0);
    return tensor(padded(values, size, padding(spec)), spec.dtype, [values.length, ...shapeOf(spec, size)]);
  });
}

/** The messages of a batch: a list, a vector of byte strings, or what `raggedBatch` made. */
export function messagesOf(
  serialized: readonly Serialized[] | Tensor | Rows,
  what: string,
): readonly Serialized[] {
  if (serialized instanceof Tensor && serialized.dtype === 'string' && serialized.rank === 1)
    return byteStringsOf(serialized, 'serialized', what).bytes;
  const all = isRagged(serialized) ? rowsOf(serialized, what) : serialized;
  if (Array.isArray(all)) return all;
  throw new InvalidArgumentError(
    `serialized must be an array of bytes, a vector of byte strings, or the result of raggedBatch, got ${shown(serialized)}`,
    what,
  );
}

type Stored = ReadonlyMap<string, FeatureValue>;

/** The values of rows, partitioned by the features of the example or step that each row is of. */
export function partsOf(
  rows: readonly Values[],
  spec: RaggedFeature,
  sources: readonly Stored[],
  name: string,
  what: string,
): Parts {
  const fail = (fault: string, i: number): InvalidArgumentError =>
    new InvalidArgumentError(`example ${i}: the feature '${name}' ${fault}`, what);
  const numbersOf = (key: string): number[][] =>
    sources.map((source, i) => {
      const stored = source.get(key) ?? null;
      return stored === null
        ? []
        : Array.from(
            converted(stored, 'int64', (fault) => fail(`is parted by '${key}', which ${fault}`, i)),
            Number,
          );
    });
  const values = rows.flatMap((row) => Array.from(row));
  const counts = rows.map((row) => row.length);
  return partitioned(spec, tensor(values, spec.dtype, [values.length]), counts, numbersOf, fail);
}

/** {@link partsOf}, as rows of a ragged tensor. */
export function raggedOf(
  rows: readonly Values[],
  spec: RaggedFeature,
  sources: readonly Stored[],
  name: string,
  what: string,
): RaggedTensor {
  const { values, lengths } = partsOf(rows, spec, sources, name, what);
  return rowsOfLengths(values, lengths, spec.rowSplitsDtype);
}

/** The sparse tensor of a feature: of one example, or of a batch with an axis more. */
export function sparseOf(
  examples: readonly Stored[],
  name: string,
  { indexKey, valueKey, dtype, size, alreadySorted }: SparseFeature,
  batched: boolean,
  what: string,
): SparseTensor {
  const places: bigint[][] = [];
  const values: (number | bigint | string)[] = [];
  examples.forEach((example, row) => {
    const fail = (fault: string): InvalidArgumentError =>
      new InvalidArgumentError(`example ${row}: the feature '${name}' ${fault}`, what);
    const of = (key: string, type: FeatureDType): (number | bigint | string)[] => {
      const stored = example.get(key) ?? null;
      return stored === null ? [] : Array.from(converted(stored, type, fail));
    };
    const own = of(valueKey, dtype);
    const columns = indexKey.map((key) => of(key, 'int64') as bigint[]);
    for (const column of columns)
      if (column.length !== own.length) throw fail(`has ${own.length} values and ${column.length} indices`);
    const order = own.map((_, i) => i);
    if (!alreadySorted) order.sort((i, j) => comparePlaces(columns, i, j));
    for (const i of order) {
      const place = columns.map((column) => column[i] as bigint);
      if (place.some((at, axis) => at < 0n || at >= BigInt(size[axis] as number)))
        throw fail(`has the index [${place.join(', ')}] in the shape [${size}]`);
      places.push(batched ? [BigInt(row), ...place] : place);
      values.push(own[i] as number | bigint | string);
    }
  });
  const shape = batched ? [examples.length, ...size] : [...size];
  return new SparseTensor(
    constant({
      data: BigInt64Array.from(places.flat()),
      shape: [places.length, shape.length],
      dtype: 'int64',
    }),
    tensor(values, dtype, [values.length]),
    constant({ data: BigInt64Array.from(shape, BigInt), shape: [shape.length], dtype: 'int64' }),
  );
}
function comparePlaces(columns: readonly (readonly bigint[])[], i: number, j: number): number {
  for (const column of columns) {
    const [a, b] = [column[i] as bigint, column[j] as bigint];
    if (a !== b) return a < b ? -1 : 1;
  }
  return i - j;
}

/** The rows of a ragged batch of bytes. @throws InvalidArgumentError for splits that are none. */
function rowsOf(batch: Rows, what: string): Uint8Array[] {
  const values = batch.values as Tensor;
  const { rowSplits } = batch;
  needsValue(values, what);
  const splits = Array.from(rowSplits.data() as ArrayLike<number | bigint>, Number);
  const isBytes = values.dtype === 'uint8' && values.rank === 1;
  const isWhole =
    splits[0] === 0 && splits.at(-1) === values.size && splits.every((s, i) => s >= (splits[i - 1] ?? 0));
  if (!isBytes || !isWhole)
    throw new InvalidArgumentError(
      'a ragged batch of examples must have uint8 values [bytes] and ascending rowSplits',
      what,
    );
  const bytes = values.data() as Uint8Array;
  return splits.slice(1).map((end, i) => bytes.subarray(splits[i], end));
}

const isRagged = (value: unknown): value is Rows =>
  typeof value === 'object' && value !== null && 'values' in value && 'rowSplits' in value;

export function each<T>(
  features: FeatureSpecs,
  of: (name: string, spec: FeatureSpecs[string]) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(features).map(([name, spec]) => [name, of(name, spec)]));
}

function decode(serialized: Serialized, index: number, what: string): ReadonlyMap<string, FeatureValue> {
  return readMessage(serialized, index, what, decodeExample);
}

/** What is in the bytes of a message. @throws DataLossError, which says which of several it is */
export function readMessage<T>(
  serialized: Serialized,
  index: number,
  what: string,
  read: (bytes: Uint8Array) => T,
): T {
  if (!(serialized instanceof Tensor) && !((serialized as unknown) instanceof Uint8Array))
    throw new InvalidArgumentError(`expected the bytes of an Example, got ${shown(serialized)}`, what);
  const bytes = bytesFrom(serialized, 'the bytes of an Example', what);
  try {
    return read(bytes);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(`example ${index}: ${cause.message}`, what, { cause });
  }
}

/** The values of a feature; as many as its spec wants. */
export function valuesOf(
  example: ReadonlyMap<string, FeatureValue>,
  name: string,
  spec: DenseFeature,
  index: number,
  what: string,
): Values {
  const fail = (fault: string): InvalidArgumentError =>
    new InvalidArgumentError(`example ${index}: the feature '${name}' ${fault}`, what);
  const stored = example.get((spec instanceof RaggedFeature ? spec.valueKey : undefined) ?? name) ?? null;
  if (stored === null) return missing(spec, fail);
  const values = converted(stored, spec.dtype, fail);
  if (spec instanceof FixedLenFeature && values.length !== sizeOf(spec.shape))
    throw fail(`has ${values.length} values where the shape [${spec.shape}] has ${sizeOf(spec.shape)}`);
  if (spec instanceof FixedLenSequenceFeature && values.length % sizeOf(spec.shape) !== 0)
    throw fail(`has ${values.length} values, which are no whole number of shape [${spec.shape}]`);
  return values;
}

function missing(spec: DenseFeature, fail: (fault: string) => InvalidArgumentError): Values {
  if (spec instanceof FixedLenFeature) {
    if (spec.defaultValue === undefined) throw fail('is missing; give it a defaultValue if that is allowed');
    return defaults(spec.defaultValue, sizeOf(spec.shape), fail);
  }
  if (spec instanceof FixedLenSequenceFeature && !spec.allowMissing)
    throw fail('is missing; set allowMissing if that is allowed');
  return [];
}

function defaults(
  value: FeatureDefault,
  size: number,
  fail: (fault: string) => InvalidArgumentError,
): readonly (number | bigint | string)[] {
  if (typeof value !== 'object') {
    checkListSize(size, 'default values', 'give a smaller shape');
    return new Array<number | bigint | string>(size).fill(value);
  }
  if (value.length === size) return value;
  throw fail(`has ${value.length} default values where ${size} are needed`);
}

export function converted(
  stored: Exclude<FeatureValue, null>,
  dtype: FeatureDType,
  fail: (fault: string) => InvalidArgumentError,
): Values {
  const kind =
    stored instanceof Float32Array ? 'float32' : stored instanceof BigInt64Array ? 'int64' : 'bytes';
  const wanted = dtype === 'string' || dtype === 'uint8' ? 'bytes' : dtype;
  if (kind !== wanted) throw fail(`holds ${kind} where ${dtype} is expected`);
  if (stored instanceof Float32Array || stored instanceof BigInt64Array) return stored;
  if (dtype === 'string') return stored.map(textOf);
  if (stored.length > 1) throw fail(`holds ${stored.length} byte strings; as uint8 it may hold one`);
  return stored[0] ?? new Uint8Array(0);
}

export function shapeOf(spec: DenseFeature, count: number): readonly number[] {
  if (spec instanceof FixedLenFeature) return spec.shape;
  if (spec instanceof FixedLenSequenceFeature) return [count / sizeOf(spec.shape), ...spec.shape];
  return [count];
}

export function padding(spec: DenseFeature): number | bigint | string {
  const own =
    spec instanceof FixedLenFeature || spec instanceof RaggedFeature ? undefined : spec.defaultValue;
  return own ?? (spec.dtype === 'string' ? '' : spec.dtype === 'int64' ? 0n : 0);
}

/** Rows of values, padded to one length. */
export function padded(
  rows: readonly Values[],
  length: number,
  filler: number | bigint | string,
): (number | bigint | string)[] {
  checkListSize(rows.length * length, 'values with their padding', 'parse fewer examples at once');
  return rows.flatMap((row) => [
    ...Array.from(row),
    ...new Array<number | bigint | string>(length - row.length).fill(filler),
  ]);
}

export function tensor(values: Values, dtype: FeatureDType, shape: readonly number[]): Tensor {
  if (dtype === 'string') return constant(Array.from(values, String), 'string', { shape });
  if (dtype === 'int64')
    return constant({ data: BigInt64Array.from(Array.from(values, BigInt)), shape, dtype });
  if (dtype === 'uint8')
    return constant({ data: Uint8Array.from(values as ArrayLike<number>), shape, dtype });
  return constant({ data: Float32Array.from(values as ArrayLike<number>), shape, dtype });
}
