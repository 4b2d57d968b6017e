// `tf.io.RaggedFeature`, and how other features say where the rows of its values end.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, RaggedTensor, type Tensor } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkCount,
  checkFlag,
  checkList,
  checkListSize,
  checkOneOf,
  checkText,
  shown,
  takesArguments,
} from '@eagre/core/internal';

/** Dtypes of features: the three that an Example stores, and `uint8` for the bytes of one byte string. */
export type FeatureDType = 'float32' | 'int64' | 'string' | 'uint8';

export function checkFeatureDType(dtype: FeatureDType, what: string): FeatureDType {
  if (['float32', 'int64', 'string', 'uint8'].includes(dtype)) return dtype;
  throw new InvalidArgumentError(
    `the dtype of a feature must be float32, int64, string or uint8 (the bytes of a byte string), got ${shown(dtype)}`,
    what,
  );
}

/** A feature of int64 numbers by which values fall into rows. */
abstract class KeyedPartition {
  readonly key: string;
  /** @param key the name of the feature */
  constructor(key: string) {
    checkText(key, 'key', new.target.name);
    this.key = key;
  }
}
/** Row i has the values from `splits[i]` to before `splits[i + 1]`. */
class RowSplits extends KeyedPartition {}
/** Row i has the next `lengths[i]` values. */
class RowLengths extends KeyedPartition {}
/** Row i begins at value `starts[i]`. */
class RowStarts extends KeyedPartition {}
/** Row i ends before value `limits[i]`. */
class RowLimits extends KeyedPartition {}
/** Value i is in row `ids[i]`. */
class ValueRowIds extends KeyedPartition {}
/** All rows have the same number of values. */
class UniformRowLength {
  readonly length: number;
  /** @param length of each row, 1 or more */
  constructor(length: number) {
    checkCount(length, 'length', 'UniformRowLength', 1);
    this.length = length;
  }
}
const KEYED = [RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds] as const;

/** How the values of a RaggedFeature fall into rows: `new tf.io.RaggedFeature.RowSplits('ends')`. */
export type FeaturePartition = KeyedPartition | UniformRowLength;

interface Ragged {
  readonly dtype: FeatureDType;
  readonly valueKey?: string | null | undefined;
  readonly partitions?: readonly FeaturePartition[] | undefined;
  readonly rowSplitsDtype?: 'int32' | 'int64' | undefined;
  readonly validate?: boolean | undefined;
}

/**
 * A feature with any number of values: a vector, or for a batch a ragged tensor [batch, (values)] whose rows end where they end. Each partition
 * makes one axis more: `[new tf.io.RaggedFeature.RowSplits('ends')]` makes [(rows), (values)], with a batch before it.
 */
export class RaggedFeature {
  static readonly RowSplits: typeof RowSplits = RowSplits;
  static readonly RowLengths: typeof RowLengths = RowLengths;
  static readonly RowStarts: typeof RowStarts = RowStarts;
  static readonly RowLimits: typeof RowLimits = RowLimits;
  static readonly ValueRowIds: typeof ValueRowIds = ValueRowIds;
  static readonly UniformRowLength: typeof UniformRowLength = UniformRowLength;

  /** Of the values: float32, int64 or string. */
  readonly dtype: FeatureDType;
  /** The feature that holds the values; its own name unless given. */
  readonly valueKey: string | undefined;
  /** How the values are divided into rows, the outermost division first. */
  readonly partitions: readonly FeaturePartition[];
  /** The dtype of the splits. */
  readonly rowSplitsDtype: 'int32' | 'int64';
  /** TensorFlow's check of the partitions, which is always made here. */
  readonly validate: boolean;

  /**
   * @param valueKey which feature of the example it is; its name in the features unless given.
   * @param partitions of the values into rows, of these into rows of rows, …: the outermost first. Inner ones of one length make axes of a
   * tensor, as in TensorFlow.
   * @param options.validate whether partitions that do not fit the values are refused. They always are, since files may be damaged.
   */
  constructor(
    ...args: Arguments<
      [dtype: FeatureDType, valueKey?: string | null, partitions?: readonly FeaturePartition[]],
      ['dtype', 'valueKey', 'partitions'],
      {
        /** The dtype of the splits; int32 by default. */
        readonly rowSplitsDtype?: 'int32' | 'int64';
        /** TensorFlow’s check of the partitions, which is always made here. */
        readonly validate?: boolean;
      }
    >
  ) {
    const what = 'RaggedFeature';
    const given = argumentsOf<Ragged>(RaggedFeature, new.target, args);
    const { dtype, valueKey, partitions = [], rowSplitsDtype = 'int32', validate = false } = given;
    this.dtype = checkFeatureDType(dtype, what);
    if (valueKey !== undefined && valueKey !== null) checkText(valueKey, 'valueKey', what);
    this.valueKey = valueKey ?? undefined;
    this.partitions = [...checkList(partitions, 'partitions', what)];
    for (const partition of this.partitions)
      if (![UniformRowLength, ...KEYED].some((of) => partition instanceof of))
        throw new InvalidArgumentError(
          `partitions must hold RaggedFeature.RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds or UniformRowLength, got ${shown(partition)}`,
          what,
        );
    checkOneOf(rowSplitsDtype, ['int32', 'int64'], 'rowSplitsDtype', what);
    this.rowSplitsDtype = rowSplitsDtype;
    this.validate = checkFlag(validate, 'validate', what);
  }
}

takesArguments<Ragged>(
  {
    positional: ['dtype', 'valueKey', 'partitions'],
    required: 1,
    names: { dtype: true, valueKey: true, partitions: true, rowSplitsDtype: true, validate: true },
  },
  RaggedFeature,
);

type Fail = (fault: string) => InvalidArgumentError;

/** How many of n values are in each row. @throws what `fail` makes, where the rows are not all of the values in order */
function rowLengths(
  partition: KeyedPartition,
  given: readonly number[],
  n: number,
  fail: Fail,
): readonly number[] {
  const between = (ends: readonly number[]): number[] => ends.map((end, i) => end - (ends[i - 1] ?? 0));
  let lengths: readonly number[];
  let first = 0;
  if (partition instanceof RowLengths) lengths = given;
  else if (partition instanceof RowLimits) lengths = between(given);
  else if (partition instanceof ValueRowIds) {
    const rows = given.reduce((most, id) => Math.max(most, id + 1), 0);
    checkListSize(rows, 'rows', 'give smaller row ids', 'RaggedFeature');
    const counts = new Array<number>(rows).fill(0);
    for (const id of given) if (id >= 0) counts[id] = (counts[id] as number) + 1;
    lengths = counts;
    if (given.some((id, i) => id < (given[i - 1] ?? 0))) throw fail('has row ids that are out of order');
  } else {
    first = given[0] ?? 0;
    const ends = partition instanceof RowStarts && given.length > 0 ? [...given.slice(1), n] : given.slice(1);
    lengths = between(ends);
  }
  const all = lengths.reduce((sum, length) => sum + length, 0);
  if (first !== 0 || all !== n || lengths.some((length) => length < 0))
    throw fail(
      `has ${partition.constructor.name} [${given.slice(0, 8)}] of '${partition.key}', which do not make rows of ${n} values`,
    );
  return lengths;
}

/** Values, and how many of their outer axis belong to each example. */
export interface Parts {
  readonly values: Tensor | RaggedTensor;
  readonly lengths: readonly number[];
}

/**
 * Values in rows, by the partitions of a feature from the innermost outwards.
 * @param flat the values of all examples
 * @param counts how many of them each example has
 * @param numbersOf the numbers of a feature: a list for each example
 */
export function partitioned(
  { partitions, rowSplitsDtype }: RaggedFeature,
  flat: Tensor,
  counts: readonly number[],
  numbersOf: (key: string) => readonly (readonly number[])[],
  fail: (fault: string, example: number) => InvalidArgumentError,
): Parts {
  let values: Tensor | RaggedTensor = flat;
  let lengths = counts;
  for (const partition of [...partitions].reverse()) {
    if (partition instanceof UniformRowLength) {
      const { length } = partition;
      const uneven = lengths.findIndex((n) => n % length !== 0);
      if (uneven >= 0)
        throw fail(`has ${lengths[uneven]} values, which do not make rows of ${length}`, uneven);
      lengths = lengths.map((n) => n / length);
      values =
        values instanceof RaggedTensor
          ? RaggedTensor.fromUniformRowLength(values, length)
          : values.reshape([lengths.reduce((sum, n) => sum + n, 0), length, ...values.shape.slice(1)]);
      continue;
    }
    const rows = numbersOf(partition.key).map((numbers, i) =>
      rowLengths(partition, numbers, lengths[i] as number, (fault) => fail(fault, i)),
    );
    values = rowsOf(values, rows.flat(), rowSplitsDtype);
    lengths = rows.map((own) => own.length);
  }
  return { values, lengths };
}

/** Values in rows of such lengths. */
export function rowsOf(
  values: Tensor | RaggedTensor,
  lengths: readonly number[],
  dtype: 'int32' | 'int64',
): RaggedTensor {
  const list = constant(lengths, 'int64', { shape: [lengths.length] }).cast(dtype);
  return RaggedTensor.fromRowLengths(values, list, { validate: false });
}
