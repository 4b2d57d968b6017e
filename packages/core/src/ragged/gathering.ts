// Gathering from ragged tensors, and with ragged indices.

import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { gatherNd } from '../ops/array/gather.ts';
import { stack } from '../ops/array/join.ts';
import { type Dim, mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { knownDim } from '../shapes/shape-env.ts';
import { differs } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import type { TensorLike } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { gatherRows } from './indexing.ts';
import { expandDims, inRows, splitsDTypeOf } from './joining.ts';
import {
  integerFrom,
  isRagged,
  makeRagged,
  outerSize,
  type RaggedOrDense,
  raggedAxis,
  toRaggedOrDense,
} from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  lengthsOf,
  rowCount,
  type SplitsDType,
  sizeScalar,
  startsOf,
  uniformSplits,
} from './row-partition.ts';

/** As `gather`, where the values or the indices are ragged. */
export function gatherRagged(
  params: unknown,
  indices: unknown,
  axis: unknown,
  batchDims: unknown,
): RaggedOrDense {
  const p = toRaggedOrDense(params as TensorLike);
  const i = toRaggedOrDense(indices as TensorLike, 'int64');
  const given = integerFrom(batchDims ?? 0, 'batchDims', 'GatherV2');
  const batch = given < 0 ? given + i.rank : given;
  const a = axis === undefined || axis === null ? batch : raggedAxis(axis, p.rank, 'GatherV2');
  if (batch < 0 || batch > i.rank || batch >= p.rank)
    throw new InvalidArgumentError(
      `batchDims ${batch} does not fit params of rank ${p.rank} and indices of rank ${i.rank}`,
      'GatherV2',
    );
  if (a < batch) throw new InvalidArgumentError(`axis ${a} must be at least batchDims, ${batch}`, 'GatherV2');
  if (batch > 0) return inBatches(p, i, a, batch);
  return along(p, i, a);
}

function along(p: RaggedOrDense, i: RaggedOrDense, axis: number): RaggedOrDense {
  if (axis === 0) return outermost(p, i);
  if (!isRagged(p)) {
    if (isRagged(i))
      throw new UnimplementedError('ragged indices along another axis than the first', 'GatherV2');
    return p.gather(i, axis);
  }
  if (axis > 1) return makeRagged(along(p.values, i, axis - 1), p.rowSplits, p.uniformRowLength);
  if (isRagged(i))
    throw new UnimplementedError('ragged indices along another axis than the first', 'GatherV2');
  // The same places of each row.
  const at = i.cast(p.rowSplits.dtype);
  checkPlaces(lengthsOf(p.rowSplits), at.reshape([-1]));
  const starts = startsOf(p.rowSplits).reshape(toShape([-1, ...dims(at).map(() => 1)]));
  return outermost(p.values, starts.add(at.expandDims(0)));
}

/** @throws InvalidArgumentError for places that not every row has. */
function checkPlaces(lengths: Tensor, places: Tensor): void {
  checkValues('GatherV2', [lengths, places], (rows, at) => {
    const shortest = integersOf(rows).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    if (shortest === Number.POSITIVE_INFINITY) return;
    for (const place of integersOf(at))
      if (place < 0 || place >= shortest)
        throw new InvalidArgumentError(`the index ${place} is not in a row of ${shortest}`, 'GatherV2');
  });
}

/** Rows by number: in the rows of the indices. */
function outermost(p: RaggedOrDense, i: RaggedOrDense): RaggedOrDense {
  if (isRagged(i)) return i.withFlatValues(outermost(p, i.flatValues));
  if (!isRagged(p)) return p.gather(i, 0);
  const flat = i.cast(p.rowSplits.dtype).reshape([-1]);
  checkRowsExist(flat, outerSize(p));
  const rows = gatherRows(p, flat);
  if (i.rank === 0) return (rows as { at(i: number): RaggedOrDense }).at(0);
  const sizes = dims(i);
  const dtype = p.rowSplits.dtype as SplitsDType;
  let result: RaggedOrDense = rows;
  for (let axis = sizes.length - 1; axis > 0; axis--) {
    const outer = sizes.slice(0, axis).reduce(mulDims);
    result = makeRagged(result, uniformSplits(outer, sizes[axis], dtype));
  }
  return result;
}

function checkRowsExist(at: Tensor, rows: ReturnType<typeof outerSize>): void {
  checkValues(
    'GatherV2',
    [at, sizeScalar(rows, at.dtype as SplitsDType)],
    (now, size) => {
      const [n] = integersOf(size) as [number];
      for (const i of integersOf(now))
        if (i < 0 || i >= n)
          throw new InvalidArgumentError(`the index ${i} is not one of ${n} rows`, 'GatherV2');
    },
    (now, size) => now.greaterEqual(0).all().logicalAnd(now.less(size).all()),
  );
}

/** The outermost row of each of the innermost values. */
function rowOfEachValue(x: RaggedTensor): Tensor {
  const ids = x.valueRowids();
  return isRagged(x.values) ? ids.gather(rowOfEachValue(x.values)) : ids;
}

/** @throws InvalidArgumentError for places that their rows do not have, now or in a run. */
function checkInRows(lengths: Tensor, places: Tensor): void {
  checkValues('GatherV2', [lengths.broadcastTo(places.shape), places], (own, now) => {
    const [known, at] = [integersOf(own), integersOf(now)];
    const wrong = at.findIndex((place, k) => place < 0 || place >= (known[k] as number));
    if (wrong >= 0)
      throw new InvalidArgumentError(`the index ${at[wrong]} is not in a row of ${known[wrong]}`, 'GatherV2');
  });
}

/** In each row of the values the places that the same row of the indices has. */
function inBatches(p: RaggedOrDense, i: RaggedOrDense, axis: number, batch: number): RaggedOrDense {
  const dtype = splitsDTypeOf([p, i]);
  const values = inRows(p, dtype);
  const [count, own] = [rowCount(values.rowSplits), outerSize(i)];
  if (differs(count, own))
    throw new InvalidArgumentError(
      `params have ${String(count)} rows, and indices ${String(own)}: with batchDims they have the same`,
      'GatherV2',
    );
  if (batch > 1) {
    const places = inRows(i, dtype);
    const inner = inBatches(values.values, places.values, axis - 1, batch - 1);
    if (isRagged(i) || isRagged(inner)) return makeRagged(inner, places.rowSplits, places.uniformRowLength);
    return inner.reshape(toShape([...dims(i).slice(0, 2), ...dims(inner).slice(1)]));
  }
  if (axis > 1)
    throw new UnimplementedError('gather of ragged tensors with batchDims below axis', 'GatherV2');
  const flat = (isRagged(i) ? i.flatValues : i).cast(dtype);
  // The row of each place, beside axes that places have more.
  const beside = toShape([
    -1,
    ...dims(flat)
      .slice(1)
      .map(() => 1),
  ]);
  const ofPlaces = (x: Tensor): Tensor => (isRagged(i) ? x.gather(rowOfEachValue(i)) : x).reshape(beside);
  checkInRows(ofPlaces(lengthsOf(values.rowSplits)), flat);
  const at = flat.add(ofPlaces(startsOf(values.rowSplits)));
  return outermost(values.values, isRagged(i) ? i.withFlatValues(at) : at);
}

/**
 * As `gatherNd`, where the values or the tuples are ragged.
 * @throws InvalidArgumentError for tuples of which the innermost axis is ragged, and for places that rows do not have.
 */
export function gatherNdRagged(params: unknown, indices: unknown): RaggedOrDense {
  const p = toRaggedOrDense(params as TensorLike);
  const i = toRaggedOrDense(indices as TensorLike, 'int64');
  if (i.rank === 0 || (isRagged(i) && i.raggedRank === i.rank - 1))
    throw new InvalidArgumentError(
      'the innermost axis of the indices must be tuples of one length',
      'GatherNd',
    );
  return tuples(p, i);
}

function tuples(p: RaggedOrDense, i: RaggedOrDense): RaggedOrDense {
  if (isRagged(i)) return i.withFlatValues(tuples(p, i.flatValues));
  if (!isRagged(p)) return gatherNd(p, i);
  const sizes = dims(i);
  const depth = knownDim(sizes[sizes.length - 1] as Dim);
  if (depth > p.rank)
    throw new InvalidArgumentError(
      `the last axis of indices holds tuples for at most the ${p.rank} axes of params, got ${depth}`,
      'GatherNd',
    );
  const places = sizes.slice(0, -1);
  if (places.length > 1) {
    const all = tuples(p, i.reshape(toShape([-1, depth])));
    return isRagged(all) ? inAxes(all, places, p) : all.reshape(toShape([...places, ...dims(all).slice(1)]));
  }
  // The empty tuple is the place of all.
  if (depth === 0) return outermost(expandDims(p, 0), constant(0, 'int32').broadcastTo(toShape(places)));
  const at = i.cast(p.rowSplits.dtype);
  const part = (k: number): Tensor => at.gather(constant(k, 'int32'), at.rank - 1).reshape([-1]);
  let flat = part(0);
  let values: RaggedOrDense = p;
  for (let k = 1; k < depth; k++) {
    if (!isRagged(values)) {
      // What is left of the tuples is for the axes of the values themselves.
      const rest = Array.from({ length: depth - k }, (_, j) => part(k + j));
      const slices = gatherNd(values, stack([flat, ...rest], 1));
      return places.length === 0 ? slices.squeeze(0) : slices;
    }
    checkRowsExist(flat, outerSize(values));
    const inRow = part(k);
    checkInRows(lengthsOf(values.rowSplits).gather(flat), inRow);
    flat = startsOf(values.rowSplits).gather(flat).add(inRow);
    values = values.values;
  }
  return outermost(values, places.length === 0 ? flat.squeeze(0) : flat);
}

/** Rows in axes of these sizes, which are uniform. */
function inAxes(rows: RaggedOrDense, sizes: readonly Dim[], like: RaggedTensor): RaggedOrDense {
  const dtype = like.rowSplits.dtype as SplitsDType;
  let result = rows;
  for (let axis = sizes.length - 1; axis > 0; axis--) {
    const outer = sizes.slice(0, axis).reduce(mulDims);
    result = makeRagged(result, uniformSplits(outer, sizes[axis], dtype), sizes[axis]);
  }
  return result;
}
