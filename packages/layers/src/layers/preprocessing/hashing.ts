// Layers that put categories into a number of bins by a hash, so that no vocabulary is needed.
import type { TextHash } from '@eagre/backend';
import { constant, type DType, type PartialShape, type Tensor, where } from '@eagre/core';
import {
  argumentsOf,
  bucketsOf,
  crossedBins,
  dims,
  hashedTexts,
  isFloating,
  isPlain,
  kerasDefaults,
  type Option,
  portableBins,
  portableCross,
  sameShape,
  setBuckets,
  showShape,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { isStored, onValues, takesKinds } from '../../layer/kinds.ts';
import {
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  ownsTemporaries,
  type Specs,
  type TensorSpec,
} from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { isShapes } from '../../layer/specs.ts';
import { checkOne, fail } from '../common.ts';
import { integer } from '../options.ts';
import { layerOptions } from '../weights.ts';
import {
  type CategoryMode,
  checkSparse,
  encoded,
  encodedShape,
  encodedSpec,
  modes,
  sparseFlag,
} from './categories.ts';
import { integersOf } from './host-values.ts';

/** A key of two integers; one stands for both. */
export type Salt = number | readonly [number, number];

export const salt: Option<readonly [number, number] | null> = {
  read: (given, name, layer) => {
    if (given === undefined || given === null) return null;
    const both = Array.isArray(given) ? given : [given, given];
    if (both.length !== 2 || !both.every((n) => Number.isSafeInteger(n)))
      fail(layer as Layer, `needs ${name} to be an integer or two of them, got ${show(given)}`);
    return both as unknown as readonly [number, number];
  },
};

/** The hash that finds the bins of texts: their fingerprint, or one with a key. */
export const hashBy = (key: readonly [number, number] | null): TextHash =>
  key === null ? 'farm' : [BigInt(key[0]), BigInt(key[1])];

/** Options of a layer that may give integers in its dtype. */
interface IntegerLayerOptions extends Omit<LayerOptions, 'dtype'> {
  /** Of what it gives, also `int32` or `int64`. Integers are int64 by default. */
  readonly dtype?: LayerOptions['dtype'] | 'int32' | 'int64';
}

/** Options of `Hashing`. */
export interface HashingOptions extends IntegerLayerOptions {
  /** A value that becomes 0; others then become 1 and more. None by default. */
  readonly maskValue?: string | number | null;
  /** A key of the hash, so that nobody can choose values that fall together. None by default. */
  readonly salt?: Salt | null;
  /** `int`, the default: the number of the bin. `oneHot`, `multiHot` and `count`: rows with a place for each bin. */
  readonly outputMode?: CategoryMode;
  /** Whether rows are a sparse tensor, of other modes than `int`; false by default. */
  readonly sparse?: boolean;
}
/** All arguments of `Hashing`, by name. */
export interface HashingArguments extends HashingOptions {
  /** How many bins the values fall into, with the one of `maskValue`. */
  readonly numBins: number;
}

/** Strings or integers as integers below numBins, by FarmHash, or with a salt by SipHash. The bins are those of Keras. */
export class Hashing extends Layer {
  /** How many bins the values fall into, with the one of `maskValue`. */
  declare readonly numBins: number;
  /** A value that becomes 0; others then become 1 and more. */
  declare readonly maskValue: string | number | null;
  /** A key of the hash, so that nobody can choose values that fall together. */
  declare readonly salt: readonly [number, number] | null;
  /** `int`: the number of the bin. `oneHot`, `multiHot` and `count`: rows with a place for each bin. */
  declare readonly outputMode: CategoryMode;
  /** Whether rows are a sparse tensor, of other modes than `int`. */
  declare readonly sparse: boolean;

  declare static readonly fromConfig: FromConfig<Hashing>;
  readonly #output: DType;

  constructor(...args: [numBins: number | HashingArguments, options?: HashingOptions]) {
    const { dtype, ...options } = argumentsOf<HashingArguments>(Hashing, new.target, args);
    const integers = integersIn(dtype);
    super({ ...options, dtype: (integers === null ? dtype : null) ?? kerasDefaults.floatx } as LayerOptions);
    checkSparse(this, this.outputMode);
    const isInt = this.outputMode === 'int';
    if (isInt && integers === null && dtype !== undefined && dtype !== null)
      fail(this, `gives integers with outputMode 'int', so dtype must be int32 or int64, got ${show(dtype)}`);
    // In Keras rows are of the dtype of variables, float32 where a layer computes in 16 bits.
    this.#output = integers ?? (isInt ? 'int64' : this.variableDtype);
  }
  override call(inputs: Tensor): Tensor {
    checkOne(this, inputs.shape);
    const { maskValue, salt: key, outputMode } = this;
    const masks = maskValue !== null && this.numBins > 1;
    const bins = masks ? this.numBins - 1 : this.numBins;
    const single =
      outputMode === 'oneHot' && !isStored(inputs) && inputs.rank > 0 && dims(inputs).at(-1) === 1;
    const x = single ? inputs.squeeze(-1) : inputs;
    const hash = hashBy(key);
    const binsOfAll = (values: Tensor): BigInt64Array<ArrayBuffer> => {
      if (!masks && values.dtype === 'string') return bucketsOf(values, bins, hash);
      const mask = String(maskValue);
      const numbers = new Int32Array(values.size).fill(-1);
      // The mask has the bin 0 already.
      if (masks) for (const [i, text] of hashedTexts(values).entries()) if (text === mask) numbers[i] = 0;
      const data = new BigInt64Array(values.size);
      setBuckets(data, values, numbers, masks ? 1 : 0, bins, hash);
      return data;
    };
    const inOps = (values: Tensor): Tensor => {
      const found = portableBins(values, bins, key);
      if (!masks) return found;
      const mask = values.dtype === 'string' ? String(maskValue) : constant(Number(maskValue), values.dtype);
      return where(values.equal(mask), found.mul(0n), found.add(1n));
    };
    const ids = onValues(x, (values) => integersOf('Hashing', values, binsOfAll, inOps));
    return given(this, ids, this.#output);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return encodedShape(checkOne(this, inputShape), this.outputMode, this.numBins);
  }
  override computeOutputSpec({ list }: Specs): Specs {
    return specOf(this, list[0], this.#output);
  }
  /** As Keras's, whose policy may be one of integers. */
  override getConfig(): Record<string, unknown> {
    const config = super.getConfig();
    const own = { ...this.dtypePolicy.toJSON(), config: { name: this.#output } };
    return isFloating(this.#output) ? config : { ...config, dtype: own };
  }
}

/** The integers that a layer gives, of its option or of a configuration; null where it is a policy of floats. */
function integersIn(dtype: unknown): 'int32' | 'int64' | null {
  const name = isPlain(dtype) ? (dtype['config'] as { readonly name?: unknown } | null)?.name : dtype;
  return name === 'int64' || name === 'int32' ? name : null;
}

/** The spec of what a layer gives in a dtype. */
function specOf(layer: Hashing | HashedCrossing, spec: TensorSpec, dtype: DType): Specs {
  const { outputMode: mode, numBins: depth, sparse } = layer;
  return encodedSpec(spec, { mode, depth, dtype, sparse }, dtype);
}
/** What a layer makes of bins in a dtype. */
function given(layer: Hashing | HashedCrossing, ids: Tensor, dtype: DType): Tensor {
  const { outputMode: mode, numBins: depth, sparse } = layer;
  return mode === 'int' ? onValues(ids, (x) => x.cast(dtype)) : encoded(ids, { mode, depth, dtype, sparse });
}

/** Options of `HashedCrossing`. */
export interface HashedCrossingOptions extends IntegerLayerOptions {
  /** `int`, the default: the number of the bin. `oneHot`: a row with a place for each bin. */
  readonly outputMode?: 'int' | 'oneHot';
  /** Whether rows are a sparse tensor, of other modes than `int`; false by default. */
  readonly sparse?: boolean;
}
/** All arguments of `HashedCrossing`, by name. */
export interface HashedCrossingArguments extends HashedCrossingOptions {
  /** How many bins the crossed values fall into. */
  readonly numBins: number;
}

/** Two or more categories of an example together as one, by a hash: `new HashedCrossing(100)([city, day])`. The bins are those of Keras. */
export class HashedCrossing extends Layer {
  /** How many bins the crossed values fall into. */
  declare readonly numBins: number;
  /** `int`: the number of the bin. `oneHot`: a row with a place for each bin. */
  declare readonly outputMode: 'int' | 'oneHot';
  /** Whether rows are a sparse tensor, of other modes than `int`. */
  declare readonly sparse: boolean;

  declare static readonly fromConfig: FromConfig<HashedCrossing>;
  readonly #output: DType;

  constructor(...args: [numBins: number | HashedCrossingArguments, options?: HashedCrossingOptions]) {
    const { dtype, ...options } = argumentsOf<HashedCrossingArguments>(HashedCrossing, new.target, args);
    const integers = integersIn(dtype);
    super({ ...options, dtype: integers === null ? dtype : null } as LayerOptions);
    checkSparse(this, this.outputMode);
    const isOpen = this.outputMode === 'int' && (dtype === undefined || dtype === null);
    this.#output = integers ?? (isOpen ? 'int64' : this.computeDtype);
  }
  override call(inputs: LayerInput): Tensor {
    if (!Array.isArray(inputs) || inputs.length < 2)
      fail(
        this,
        `takes a list of at least two tensors, got ${Array.isArray(inputs) ? inputs.length : 'one'}`,
      );
    const list = (inputs as readonly Tensor[]).map((x) => toTensor(x));
    const [head] = list;
    for (const x of list) {
      const fits = x.rank < 2 || (x.rank === 2 && dims(x)[1] === 1);
      if (!fits || !sameShape(x.shape, head.shape))
        fail(this, `needs inputs of one shape, [], [batch] or [batch, 1], got ${showShape(x.shape)}`);
      if (x.dtype !== 'string' && !x.dtype.includes('int'))
        fail(this, `needs integers or strings, got ${x.dtype}`);
    }
    const bins = (...columns: Tensor[]): BigInt64Array<ArrayBuffer> => crossedBins(columns, this.numBins);
    const inOps = (...xs: readonly Tensor[]): Tensor => {
      const columns = xs.map((x) => (x.dtype === 'string' ? x : x.cast('int64')).reshape([-1, 1]));
      const values = portableCross(columns, this.numBins);
      return head.rank === 2 ? values.expandDims(1) : head.rank === 1 ? values : values.reshape([]);
    };
    const ids = integersOf('HashedCrossing', list, bins, inOps);
    return given(this, ids, this.#output);
  }
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const shape = (isShapes(inputShape) ? inputShape[0] : inputShape) as PartialShape;
    return encodedShape(shape, this.outputMode, this.numBins);
  }
  override computeOutputSpec({ list }: Specs): Specs {
    return specOf(this, list[0], this.#output);
  }
  /** As Keras's, which says the dtype of integers by its name. */
  override getConfig(): Record<string, unknown> {
    const config = super.getConfig();
    return isFloating(this.#output) ? config : { ...config, dtype: this.#output };
  }
}
ownsTemporaries(Hashing, HashedCrossing);
takesKinds(['sparse', 'ragged'], Hashing);
takesOptions<HashingArguments, Hashing>(
  {
    positional: ['numBins'],
    options: {
      numBins: integer(),
      maskValue: {
        read: (given, name, layer) => {
          if (given !== undefined && given !== null && typeof given !== 'string' && typeof given !== 'number')
            fail(layer as Layer, `needs ${name} to be a string or a number, got ${show(given)}`);
          return (given ?? null) as string | number | null;
        },
      },
      salt,
      outputMode: modes(['int', 'oneHot', 'multiHot', 'count'], 'int'),
      sparse: sparseFlag,
      ...layerOptions,
    },
  },
  Hashing,
);
takesOptions<HashedCrossingArguments, HashedCrossing>(
  {
    positional: ['numBins'],
    options: {
      numBins: integer(),
      outputMode: modes(['int', 'oneHot'], 'int'),
      sparse: sparseFlag,
      ...layerOptions,
    },
  },
  HashedCrossing,
);
