// The class of ragged tensors: how they are made, and what functions of tensors make of them.
import { InvalidArgumentError } from '@eagre/backend';
import { defineMethods } from '../arguments/arguments.ts';
import type { Call } from '../composite/composite.ts';
import * as array from '../ops/array/array.ts';
import { booleanMask } from '../ops/array/gather.ts';
import { concat, stack } from '../ops/array/join.ts';
import * as activations from '../ops/elementwise/activation.ts';
import * as math from '../ops/elementwise/math.ts';
import * as linalg from '../ops/linalg/linalg.ts';
import * as reduce from '../ops/reduce/reduce.ts';
import { addDims, type Dim, mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { checkFlag, checkList } from '../shapes/shape.ts';
import { hostDims } from '../shapes/sizes.ts';
import { columnOf, columnsOf, coordinatesOf } from '../sparse/sparse-base.ts';
import { SparseTensor } from '../sparse/sparse-tensor.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { showInConsole } from '../tensor/format.ts';
import { installMethods, type OpMethods } from '../tensor/methods.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { dispatchRagged } from './dispatch.ts';
import { type RaggedIndex, raggedAt } from './indexing.ts';
import { mergeDims } from './joining.ts';
import {
  checkSplitsDType,
  makeRagged,
  outerSize,
  RaggedBase,
  type RaggedOrDense,
  raggedAxis,
  setRaggedClass,
  toRaggedOrDense,
} from './ragged-base.ts';
import {
  countTo,
  knownIntegers,
  lengthsOf,
  placesInRows,
  rowIntegers,
  type SplitsDType,
  sizeScalar,
  splitsOfIds,
  splitsOfLengths,
  startsOf,
  uniformSplits,
} from './row-partition.ts';
import * as ways from './row-ways.ts';

/** What can be in the rows of a ragged tensor. */
export type RaggedLike = TensorLike | RaggedTensor;

interface Validated {
  /** Whether the rows are checked where they are known; true unless given. */
  readonly validate?: boolean;
}

type Nested = readonly TensorLike[];

/**
 * Rows of different lengths: a tensor with one or several ragged dimensions. `values` holds all rows one behind the other, and `rowSplits`
 * says where each begins and ends.
 *
 *     const rt = tf.ragged.constant([[1, 2], [], [3]]);
 *     rt.shape; // [3, null]
 *     rt.values.array(); // [1, 2, 3]
 *     tf.reduceSum(rt, 1).array(); // [3, 0, 3]
 *
 * Functions of tensors take ragged ones where TensorFlow's do: element-wise ones (which broadcast), reductions, `concat`, `gather` and
 * others. It passes through traced functions, tapes and datasets.
 */
export class RaggedTensor extends RaggedBase {
  static {
    setRaggedClass({
      make: (values, splits, uniform) => {
        installAll();
        return new RaggedTensor(values, splits, uniform);
      },
      fromTensor,
    });
  }

  /** Row i is values `rowSplits[i]` to `rowSplits[i + 1]`. @throws InvalidArgumentError for splits that do not fit the values. */
  static fromRowSplits(values: RaggedLike, rowSplits: TensorLike, options?: Validated): RaggedTensor;
  static fromRowSplits(given: RaggedLike, rowSplits: TensorLike, options: Validated = {}): RaggedTensor {
    const op = 'RaggedTensor.fromRowSplits';
    const values = rowsFrom(given, op);
    return matched(values, ways.fromRowSplits(rowSplits, outerSize(values), validates(options, op), op));
  }

  /** Row i has the next `rowLengths[i]` values. */
  static fromRowLengths(values: RaggedLike, rowLengths: TensorLike, options?: Validated): RaggedTensor;
  static fromRowLengths(given: RaggedLike, rowLengths: TensorLike, options: Validated = {}): RaggedTensor {
    const op = 'RaggedTensor.fromRowLengths';
    const values = rowsFrom(given, op);
    return matched(values, ways.fromRowLengths(rowLengths, outerSize(values), validates(options, op), op));
  }

  /** Row i begins at value `rowStarts[i]`, and ends where the next one begins. */
  static fromRowStarts(values: RaggedLike, rowStarts: TensorLike, options?: Validated): RaggedTensor;
  static fromRowStarts(given: RaggedLike, rowStarts: TensorLike, options: Validated = {}): RaggedTensor {
    const op = 'RaggedTensor.fromRowStarts';
    const values = rowsFrom(given, op);
    return matched(values, ways.fromRowStarts(rowStarts, outerSize(values), validates(options, op), op));
  }

  /** Row i ends before value `rowLimits[i]`, and begins where the one before it ends. */
  static fromRowLimits(values: RaggedLike, rowLimits: TensorLike, options?: Validated): RaggedTensor;
  static fromRowLimits(given: RaggedLike, rowLimits: TensorLike, options: Validated = {}): RaggedTensor {
    const op = 'RaggedTensor.fromRowLimits';
    const values = rowsFrom(given, op);
    return matched(values, ways.fromRowLimits(rowLimits, outerSize(values), validates(options, op), op));
  }

  /**
   * Value i belongs to row `valueRowids[i]`; the ids must not decrease.
   * @param nrows how many rows there are; up to the last id unless given.
   */
  static fromValueRowids(
    values: RaggedLike,
    valueRowids: TensorLike,
    nrows?: number | null,
    options?: Validated,
  ): RaggedTensor;
  static fromValueRowids(
    given: RaggedLike,
    valueRowids: TensorLike,
    nrows: number | null = null,
    options: Validated = {},
  ): RaggedTensor {
    const op = 'RaggedTensor.fromValueRowids';
    const values = rowsFrom(given, op);
    return matched(
      values,
      ways.fromValueRowids(valueRowids, nrows, outerSize(values), validates(options, op), op),
    );
  }

  /**
   * Every row has `uniformRowLength` values: a dimension that is uniform, above others that are ragged.
   * @param nrows needed where the length is 0.
   */
  static fromUniformRowLength(
    values: RaggedLike,
    uniformRowLength: number,
    nrows?: number | null,
    options?: Validated,
  ): RaggedTensor;
  static fromUniformRowLength(
    given: RaggedLike,
    uniformRowLength: number,
    nrows: number | null = null,
    options: Validated = {},
  ): RaggedTensor {
    const op = 'RaggedTensor.fromUniformRowLength';
    const values = rowsFrom(given, op);
    const { splits, length } = ways.fromUniformRowLength(
      uniformRowLength,
      nrows,
      outerSize(values),
      validates(options, op),
      op,
      splitsDTypeOf(values),
    );
    return matched(values, splits, length);
  }

  /** Several ragged dimensions at once: the splits of the outermost first. */
  static fromNestedRowSplits(
    flatValues: RaggedLike,
    nestedRowSplits: Nested,
    options?: Validated,
  ): RaggedTensor;
  static fromNestedRowSplits(flat: RaggedLike, nested: Nested, options: Validated = {}): RaggedTensor {
    return nestedFrom(flat, nested, 'fromNestedRowSplits', (values, splits) =>
      RaggedTensor.fromRowSplits(values, splits, options),
    );
  }

  /** As `fromNestedRowSplits`, of lengths. */
  static fromNestedRowLengths(
    flatValues: RaggedLike,
    nestedRowLengths: Nested,
    options?: Validated,
  ): RaggedTensor;
  static fromNestedRowLengths(flat: RaggedLike, nested: Nested, options: Validated = {}): RaggedTensor {
    return nestedFrom(flat, nested, 'fromNestedRowLengths', (values, lengths) =>
      RaggedTensor.fromRowLengths(values, lengths, options),
    );
  }

  /** As `fromNestedRowSplits`, of row ids. */
  static fromNestedValueRowids(
    flatValues: RaggedLike,
    nestedValueRowids: Nested,
    nestedNrows?: readonly (number | null)[] | null,
    options?: Validated,
  ): RaggedTensor;
  static fromNestedValueRowids(
    flat: RaggedLike,
    nested: Nested,
    nrows: readonly (number | null)[] | null = null,
    options: Validated = {},
  ): RaggedTensor {
    return nestedFrom(flat, nested, 'fromNestedValueRowids', (values, ids, i) =>
      RaggedTensor.fromValueRowids(values, ids, nrows?.[i] ?? null, options),
    );
  }

  /**
   * A tensor of rank 2 or more as a ragged one.
   * @param options.lengths how long the rows are; what is behind is left out. A list of several is for as many ragged dimensions.
   * @param options.padding the value that, at the end of rows, is left out.
   * @param options.raggedRank how many dimensions become ragged ones: 1 unless given.
   */
  static fromTensor(tensor: TensorLike, options?: FromTensorOptions): RaggedTensor;
  static fromTensor(tensor: TensorLike, options: FromTensorOptions = {}): RaggedTensor {
    return fromTensor(toTensor(tensor), options);
  }

  /**
   * A sparse tensor of rank 2 as a ragged one: the values of each row, one after the other.
   * @throws InvalidArgumentError for values that leave places out, or are out of order.
   */
  static fromSparse(
    stInput: SparseTensor,
    options?: {
      /** The dtype of the splits; int64 by default. */
      readonly rowSplitsDtype?: SplitsDType;
    },
  ): RaggedTensor;
  static fromSparse(x: SparseTensor, options: { readonly rowSplitsDtype?: SplitsDType } = {}): RaggedTensor {
    const op = 'RaggedTensor.fromSparse';
    const { rowSplitsDtype = 'int64' } = options;
    checkSplitsDType(rowSplitsDtype, op);
    if (!(x instanceof SparseTensor) || x.rank !== 2)
      throw new InvalidArgumentError('expected a tf.SparseTensor of rank 2', op);
    const splits = splitsOfIds(columnOf(x.indices, 0).cast(rowSplitsDtype), x.sizes[0] as Dim);
    const made = makeRagged(x.values, splits);
    const [places, columns] = [placesInRows(lengthsOf(splits)).places, columnOf(x.indices, 1)].map(
      knownIntegers,
    );
    if (places?.some((place, i) => place !== columns?.[i]))
      throw new InvalidArgumentError('SparseTensor is not right-ragged', op);
    return made;
  }
  /**
   * The axes from `outerAxis` to `innerAxis` as one: those of rows and of their values lie one behind the other.
   *
   *     tf.ragged.constant([[[1, 2], [3]], [], [[4]]]).mergeDims(1, 2); // [[1, 2, 3], [], [4]]
   *
   * @returns a tensor where no ragged dimension is left.
   * @throws InvalidArgumentError if `outerAxis` is behind `innerAxis`.
   */
  mergeDims(outerAxis: number, innerAxis: number): RaggedOrDense;
  mergeDims(outerAxis: unknown, innerAxis?: unknown): RaggedOrDense {
    const op = 'RaggedTensor.mergeDims';
    const [outer, inner] = [raggedAxis(outerAxis, this.rank, op), raggedAxis(innerAxis, this.rank, op)];
    if (outer > inner)
      throw new InvalidArgumentError(`outerAxis, ${outer}, must not be behind innerAxis, ${inner}`, op);
    return mergeDims(this, outer, inner);
  }
  /** The values and their coordinates. */
  toSparse(): SparseTensor;
  toSparse(): SparseTensor {
    const sizes = hostDims(
      this.boundingShape(null, { outType: 'int64' }),
      'the shape',
      'RaggedTensor.toSparse',
    );
    return SparseTensor.of({ indices: coordinates(this), values: this.flatValues.reshape([-1]), sizes });
  }

  /** @internal */
  dispatch(call: Call): unknown {
    return dispatchRagged(call);
  }

  /**
   * Indexing as with Python's brackets, as of tensors: `rt.at(1)` is a row, `rt.at('1:3')` some rows, `rt.at(':', '0:2')` the first two
   * values of each row. A single place of a ragged dimension needs a place in the dimension before it.
   * @throws InvalidArgumentError for a place in a ragged dimension alone; OutOfRangeError for a row that is not there.
   */
  at(...specs: readonly RaggedIndex[]): RaggedOrDense;
  at(...specs: readonly RaggedIndex[]): RaggedOrDense {
    return raggedAt(this, specs);
  }

  /** @internal */
  get advice(): string {
    return 'this function does not take ragged tensors; use x.toTensor(), or tf.ragged.mapFlatValues for its values';
  }

  /** The rows, one after the other: `for (const row of rt)`. */
  *[Symbol.iterator](): IterableIterator<RaggedOrDense> {
    const n = knownIntegers(this.rowSplits)?.length ?? 1;
    for (let i = 0; i < n - 1; i++) yield this.at(i);
  }
}

export type { RaggedIndex };

type ElementwiseName = Exclude<keyof typeof math | keyof typeof activations, keyof RaggedBase>;
type OtherName = Exclude<keyof OpMethods, ElementwiseName | keyof RaggedBase | 'at'>;
/** The functions of tensors that take ragged ones, as methods: `rt.add(1)`, `rt.sum(1)`. Others are refused. */
export type RaggedMethods = {
  [K in ElementwiseName]: (other?: RaggedLike, ...more: readonly unknown[]) => RaggedTensor;
} & {
  [K in OtherName]: OpMethods[K] extends (...args: infer A) => unknown
    ? (...args: A) => RaggedOrDense
    : never;
};
export interface RaggedTensor extends RaggedMethods {}

let installed = false;

/** Adds the methods: with the first object, as all ops are there then. */
function installAll(): void {
  if (installed) return;
  installed = true;
  const own = new Set([RaggedTensor, RaggedBase].flatMap((c) => Object.getOwnPropertyNames(c.prototype)));
  for (const functions of [activations, array, linalg, math, reduce])
    installMethods(
      [RaggedTensor.prototype],
      Object.fromEntries(Object.entries(functions).filter(([name]) => !own.has(name))),
    );
}

/** Options of `RaggedTensor.fromTensor`. */
export interface FromTensorOptions {
  /** How much of each row counts: one integer for each, or a list of such tensors, one for each ragged dimension. Whole rows by default. */
  readonly lengths?: TensorLike | readonly TensorLike[] | null;
  /** A value that is left out where it stands at the end of a row. Not beside `lengths`. */
  readonly padding?: TensorLike | null;
  /** How many dimensions become ragged ones; 1 by default. */
  readonly raggedRank?: number;
  /** The dtype of the splits; int64 by default. */
  readonly rowSplitsDtype?: SplitsDType;
}

/** The coordinates of all innermost elements. */
function coordinates(x: RaggedOrDense): Tensor {
  if (!(x instanceof RaggedTensor)) {
    const sizes = dims(x);
    const count = countTo(sizes.reduce(mulDims, 1), 'int64');
    return coordinatesOf(count, sizes);
  }
  const inner = coordinates(x.values);
  const at = columnOf(inner, 0);
  const rows = x.valueRowids().cast('int64').gather(at);
  const places = at.sub(startsOf(x.rowSplits).cast('int64').gather(rows));
  const rest = Array.from({ length: x.rank - 2 }, (_, i) => i + 1);
  return concat([stack([rows, places], 1), columnsOf(inner, rest)], 1);
}

const validates = ({ validate }: Validated, op: string): boolean =>
  checkFlag(validate ?? true, 'validate', op);

/** @throws InvalidArgumentError for what has no rows. */
function rowsFrom(given: RaggedLike, op: string): RaggedOrDense {
  const values = toRaggedOrDense(given);
  if (values.rank === 0) throw new InvalidArgumentError('values must have rank 1 or more, got a scalar', op);
  return values;
}

function splitsDTypeOf(values: RaggedOrDense): SplitsDType {
  return values instanceof RaggedTensor ? (values.rowSplits.dtype as SplitsDType) : 'int64';
}

/** A ragged tensor whose inner splits must have the dtype of the outer ones. */
function matched(values: RaggedOrDense, splits: Tensor, uniform: Dim | null = null): RaggedTensor {
  if (values instanceof RaggedTensor && values.rowSplits.dtype !== splits.dtype)
    throw new InvalidArgumentError(
      `rowSplits are ${splits.dtype}, those of the values ${values.rowSplits.dtype}: use withRowSplitsDtype`,
      'RaggedTensor',
    );
  return makeRagged(values, splits, uniform);
}

function nestedFrom(
  flat: RaggedLike,
  nested: Nested,
  name: string,
  make: (values: RaggedOrDense, rows: TensorLike, index: number) => RaggedTensor,
): RaggedTensor {
  const op = `RaggedTensor.${name}`;
  checkList(nested, 'the nested rows', op);
  if (nested.length === 0) throw new InvalidArgumentError('there must be at least one ragged dimension', op);
  return nested.reduceRight<RaggedOrDense>(
    (values, rows, i) => make(values, rows, i),
    rowsFrom(flat, op),
  ) as RaggedTensor;
}

function fromTensor(t: Tensor, options: FromTensorOptions): RaggedTensor {
  const op = 'RaggedTensor.fromTensor';
  const { lengths = null, padding = null, raggedRank = 1, rowSplitsDtype = 'int64' } = options;
  checkSplitsDType(rowSplitsDtype, op);
  if (lengths !== null && padding !== null)
    throw new InvalidArgumentError('give lengths or padding, not both', op);
  if (!Number.isInteger(raggedRank) || raggedRank < 1 || t.rank < 2 || raggedRank >= t.rank)
    throw new InvalidArgumentError(
      `raggedRank must be from 1 to the rank less one, got ${String(raggedRank)} for shape [${t.shape}]`,
      op,
    );
  if (Array.isArray(lengths) && lengths.some((l) => typeof l === 'object'))
    return byNested(t, lengths, raggedRank, op);
  if (raggedRank > 1) {
    const sizes = dims(t);
    const flat = t.reshape(toShape([sizes.slice(0, raggedRank).reduce(mulDims), ...sizes.slice(raggedRank)]));
    let result = fromTensor(flat, { ...options, raggedRank: 1 });
    for (let axis = raggedRank - 1; axis > 0; axis--)
      result = makeRagged(
        result,
        uniformSplits(sizes.slice(0, axis).reduce(mulDims), sizes[axis], rowSplitsDtype),
        sizes[axis],
      );
    return result;
  }
  const [rows, width, ...inner] = dims(t);
  if (lengths === null && padding === null)
    return makeRagged(
      t.reshape(toShape([mulDims(rows, width), ...inner])),
      uniformSplits(rows, width, rowSplitsDtype),
      width,
    );
  const own =
    lengths === null
      ? unpadded(t, toTensor(padding as TensorLike, t.dtype), rowSplitsDtype)
      : rowIntegers(lengths as TensorLike, 'lengths', op, rowSplitsDtype).cast(rowSplitsDtype);
  const most = sizeScalar(width, rowSplitsDtype);
  const cut = own.maximum(constant(0, rowSplitsDtype)).minimum(most);
  const places = sizeColumns(width, rowSplitsDtype).less(cut.expandDims(1));
  return makeRagged(booleanMask(t, places), splitsOfLengths(cut));
}

/** 0, 1, … in a row. */
const sizeColumns = (n: Dim, dtype: SplitsDType): Tensor =>
  uniformSplits(addDims(n, -1), 1, dtype).expandDims(0);

/** How long rows are without the padding at their ends. */
function unpadded(t: Tensor, padding: Tensor, dtype: SplitsDType): Tensor {
  let differs = t.notEqual(padding);
  if (differs.rank > 2) differs = differs.any(Array.from({ length: differs.rank - 2 }, (_, i) => i + 2));
  const places = sizeColumns(dims(t)[1], dtype).add(constant(1, dtype));
  return differs.cast(dtype).mul(places).max(1);
}

function byNested(t: Tensor, lengths: readonly TensorLike[], raggedRank: number, op: string): RaggedTensor {
  if (raggedRank !== 1 && raggedRank !== lengths.length)
    throw new InvalidArgumentError(
      `raggedRank is ${raggedRank}, but lengths are for ${lengths.length} dimensions`,
      op,
    );
  if (lengths.length >= t.rank)
    throw new InvalidArgumentError(`lengths for ${lengths.length} dimensions of shape [${t.shape}]`, op);
  const last = rowIntegers(lengths[lengths.length - 1], 'lengths', op);
  const count = hostDims(last.sum(), 'lengths', op);
  const mask = RaggedTensor.fromNestedRowLengths(constant(true).broadcastTo(toShape(count)), lengths);
  const sizes = dims(t).slice(0, lengths.length + 1);
  return mask.withFlatValues(booleanMask(t, mask.toTensor({ shape: toShape(sizes) })));
}

const validated = { validate: true } as const;
const byRows = (rows: string, ...more: readonly string[]) => ({
  positional: ['values', rows, ...more],
  required: 2,
  options: validated,
});
defineMethods(RaggedTensor, 'RaggedTensor', {
  fromRowSplits: byRows('rowSplits'),
  fromRowLengths: byRows('rowLengths'),
  fromRowStarts: byRows('rowStarts'),
  fromRowLimits: byRows('rowLimits'),
  fromValueRowids: byRows('valueRowids', 'nrows'),
  fromUniformRowLength: byRows('uniformRowLength', 'nrows'),
  fromNestedRowSplits: { positional: ['flatValues', 'nestedRowSplits'], options: validated },
  fromNestedRowLengths: { positional: ['flatValues', 'nestedRowLengths'], options: validated },
  fromNestedValueRowids: {
    positional: ['flatValues', 'nestedValueRowids', 'nestedNrows'],
    required: 2,
    options: validated,
  },
  fromSparse: { positional: ['stInput'], options: { rowSplitsDtype: true } },
  fromTensor: {
    positional: ['tensor'],
    options: { lengths: true, padding: true, raggedRank: true, rowSplitsDtype: true },
  },
});
defineMethods(RaggedBase.prototype, 'RaggedTensor', {
  valueRowids: {},
  nestedValueRowids: {},
  rowStarts: {},
  rowLimits: {},
  rowLengths: { positional: ['axis'], required: 0 },
  nestedRowLengths: {},
  nrows: { positional: ['outType'], required: 0 },
  boundingShape: { positional: ['axis'], required: 0, options: { outType: true } },
  withValues: { positional: ['values'] },
  withFlatValues: { positional: ['values'] },
  withRowSplitsDtype: { positional: ['dtype'] },
  toTensor: { options: { defaultValue: true, shape: true } },
  toList: {},
  array: {},
});
defineMethods(RaggedTensor.prototype, 'RaggedTensor', {
  at: { rest: 'specs', objects: ['specs'] },
  mergeDims: { positional: ['outerAxis', 'innerAxis'] },
  toSparse: {},
});
showInConsole(RaggedTensor.prototype, String);
