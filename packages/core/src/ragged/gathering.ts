// Gathering from ragged tensors, and with ragged indices.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { differs } from '../shapes/sizes.ts';
import type { TensorLike } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { gatherRows } from './indexing.ts';
import { inRows, splitsDTypeOf } from './joining.ts';
import {
  isRagged,
  makeRagged,
  outerSize,
  type RaggedOrDense,
  raggedAxis,
  toRaggedOrDense,
} from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  knownIntegers,
  lengthsOf,
  rowCount,
  type SplitsDType,
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
  const batch = Number(batchDims ?? 0) < 0 ? Number(batchDims) + i.rank : Number(batchDims ?? 0);
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
  const [rows, at] = [knownIntegers(lengths), knownIntegers(places)];
  if (rows === null || at === null || rows.length === 0) return;
  const shortest = Math.min(...rows);
  for (const place of at)
    if (place < 0 || place >= shortest)
      throw new InvalidArgumentError(`the index ${place} is not in a row of ${shortest}`, 'GatherV2');
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
  const known = knownIntegers(at);
  if (known === null || typeof rows !== 'number') return;
  for (const i of known)
    if (i < 0 || i >= rows)
      throw new InvalidArgumentError(`the index ${i} is not one of ${rows} rows`, 'GatherV2');
}

/** The outermost row of each of the innermost values. */
function rowOfEachValue(x: RaggedTensor): Tensor {
  const ids = x.valueRowids();
  return isRagged(x.values) ? ids.gather(rowOfEachValue(x.values)) : ids;
}

/** @throws InvalidArgumentError for places that their rows do not have, where they are known. */
function checkInRows(lengths: Tensor, places: Tensor): void {
  const [known, at] = [knownIntegers(lengths.broadcastTo(places.shape)), knownIntegers(places)];
  const wrong = at?.findIndex((place, k) => known !== null && (place < 0 || place >= known[k])) ?? -1;
  if (wrong >= 0)
    throw new InvalidArgumentError(
      `the index ${at?.[wrong]} is not in a row of ${known?.[wrong]}`,
      'GatherV2',
    );
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
