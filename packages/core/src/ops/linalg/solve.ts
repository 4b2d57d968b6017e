// Systems of linear equations, column by column. Loops run over the size of one matrix, which has to be known; all matrices of a batch go together.
import { dims, toShape } from '../../shapes/dims.ts';
import { knownDim } from '../../shapes/shape-env.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { iota } from '../array/iota.ts';
import { concat } from '../array/join.ts';
import { where } from '../elementwise/select.ts';

/** The size of an axis, the last unless given. */
export const sizeOfAxis = (x: Tensor, axis: number = -1): number => knownDim(dims(x)[x.rank + axis]);

/** L and U in one matrix, and by place the row of x that stands there; the sign of the permutation. */
export function factored(x: Tensor): { readonly lu: Tensor; readonly order: Tensor; readonly sign: Tensor } {
  const n = sizeOfAxis(x, -2);
  const m = sizeOfAxis(x);
  const rows = iota(n);
  const lead = dims(x).slice(0, -2);
  let a = x;
  let order = rows.broadcastTo(toShape([...lead, n]));
  let sign = x.at('...', 0, 0).mul(0).add(1);
  for (let j = 0; j < Math.min(n, m); j++) {
    if (j < n - 1) {
      const size = rows.less(j).where(-1, a.at('...', ':', j).abs());
      const pivot = size.argMax(-1, { dtype: 'int32' }).expandDims(-1);
      const places = rows.equal(j).where(pivot, rows.equal(pivot).where(j, rows));
      const rank = a.rank - 2;
      const swap = (t: Tensor): Tensor => t.gather(places, rank, { batchDims: rank });
      a = swap(a);
      order = swap(order);
      sign = where(pivot.squeeze(-1).equal(j), sign, sign.neg());
    }
    if (j >= n - 1) break;
    const row = a.at('...', j, ':');
    const below = rows.greater(j);
    const factors = below.where(a.at('...', ':', j).div(a.at('...', j, `${j}:${j + 1}`)), 0);
    const behind = iota(m).greater(j);
    const updated = a.sub(factors.expandDims(-1).mul(behind.where(row, 0).expandDims(-2)));
    // The factors stand where they have made zeros.
    a = iota(m).equal(j).logicalAnd(below.expandDims(1)).where(factors.expandDims(-1), updated);
  }
  return { lu: a, order, sign };
}

/** Columns b [..., n, k] solved by triangular matrices [..., n, n]; `unit` for those with ones on the diagonal. */
export function bySubstitution(a: Tensor, b: Tensor, lower: boolean, unit = false): Tensor {
  const n = sizeOfAxis(a);
  const rows = iota(n).expandDims(1);
  let rest = b;
  const found: Tensor[] = new Array<Tensor>(n);
  for (let i = 0; i < n; i++) {
    const j = lower ? i : n - 1 - i;
    const own = rest.at('...', `${j}:${j + 1}`, ':');
    const x = unit ? own : own.div(a.at('...', `${j}:${j + 1}`, `${j}:${j + 1}`));
    found[j] = x;
    const open = lower ? rows.greater(j) : rows.less(j);
    rest = rest.sub(open.where(a.at('...', ':', `${j}:${j + 1}`), 0).mul(x));
  }
  return concat(found, -2);
}

/** The solutions of a · x = b for square matrices. */
export function solved(a: Tensor, b: Tensor): Tensor {
  const { lu, order } = factored(a);
  const rank = a.rank - 2;
  const wide =
    b.rank === a.rank ? b.broadcastTo(toShape([...dims(a).slice(0, -2), ...dims(b).slice(-2)])) : b;
  const sorted = wide.gather(order, rank, { batchDims: rank });
  return bySubstitution(lu, bySubstitution(lu, sorted, true, true), false);
}
