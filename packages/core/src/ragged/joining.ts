// Concatenation, stacking, tiling and other changes of the rows of ragged tensors.

import { InvalidArgumentError, ResourceExhaustedError } from '@eagre/backend';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { onesLike } from '../ops/array/creation.ts';
import { concat, stack } from '../ops/array/join.ts';
import { addDims, mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { differs } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { gatherRows, rowsBetween } from './indexing.ts';
import { isRagged, makeRagged, outerSize, type RaggedOrDense, raggedAxis } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  checkSame,
  countTo,
  lengthsOf,
  limitsOf,
  rowCount,
  type SplitsDType,
  sizeScalar,
  splitsOfLengths,
  startsOf,
  uniformSplits,
} from './row-partition.ts';

/** A dense tensor with its first two axes in rows. */
export function inRows(x: RaggedOrDense, dtype: SplitsDType): RaggedTensor {
  if (isRagged(x)) return x.withRowSplitsDtype(dtype);
  const [rows, width, ...rest] = dims(x);
  if (rows === undefined || width === undefined)
    throw new InvalidArgumentError(`a tensor of rank ${x.rank} has no rows`, 'RaggedConcat');
  return makeRagged(
    x.reshape(toShape([mulDims(rows, width), ...rest])),
    uniformSplits(rows, width, dtype),
    width,
  );
}

/** Several axes, from `outer` to `inner`, as one. */
export function mergeDims(x: RaggedOrDense, outer: number, inner: number): RaggedOrDense {
  if (outer === inner) return x;
  if (!isRagged(x)) {
    const sizes = dims(x);
    const merged = sizes.slice(outer, inner + 1).reduce(mulDims);
    return x.reshape(toShape([...sizes.slice(0, outer), merged, ...sizes.slice(inner + 1)]));
  }
  if (outer === 0) return mergeDims(x.values, 0, inner - 1);
  if (outer > 1) return x.withValues(mergeDims(x.values, outer - 1, inner - 1));
  if (isRagged(x.values)) {
    const { values, rowSplits } = x.values;
    return mergeDims(makeRagged(values, rowSplits.gather(x.rowSplits)), 1, inner - 1);
  }
  const width = dims(x.values).slice(1, inner).reduce(mulDims);
  const splits = x.rowSplits.mul(sizeScalar(width, x.rowSplits.dtype as SplitsDType));
  const uniform =
    typeof width === 'number' && x.uniformRowLength !== null ? x.uniformRowLength * width : null;
  return makeRagged(mergeDims(x.values, 0, inner - 1), splits, uniform);
}

/** The dtype of the splits of several. */
export function splitsDTypeOf(all: readonly RaggedOrDense[]): SplitsDType {
  const ragged = all.filter(isRagged);
  return ragged.length === 0 || ragged.some((r) => r.rowSplits.dtype === 'int64') ? 'int64' : 'int32';
}

/** Joins ragged and dense tensors along an axis, or (`stacking`) along a new one. */
export function join(
  all: readonly RaggedOrDense[],
  axis: number,
  stacking: boolean,
  op: string,
): RaggedOrDense {
  const [first, ...others] = all;
  if (first === undefined) throw new InvalidArgumentError('expected an array of at least one tensor', op);
  for (const x of others)
    if (x.rank !== first.rank)
      throw new InvalidArgumentError(`the ranks are ${first.rank} and ${x.rank}`, op);
  const rank = first.rank + (stacking ? 1 : 0);
  const a = raggedAxis(axis, rank, op);
  if (!stacking && others.length === 0) return first;
  const allDense = !all.some(isRagged);
  if (allDense && stacking && first.rank === 0) return stack(all as readonly Tensor[], 0);
  if (allDense && stacking && first.rank === 1 && a === 0) return stackVectors(all as readonly Tensor[]);
  if (allDense && (a === rank - 1 || a === first.rank - 1))
    return stacking ? stack(all as readonly Tensor[], a) : concat(all as readonly Tensor[], a);
  const dtype = splitsDTypeOf(all);
  const ranks = all.map((x) => (isRagged(x) ? x.raggedRank : 1));
  const rows = all.map((x) => deepened(inRows(x, dtype), Math.max(...ranks)));
  if (a === 0) return behind(rows, stacking);
  if (a === 1) return beside(rows, stacking, op);
  rows.forEach((r, i) => {
    checkRows(rows[0] as RaggedTensor, r, i, op);
  });
  const inner = join(
    rows.map((r) => r.values),
    a - 1,
    stacking,
    op,
  );
  return makeRagged(inner, (rows[0] as RaggedTensor).rowSplits, (rows[0] as RaggedTensor).uniformRowLength);
}

function stackVectors(all: readonly Tensor[]): RaggedTensor {
  const lengths = all.map((x) => sizeScalar(dims(x)[0] as number, 'int32').reshape([1]));
  return makeRagged(concat(all, 0), splitsOfLengths(concat(lengths, 0)));
}

/** The same with more ragged dimensions, which were uniform. */
function deepened(x: RaggedTensor, raggedRank: number): RaggedTensor {
  if (x.raggedRank >= raggedRank) return x;
  const dtype = x.rowSplits.dtype as SplitsDType;
  const inner = isRagged(x.values) ? x.values : inRows(x.values, dtype);
  return makeRagged(deepened(inner, raggedRank - 1), x.rowSplits, x.uniformRowLength);
}

/** @throws InvalidArgumentError for rows of other lengths, now or in a run. */
function checkRows(first: RaggedTensor, other: RaggedTensor, i: number, op: string): void {
  const message = `the rows of tensor ${i} have other lengths than those of tensor 0`;
  checkSame(first.rowSplits, other.rowSplits, message, op);
}

/** All rows, one tensor's behind the other's. */
function behind(rows: readonly RaggedTensor[], stacking: boolean): RaggedTensor {
  const first = rows[0] as RaggedTensor;
  const dtype = first.rowSplits.dtype as SplitsDType;
  const lengths = concat(
    rows.map((r) => lengthsOf(r.rowSplits)),
    0,
  );
  const inner = rows.map((r) => r.values);
  const values = isRagged(first.values)
    ? behind(inner as RaggedTensor[], false)
    : concat(inner as Tensor[], 0);
  const uniform = rows.every((r) => r.uniformRowLength === first.uniformRowLength)
    ? first.uniformRowLength
    : null;
  const joined = makeRagged(values, splitsOfLengths(lengths), uniform);
  if (!stacking) return joined;
  const counts = rows.map((r) => sizeScalar(rowCount(r.rowSplits), dtype).reshape([1]));
  return makeRagged(joined, splitsOfLengths(concat(counts, 0)));
}

/** Row by row. */
function beside(rows: readonly RaggedTensor[], stacking: boolean, op: string): RaggedTensor {
  const n = rowCount((rows[0] as RaggedTensor).rowSplits);
  rows.forEach((r, i) => {
    if (differs(rowCount(r.rowSplits), n))
      throw new InvalidArgumentError(
        `tensor ${i} has ${String(rowCount(r.rowSplits))} rows, tensor 0 has ${String(n)}`,
        op,
      );
  });
  const all = behind(rows, false);
  const dtype = all.rowSplits.dtype as SplitsDType;
  const k = rows.length;
  const order = countTo(mulDims(n, k), dtype)
    .reshape(toShape([k, n]))
    .transpose()
    .reshape([-1]);
  const mixed = gatherRows(all, order) as RaggedTensor;
  if (stacking) return makeRagged(mixed, uniformSplits(n, k, dtype));
  const ends = limitsOf(mixed.rowSplits)
    .reshape(toShape([n, k]))
    .at(':', -1);
  return makeRagged(mixed.values, concat([constant([0], dtype), ends], 0));
}

/** How often columns are repeated: the parts that make a row are listed. */
const MOST_COPIES = 2 ** 24;

/** Repeats a ragged tensor along its axes. */
export function tile(x: RaggedOrDense, multiples: readonly number[]): RaggedOrDense {
  if (multiples.every((m) => m === 1)) return x;
  if (!isRagged(x)) return x.tile(multiples);
  const [rows, columns, ...rest] = multiples as readonly [number, number, ...number[]];
  if (columns > MOST_COPIES)
    throw new ResourceExhaustedError(
      `rows cannot be repeated ${columns} times, at most ${MOST_COPIES}`,
      'Tile',
    );
  const inner = makeRagged(tile(x.values, [1, ...rest]), x.rowSplits, x.uniformRowLength);
  const n = rowCount(x.rowSplits);
  const dtype = x.rowSplits.dtype as SplitsDType;
  if (rows === 0) return gatherRows(inner, countTo(0, dtype));
  const wide =
    columns === 0
      ? rowsBetween(
          inner.values,
          startsOf(inner.rowSplits),
          startsOf(inner.rowSplits),
          onesLike(lengthsOf(inner.rowSplits)),
        )
      : columns === 1
        ? inner
        : (join(new Array<RaggedOrDense>(columns).fill(inner), 1, false, 'Tile') as RaggedTensor);
  return rows === 1 ? wide : gatherRows(wide, countTo(n, dtype).tile([rows]));
}

/** Adds an axis of size 1. */
export function expandDims(x: RaggedOrDense, axis: number): RaggedOrDense {
  if (!isRagged(x)) return x.expandDims(axis);
  const a = raggedAxis(axis, x.rank + 1, 'ExpandDims');
  const dtype = x.rowSplits.dtype as SplitsDType;
  const n = rowCount(x.rowSplits);
  if (a === 0) return makeRagged(x, uniformSplits(1, n, dtype), n);
  if (a === 1) return makeRagged(x, countTo(addDims(n, 1), dtype), 1);
  return makeRagged(expandDims(x.values, a - 1), x.rowSplits, x.uniformRowLength);
}

/** Takes axes of size 1 away. @throws InvalidArgumentError for others. */
export function squeeze(x: RaggedTensor, axis: readonly number[]): RaggedOrDense {
  const axes = axis.map((a) => raggedAxis(a, x.rank, 'Squeeze'));
  const { raggedRank } = x;
  const dense = axes.filter((a) => a > raggedRank).map((a) => a - raggedRank);
  const fail = (a: number): never => {
    throw new InvalidArgumentError(
      `the axis ${a} cannot be squeezed: it is not of size 1 everywhere`,
      'Squeeze',
    );
  };
  const splits = x.nestedRowSplits;
  splits.forEach((s, i) => {
    if (axes.includes(i + 1))
      checkValues('Squeeze', [lengthsOf(s)], (lengths) => {
        if (integersOf(lengths).some((n) => n !== 1)) fail(i + 1);
      });
  });
  if (axes.includes(0) && differs(rowCount(splits[0] as Tensor), 1)) fail(0);
  const flat = dense.length > 0 ? x.flatValues.squeeze(dense) : x.flatValues;
  const kept = splits.filter((_, i) => !axes.includes(i + 1));
  if (axes.includes(0)) kept.shift();
  if (kept.length === 0 && Array.from({ length: raggedRank + 1 }, (_, i) => i).every((a) => axes.includes(a)))
    return flat.squeeze(0);
  return kept.reduceRight<RaggedOrDense>((values, s) => makeRagged(values, s), flat);
}

/** Turns the order of rows, or of the values in them. */
export function reverse(x: RaggedOrDense, axes: readonly number[]): RaggedOrDense {
  if (!isRagged(x)) return axes.length === 0 ? x : x.reverse(axes);
  const rest = axes.filter((a) => a > 1).map((a) => a - 1);
  let result = makeRagged(reverse(x.values, rest), x.rowSplits, x.uniformRowLength);
  if (axes.includes(1)) {
    const one = constant(1, x.rowSplits.dtype);
    const starts = limitsOf(result.rowSplits).sub(one);
    const ends = startsOf(result.rowSplits).sub(one);
    result = rowsBetween(result.values, starts, ends, onesLike(starts).neg(), x.uniformRowLength);
  }
  const n = outerSize(result);
  const dtype = x.rowSplits.dtype as SplitsDType;
  return axes.includes(0) ? gatherRows(result, countTo(n, dtype).reverse(0)) : result;
}
