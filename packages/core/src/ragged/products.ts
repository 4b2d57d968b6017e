// Matrix products of ragged matrices: rows are filled up with zeros, and cut again.
// Types in a circle: the class of ragged tensors leads here.

import { InvalidArgumentError } from '@eagre/backend';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { booleanMask } from '../ops/array/gather.ts';
import { matmul as denseMatmul, type MatMulOptions } from '../ops/linalg/linalg.ts';
import { turnsOf } from '../ops/linalg/products.ts';
import { dims, toShape } from '../shapes/dims.ts';
import type { TensorLike } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { splitsDTypeOf } from './joining.ts';
import { isRagged, makeRagged, type RaggedOrDense, toRaggedOrDense } from './ragged-base.ts';
import { reduce } from './reducing.ts';
import {
  countTo,
  lengthsOf,
  placesInRows,
  type SplitsDType,
  sizeScalar,
  splitsOfLengths,
} from './row-partition.ts';

/** The products of matrices in batches, as of dense ones. @throws InvalidArgumentError for other ranks, and matrices with ragged columns. */
export function matmul(x: unknown, y: unknown, options: MatMulOptions): RaggedOrDense {
  const [a, b] = [toRaggedOrDense(x as TensorLike), toRaggedOrDense(y as TensorLike)];
  if (a.rank !== b.rank)
    throw new InvalidArgumentError(
      `a and b must have the same rank, got ${a.rank} and ${b.rank}`,
      'RaggedMatMul',
    );
  if (a.rank > 3) {
    const of = isRagged(a) ? a : b;
    if (!isRagged(of)) throw new InvalidArgumentError('neither a nor b is ragged', 'RaggedMatMul');
    return makeRagged(matmul(rowsOf(a), rowsOf(b), options), of.rowSplits, of.uniformRowLength);
  }
  for (const x of [a, b]) checkRectangular(x);
  if (a.rank === 3) checkSummed(a, b, options);
  const product = denseMatmul(filledUp(a), filledUp(b), options);
  return a.rank === 2 ? product : cut(product, a, b, options);
}

/** @throws InvalidArgumentError for a matrix whose rows differ in length, now or in a run. */
function checkRectangular(x: RaggedOrDense): void {
  const rows = x.rank === 3 && isRagged(x) ? x.values : x;
  if (!isRagged(rows)) return;
  const ofMatrices = isRagged(x) && rows !== x ? [x.rowSplits] : [];
  checkValues('RaggedMatMul', [lengthsOf(rows.rowSplits), ...ofMatrices], (ofRows, matrices) => {
    const lengths = integersOf(ofRows);
    const splits = matrices === undefined ? [0, lengths.length] : integersOf(matrices);
    for (let k = 1; k < splits.length; k++)
      if (new Set(lengths.slice(splits[k - 1], splits[k])).size > 1)
        throw new InvalidArgumentError(
          'The matrices in a and b may not be ragged in their innermost dimension',
          'RaggedMatMul',
        );
  });
}

/** @throws InvalidArgumentError for matrices of sizes that do not go together, now or in a run. */
function checkSummed(a: RaggedOrDense, b: RaggedOrDense, options: MatMulOptions): void {
  const dtype = splitsDTypeOf([a, b]);
  const sizes = [
    isTurned('A', options) ? heights(a, dtype) : widths(a, dtype),
    isTurned('B', options) ? widths(b, dtype) : heights(b, dtype),
  ];
  checkValues('RaggedMatMul', sizes, (columns, rows) => {
    const [left, right] = [integersOf(columns), integersOf(rows)];
    const wrong = left.findIndex((n, k) => right[k] !== undefined && right[k] !== n);
    if (wrong >= 0)
      throw new InvalidArgumentError(
        `matrix ${wrong}: a has ${left[wrong]} columns, and b ${right[wrong]} rows`,
        'RaggedMatMul',
      );
  });
}

const isTurned = (which: 'A' | 'B', options: MatMulOptions): boolean =>
  turnsOf(which, options, 'RaggedMatMul').includes(true);

const rowsOf = (x: RaggedOrDense): RaggedOrDense =>
  isRagged(x) ? x.values : x.reshape(toShape([-1, ...dims(x).slice(2)]));

const filledUp = (x: RaggedOrDense): Tensor => (isRagged(x) ? x.toTensor() : x);

/** The rows, and where they are ragged the columns, that each product has. */
function cut(product: Tensor, a: RaggedOrDense, b: RaggedOrDense, options: MatMulOptions): RaggedOrDense {
  const dtype = splitsDTypeOf([a, b]);
  const [ofA, ofB] = [isTurned('A', options), isTurned('B', options)];
  const rows = ofA ? widths(a, dtype) : heights(a, dtype);
  const columns = ofB ? heights(b, dtype) : widths(b, dtype);
  const [, most, width] = dims(product);
  const present = countTo(most, dtype).expandDims(0).less(rows.expandDims(1));
  const flat = booleanMask(product, present);
  const splits = splitsOfLengths(rows);
  const height = ofA ? a.shape[2] : a.shape[1];
  const raggedColumns = isRagged(b) && (b.raggedRank === 2 || ofB);
  if (!raggedColumns) return makeRagged(flat, splits, height ?? null);
  const own = columns.gather(placesInRows(rows).rows);
  const values = booleanMask(flat, countTo(width, dtype).expandDims(0).less(own.expandDims(1)));
  return makeRagged(makeRagged(values, splitsOfLengths(own)), splits, height ?? null);
}

/** How many rows each matrix has. */
function heights(x: RaggedOrDense, dtype: SplitsDType): Tensor {
  if (isRagged(x)) return lengthsOf(x.rowSplits).cast(dtype);
  const [count, rows] = dims(x);
  return sizeScalar(rows, dtype).broadcastTo(toShape([count]));
}

/** How many columns each matrix has. */
function widths(x: RaggedOrDense, dtype: SplitsDType): Tensor {
  if (isRagged(x) && isRagged(x.values)) {
    const lengths = x.withValues(lengthsOf(x.values.rowSplits));
    return (reduce('max', lengths, 1, false) as Tensor).maximum(0).cast(dtype);
  }
  const sizes = dims(isRagged(x) ? (x.values as Tensor) : x);
  const count = isRagged(x) ? dims(heights(x, dtype))[0] : sizes[0];
  return sizeScalar(sizes[sizes.length - 1], dtype).broadcastTo(toShape([count]));
}
