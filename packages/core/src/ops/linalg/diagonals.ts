// Several diagonals of matrices, or others than the main one, as rows [high - low + 1, length]. Nothing here is public.
import { defineOp, type Op } from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import { addDims, type Dim, minDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from '../array/gather.ts';
import { iota } from '../array/iota.ts';
import { expandDims, pad, reshape } from '../array/shaping.ts';

/** Where the diagonals that are shorter than the longest lie in their rows: those above the main one, then those below it. */
export type DiagonalAlign = 'LEFT_LEFT' | 'LEFT_RIGHT' | 'RIGHT_LEFT' | 'RIGHT_RIGHT';

/** Diagonals number `low` … `high`; the main one is 0, those above it are positive. */
export interface Band {
  readonly low: number;
  readonly high: number;
  readonly align: DiagonalAlign;
}

/** The length of the longest of the diagonals of an m × n matrix. */
export function longest(m: Dim, n: Dim, { low, high }: Band): Dim {
  return minDims(addDims(m, Math.min(high, 0)), subDims(n, Math.max(low, 0)));
}

/** How long diagonals number `which` are, and in front of which place of their rows they begin. */
function extent(which: Tensor, m: Dim, n: Dim, band: Band): { length: Tensor; start: Tensor } {
  const length = which
    .minimum(0)
    .add(sizeValue(m, 'int32'))
    .minimum(which.maximum(0).neg().add(sizeValue(n, 'int32')));
  const [above, below] = band.align.split('_').map((side) => side === 'RIGHT');
  const right = above ? (below ? null : which.greater(0)) : below ? which.less(0) : which.notEqual(which);
  const gap = length.neg().add(sizeValue(longest(m, n, band), 'int32'));
  return { length, start: right === null ? gap : right.where(gap, 0) };
}

/** The elements of the last two axes at places of these, and `other` where `inside` does not hold. */
function pick(x: Tensor, row: Tensor, column: Tensor, inside: Tensor, other: Tensor): Tensor {
  const [rows, columns] = dims(x).slice(-2);
  const lead = dims(x).slice(0, -2);
  const size = mulDims(rows, columns);
  const flat = reshape(x, toShape([...lead, size]));
  // Place 0 stands for what is not inside, also where there is no element.
  const some =
    typeof size === 'number' && size > 0 ? flat : pad(flat, [...lead.map(() => [0, 0] as const), [0, 1]]);
  const places = inside.where(row.mul(sizeValue(columns, 'int32')).add(column), 0);
  return inside.where(gather(some, places, -1), other);
}

/** [m, n] matrices of what is on diagonals, and `other` elsewhere. */
function spread(diagonals: Tensor, m: Dim, n: Dim, band: Band, other: Tensor): Tensor {
  const rows = band.low === band.high ? expandDims(diagonals, -2) : diagonals;
  const [i, j] = [expandDims(iota(m), -1), iota(n)];
  const which = j.sub(i);
  const inside = which.greaterEqual(band.low).logicalAnd(which.lessEqual(band.high));
  const row = which.neg().add(band.high);
  return pick(rows, row, i.minimum(j).add(extent(which, m, n, band).start), inside, other);
}

const sample = { low: -1, high: 1, align: 'RIGHT_LEFT' };

/** Matrices with diagonals, and a padding elsewhere. */
export const diagonalsOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixDiagV3',
  compose: ([x, padding], attrs) => {
    const { rows, columns } = attrs as { rows: Dim; columns: Dim };
    return spread(x, rows, columns, attrs as unknown as Band, padding);
  },
  samples: () => [
    { inputs: [uniform([2, 3, 3]), uniform([])], attrs: { ...sample, rows: 3, columns: 4 } },
    { inputs: [uniform([2]), uniform([])], attrs: { ...sample, low: -1, high: -1, rows: 3, columns: 2 } },
  ],
});

/** Diagonals of matrices, and a padding where they are shorter than the longest. */
export const diagonalsPartOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixDiagPartV3',
  compose: ([x, padding], attrs) => {
    const band = attrs as unknown as Band;
    const [m, n] = dims(x).slice(-2);
    const which = expandDims(iota(band.high - band.low + 1, -1).add(band.high), -1);
    const { length, start } = extent(which, m, n, band);
    const at = iota(longest(m, n, band)).sub(start);
    const inside = at.greaterEqual(0).logicalAnd(at.less(length));
    const rows = pick(x, at.sub(which.minimum(0)), at.add(which.maximum(0)), inside, padding);
    if (band.low !== band.high) return rows;
    return reshape(rows, toShape([...dims(rows).slice(0, -2), dims(rows)[rows.rank - 1]]));
  },
  samples: () => [
    { inputs: [uniform([2, 3, 4]), uniform([])], attrs: sample },
    { inputs: [uniform([4, 2]), uniform([])], attrs: { ...sample, low: -2, high: -2 } },
  ],
});

/** Matrices with diagonals replaced. */
export const setDiagonalsOp: Op = /* @__PURE__ */ defineOp({
  name: 'MatrixSetDiagV3',
  compose: ([x, diagonals], attrs) => {
    const [m, n] = dims(x).slice(-2);
    return spread(diagonals, m, n, attrs as unknown as Band, x);
  },
  samples: () => [
    { inputs: [uniform([2, 3, 4]), uniform([2, 3, 3])], attrs: sample },
    { inputs: [uniform([3, 3]), uniform([2])], attrs: { ...sample, low: 1, high: 1 } },
  ],
});
