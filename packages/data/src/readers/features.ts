// What the features of `tf.train.Example` are to become.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import {
  type Arguments,
  argumentsOf,
  checkFlag,
  checkList,
  checkShape,
  checkText,
  isPlain,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import { checkFeatureDType, type FeatureDType, RaggedFeature } from './ragged-feature.ts';

/** What stands for a value that is missing. */
export type FeatureDefault = number | bigint | string | readonly (number | bigint | string)[];

/** @throws InvalidArgumentError for defaults that are no values of a dtype; how many they are to be is known by the shape */
function checkDefault<T extends FeatureDefault | undefined>(value: T, dtype: FeatureDType, what: string): T {
  const fits = (one: unknown): boolean => {
    if (dtype === 'string') return typeof one === 'string';
    return (
      typeof one === 'bigint' || (dtype === 'int64' ? Number.isSafeInteger(one) : typeof one === 'number')
    );
  };
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (value !== undefined && !all.every(fits))
    throw new InvalidArgumentError(`defaultValue must be of dtype ${dtype}, got ${shown(value)}`, what);
  return value;
}

interface VarLen {
  readonly dtype: FeatureDType;
  /** TensorFlow's value of missing elements, which such a feature has none of. */
  readonly defaultValue?: number | bigint | string | undefined;
}
interface FixedLenSequence extends VarLen {
  readonly shape: readonly number[];
  readonly allowMissing?: boolean | undefined;
}
interface FixedLen {
  readonly shape: readonly number[];
  readonly dtype: FeatureDType;
  readonly defaultValue?: FeatureDefault | undefined;
}

/** A feature with as many values in every example: a tensor of `shape`. With uint8, one byte string of so many bytes. */
export class FixedLenFeature {
  /** Of the value of one example. */
  readonly shape: readonly number[];
  /** Of the value: float32, int64 or string. */
  readonly dtype: FeatureDType;
  /** What examples have that lack the feature; without one they are errors. */
  readonly defaultValue: FeatureDefault | undefined;

  /** @param defaultValue one value, or as many as the shape has; without one, the feature is required. */
  constructor(
    ...args: Arguments<
      [shape: readonly number[], dtype: FeatureDType, defaultValue?: FeatureDefault],
      ['shape', 'dtype', 'defaultValue']
    >
  ) {
    const { shape, dtype, defaultValue } = argumentsOf<FixedLen>(FixedLenFeature, new.target, args);
    this.shape = checkShape(shape, 'FixedLenFeature');
    this.dtype = checkFeatureDType(dtype, 'FixedLenFeature');
    this.defaultValue = checkDefault(defaultValue, this.dtype, 'FixedLenFeature');
  }
}

/**
 * A feature with any number of values: a vector, empty where the feature is missing. Batches are padded to the longest with
 * `defaultValue` (0, or an empty text), as `tf.sparse.to_dense` does with what TensorFlow reads.
 */
export class VarLenFeature {
  /** Of the values: float32, int64 or string. */
  readonly dtype: FeatureDType;
  /** TensorFlow's value of missing elements, which such a feature has none of. */
  readonly defaultValue: number | bigint | string | undefined;

  constructor(...args: Arguments<[dtype: FeatureDType], ['dtype'], Pick<VarLen, 'defaultValue'>>) {
    const { dtype, defaultValue } = argumentsOf<VarLen>(VarLenFeature, new.target, args);
    this.dtype = checkFeatureDType(dtype, 'VarLenFeature');
    this.defaultValue = checkDefault(defaultValue, this.dtype, 'VarLenFeature');
  }
}

/** A feature that holds any number of tensors of `shape`: [n, ...shape]. Batches are padded as with {@link VarLenFeature}. */
export class FixedLenSequenceFeature {
  /** Of one step. */
  readonly shape: readonly number[];
  /** Of the values: float32, int64 or string. */
  readonly dtype: FeatureDType;
  /** Whether examples may lack the feature: they have no steps then. */
  readonly allowMissing: boolean;
  /** What fills up sequences that are shorter than others of the batch. */
  readonly defaultValue: number | bigint | string | undefined;

  /** @param allowMissing whether the feature may be missing, which makes n 0. Default: false. */
  constructor(
    ...args: Arguments<
      [
        shape: readonly number[],
        dtype: FeatureDType,
        allowMissing?: boolean,
        defaultValue?: number | bigint | string,
      ],
      ['shape', 'dtype', 'allowMissing', 'defaultValue']
    >
  ) {
    const {
      shape,
      dtype,
      allowMissing = false,
      defaultValue,
    } = argumentsOf<FixedLenSequence>(FixedLenSequenceFeature, new.target, args);
    this.shape = checkShape(shape, 'FixedLenSequenceFeature');
    this.dtype = checkFeatureDType(dtype, 'FixedLenSequenceFeature');
    this.allowMissing = checkFlag(allowMissing, 'allowMissing', 'FixedLenSequenceFeature');
    this.defaultValue = checkDefault(defaultValue, this.dtype, 'FixedLenSequenceFeature');
  }
}

takesArguments<FixedLen>(
  {
    positional: ['shape', 'dtype', 'defaultValue'],
    required: 2,
    names: { shape: true, dtype: true, defaultValue: true },
  },
  FixedLenFeature,
);
takesArguments<VarLen>({ positional: ['dtype'], names: { dtype: true, defaultValue: true } }, VarLenFeature);
takesArguments<FixedLenSequence>(
  {
    positional: ['shape', 'dtype', 'allowMissing', 'defaultValue'],
    required: 2,
    names: { shape: true, dtype: true, allowMissing: true, defaultValue: true },
  },
  FixedLenSequenceFeature,
);

/** A feature that holds a sparse tensor: its values, and for each axis the coordinates, in features of their own. */
export class SparseFeature {
  /** The features that hold the coordinates, one for each axis. */
  readonly indexKey: readonly string[];
  /** The feature that holds the values. */
  readonly valueKey: string;
  /** Of the values: float32, int64 or string. */
  readonly dtype: FeatureDType;
  /** The shape of the sparse tensor. */
  readonly size: readonly number[];
  /** Whether places are in order already, so that they need not be sorted. */
  readonly alreadySorted: boolean;

  /**
   * @param indexKey a name, or one for each axis
   * @param size the size of the axis, or of each
   * @param alreadySorted whether the coordinates are in order, so that they are not sorted; false by default
   */
  constructor(
    ...args: Arguments<
      [
        indexKey: string | readonly string[],
        valueKey: string,
        dtype: FeatureDType,
        size: number | readonly number[],
        alreadySorted?: boolean,
      ],
      ['indexKey', 'valueKey', 'dtype', 'size', 'alreadySorted']
    >
  ) {
    const what = 'SparseFeature';
    const given = argumentsOf<Sparse>(SparseFeature, new.target, args);
    this.indexKey =
      typeof given.indexKey === 'string'
        ? [given.indexKey]
        : [...checkList(given.indexKey, 'indexKey', what)];
    for (const key of this.indexKey) checkText(key, 'indexKey', what);
    checkText(given.valueKey, 'valueKey', what);
    this.valueKey = given.valueKey;
    this.dtype = checkFeatureDType(given.dtype, what);
    if (this.dtype === 'uint8')
      throw new InvalidArgumentError('the values of a sparse feature are float32, int64 or string', what);
    this.size = checkShape(typeof given.size === 'number' ? [given.size] : given.size, what);
    this.alreadySorted = checkFlag(given.alreadySorted ?? false, 'alreadySorted', what);
    if (this.indexKey.length === 0 || this.size.length !== this.indexKey.length)
      throw new InvalidArgumentError(
        `size has ${this.size.length} numbers for ${this.indexKey.length} names in indexKey`,
        what,
      );
  }
}
interface Sparse {
  readonly indexKey: string | readonly string[];
  readonly valueKey: string;
  readonly dtype: FeatureDType;
  readonly size: number | readonly number[];
  readonly alreadySorted?: boolean | undefined;
}

takesArguments<Sparse>(
  {
    positional: ['indexKey', 'valueKey', 'dtype', 'size', 'alreadySorted'],
    required: 4,
    names: { indexKey: true, valueKey: true, dtype: true, size: true, alreadySorted: true },
  },
  SparseFeature,
);

/** Features by name. */
export type FeatureSpecs = Readonly<
  Record<string, FixedLenFeature | VarLenFeature | FixedLenSequenceFeature | RaggedFeature | SparseFeature>
>;

/** @throws InvalidArgumentError for what are no features by name. */
export function checkFeatures(features: unknown, what: string): void {
  if (!isPlain(features))
    throw new InvalidArgumentError(`features must be an object, got ${shown(features)}`, what);
  for (const [name, spec] of Object.entries(features)) {
    if (
      [FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature].some(
        (c) => spec instanceof c,
      )
    )
      continue;
    throw new InvalidArgumentError(
      `features.${name} must be a FixedLenFeature, a VarLenFeature, a FixedLenSequenceFeature, a RaggedFeature or a SparseFeature, got ${shown(spec)}`,
      what,
    );
  }
}

/** What `parseExample` makes of a batch; of any size, unless that is given. */
export function batchSpec(features: FeatureSpecs, size: number | null = null): Record<string, TensorSpec> {
  return Object.fromEntries(
    Object.entries(features).map(([name, feature]) => {
      if (feature instanceof RaggedFeature || feature instanceof SparseFeature)
        throw new UnimplementedError(
          `features.${name} is ${feature instanceof SparseFeature ? 'sparse' : 'ragged'}, and elements of datasets are tensors: use a VarLenFeature`,
          'makeBatchedFeaturesDataset',
        );
      const own = feature instanceof VarLenFeature ? [] : feature.shape;
      const shape = feature instanceof FixedLenFeature ? own : [null, ...own];
      return [name, new TensorSpec([size, ...shape], feature.dtype)];
    }),
  );
}
