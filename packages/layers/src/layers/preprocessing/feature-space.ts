// Tables with columns of all kinds as vectors: a preprocessing layer for each column, and crosses of columns.
import {
  type DType,
  FailedPreconditionError,
  InvalidArgumentError,
  stack,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  argumentsOf,
  checkConfig,
  defineFunction,
  defineMethods,
  isInteger,
  isPlain,
  kind,
  type NamedFunction,
  type SerializedObject,
  shown,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { Layer, type LayerOptions } from '../../layer/layer.ts';
import { uniqueName } from '../../layer/naming.ts';
import { Input } from '../../models/functional.ts';
import { KerasTensor } from '../../models/keras-tensor.ts';
import { deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import { Identity, Rescaling } from '../core/core.ts';
import { Concatenate } from '../merging/merging.ts';
import { CategoryEncoding } from './category-encoding.ts';
import { Discretization } from './discretization.ts';
import { HashedCrossing, Hashing } from './hashing.ts';
import { IntegerLookup, StringLookup } from './lookup.ts';
import { Normalization } from './normalization.ts';
import { TextVectorization } from './text-vectorization.ts';

const MODULE = 'keras.src.layers.preprocessing.feature_space';
type Config = Readonly<Record<string, unknown>>;

/** What a feature becomes: a float, an integer, or a row with a 1 at its place. */
export type FeatureMode = 'float' | 'int' | 'oneHot';
/** The same under Keras's name. */
type AnyFeatureMode = FeatureMode | 'one_hot';
/** Features by name, with their usual options. */
export type FeatureName =
  | 'float'
  | 'floatNormalized'
  | 'floatRescaled'
  | 'floatDiscretized'
  | 'integerCategorical'
  | 'stringCategorical'
  | 'integerHashed'
  | 'stringHashed';

const snake = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
const camel = (name: string): string => name.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());

function modeOf<M extends FeatureMode>(given: unknown, modes: readonly M[], of: string): M {
  const mode = typeof given === 'string' ? camel(given) : given;
  if (!modes.includes(mode as M))
    throw new InvalidArgumentError(
      `outputMode must be one of ${modes.map((m) => `'${m}'`).join(', ')}, got ${shown(given)}`,
      of,
    );
  return mode as M;
}

/** The configuration in an object of Keras's form; null for what is none. */
function configOf(given: unknown): Config | null {
  const config = isPlain(given) ? (given as { readonly config?: unknown }).config : null;
  return isPlain(config) ? (config as Config) : null;
}

/** An object in Keras's form. */
const written = (name: string, config: Config): SerializedObject =>
  ({ module: MODULE, class_name: name, config, registered_name: name }) as SerializedObject;

/** A column of a table: its dtype, the layer that it goes through, and what it becomes. */
export class Feature {
  /** What the column holds. */
  readonly dtype: DType;
  /** The layer that the column goes through. */
  readonly preprocessor: Layer;
  /** What it becomes: `float` or `int`, as the layer gives it, or `oneHot`. */
  readonly outputMode: FeatureMode;

  constructor(dtype: DType, preprocessor: Layer, outputMode: AnyFeatureMode) {
    this.outputMode = modeOf(outputMode, ['int', 'oneHot', 'float'], 'FeatureSpace.feature');
    if (!(preprocessor instanceof Layer))
      throw new InvalidArgumentError(
        `preprocessor must be a layer, got ${shown(preprocessor)}`,
        'FeatureSpace.feature',
      );
    this.dtype = dtype;
    this.preprocessor = preprocessor;
  }
  /** In Keras's form. */
  toJSON(): SerializedObject {
    return written('Feature', {
      dtype: this.dtype,
      preprocessor: serializeLayer(this.preprocessor),
      output_mode: snake(this.outputMode),
    });
  }
}

/** Several columns as one: their values together in one of `crossingDim` bins. */
export class Cross {
  /** Two or more names of features. */
  readonly featureNames: readonly string[];
  /** How many bins their values together fall into. */
  readonly crossingDim: number;
  /** `oneHot`, or `int`: the number of the bin. */
  readonly outputMode: 'int' | 'oneHot';

  constructor(featureNames: readonly string[], crossingDim: number, outputMode: AnyFeatureMode = 'oneHot') {
    this.outputMode = modeOf(outputMode, ['int', 'oneHot'], 'FeatureSpace.cross');
    if (!Array.isArray(featureNames) || featureNames.length < 2)
      throw new InvalidArgumentError(
        `a cross needs two or more names of features, got ${shown(featureNames)}`,
        'FeatureSpace.cross',
      );
    this.featureNames = [...featureNames];
    this.crossingDim = crossingDim;
  }
  /** The names of the features with `_X_` between them. */
  get name(): string {
    return this.featureNames.join('_X_');
  }
  /** In Keras's form. */
  toJSON(): SerializedObject {
    return written('Cross', {
      feature_names: this.featureNames,
      crossing_dim: this.crossingDim,
      output_mode: snake(this.outputMode),
    });
  }
}

/** Keras's name of a layer that does nothing here. */
export class TFDIdentity extends Identity {
  /** @internal */
  override get kerasNames(): Partial<SerializedObject> {
    return { module: MODULE, registered_name: 'TFDIdentity' };
  }
}

/** Options of `FeatureSpace`. */
export interface FeatureSpaceOptions {
  /** `concat` gives one vector for each row, `dict` the features by name. `concat` by default. */
  readonly outputMode?: 'concat' | 'dict';
  /** Names of features that are crossed, or `FeatureSpace.cross`. */
  readonly crosses?: readonly (readonly string[] | Cross | SerializedObject)[] | null;
  /** How many bins crosses have that say nothing else; 32 by default. */
  readonly crossingDim?: number;
  /** How many bins features have that are hashed; 32 by default. */
  readonly hashingDim?: number;
  /** How many bins features have that are discretized; 32 by default. */
  readonly numDiscretizationBins?: number;
  /** Part of the names of its layers; the class's name unless given. */
  readonly name?: string | null;
}
export interface FeatureSpaceSaveOptions {
  /** Whether a file that is there already is replaced; true by default. */
  readonly overwrite?: boolean;
}
/** All arguments of `FeatureSpace`, by name. */
export interface FeatureSpaceArguments extends FeatureSpaceOptions {
  /** For each column of the table by its name what it is: `'float'`, `'stringCategorical'`, or a call such as `FeatureSpace.floatNormalized()`. */
  readonly features: Readonly<Record<string, FeatureName | Feature | SerializedObject | string>>;
}

interface Named {
  /** Part of the names of its layers; that of the column by default. */
  readonly name?: string | null;
}
interface Encoded extends Named {
  /** `oneHot` by default. */
  readonly outputMode?: AnyFeatureMode;
}
interface Categories extends Encoded {
  /** How large the vocabulary may be, with what stands for unknown values; as large as needed by default. */
  readonly maxTokens?: number | null;
  /** How many indices stand for unknown values; 1 by default. */
  readonly numOovIndices?: number;
}
interface Bins extends Encoded {
  /** Where the bins end, ascending; `adapt` finds them unless given. */
  readonly binBoundaries?: readonly number[] | null;
}
type Factory<O, P extends readonly unknown[] = [], N extends readonly string[] = []> = NamedFunction<
  P,
  N,
  O,
  Feature
>;

const nameOf = (given: string | null | undefined, factory: string): { name: string } => ({
  name: `${given ?? uniqueName(factory)}_preprocessor`,
});
const factory = <O extends object>(
  name: string,
  options: Readonly<Record<keyof O, true>>,
  make: (options: O) => Feature,
): Factory<O> =>
  defineFunction<Factory<O>>(
    `FeatureSpace.${name}`,
    {},
    options as never,
    ((given: O) => make(given)) as never,
  );
const hashed = (
  name: 'integerHashed' | 'stringHashed',
  dtype: DType,
): Factory<Encoded, [numBins: number], ['numBins']> =>
  defineFunction(
    `FeatureSpace.${name}`,
    { numBins: kind.asIs },
    { outputMode: kind.asIs, name: kind.asIs },
    (numBins, { outputMode = 'oneHot', name: own }) =>
      new Feature(dtype, new Hashing(numBins, nameOf(own, name)), outputMode),
  );
const categorical = (
  name: 'integerCategorical' | 'stringCategorical',
  dtype: DType,
  Lookup: typeof IntegerLookup | typeof StringLookup,
): Factory<Categories> =>
  factory<Categories>(
    name,
    { maxTokens: true, numOovIndices: true, outputMode: true, name: true },
    ({ maxTokens = null, numOovIndices = 1, outputMode = 'oneHot', name: own }) =>
      new Feature(dtype, new Lookup({ ...nameOf(own, name), maxTokens, numOovIndices }), outputMode),
  );

/** Rows by the names of columns. */
type Rows = Readonly<Record<string, TensorLike | KerasTensor>>;
type Encodings = Record<string, Tensor>;

/**
 * Makes vectors of tables: each column goes through a layer of its kind, and may be crossed with others.
 *
 *     const features = { age: 'floatNormalized', town: 'stringCategorical', rooms: 'integerCategorical' } as const;
 *     const space = new FeatureSpace(features, { crosses: [['town', 'rooms']] });
 *     space.adapt({ age: [31, 56], town: ['rome', 'oslo'], rooms: [2, 3] });
 *     space({ age: 40, town: 'oslo', rooms: 3 }); // one vector; for lists, a row for each
 *     new tf.keras.Model(space.getInputs(), new tf.keras.layers.Dense(1)(space.getEncodedFeatures()));
 */
export class FeatureSpace extends Layer {
  /** For each column of the table by its name what it is: `'float'`, `'stringCategorical'`, or a call such as `FeatureSpace.floatNormalized()`. */
  readonly features: Readonly<Record<string, Feature>>;
  /** Names of features that are crossed, or `FeatureSpace.cross`. */
  readonly crosses: readonly Cross[];
  /** How many bins crosses have that say nothing else. */
  readonly crossingDim: number;
  /** How many bins features have that are hashed. */
  readonly hashingDim: number;
  /** How many bins features have that are discretized. */
  readonly numDiscretizationBins: number;
  /** `concat` gives one vector for each row, `dict` the features by name. */
  readonly outputMode: 'concat' | 'dict';
  /** The layer of each feature. */
  readonly preprocessors: Readonly<Record<string, Layer>>;
  /** The layer of each cross, `town_X_kind`. */
  readonly crossers: Readonly<Record<string, HashedCrossing>>;
  /** The layers that make rows of integers, for features that become such. */
  readonly oneHotEncoders: Record<string, CategoryEncoding> = {};
  #adapted = false;
  #inputs: Readonly<Record<string, KerasTensor>> | null = null;
  #encoded: KerasTensor | Record<string, KerasTensor> | null = null;
  readonly #concat: Concatenate = new Concatenate({ axis: -1 });

  constructor(
    ...args: [
      features: FeatureSpaceArguments['features'] | FeatureSpaceArguments,
      options?: FeatureSpaceOptions,
    ]
  ) {
    const options = argumentsOf<FeatureSpaceArguments>(FeatureSpace, new.target, args);
    super({ ...(typeof options.name === 'string' ? { name: options.name } : {}) } as LayerOptions);
    const { features, outputMode = 'concat', crosses } = options;
    const fail = (message: string): never => {
      throw new InvalidArgumentError(message, this.name);
    };
    if (!isPlain(features) || Object.keys(features).length === 0)
      fail(`features must be kinds of features by name, at least one, got ${shown(features)}`);
    if (outputMode !== 'concat' && outputMode !== 'dict')
      fail(`outputMode must be 'concat' or 'dict', got ${shown(outputMode)}`);
    if (!Array.isArray(crosses ?? [])) fail(`crosses must be a list, got ${shown(crosses)}`);
    this.outputMode = outputMode;
    this.crossingDim = options.crossingDim ?? 32;
    this.hashingDim = options.hashingDim ?? 32;
    this.numDiscretizationBins = options.numDiscretizationBins ?? 32;
    this.features = mapValues(features, (given, name) => this.#featureOf(name, given));
    this.crosses = (crosses ?? []).map((given) => this.#crossOf(given));
    this.preprocessors = mapValues(this.features, ({ preprocessor }) => preprocessor);
    this.crossers = Object.fromEntries(
      this.crosses.map(({ name, crossingDim }) => [name, new HashedCrossing(crossingDim, { name })]),
    );
  }

  /** Several features as one, for `crosses`. */
  static cross(
    featureNames: readonly string[],
    crossingDim: number,
    options?: {
      /** `oneHot`, the default, or `int`: the number of the bin. */
      readonly outputMode?: 'int' | 'oneHot' | 'one_hot';
    },
  ): Cross;
  static cross(options: {
    /** Two or more names of features. */
    readonly featureNames: readonly string[];
    /** How many bins their values together fall into. */
    readonly crossingDim: number;
    /** `oneHot`, the default, or `int`: the number of the bin. */
    readonly outputMode?: 'int' | 'oneHot' | 'one_hot';
  }): Cross;
  static cross(featureNames: unknown, crossingDim?: unknown, options?: unknown): Cross {
    const { outputMode } = (options ?? {}) as { readonly outputMode?: AnyFeatureMode };
    return new Cross(featureNames as readonly string[], crossingDim as number, outputMode);
  }
  /** A feature with a layer of your own. */
  static feature(dtype: DType, preprocessor: Layer, outputMode: AnyFeatureMode): Feature;
  static feature(options: {
    /** What the column holds: `'string'` or a dtype of numbers. */
    readonly dtype: DType;
    /** The layer that the column goes through. */
    readonly preprocessor: Layer;
    /** What it becomes: `float` or `int`, as the layer gives it, or `oneHot`, which makes rows of zeros and ones of integers. */
    readonly outputMode: AnyFeatureMode;
  }): Feature;
  static feature(dtype: unknown, preprocessor?: unknown, outputMode?: unknown): Feature {
    return new Feature(dtype as DType, preprocessor as Layer, outputMode as AnyFeatureMode);
  }
  /** Floats as they are. */
  static readonly float: Factory<Named> = factory<Named>(
    'float',
    { name: true },
    ({ name }) =>
      new Feature('float32', new TFDIdentity({ ...nameOf(name, 'float'), dtype: 'float32' }), 'float'),
  );
  /** Floats times `scale`, 1 by default, plus `offset`, 0 by default. */
  static readonly floatRescaled: Factory<
    {
      /** By which numbers are multiplied; 1 by default. */
      readonly scale?: number;
      /** What is added after scaling; 0 by default. */
      readonly offset?: number;
    } & Named
  > = factory<{ readonly scale?: number; readonly offset?: number } & Named>(
    'floatRescaled',
    { scale: true, offset: true, name: true },
    ({ scale = 1, offset = 0, name }) =>
      new Feature('float32', new Rescaling({ scale, offset, ...nameOf(name, 'floatRescaled') }), 'float'),
  );
  /** Floats less their mean, divided by their standard deviation; `adapt` finds both. */
  static readonly floatNormalized: Factory<Named> = factory<Named>(
    'floatNormalized',
    { name: true },
    ({ name }) =>
      new Feature('float32', new Normalization({ axis: -1, ...nameOf(name, 'floatNormalized') }), 'float'),
  );
  /** Floats as bins. */
  static readonly floatDiscretized: Factory<Bins, [numBins: number], ['numBins']> = defineFunction(
    'FeatureSpace.floatDiscretized',
    { numBins: kind.asIs },
    { binBoundaries: kind.asIs, outputMode: kind.asIs, name: kind.asIs },
    (numBins, { binBoundaries = null, outputMode = 'oneHot', name }) =>
      new Feature(
        'float32',
        new Discretization({ numBins, binBoundaries, ...nameOf(name, 'floatDiscretized') }),
        outputMode,
      ),
  );
  /** Integers as places in a vocabulary that `adapt` finds. */
  static readonly integerCategorical: Factory<Categories> = categorical(
    'integerCategorical',
    'int32',
    IntegerLookup,
  );
  /** Strings as places in a vocabulary that `adapt` finds. */
  static readonly stringCategorical: Factory<Categories> = categorical(
    'stringCategorical',
    'string',
    StringLookup,
  );
  /** Integers in bins by a hash. */
  static readonly integerHashed: Factory<Encoded, [numBins: number], ['numBins']> = hashed(
    'integerHashed',
    'int32',
  );
  /** Strings in bins by a hash. */
  static readonly stringHashed: Factory<Encoded, [numBins: number], ['numBins']> = hashed(
    'stringHashed',
    'string',
  );

  #featureOf(name: string, given: unknown): Feature {
    if (given instanceof Feature) return given;
    const config = configOf(given);
    if (config !== null) {
      const { dtype, preprocessor, output_mode: mode } = config;
      return new Feature(dtype as DType, deserializeLayer(preprocessor), mode as AnyFeatureMode);
    }
    const own = { name };
    switch (typeof given === 'string' ? camel(given) : given) {
      case 'float':
        return FeatureSpace.float(own);
      case 'floatNormalized':
        return FeatureSpace.floatNormalized(own);
      case 'floatRescaled':
        return FeatureSpace.floatRescaled(own);
      case 'floatDiscretized':
        return FeatureSpace.floatDiscretized(this.numDiscretizationBins, own);
      case 'integerCategorical':
        return FeatureSpace.integerCategorical(own);
      case 'stringCategorical':
        return FeatureSpace.stringCategorical(own);
      case 'integerHashed':
        return FeatureSpace.integerHashed(this.hashingDim, own);
      case 'stringHashed':
        return FeatureSpace.stringHashed(this.hashingDim, own);
      default:
        throw new InvalidArgumentError(
          `the feature '${name}' is ${shown(given)}, expected one of FeatureSpace's, such as 'floatNormalized' or FeatureSpace.stringCategorical()`,
          this.name,
        );
    }
  }
  #crossOf(given: unknown): Cross {
    const cross = given instanceof Cross ? given : this.#newCross(given);
    const unknown = cross.featureNames.filter((name) => !Object.hasOwn(this.features, name));
    if (unknown.length > 0)
      throw new InvalidArgumentError(
        `crosses names ${unknown.map((n) => `'${n}'`).join(', ')}, but the features are ${this.#names()}`,
        this.name,
      );
    return cross;
  }
  #newCross(given: unknown): Cross {
    const config = configOf(given);
    if (config === null) return new Cross(given as readonly string[], this.crossingDim);
    const { feature_names: names, crossing_dim: dim, output_mode: mode } = config;
    return new Cross(names as readonly string[], dim as number, mode as AnyFeatureMode);
  }
  #names(): string {
    return Object.keys(this.features)
      .map((name) => `'${name}'`)
      .join(', ');
  }

  /** The names of the features whose layers have to see data first. */
  #adaptable(): string[] {
    return Object.entries(this.preprocessors).flatMap(([name, layer]) => {
      const known =
        (layer instanceof Normalization && layer.inputMean !== null) ||
        (layer instanceof Discretization && layer.binBoundaries !== null) ||
        ((layer instanceof TextVectorization ||
          layer instanceof StringLookup ||
          layer instanceof IntegerLookup) &&
          layer.vocabulary !== null);
      return !known && 'adapt' in layer ? [name] : [];
    });
  }

  /**
   * Lets the layers of features find their vocabularies, means and bins.
   * @param dataset columns by name, or a dataset (another iterable) of rows or of batches of them, without labels
   * @throws InvalidArgumentError for data without one of the features
   */
  adapt(
    dataset:
      | Readonly<Record<string, TensorLike>>
      | Iterable<Readonly<Record<string, TensorLike>>>
      | {
          /** Rows or batches of them: an object of columns by name, without targets. */
          readonly dataset: Iterable<Readonly<Record<string, TensorLike>>>;
        },
  ): void;
  adapt(dataset: unknown): void {
    const rows = this.#rowsOf(dataset);
    for (const name of this.#adaptable()) {
      const layer = this.preprocessors[name] as Layer & { adapt(data: Iterable<Tensor>): void };
      layer.adapt(batchesOf(rows(name)));
    }
    this.#adapted = true;
    this.#encoded = null;
    this.getEncodedFeatures();
  }
  /** Goes through the values of a feature, row by row or batch by batch. */
  #rowsOf(dataset: unknown): (name: string) => Iterable<Tensor> {
    const fail = (message: string): never => {
      throw new InvalidArgumentError(`adapt: ${message}`, this.name);
    };
    const columnOf = (row: Readonly<Record<string, unknown>>, name: string): Tensor => {
      if (!Object.hasOwn(row, name))
        fail(`the data has no feature '${name}', but ${Object.keys(row).join(', ')}`);
      return this.#tensorOf(name, row[name]);
    };
    if (isPlain(dataset))
      return function* (name) {
        const column = columnOf(dataset, name);
        if (column.rank === 0) fail(`the feature '${name}' is a scalar, expected one value for each row`);
        for (let i = 0; i < column.shape[0]; i++) yield column.at(i);
      };
    if (typeof dataset !== 'object' || dataset === null || !(Symbol.iterator in dataset))
      fail(`expected columns by name, or a dataset of them, got ${shown(dataset)}`);
    const given = dataset as Iterable<unknown>;
    // What can be gone through once is kept.
    const all = given[Symbol.iterator]() === (given as unknown) ? [...given] : given;
    return function* (name) {
      for (const row of all) {
        if (!isPlain(row))
          fail(
            `the data must be features by name, got ${shown(row)}; take labels away first, dataset.map((x, y) => x)`,
          );
        yield columnOf(row as Readonly<Record<string, unknown>>, name);
      }
    };
  }
  #tensorOf(name: string, value: unknown): Tensor {
    const { dtype } = this.features[name] as Feature;
    try {
      return toTensor(value as TensorLike, dtype as 'float32');
    } catch (cause) {
      if (!(cause instanceof InvalidArgumentError)) throw cause;
      throw new InvalidArgumentError(`the feature '${name}': ${cause.message}`, this.name, { cause });
    }
  }

  #checkAdapted(): void {
    if (this.#adapted) return;
    const open = this.#adaptable();
    if (open.length > 0)
      throw new FailedPreconditionError(
        `call adapt(dataset) first: ${open.map((n) => `'${n}'`).join(', ')} must see data`,
        this.name,
      );
    this.#adapted = true;
  }

  /** Symbolic tensors for the columns, [batch, 1], by name. @throws FailedPreconditionError before `adapt` */
  getInputs(): Readonly<Record<string, KerasTensor>> {
    this.#checkAdapted();
    this.#inputs ??= mapValues(
      this.features,
      ({ dtype }, name) => Input([1], { name, dtype }) as KerasTensor,
    );
    return this.#inputs;
  }
  /** What becomes of `getInputs()`: a symbolic vector, or symbolic tensors by name. @throws FailedPreconditionError before `adapt` */
  getEncodedFeatures(): KerasTensor | Record<string, KerasTensor> {
    this.#checkAdapted();
    this.#encoded ??= this.#encode(this.getInputs() as never) as never;
    return this.#encoded as KerasTensor | Record<string, KerasTensor>;
  }

  /** @internal A call with columns by name. */
  override invoke(data: unknown, ...rest: unknown[]): Tensor {
    this.#checkAdapted();
    if (!isPlain(data))
      throw new InvalidArgumentError(`takes features by name, got ${shown(data)}`, this.name);
    if (rest.some((option) => option !== undefined))
      throw new InvalidArgumentError('takes nothing behind the features', this.name);
    this.getEncodedFeatures();
    for (const name of Object.keys(data))
      if (!Object.hasOwn(this.features, name))
        throw new InvalidArgumentError(
          `there is no feature '${name}'; the features are ${this.#names()}`,
          this.name,
        );
    let single = false;
    const rows = mapValues(this.features, (_, name): Tensor => {
      if (!Object.hasOwn(data, name))
        throw new InvalidArgumentError(`the feature '${name}' is missing`, this.name);
      const value = data[name];
      if (value instanceof KerasTensor) return value as unknown as Tensor;
      const column = this.#tensorOf(name, value);
      if (column.rank === 0) single = true;
      return column.rank === 0 ? column.reshape([1, 1]) : column.rank === 1 ? column.expandDims(-1) : column;
    });
    const made = this.#encode(rows);
    if (!single) return made as Tensor;
    const alone = (x: Tensor): Tensor => (x.rank === 2 && x.shape[0] === 1 ? x.squeeze([0]) : x);
    return (
      this.outputMode === 'concat' ? alone(made as Tensor) : mapValues(made as Encodings, alone)
    ) as Tensor;
  }

  /** Columns [batch, 1], with values or symbolic ones, as one vector or by name. */
  #encode(rows: Readonly<Record<string, Tensor>>): Tensor | Encodings {
    const values = mapValues(rows, (x, name) => this.preprocessors[name]?.(x) as Tensor);
    const crossed = Object.fromEntries(
      this.crosses.map((cross): [string, Tensor] => [
        cross.name,
        this.crossers[cross.name]?.(cross.featureNames.map((name) => values[name] as Tensor)) as Tensor,
      ]),
    );
    const made: Encodings = {};
    for (const part of [values, crossed])
      for (const name of Object.keys(part).sort()) made[name] = this.#finished(name, part[name] as Tensor);
    if (this.outputMode === 'dict') return made;
    const parts = Object.values(made);
    return parts.length === 1 ? (parts[0] as Tensor) : (this.#concat(parts) as Tensor);
  }
  /** A feature as a row of 0 and 1, if it becomes one. */
  #finished(name: string, x: Tensor): Tensor {
    const { outputMode } = (this.features[name] ?? this.crosses.find((c) => c.name === name)) as
      | Feature
      | Cross;
    const fail = (message: string): never => {
      throw new InvalidArgumentError(`the feature '${name}' ${message}`, this.name);
    };
    let y = x;
    if (outputMode === 'oneHot') {
      if (!isInteger(x.dtype)) fail(`is ${x.dtype}, but outputMode 'oneHot' needs integers from its layer`);
      this.oneHotEncoders[name] ??= new CategoryEncoding({
        numTokens: this.#cardinality(name),
        outputMode: 'multiHot',
      });
      y = this.oneHotEncoders[name](x) as Tensor;
    }
    if (this.outputMode === 'concat' && (isInteger(y.dtype) || y.dtype === 'string'))
      fail(`is ${y.dtype}, which cannot be put beside floats; use outputMode: 'dict', or encode it`);
    return y;
  }
  #cardinality(name: string): number {
    const layer = this.preprocessors[name] ?? this.crossers[name];
    if (layer instanceof IntegerLookup || layer instanceof StringLookup) return layer.vocabularySize();
    if (layer instanceof CategoryEncoding) return layer.numTokens;
    if (layer instanceof HashedCrossing || layer instanceof Hashing) return layer.numBins;
    const bins =
      layer instanceof Discretization ? (layer.numBins ?? (layer.binBoundaries?.length ?? 0) + 1) : 0;
    if (bins > 0) return bins;
    throw new InvalidArgumentError(
      `the feature '${name}' has outputMode 'oneHot', but nothing tells how many values its layer gives; use 'int'`,
      this.name,
    );
  }

  override getConfig(): Record<string, unknown> {
    return {
      features: mapValues(this.features, (feature) => feature.toJSON()),
      output_mode: this.outputMode,
      crosses: this.crosses.map((cross) => cross.toJSON()),
      crossing_dim: this.crossingDim,
      hashing_dim: this.hashingDim,
      num_discretization_bins: this.numDiscretizationBins,
    };
  }
  /** A feature space of the options that `getConfig` gave, here or in Keras. Its layers have not seen data. */
  static override fromConfig(config: Config): FeatureSpace {
    checkConfig(config, FeatureSpace);
    const { features, crosses, name } = config as {
      readonly features: FeatureSpaceArguments['features'];
      readonly crosses?: NonNullable<FeatureSpaceOptions['crosses']>;
      readonly name?: string;
    };
    return new FeatureSpace({
      features,
      outputMode: config['output_mode'] as 'concat',
      crosses: crosses ?? [],
      crossingDim: config['crossing_dim'] as number,
      hashingDim: config['hashing_dim'] as number,
      numDiscretizationBins: config['num_discretization_bins'] as number,
      ...(name === undefined ? {} : { name }),
    });
  }
  /** What the layers of the features were built for. */
  override getBuildConfig(): Record<string, unknown> {
    return mapValues(this.features, ({ preprocessor }) => preprocessor.getBuildConfig());
  }
  override buildFromConfig(config: Config): void {
    for (const [name, of] of Object.entries(config)) {
      const layer = this.features[name]?.preprocessor;
      if (layer !== undefined && !layer.built && isPlain(of)) layer.buildFromConfig(of);
    }
    // What they have learned follows from the file.
    this.#adapted = true;
  }
  /** @internal */
  override get kerasNames(): Partial<SerializedObject> {
    return { module: 'keras.utils' };
  }
  /** @internal */
  override get isSavedAlone(): boolean {
    return true;
  }

  /**
   * Writes the features and what their layers have learned in a `.keras` file, which Keras reads too, whole or not at all.
   * @throws (the promise) InvalidArgumentError for another path, and where `overwrite` is false and there is a file.
   */
  save(filepath: string, options?: FeatureSpaceSaveOptions): Promise<void>;
  save(
    options: {
      /** Where to save; ends in `.keras`. */
      readonly filepath: string;
    } & FeatureSpaceSaveOptions,
  ): Promise<void>;
  async save(filepath: unknown, options: FeatureSpaceSaveOptions = {}): Promise<void> {
    const { save } = await import('../../saving/saving.ts');
    await save(this, filepath, options);
  }
  /**
   * The feature space of a file that `save` wrote, here or in Keras; it needs no `adapt`. `loadModel` reads such files, too.
   * @param filepath a path, in a page a URL, or the bytes of the file
   * @throws (the promise) NotFoundError without such a file, InvalidArgumentError for a file of something else.
   */
  static async load(filepath: string | Uint8Array): Promise<FeatureSpace> {
    const { loadModel } = await import('../../saving/keras-files.ts');
    const found: unknown = await loadModel(filepath, {});
    if (found instanceof FeatureSpace) return found;
    throw new InvalidArgumentError(
      `the file is of a ${(found as object).constructor.name}, not of a FeatureSpace`,
      'FeatureSpace.load',
    );
  }
}
export interface FeatureSpace {
  // biome-ignore lint/suspicious/noExplicitAny: one tensor, or tensors by name, as `outputMode` says
  (data: Rows): any;
}

function mapValues<T, R>(
  of: Readonly<Record<string, T>>,
  change: (value: T, name: string) => R,
): Record<string, R> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value, name)]));
}

/** How many scalars make a batch, as in Keras. */
const BATCH = 32;
/** Scalars as batches [32, 1], vectors as columns. */
function* batchesOf(rows: Iterable<Tensor>): Generator<Tensor> {
  let scalars: Tensor[] = [];
  for (const row of rows) {
    if (row.rank > 0) yield row.rank === 1 ? row.expandDims(-1) : row;
    else if (scalars.push(row) === BATCH) {
      yield stack(scalars).expandDims(-1);
      scalars = [];
    }
  }
  if (scalars.length > 0) yield stack(scalars).expandDims(-1);
}

defineMethods(FeatureSpace, 'FeatureSpace', {
  cross: { positional: ['featureNames', 'crossingDim'], options: { outputMode: true } },
  feature: { positional: ['dtype', 'preprocessor', 'outputMode'] },
  load: { positional: ['filepath'] },
});
defineMethods(FeatureSpace.prototype, 'FeatureSpace', {
  adapt: { positional: ['dataset'], objects: ['dataset'] },
  getInputs: {},
  getEncodedFeatures: {},
  save: { positional: ['filepath'], options: { overwrite: true } },
});
takesOptions<FeatureSpaceArguments, FeatureSpace>(
  {
    positional: ['features'],
    objects: ['features'],
    options: {
      features: true,
      outputMode: true,
      crosses: true,
      crossingDim: true,
      hashingDim: true,
      numDiscretizationBins: true,
      name: true,
    },
  },
  FeatureSpace,
);
