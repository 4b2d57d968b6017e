// Element-wise functions of ragged tensors and dense ones, which broadcast.

import { InvalidArgumentError } from '@eagre/backend';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { type Dim, identicalDims, mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { differs } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { isRagged, makeRagged, type RaggedOrDense } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import {
  countTo,
  knownIntegers,
  lengthsOf,
  placesInRows,
  rowCount,
  type SplitsDType,
  sizeScalar,
  splitsOfLengths,
  startsOf,
  uniformSplits,
} from './row-partition.ts';

/** A function of the innermost values of all, whose axes beyond the ragged ones broadcast. */
type OfValues = (...flat: readonly Tensor[]) => Tensor;

/** One axis in rows: their splits, and their length where all have one. */
interface Rows {
  readonly splits: Tensor;
  readonly uniform: Dim | null;
}

/** A value as rows in rows: `levels` many, of `flat` values. */
interface Layered {
  readonly outer: Dim;
  readonly levels: readonly Rows[];
  readonly flat: Tensor;
}

/** What an element-wise function makes of several tensors, some of which are ragged. @throws InvalidArgumentError for shapes that do not broadcast. */
export function elementwise(inputs: readonly RaggedOrDense[], fn: OfValues, op: string): RaggedTensor {
  const ragged = inputs.filter(isRagged);
  const first = ragged[0] as RaggedTensor;
  const inner = first.flatValues.rank;
  // Dense ones that lie within single values need no rows.
  const within = (x: RaggedOrDense): boolean => (isRagged(x) ? sameRows(x, first) : x.rank < inner);
  if (inputs.every(within))
    return first.withFlatValues(fn(...inputs.map((x) => (isRagged(x) ? x.flatValues : x))));
  const dtype = ragged.some((r) => r.rowSplits.dtype === 'int64') ? 'int64' : 'int32';
  return broadcast(inputs, fn, dtype, op);
}

/** Whether two have the same rows for sure: the very same splits, or splits with equal values. */
function sameRows(a: RaggedTensor, b: RaggedTensor): boolean {
  if (a.raggedRank !== b.raggedRank) return false;
  const others = b.nestedRowSplits;
  return a.nestedRowSplits.every((s, i) => {
    const other = others[i] as Tensor;
    if (s === other) return true;
    const [x, y] = [knownIntegers(s), knownIntegers(other)];
    return x !== null && y !== null && x.length === y.length && x.every((v, j) => v === y[j]);
  });
}

function broadcast(
  inputs: readonly RaggedOrDense[],
  fn: OfValues,
  dtype: SplitsDType,
  op: string,
): RaggedTensor {
  const rank = Math.max(...inputs.map((x) => x.rank));
  const deepest = Math.max(...inputs.map((x) => (isRagged(x) ? x.raggedRank + rank - x.rank : 0)));
  const layered = inputs.map((x) => layers(x, rank, deepest, dtype));
  const outer = common(
    layered.map((l) => l.outer),
    op,
  );
  // For each input the row from which each row of the result is taken.
  let sources = layered.map((l) => sourcesOf(l.outer, outer, countTo(outer, dtype)));
  const made: Rows[] = [];
  for (let level = 0; level < deepest; level++) {
    const rows = layered.map((l) => l.levels[level] as Rows);
    const lengths = rows.map((r, i) => lengthsOf(r.splits).gather(sources[i] as Tensor));
    const lead = leaderOf(rows);
    const own = lengths[lead] as Tensor;
    rows.forEach((r, i) => {
      if (i !== lead && r.uniform !== 1) checkLengths([own, lengths[i] as Tensor], r.uniform, level + 1, op);
    });
    const { rows: ids, places } = placesInRows(own);
    sources = rows.map((r, i) => {
      const starts = startsOf(r.splits).gather((sources[i] as Tensor).gather(ids));
      return lead === i ? starts.add(places) : starts.add(unlessOne(r.uniform, places));
    });
    made.push({ splits: splitsOfLengths(own), uniform: (rows[lead] as Rows).uniform });
  }
  const flat = fn(...layered.map((l, i) => l.flat.gather(sources[i] as Tensor)));
  return made.reduceRight<RaggedOrDense>(
    (values, r) => makeRagged(values, r.splits, r.uniform),
    flat,
  ) as RaggedTensor;
}

/** Whose rows the result has: those that are not 1 long for sure, before those of which only a run tells. */
function leaderOf(rows: readonly Rows[]): number {
  const certain = rows.findIndex(
    (r) => r.uniform !== 1 && (r.uniform === null || typeof r.uniform === 'number'),
  );
  return certain >= 0
    ? certain
    : Math.max(
        rows.findIndex((r) => r.uniform !== 1),
        0,
      );
}

/** Places, or 0 where an axis has the size 1, which goes with all: what only a run tells is computed. */
function unlessOne(size: Dim | null, places: Tensor): Tensor {
  if (size === null || (typeof size === 'number' && size !== 1)) return places;
  if (size === 1) return places.mul(constant(0, places.dtype));
  return places.mul(
    sizeScalar(size, places.dtype as SplitsDType)
      .notEqual(1)
      .cast(places.dtype),
  );
}

/** @throws InvalidArgumentError for rows of lengths that differ, now or in a run. */
function checkLengths(lengths: readonly Tensor[], uniform: Dim | null, axis: number, op: string): void {
  checkValues(op, lengths, (x, y) => {
    const [own, other] = [integersOf(x), integersOf(y)];
    if (own.every((n, i) => n === other[i])) return;
    // A size that only a run tells may be 1.
    if (uniform !== null && other.every((n) => n === 1)) return;
    throw new InvalidArgumentError(
      `Unable to broadcast: the rows of dimension ${axis} have the lengths [${own}] and [${other}]`,
      op,
    );
  });
}

/** The size that all have that are not 1. */
function common(sizes: readonly Dim[], op: string): Dim {
  const wide = sizes.filter((d) => d !== 1);
  const [first = 1, ...others] = [...wide.filter((d) => typeof d === 'number'), ...wide];
  for (const d of others)
    if (differs(d, first))
      throw new InvalidArgumentError(
        `Unable to broadcast: there are ${String(first)} and ${String(d)} rows`,
        op,
      );
  return first;
}

const sourcesOf = (own: Dim, outer: Dim, all: Tensor): Tensor =>
  identicalDims(own, outer) ? all : unlessOne(own, all);

/** A value with axes of size 1 before its own, and with `count` axes in rows. */
function layers(x: RaggedOrDense, rank: number, count: number, dtype: SplitsDType): Layered {
  const sizes: Dim[] = new Array<Dim>(rank - x.rank).fill(1);
  const levels: Rows[] = [];
  let inside: RaggedOrDense = x;
  if (isRagged(x)) sizes.push(rowCount(x.rowSplits));
  const ragged: Rows[] = [];
  while (isRagged(inside)) {
    ragged.push({ splits: inside.rowSplits.cast(dtype), uniform: inside.uniformRowLength });
    inside = inside.values;
  }
  const own = dims(inside);
  // Of the values of a ragged tensor the first axis is in its rows.
  const dense = isRagged(x) ? own.slice(1) : own;
  if (!isRagged(x)) sizes.push(...dense.slice(0, Math.max(0, count + 1 - sizes.length)));
  const taken = isRagged(x) ? 0 : sizes.length - (rank - x.rank);
  const [outer = 1, ...uniform] = sizes;
  let total: Dim = outer;
  for (const size of uniform) {
    levels.push({ splits: uniformSplits(total, size, dtype), uniform: size });
    total = mulDims(total, size);
  }
  levels.push(...ragged);
  let rest = dense.slice(taken);
  let flatRows: Dim = isRagged(x) ? (own[0] as Dim) : total;
  // A ragged tensor of fewer ragged axes: its next ones are uniform.
  while (levels.length < count) {
    const size = rest[0] as Dim;
    levels.push({ splits: uniformSplits(flatRows, size, dtype), uniform: size });
    flatRows = mulDims(flatRows, size);
    rest = rest.slice(1);
  }
  return { outer, levels, flat: inside.reshape(toShape([flatRows, ...rest])) };
}
