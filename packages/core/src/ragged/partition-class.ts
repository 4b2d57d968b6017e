// How values fall into rows, as a value of its own.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../arguments/argument-kinds.ts';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { checkOneOf } from '../arguments/checks.ts';
import { type Call, CompositeTensor } from '../composite/composite.ts';
import { knownTensor } from '../dispatch/symbolic.ts';
import { iota } from '../ops/array/iota.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import { hostDims } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { showInConsole } from '../tensor/format.ts';
import type { Tensor } from '../tensor/tensor.ts';
import {
  lengthsOf,
  limitsOf,
  rowCount,
  rowIdsOf,
  type SplitsDType,
  sizeScalar,
  startsOf,
  uniformSplits,
} from './row-partition.ts';
import * as ways from './row-ways.ts';

/** The number in a scalar, which only a run may know. */
const sizeIn = (x: Tensor, what: string, op: string): Dim => hostDims(x, what, op)[0] as Dim;
/** The last of so many numbers: how many values there are; 0 for none. */
const last = (numbers: TensorLike, what: string, op: string): Dim => {
  const x = toTensor(numbers, 'int64');
  return x.shape[0] === 0 ? 0 : sizeIn(x.at(-1) as Tensor, what, op);
};

/**
 * How a list of values falls into rows, without the values: `tf.experimental.RowPartition.fromRowLengths([2, 0, 3])`. A ragged tensor has one for each
 * ragged axis.
 */
export class RowPartition extends CompositeTensor {
  readonly #splits: Tensor;
  readonly #uniform: number | null;

  /** @internal Use one of the static methods. */
  constructor(splits: Tensor, uniform: number | null = null) {
    super();
    this.#splits = splits;
    this.#uniform = uniform;
  }
  /** @internal So many rows of one length. */
  static ofRows(rows: number, length: number): RowPartition {
    return new RowPartition(uniformSplits(rows, length, 'int64'), length);
  }

  /** Row i has the values from `rowSplits[i]` on, before `rowSplits[i + 1]`. @throws InvalidArgumentError for splits that do not ascend from 0 */
  static fromRowSplits(...args: Arguments<[rowSplits: TensorLike], ['rowSplits']>): RowPartition;
  static fromRowSplits(rowSplits: TensorLike): RowPartition {
    const op = 'RowPartition.fromRowSplits';
    return new RowPartition(ways.fromRowSplits(rowSplits, last(rowSplits, 'rowSplits', op), true, op));
  }
  /** Row i has `rowLengths[i]` values. */
  static fromRowLengths(...args: Arguments<[rowLengths: TensorLike], ['rowLengths']>): RowPartition;
  static fromRowLengths(rowLengths: TensorLike): RowPartition {
    const op = 'RowPartition.fromRowLengths';
    const values = sizeIn(toTensor(rowLengths, 'int64').sum(), 'rowLengths', op);
    return new RowPartition(ways.fromRowLengths(rowLengths, values, true, op));
  }
  /** Row i begins at `rowStarts[i]`; the last one ends behind all `nvals` values. */
  static fromRowStarts(
    ...args: Arguments<[rowStarts: TensorLike, nvals: number], ['rowStarts', 'nvals']>
  ): RowPartition;
  static fromRowStarts(rowStarts: TensorLike, nvals: number): RowPartition {
    return new RowPartition(ways.fromRowStarts(rowStarts, nvals, true, 'RowPartition.fromRowStarts'));
  }
  /** Row i ends before `rowLimits[i]`, where the next one begins. */
  static fromRowLimits(...args: Arguments<[rowLimits: TensorLike], ['rowLimits']>): RowPartition;
  static fromRowLimits(rowLimits: TensorLike): RowPartition {
    const op = 'RowPartition.fromRowLimits';
    return new RowPartition(ways.fromRowLimits(rowLimits, last(rowLimits, 'rowLimits', op), true, op));
  }
  /** Value i is in row `valueRowids[i]`; these ascend. There are `nrows` rows, or as many as that needs. */
  static fromValueRowids(
    ...args: Arguments<[valueRowids: TensorLike, nrows?: IntegerLike | null], ['valueRowids', 'nrows']>
  ): RowPartition;
  static fromValueRowids(valueRowids: TensorLike, nrows: IntegerLike | null = null): RowPartition {
    const ids = toTensor(valueRowids, 'int64');
    return new RowPartition(
      ways.fromValueRowids(
        ids,
        nrows === null ? null : Number(nrows),
        dims(ids)[0] as Dim,
        true,
        'RowPartition.fromValueRowids',
      ),
    );
  }
  /** All rows have `uniformRowLength` of `nvals` values. */
  static fromUniformRowLength(
    ...args: Arguments<[uniformRowLength: number, nvals: number], ['uniformRowLength', 'nvals']>
  ): RowPartition;
  static fromUniformRowLength(uniformRowLength: number, nvals: number): RowPartition {
    const op = 'RowPartition.fromUniformRowLength';
    if (!Number.isInteger(nvals / uniformRowLength))
      throw new InvalidArgumentError(`${nvals} values make no whole rows of ${uniformRowLength}`, op);
    const { splits, length } = ways.fromUniformRowLength(uniformRowLength, null, nvals, true, op, 'int64');
    return new RowPartition(splits, length);
  }

  /** Where rows begin, and at last where all end: [rows + 1]. */
  rowSplits(): Tensor {
    return this.#splits;
  }
  /** [rows] */
  rowLengths(): Tensor {
    return lengthsOf(this.#splits);
  }
  /** [rows] */
  rowStarts(): Tensor {
    return startsOf(this.#splits);
  }
  /** [rows] */
  rowLimits(): Tensor {
    return limitsOf(this.#splits);
  }
  /** The length that all rows have for sure; else null. */
  uniformRowLength(): number | null {
    return this.#uniform;
  }
  get dtype(): SplitsDType {
    return this.#splits.dtype as SplitsDType;
  }
  withDtype(dtype: SplitsDType): RowPartition {
    checkOneOf(dtype, ['int32', 'int64'], 'dtype', 'RowPartition.withDtype');
    return new RowPartition(this.#splits.cast(dtype), this.#uniform);
  }
  /** The row of each value: [values]. */
  valueRowids(): Tensor {
    const [values] = hostDims(this.nvals(), 'rowSplits', 'RowPartition.valueRowids');
    return rowIdsOf(this.#splits, values as Dim);
  }
  /** How many rows there are (scalar). */
  nrows(): Tensor {
    return sizeScalar(rowCount(this.#splits), this.#splits.dtype as SplitsDType);
  }
  /** How many values there are (scalar). */
  nvals(): Tensor {
    return this.#splits.at(-1) as Tensor;
  }

  /** Whether all rows have one length for sure. */
  isUniform(): boolean {
    return this.#uniform !== null;
  }
  /** The place of each value in its row: [values]. */
  offsetsInRows(): Tensor {
    const ids = this.valueRowids();
    return iota(dims(ids)[0] as Dim)
      .cast(this.dtype)
      .sub(this.rowStarts().gather(ids));
  }
  /** How many rows there are, where that is known without a run; else null. */
  get staticNrows(): number | null {
    const rows = this.#splits.shape[0];
    return typeof rows === 'number' ? rows - 1 : null;
  }
  /** How many values there are, where that is known without a run; else null. */
  get staticNvals(): number | null {
    const known = knownTensor(this.nvals());
    return known === null ? null : Number(known.item());
  }
  /** The length that all rows have, where that is known without a run; else null. */
  get staticUniformRowLength(): number | null {
    return this.#uniform;
  }

  get parts(): readonly unknown[] {
    return [this.#splits];
  }
  get partNames(): readonly string[] {
    return ['rowSplits'];
  }
  get facts(): string {
    return `RowPartition ${this.#uniform}`;
  }
  withParts([splits]: readonly unknown[]): unknown {
    return new RowPartition(splits as Tensor, this.#uniform);
  }
  get advice(): string {
    return 'use rowSplits()';
  }
  dispatch(_call: Call): unknown {
    return undefined;
  }
  override toString(): string {
    return `RowPartition(rowSplits=${this.#splits})`;
  }
}

defineMethods(RowPartition, 'RowPartition', {
  fromRowSplits: { positional: ['rowSplits'] },
  fromRowLengths: { positional: ['rowLengths'] },
  fromRowStarts: { positional: ['rowStarts', 'nvals'] },
  fromRowLimits: { positional: ['rowLimits'] },
  fromValueRowids: { positional: ['valueRowids', 'nrows'], required: 1 },
  fromUniformRowLength: { positional: ['uniformRowLength', 'nvals'] },
});
defineMethods(RowPartition.prototype, 'RowPartition', {
  rowSplits: {},
  rowLengths: {},
  rowStarts: {},
  rowLimits: {},
  valueRowids: {},
  nrows: {},
  nvals: {},
  uniformRowLength: {},
  isUniform: {},
  offsetsInRows: {},
  withDtype: { positional: ['dtype'] },
});
showInConsole(RowPartition.prototype, String);
