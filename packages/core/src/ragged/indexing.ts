// Types in a circle: ragged tensors index themselves with what is here.
import { InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import { type IndexItem, type IndexRange, parseIndex } from '../ops/array/index-item.ts';
import { isSliceRange, rangeOf } from '../ops/array/run-index.ts';
import type { SliceRange, SliceSpec } from '../ops/array/slicing.ts';
import { type Dim, subDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { knownDim } from '../shapes/shape-env.ts';
import { hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { Variable } from '../tensor/variable.ts';
import { isRagged, makeRagged, outerSize, type RaggedOrDense } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  countTo,
  limitsOf,
  placesInRows,
  rowCount,
  type SplitsDType,
  sizeScalar,
  splitsOfLengths,
  startsOf,
  uniformSplits,
} from './row-partition.ts';

/** As for tensors: a place, a range such as `'1:3'`, `'...'`, or null for a new axis. */
export type RaggedIndex = SliceSpec;

type Item = IndexItem;
type Range = IndexRange;

const OP = 'RaggedTensor.at';

export function raggedAt(x: RaggedTensor, specs: readonly RaggedIndex[]): RaggedOrDense {
  const items = specs.map((s) => {
    if (isSliceRange(s)) return rangeOf(s, OP);
    return isTensorIndex(s) ? placeOf(s) : parseIndex(s as string);
  });
  const used = items.filter((i) => i !== null && i !== '...').length;
  if (used > x.rank) throw new InvalidArgumentError(`${used} axes are indexed, there are ${x.rank}`, OP);
  const dots = items.indexOf('...');
  if (dots !== items.lastIndexOf('...')) throw new InvalidArgumentError("'...' may stand only once", OP);
  const whole: Range = { begin: null, end: null, step: 1 };
  if (dots >= 0) items.splice(dots, 1, ...new Array<Item>(x.rank - used).fill(whole));
  return rowsAt(x, items as readonly (Item | Tensor)[]);
}

const isTensorIndex = (
  spec: RaggedIndex,
): spec is Exclude<RaggedIndex, number | string | null | SliceRange> =>
  typeof spec === 'object' && spec !== null;
const placeOf = (spec: Tensor | Variable | bigint): Item =>
  hostDims(toTensor(spec), 'the index', OP)[0] as Item;

const isRange = (item: unknown): item is Range => typeof item === 'object' && item !== null && 'step' in item;
const isWhole = (r: Range): boolean => r.begin === null && r.end === null && r.step === 1;

/** Indexing from the rows on. */
function rowsAt(x: RaggedOrDense, items: readonly (Item | Tensor)[]): RaggedOrDense {
  if (items.length === 0) return x;
  if (!isRagged(x)) return x.at(...items.map(specOf));
  const [first, ...rest] = items;
  if (first === null) {
    const inner = rowsAt(x, rest);
    return makeRagged(
      inner,
      uniformSplits(1, outerSize(inner), x.rowSplits.dtype as SplitsDType),
      outerSize(inner),
    );
  }
  if (isRange(first)) return columnsAt(sliceRows(x, first), rest);
  return rowsAt(row(x, first as Dim), rest);
}

/** One row. */
function row(x: RaggedTensor, place: Dim): RaggedOrDense {
  if (typeof place !== 'number') return rowInRun(x, place);
  const n = knownDim(rowCount(x.rowSplits));
  const i = place < 0 ? place + n : place;
  if (i < 0 || i >= n) throw new OutOfRangeError(`the row ${place} is not one of ${n}`, OP);
  const [start, end] = hostDims(x.rowSplits.slice([i], [2]), 'rowSplits', OP);
  return valuesBetween(x.values, start as number, end as number);
}

/** One row, of which only a run knows which it is. */
function rowInRun(x: RaggedTensor, place: Dim): RaggedOrDense {
  const dtype = x.rowSplits.dtype as SplitsDType;
  const at = sizeScalar(place, dtype);
  const i = at.add(
    at
      .less(0)
      .cast(dtype)
      .mul(sizeScalar(rowCount(x.rowSplits), dtype)),
  );
  const [start, end] = [i, i.add(1)].map((k) => x.rowSplits.gather(k));
  const [length] = hostDims((end as Tensor).sub(start as Tensor), 'the length of a row', OP);
  return gatherRows(x.values, countTo(length as Dim, dtype).add(start as Tensor));
}

/** Some values one behind the other. */
function valuesBetween(x: RaggedOrDense, start: number, end: number): RaggedOrDense {
  if (isRagged(x)) return sliceRows(x, { begin: start, end, step: 1 });
  return x.slice(
    toShape([
      start,
      ...dims(x)
        .slice(1)
        .map(() => 0),
    ]),
    toShape([subDims(end, start), ...dims(x).slice(1)]),
  );
}

const specOf = (item: Item | Tensor): SliceSpec =>
  isRange(item) ? ({ start: item.begin, end: item.end, step: item.step } as SliceRange) : (item as SliceSpec);

/** Some rows. */
export function sliceRows(x: RaggedTensor, range: Range): RaggedTensor {
  if (isWhole(range)) return x;
  const starts = startsOf(x.rowSplits).at(specOf(range));
  const limits = limitsOf(x.rowSplits).at(specOf(range));
  return rowsBetween(
    x.values,
    starts,
    limits,
    constant(1, starts.dtype).broadcastTo(starts.shape),
    x.uniformRowLength,
  );
}

/** Rows of values from `starts` on, before `limits`, every `steps`-th of them. */
export function rowsBetween(
  values: RaggedOrDense,
  starts: Tensor,
  limits: Tensor,
  steps: Tensor,
  uniform: number | null = null,
): RaggedTensor {
  const { dtype } = starts;
  const zero = constant(0, dtype);
  // ⌈(limit - start) / step⌉, of integers.
  const lengths = limits.sub(starts).neg().floorDiv(steps).neg().maximum(zero);
  const { rows, places } = placesInRows(lengths);
  const at = starts.gather(rows).add(places.mul(steps.gather(rows)));
  return makeRagged(gatherRows(values, at), splitsOfLengths(lengths), uniform);
}

/** The rows at some places. */
export function gatherRows(x: RaggedOrDense, at: Tensor): RaggedOrDense {
  if (!isRagged(x)) return x.gather(at, 0);
  const starts = startsOf(x.rowSplits).gather(at);
  const limits = limitsOf(x.rowSplits).gather(at);
  return rowsBetween(
    x.values,
    starts,
    limits,
    constant(1, starts.dtype).broadcastTo(starts.shape),
    x.uniformRowLength,
  );
}

/** Indexing within rows. */
function columnsAt(x: RaggedOrDense, items: readonly (Item | Tensor)[]): RaggedOrDense {
  if (items.length === 0) return x;
  if (!isRagged(x)) return x.at(':', ...items.map(specOf));
  const [first, ...rest] = items;
  const dtype = x.rowSplits.dtype as SplitsDType;
  if (first === null) {
    const inner = columnsAt(x, rest);
    return makeRagged(inner, countTo(dims(x.rowSplits)[0], dtype), 1);
  }
  if (isRange(first)) {
    const inner = isWhole(first) ? x : sliceColumns(x, first);
    return makeRagged(columnsAt(inner.values, rest), inner.rowSplits, inner.uniformRowLength);
  }
  return placedColumn(x, first as number, rest);
}

/** One place of each row, all of which must have one length. */
function placedColumn(x: RaggedTensor, place: number, rest: readonly (Item | Tensor)[]): RaggedOrDense {
  const length = x.uniformRowLength;
  if (length === null)
    throw new InvalidArgumentError(
      `Cannot index into an inner ragged dimension: not every row has the place ${place}; take a range such as '${place}:${place + 1}'`,
      OP,
    );
  const i = place < 0 ? place + length : place;
  if (i < 0 || i >= length) throw new OutOfRangeError(`the place ${place} is not one of ${length}`, OP);
  const picked = gatherRows(x.values, startsOf(x.rowSplits).add(constant(i, x.rowSplits.dtype)));
  return columnsAt(picked, rest);
}

/** A range of each row. */
function sliceColumns(x: RaggedTensor, { begin, end, step }: Range): RaggedTensor {
  const { dtype } = x.rowSplits;
  if (step === 0) throw new InvalidArgumentError('the step must not be 0', OP);
  const [starts, limits] = [startsOf(x.rowSplits), limitsOf(x.rowSplits)];
  // The first and last places that a range may have, in the direction in which it goes.
  const low = step > 0 ? starts : starts.sub(constant(1, dtype));
  const high = step > 0 ? limits : limits.sub(constant(1, dtype));
  const bound = (given: unknown, otherwise: Tensor): Tensor => {
    if (given === null) return otherwise;
    const place = constant(given as number, dtype);
    return ((given as number) < 0 ? limits : starts).add(place).maximum(low).minimum(high);
  };
  const from = bound(begin, step > 0 ? starts : high);
  const to = bound(end, step > 0 ? limits : low);
  return rowsBetween(x.values, from, to, constant(step, dtype).broadcastTo(from.shape));
}
