// Gathering from ragged tensors, and with ragged indices.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { mulDims } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
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
import {
  knownIntegers,
  lengthsOf,
  rowIdsOf,
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
  // The same places of each row.
  if (isRagged(i) || i.rank > 1)
    throw new UnimplementedError('along axis 1 the indices must be a number or a vector', 'GatherV2');
  const dtype = p.rowSplits.dtype as SplitsDType;
  const flat = i.cast(dtype).reshape([-1]);
  const places = startsOf(p.rowSplits).expandDims(1).add(flat.expandDims(0));
  checkPlaces(lengthsOf(p.rowSplits), flat);
  const rows = gatherRows(p.values, places.reshape([-1]));
  if (i.rank === 0) return rows;
  const [count, width] = dims(places);
  return makeRagged(rows, uniformSplits(count, width, dtype), width);
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

/** In each row of the values the places that the same row of the indices has. */
function inBatches(p: RaggedOrDense, i: RaggedOrDense, axis: number, batch: number): RaggedOrDense {
  const dtype = splitsDTypeOf([p, i]);
  const [values, places] = [inRows(p, dtype), inRows(i, dtype)];
  if (batch > 1 || axis > 1) {
    const inner = inBatches(values.values, places.values, axis - 1, batch - 1);
    if (batch > 1) return makeRagged(inner, places.rowSplits, places.uniformRowLength);
    throw new UnimplementedError('gather of ragged tensors with batchDims below axis', 'GatherV2');
  }
  const flat = isRagged(places.values) ? places.values.flatValues : places.values;
  const rows = rowIdsOf(places.rowSplits, outerSize(places.values));
  const starts = startsOf(values.rowSplits).gather(rows);
  if (isRagged(places.values)) {
    const deeper = places.values.withValues(flat.cast(dtype).add(starts.gather(places.values.valueRowids())));
    return makeRagged(outermost(values.values, deeper), places.rowSplits, places.uniformRowLength);
  }
  return makeRagged(
    outermost(values.values, flat.cast(dtype).add(starts)),
    places.rowSplits,
    places.uniformRowLength,
  );
}
