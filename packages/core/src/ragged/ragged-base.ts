// Types in a circle: what this file makes are ragged tensors, whose class extends the one here.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { integer } from '../arguments/argument-kinds.ts';
import { shown } from '../arguments/checks.ts';
import { CompositeTensor, type Printed } from '../composite/composite.ts';
import { concat } from '../ops/array/join.ts';
import { type Values, writer } from '../ops/strings/number-texts.ts';
import { type Dim, isExpression, subDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import type { PartialShape } from '../shapes/shape.ts';
import { knownDim } from '../shapes/shape-env.ts';
import { hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { hostValues, type NestedArray, type Scalar, type Tensor } from '../tensor/tensor.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  countTo,
  knownIntegers,
  lengthsOf,
  limitsOf,
  rowCount,
  rowIdsOf,
  type SplitsDType,
  sizeScalar,
  startsOf,
} from './row-partition.ts';

/** Rows of different lengths, nested: what `toList` returns. */
export type RaggedList<T = Scalar> = (T | RaggedList<T>)[];

/** A tensor or a ragged one. */
export type RaggedOrDense = Tensor | RaggedTensor;

/** What is known of the class: of programs that use no ragged tensors, bundlers leave it out. */
interface RaggedClass {
  make(values: RaggedOrDense, splits: Tensor, uniform: number | null): RaggedTensor;
  fromTensor(dense: Tensor, options: { readonly raggedRank: number }): RaggedTensor;
}
let found: RaggedClass | undefined;

/** @internal Says which class ragged tensors have. */
export function setRaggedClass(known: RaggedClass): void {
  found = known;
}
function raggedClass(): RaggedClass {
  if (found === undefined)
    throw new UnimplementedError(
      'there are no ragged tensors in this bundle: name tf.RaggedTensor in the program',
      'RaggedTensor',
    );
  return found;
}

/** @internal Values in rows that end where splits say, which are not checked. A length that all rows have may be known. */
export function makeRagged(values: RaggedOrDense, splits: Tensor, uniform: Dim | null = null): RaggedTensor {
  return raggedClass().make(values, splits, typeof uniform === 'number' ? uniform : null);
}

/** @internal A tensor whose first dimensions behind that of the rows are ragged ones. */
export function raggedFromTensor(dense: Tensor, raggedRank: number): RaggedTensor {
  return raggedClass().fromTensor(dense, { raggedRank });
}

export function isRagged(value: unknown): value is RaggedTensor {
  return value instanceof RaggedBase;
}

/** @internal A ragged tensor as it is, anything else as a tensor. */
export function toRaggedOrDense(value: TensorLike | RaggedBase, dtype?: DType): RaggedOrDense {
  return isRagged(value) ? value : toTensor(value as TensorLike, dtype);
}

/** @internal The number of rows. */
export function outerSize(x: RaggedOrDense): Dim {
  return isRagged(x) ? rowCount(x.rowSplits) : dims(x)[0];
}

/** @internal A size as users read it: null where it is not known while a function is traced. */
const known = (d: Dim): number | null => (isExpression(d) ? null : d);

/** The values and rows of a ragged tensor, and what can be read off them. */
export abstract class RaggedBase extends CompositeTensor {
  /** All rows one behind the other: a tensor, or a ragged one whose rows are the inner rows. */
  readonly values: RaggedOrDense;
  /** Where rows begin and end in `values`: row i is values `rowSplits[i]` to `rowSplits[i + 1]`. int64 or int32. */
  readonly rowSplits: Tensor;
  /** The length of every row, where it is known to be one; else null. */
  readonly uniformRowLength: number | null;

  /** @internal Use `tf.ragged.constant`, `RaggedTensor.fromRowSplits` and the like. */
  constructor(values: RaggedOrDense, rowSplits: Tensor, uniformRowLength: number | null) {
    super();
    this.values = values;
    this.rowSplits = rowSplits;
    this.uniformRowLength = uniformRowLength;
  }

  get dtype(): DType {
    return this.flatValues.dtype;
  }
  /** The sizes of the dimensions; null for ragged ones. */
  get shape(): PartialShape {
    const inner = isRagged(this.values) ? this.values.shape : dims(this.values).map(known);
    return [known(rowCount(this.rowSplits)), this.uniformRowLength, ...inner.slice(1)];
  }
  /** The number of dimensions. */
  get rank(): number {
    return this.values.rank + 1;
  }
  /** How many of the dimensions are in rows of `rowSplits`. */
  get raggedRank(): number {
    return isRagged(this.values) ? 1 + this.values.raggedRank : 1;
  }
  /** The innermost values: a tensor. */
  get flatValues(): Tensor {
    return isRagged(this.values) ? this.values.flatValues : this.values;
  }
  /** The splits of each ragged dimension, the outermost first. */
  get nestedRowSplits(): Tensor[] {
    return [this.rowSplits, ...(isRagged(this.values) ? this.values.nestedRowSplits : [])];
  }
  /** The row of each value. */
  valueRowids(): Tensor {
    return rowIdsOf(this.rowSplits, outerSize(this.values));
  }
  /** The row of each value, for each ragged dimension. */
  nestedValueRowids(): Tensor[] {
    return [this.valueRowids(), ...(isRagged(this.values) ? this.values.nestedValueRowids() : [])];
  }
  /** Where each row begins in `values`. */
  rowStarts(): Tensor {
    return startsOf(this.rowSplits);
  }
  /** Where each row ends in `values`. */
  rowLimits(): Tensor {
    return limitsOf(this.rowSplits);
  }
  /** How long the rows of a dimension are; those of dimension 1 unless given. Of a dimension beyond, a ragged tensor. */
  rowLengths(axis?: number): RaggedOrDense;
  rowLengths(axis: unknown = 1): RaggedOrDense {
    const a = raggedAxis(axis, this.rank, 'RaggedTensor.rowLengths');
    if (a === 0) return this.nrows();
    if (a === 1) return lengthsOf(this.rowSplits);
    if (isRagged(this.values)) return this.withValues(this.values.rowLengths(a - 1));
    const sizes = dims(this.values);
    const length = sizeScalar(sizes[a - 1], this.rowSplits.dtype as SplitsDType);
    return this.withValues(length.broadcastTo(toShape(sizes.slice(0, a - 1))));
  }
  /** The lengths of the rows of each ragged dimension. */
  nestedRowLengths(): Tensor[] {
    return this.nestedRowSplits.map(lengthsOf);
  }
  /** How many rows there are, a scalar of the splits' dtype. */
  nrows(outType?: SplitsDType): Tensor;
  nrows(outType: unknown = this.rowSplits.dtype): Tensor {
    return sizeScalar(rowCount(this.rowSplits), outType as SplitsDType);
  }
  /** The smallest shape that holds all rows: a vector, or one size for one `axis`. */
  boundingShape(
    axis?: number | readonly number[] | null,
    options?: {
      /** The dtype of the result, int32 or int64; that of the splits by default. */
      readonly outType?: SplitsDType;
    },
  ): Tensor;
  boundingShape(axis: unknown = null, options: { readonly outType?: SplitsDType } = {}): Tensor {
    const { outType = this.rowSplits.dtype as SplitsDType } = options;
    const sizes = [this.nrows(outType), ...this.nestedRowLengths().map((l) => longest(l).cast(outType))];
    for (const d of dims(this.flatValues).slice(1)) sizes.push(sizeScalar(d, outType));
    const all = concat(
      sizes.map((s) => s.reshape([1])),
      0,
    );
    return axis === null ? all : all.gather(constant(axis as number, 'int32'));
  }

  /** The same rows of other values. */
  withValues(values: TensorLike | RaggedBase): RaggedTensor;
  withValues(given: TensorLike | RaggedBase): RaggedTensor {
    const values = toRaggedOrDense(given);
    const [own, other] = [outerSize(this.values), outerSize(values)];
    if (values.rank === 0 || (typeof own === 'number' && typeof other === 'number' && own !== other))
      throw new InvalidArgumentError(
        `the rows need ${String(own)} values, got shape [${values.shape}]`,
        'RaggedTensor.withValues',
      );
    return makeRagged(values, this.rowSplits, this.uniformRowLength);
  }
  /** The same rows, in all ragged dimensions, of other innermost values. */
  withFlatValues(values: TensorLike | RaggedBase): RaggedTensor;
  withFlatValues(values: TensorLike | RaggedBase): RaggedTensor {
    return this.withValues(isRagged(this.values) ? this.values.withFlatValues(values) : values);
  }
  /** The same with splits of another dtype. */
  withRowSplitsDtype(dtype: SplitsDType): RaggedTensor;
  withRowSplitsDtype(dtype: SplitsDType): RaggedTensor {
    checkSplitsDType(dtype, 'RaggedTensor.withRowSplitsDtype');
    const values = isRagged(this.values) ? this.values.withRowSplitsDtype(dtype) : this.values;
    return makeRagged(values, this.rowSplits.cast(dtype), this.uniformRowLength);
  }

  /**
   * A tensor, in which short rows are filled up with `defaultValue` (0, false or an empty string).
   * @param options.shape sizes to pad or cut to; null for as large as needed.
   */
  toTensor(options?: ToTensorOptions): Tensor;
  toTensor(options: ToTensorOptions = {}): Tensor {
    const { defaultValue = null, shape = null } = options;
    const op = 'RaggedTensor.toTensor';
    if (shape !== null && (!Array.isArray(shape) || shape.length !== this.rank))
      throw new InvalidArgumentError(`shape must be a list of ${this.rank} sizes, null for any`, op);
    const flat = this.flatValues;
    const filler = defaultValue === null ? zeroOf(flat.dtype) : toTensor(defaultValue, flat.dtype);
    if (filler.dtype !== flat.dtype)
      throw new InvalidArgumentError(`defaultValue is ${filler.dtype}, the values are ${flat.dtype}`, op);
    if (filler.rank >= flat.rank)
      throw new InvalidArgumentError(
        `defaultValue of shape [${filler.shape}] must broadcast to one value, of rank ${flat.rank - 1}`,
        op,
      );
    const inner = flat.shape.slice(1);
    const given = shape?.slice(this.rank - inner.length) ?? [];
    if (given.some((size, i) => size !== null && inner[i] !== null && size !== inner[i]))
      throw new InvalidArgumentError(
        `shape [${shape}] does not end as the values do, in [${inner}]; only ragged dimensions are padded and cut`,
        op,
      );
    return padded(this as never, filler, shape ?? new Array<null>(this.rank).fill(null));
  }
  /** The values as nested arrays. */
  toList<T = Scalar>(): RaggedList<T>;
  toList(): RaggedList {
    const rows: unknown = isRagged(this.values) ? this.values.toList() : this.values.array();
    const splits = Array.from(this.rowSplits.data() as ArrayLike<number | bigint>, Number);
    return splits.slice(1).map((end, i) => (rows as RaggedList).slice(splits[i], end));
  }
  /** As `toList`, under the name that tensors have for it. */
  array<T extends NestedArray<Scalar> = NestedArray<Scalar>>(): T;
  array(): NestedArray<Scalar> {
    return this.toList();
  }
  toJSON(): unknown {
    return this.toList();
  }
  /** @internal */
  override get printed(): Printed {
    return {
      tensors: [this.flatValues, ...this.nestedRowSplits],
      text: ([flat, ...splits], atEnds) => raggedText(flat as Tensor, splits, atEnds),
    };
  }
  override toString(): string {
    return `<tf.RaggedTensor ${this.flatValues.backend.name === 'symbolic' ? `of shape [${this.shape.map(String).join(', ')}]` : listText(this.toList())}>`;
  }

  get parts(): readonly unknown[] {
    const parts: unknown[] = [];
    let level: unknown = this;
    while (level instanceof RaggedBase) {
      parts.push(level.rowSplits);
      level = level.values;
    }
    return [level, ...parts];
  }
  get partNames(): readonly string[] {
    return ['flatValues', ...this.parts.slice(1).map((_, i) => `nestedRowSplits[${i}]`)];
  }
  get facts(): string {
    const lengths: string[] = [];
    let level: unknown = this;
    while (level instanceof RaggedBase) {
      lengths.push(String(level.uniformRowLength));
      level = level.values;
    }
    return `RaggedTensor<${lengths.join(',')}>`;
  }
  withParts([values, ...splits]: readonly unknown[]): RaggedTensor {
    const inner = isRagged(this.values) ? this.values.withParts([values, ...splits.slice(1)]) : values;
    return raggedClass().make(inner as Tensor, splits[0] as Tensor, this.uniformRowLength);
  }
  override get general(): CompositeTensor {
    const inner = isRagged(this.values) ? (this.values.general as RaggedTensor) : this.values;
    return raggedClass().make(inner, this.rowSplits, null);
  }
  override get differentiable(): unknown {
    return this.flatValues;
  }
  override withDifferentiable(values: unknown): unknown {
    if (values === null) return null;
    return this.withFlatValues(
      values instanceof CompositeTensor ? (values.dense as Tensor) : (values as Tensor),
    );
  }
}

/** Options of `raggedTensor.toTensor`. */
export interface ToTensorOptions {
  /** What fills rows up that are shorter than others; 0 by default, of strings the empty one. */
  readonly defaultValue?: TensorLike | null;
  /** The shape of the result, `null` for sizes that are the longest row's: longer rows are cut off. All are by default. */
  readonly shape?: readonly (number | null)[] | null;
}

/** The longest row, 0 of none. */
export const longest = (lengths: Tensor): Tensor => concat([constant([0], lengths.dtype), lengths], 0).max();

/** What fills short rows. */
export function zeroOf(dtype: DType): Tensor {
  return dtype === 'string' ? constant('', 'string') : constant(dtype === 'bool' ? false : 0, dtype);
}

/** @throws InvalidArgumentError for another dtype than int32 and int64. */
export function checkSplitsDType(dtype: unknown, op: string): asserts dtype is SplitsDType {
  if (dtype !== 'int32' && dtype !== 'int64')
    throw new InvalidArgumentError(`the dtype of rowSplits must be int32 or int64, got ${String(dtype)}`, op);
}

/** An integer that is given as one, or by a tensor. @throws InvalidArgumentError for anything else */
export function integerFrom(value: unknown, what: string, op: string): number {
  const n = integer.read(value, what, op);
  if (typeof n !== 'number' || !Number.isInteger(n))
    throw new InvalidArgumentError(`${what} must be an integer, got ${shown(n)}`, op);
  return n;
}

/** An axis of a ragged tensor, counted from the front. */
export function raggedAxis(axis: unknown, rank: number, op: string): number {
  const n = typeof axis === 'bigint' ? Number(axis) : axis;
  if (typeof n !== 'number' || !Number.isInteger(n) || n < -rank || n >= rank)
    throw new InvalidArgumentError(
      `axis must be an integer from ${-rank} to ${rank - 1}, got ${String(axis)}`,
      op,
    );
  return n < 0 ? n + rank : n;
}

/** Rows of one length, with `filler` behind their values. */
function padded(x: RaggedOrDense, filler: Tensor, shape: readonly (number | null)[]): Tensor {
  if (!isRagged(x)) return resized(x, filler, shape);
  const inner = padded(x.values, filler, [null, ...shape.slice(2)]);
  const lengths = lengthsOf(x.rowSplits);
  const dtype = x.rowSplits.dtype as SplitsDType;
  const width: Dim =
    shape[1] ??
    x.uniformRowLength ??
    hostDims(longest(lengths), 'the longest row', 'RaggedTensor.toTensor')[0];
  const [count, ...rest] = dims(inner);
  // One value more, to which the places behind the rows point.
  const one = filler.broadcastTo(toShape([1, ...rest]));
  const places = startsOf(x.rowSplits).expandDims(1).add(countTo(width, dtype).expandDims(0));
  const isValue = places.less(limitsOf(x.rowSplits).expandDims(1));
  const at = isValue.where(places, sizeScalar(count, dtype));
  return resized(concat([inner, one], 0).gather(at), filler, [shape[0]]);
}

/** The first rows, and `filler` behind them, so that there are `size`. */
function resized(x: Tensor, filler: Tensor, [size]: readonly (number | null)[]): Tensor {
  if (size === null || size === undefined) return x;
  const [rows, ...rest] = dims(x);
  const n = knownDim(rows);
  if (n === size) return x;
  if (n > size) return x.slice(toShape(dims(x).map(() => 0)), toShape([size, ...rest]));
  return concat([x, filler.broadcastTo(toShape([subDims(size, n), ...rest]))], 0);
}

/** Nested values as text, as Python writes them. */
function listText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(listText).join(', ')}]`;
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function numberTexts(flat: Tensor): readonly string[] {
  const [values, write] = [hostValues(flat) as Values, writer(flat.dtype, {})];
  return Array.from({ length: flat.size }, (_, i) => write(values, i));
}

/** Rows as `tf.print` shows them: elements as of `tf.strings.asString`, texts in quotes, and dots between both ends of long rows. */
function raggedText(flat: Tensor, splits: readonly Tensor[], atEnds: number): string {
  const texts =
    flat.dtype === 'string'
      ? flat.strings().map((text) => `'${text.replace(/['\\]/g, '\\$&')}'`)
      : numberTexts(flat);
  const levels = splits.map((s) => knownIntegers(s) as number[]);
  const lengths = flat.shape.slice(1);
  const list = (begin: number, n: number, of: (i: number) => string): string => {
    const shown = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, i) => of(begin + from + i));
    const all =
      atEnds < 0 || n <= 2 * atEnds ? shown(0, n) : [...shown(0, atEnds), '...', ...shown(n - atEnds, n)];
    return `[${all.join(', ')}]`;
  };
  const at = (level: number, i: number): string => {
    const ends = levels[level];
    if (ends !== undefined) return list(ends[i], ends[i + 1] - ends[i], (j) => at(level + 1, j));
    const n = lengths[level - levels.length];
    return n === undefined ? (texts[i] as string) : list(i * n, n, (j) => at(level + 1, j));
  };
  return list(0, (levels[0]?.length ?? 1) - 1, (i) => at(0, i));
}
