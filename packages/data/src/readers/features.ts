// What the features of `tf.train.Example` are to become.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import {
  type Arguments,
  argumentsOf,
  checkFlag,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  isPlain,
  shown,
  takesArguments,
} from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';

/** Dtypes of features: the three that an Example stores, and `uint8` for the bytes of one byte string. */
export type FeatureDType = 'float32' | 'int64' | 'string' | 'uint8';

/** What stands for a value that is missing. */
export type FeatureDefault = number | bigint | string | readonly (number | bigint | string)[];

function checkDType(dtype: FeatureDType, what: string): FeatureDType {
  if (['float32', 'int64', 'string', 'uint8'].includes(dtype)) return dtype;
  throw new InvalidArgumentError(
    `the dtype of a feature must be float32, int64, string or uint8 (the bytes of a byte string), got ${shown(dtype)}`,
    what,
  );
}

interface VarLen {
  readonly dtype: FeatureDType;
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
  readonly shape: readonly number[];
  readonly dtype: FeatureDType;
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
    this.dtype = checkDType(dtype, 'FixedLenFeature');
    this.defaultValue = defaultValue;
  }
}

/**
 * A feature with any number of values: a vector, empty where the feature is missing. Batches are padded to the longest with
 * `defaultValue` (0, or an empty text), as `tf.sparse.to_dense` does with what TensorFlow reads.
 */
export class VarLenFeature {
  readonly dtype: FeatureDType;
  readonly defaultValue: number | bigint | string | undefined;

  constructor(...args: Arguments<[dtype: FeatureDType], ['dtype'], Pick<VarLen, 'defaultValue'>>) {
    const { dtype, defaultValue } = argumentsOf<VarLen>(VarLenFeature, new.target, args);
    this.dtype = checkDType(dtype, 'VarLenFeature');
    this.defaultValue = defaultValue;
  }
}

/** A feature that holds any number of tensors of `shape`: [n, ...shape]. Batches are padded as with {@link VarLenFeature}. */
export class FixedLenSequenceFeature {
  readonly shape: readonly number[];
  readonly dtype: FeatureDType;
  readonly allowMissing: boolean;
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
    this.dtype = checkDType(dtype, 'FixedLenSequenceFeature');
    this.allowMissing = checkFlag(allowMissing, 'allowMissing', 'FixedLenSequenceFeature');
    this.defaultValue = defaultValue;
  }
}

/** A feature with any number of values: a vector, or for a batch a ragged tensor [batch, (values)] whose rows end where they end. */
export class RaggedFeature {
  readonly dtype: FeatureDType;
  readonly valueKey: string | undefined;
  readonly rowSplitsDtype: 'int32' | 'int64';

  /** @param valueKey which feature of the example it is; its name in the features unless given. */
  constructor(
    ...args: Arguments<
      [dtype: FeatureDType, valueKey?: string | null],
      ['dtype', 'valueKey'],
      { readonly rowSplitsDtype?: 'int32' | 'int64' }
    >
  ) {
    const {
      dtype,
      valueKey,
      rowSplitsDtype = 'int32',
    } = argumentsOf<Ragged>(RaggedFeature, new.target, args);
    this.dtype = checkDType(dtype, 'RaggedFeature');
    if (valueKey !== undefined && valueKey !== null) checkText(valueKey, 'valueKey', 'RaggedFeature');
    this.valueKey = valueKey ?? undefined;
    checkOneOf(rowSplitsDtype, ['int32', 'int64'], 'rowSplitsDtype', 'RaggedFeature');
    this.rowSplitsDtype = rowSplitsDtype;
  }
}
interface Ragged {
  readonly dtype: FeatureDType;
  readonly valueKey?: string | null | undefined;
  readonly rowSplitsDtype?: 'int32' | 'int64' | undefined;
}

takesArguments<Ragged>(
  {
    positional: ['dtype', 'valueKey'],
    required: 1,
    names: { dtype: true, valueKey: true, rowSplitsDtype: true },
  },
  RaggedFeature,
);
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
  readonly valueKey: string;
  readonly dtype: FeatureDType;
  /** The shape of the sparse tensor. */
  readonly size: readonly number[];
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
    this.dtype = checkDType(given.dtype, what);
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
