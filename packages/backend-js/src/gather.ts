import {
  halfBits,
  halfValue,
  InternalError,
  InvalidArgumentError,
  isBig,
  isHalf,
  type Kernel,
  type KernelName,
  OutOfRangeError,
  product,
  sameBytes,
  stridesOf,
  type TensorRef,
  UnimplementedError,
} from '@eagre/backend';
import { element, movable } from './moves.ts';
import { maxBig, minBig } from './numeric.ts';
import { bigints, type NumberArray, numbers, view } from './view.ts';

/** Indices as numbers; beyond 2^53 they are not exact, but then out of every range. */
function indexList(t: TensorRef): NumberArray {
  if (!isBig(t.dtype)) return numbers(t);
  const exact = bigints(t);
  const list = new Float64Array(t.size);
  // Float64Array.from would make an array of all values first.
  for (let i = 0; i < list.length; i++) list[i] = Number(exact[i]);
  return list;
}

function checkIndices(indices: NumberArray, n: number, op: string): void {
  indices.forEach((index, i) => {
    if (!(index >= 0 && index < n))
      throw new OutOfRangeError(`indices[${i}] = ${index} is not in [0, ${n})`, op);
  });
}

/**
 * Visits the slices that Gather moves: params seen as [batch, outer, n, inner], indices as [batch, count], the other tensor as
 * [batch, outer, count, inner]. `from` and `to` are where a slice of `inner` elements starts in params and in the other.
 */
function forEachSlice(
  params: TensorRef,
  indices: TensorRef,
  axis: number,
  batchDims: number,
  op: string,
  visit: (from: number, to: number, inner: number) => void,
): void {
  const outer = product(params.shape.slice(batchDims, axis));
  const planes = product(params.shape.slice(0, axis));
  const n = params.shape[axis];
  const inner = product(params.shape.slice(axis + 1));
  const count = product(indices.shape.slice(batchDims));
  const index = indexList(indices);
  checkIndices(index, n, op);
  // An axis beside one of size 0 may be longer than any time.
  if (inner === 0 || count === 0) return;
  for (let plane = 0; plane < planes; plane++) {
    const first = Math.floor(plane / outer) * count;
    for (let i = 0; i < count; i++) {
      visit((plane * n + index[first + i]) * inner, (plane * count + i) * inner, inner);
    }
  }
}

function gather(params: TensorRef, indices: TensorRef, y: TensorRef, axis: number, batchDims: number): void {
  const data = movable(params);
  const out = movable(y);
  forEachSlice(params, indices, axis, batchDims, 'Gather', (from, to, inner) => {
    for (let k = 0; k < inner; k++) out[to + k] = data[from + k];
  });
}

function gatherGrad(
  dy: TensorRef,
  indices: TensorRef,
  dparams: TensorRef,
  axis: number,
  batchDims: number,
): void {
  if (isBig(dparams.dtype)) {
    const data = bigints(dy);
    const sums = bigints(dparams).fill(0n);
    forEachSlice(dparams, indices, axis, batchDims, 'GatherGrad', (to, from, inner) => {
      for (let k = 0; k < inner; k++) sums[to + k] += data[from + k];
    });
    return;
  }
  const data = numbers(dy);
  const sums = new Float64Array(dparams.size);
  forEachSlice(dparams, indices, axis, batchDims, 'GatherGrad', (to, from, inner) => {
    for (let k = 0; k < inner; k++) sums[to + k] += data[from + k];
  });
  numbers(dparams).set(sums);
}

/**
 * Visits the slice of `whole` at each index tuple: the number of the tuple, where the slice of `inner` elements starts.
 * @throws OutOfRangeError before the first visit.
 */
function forEachTuple(
  whole: TensorRef,
  indices: TensorRef,
  op: string,
  visit: (i: number, start: number, inner: number) => void,
): void {
  const depth = indices.shape[indices.shape.length - 1];
  const inner = product(whole.shape.slice(depth));
  const count = product(indices.shape.slice(0, -1));
  const steps = stridesOf(whole.shape);
  const index = indexList(indices);
  for (let i = 0; depth > 0 && i < count; i++) {
    for (let k = 0; k < depth; k++) {
      const at = index[i * depth + k];
      if (!(at >= 0 && at < whole.shape[k]))
        throw new OutOfRangeError(`index ${at} of tuple ${i} is not in [0, ${whole.shape[k]})`, op);
    }
  }
  // Empty slices may be more than any time is enough for.
  if (inner === 0) return;
  for (let i = 0; i < count; i++) {
    let start = 0;
    for (let k = 0; k < depth; k++) start += index[i * depth + k] * steps[k];
    visit(i, start, inner);
  }
}

function gatherNd(params: TensorRef, indices: TensorRef, y: TensorRef): void {
  const data = movable(params);
  const out = movable(y);
  forEachTuple(params, indices, 'GatherNd', (i, start, inner) => {
    for (let k = 0; k < inner; k++) out[i * inner + k] = data[start + k];
  });
}

const combine: readonly ((old: number, update: number) => number)[] = [
  (_, update) => update,
  (old, update) => old + update,
  (old, update) => old - update,
  Math.max,
  Math.min,
];
const combineBig: readonly ((old: bigint, update: bigint) => bigint)[] = [
  (_, update) => update,
  (old, update) => old + update,
  (old, update) => old - update,
  maxBig,
  minBig,
];

function scatterNd(
  base: TensorRef,
  indices: TensorRef,
  updates: TensorRef,
  y: TensorRef,
  mode: number,
): void {
  if (mode !== 0 && y.dtype === 'bool') throw new UnimplementedError('arithmetic of bool', 'ScatterNd');
  const scatter = (write: (to: number, from: number) => void): void =>
    forEachTuple(base, indices, 'ScatterNd', (i, start, inner) => {
      for (let k = 0; k < inner; k++) write(start + k, i * inner + k);
    });
  if (isBig(y.dtype)) {
    const out = bigints(y);
    const data = bigints(updates);
    const f = combineBig[mode];
    if (!sameBytes(base.storage, y.storage)) out.set(bigints(base));
    scatter((to, from) => {
      out[to] = f(out[to], data[from]);
    });
    return;
  }
  // In y itself, so that every step rounds or wraps as y's dtype does.
  const out = numbers(y);
  const data = numbers(updates);
  const f = combine[mode];
  if (!sameBytes(base.storage, y.storage)) out.set(numbers(base));
  scatter((to, from) => {
    out[to] = f(out[to], data[from]);
  });
}

/** The rows of each number as one: mode 0 their sum, 1 mean, 2 product, 3 maximum, 4 minimum. */
function segmentReduce(x: TensorRef, ids: TensorRef, y: TensorRef, mode: number): void {
  const index = indexList(ids);
  const [count] = y.shape;
  index.forEach((id, r) => {
    const before = r === 0 ? 0 : index[r - 1];
    if (id < before)
      throw new InvalidArgumentError(
        `segmentIds must be at least 0 and rise, but number ${r} is ${id}${r > 0 ? ` after ${before}` : ''}`,
      );
  });
  const last = index[index.length - 1];
  if (last >= count) throw new OutOfRangeError(`the segment ${last} is not in [0, ${count})`);
  const isProduct = mode === 2;
  const inner = product(y.shape.slice(1));
  const sizes = new Float64Array(count);
  const reduce = <T extends number | bigint>(
    data: ArrayLike<T>,
    out: { [i: number]: T; fill(value: T): unknown },
    as: (n: number) => T,
    join: (old: T, update: T) => T,
    divide: (sum: T, by: T) => T,
  ): void => {
    // In y itself, so that every step rounds or wraps as y's dtype does.
    out.fill(as(isProduct ? 1 : 0));
    index.forEach((id, r) => {
      const isFirst = sizes[id]++ === 0;
      for (let k = 0; k < inner; k++) {
        const value = data[r * inner + k];
        out[id * inner + k] = isFirst ? value : join(out[id * inner + k], value);
      }
    });
    if (mode === 1)
      sizes.forEach((size, id) => {
        for (let k = id * inner; size > 1 && k < (id + 1) * inner; k++) out[k] = divide(out[k], as(size));
      });
  };
  // As ScatterNd joins them.
  const place = Math.max(1, mode);
  if (isBig(y.dtype)) {
    const join = isProduct ? (a: bigint, b: bigint): bigint => a * b : combineBig[place];
    reduce(bigints(x), bigints(y), BigInt, join, (a, b) => a / b);
    return;
  }
  const product32 = y.dtype.startsWith('float') ? (a: number, b: number): number => a * b : Math.imul;
  const join = isProduct ? product32 : combine[place];
  const divide = y.dtype.startsWith('float')
    ? (a: number, b: number): number => a / b
    : (a: number, b: number): number => Math.trunc(a / b);
  reduce(numbers(x), numbers(y), Number, join, divide);
}

function setRow(x: TensorRef, index: TensorRef, row: TensorRef, y: TensorRef, mode: number): void {
  if (mode !== 0 && y.dtype === 'bool') throw new UnimplementedError('arithmetic of bool', 'SetRow');
  const [at] = indexList(index);
  if (!(at >= 0 && at < x.shape[0]))
    throw new OutOfRangeError(`index ${at} is not in [0, ${x.shape[0]})`, 'SetRow');
  const start = at * row.size;
  if (isBig(y.dtype)) {
    const out = bigints(y);
    const f = combineBig[mode];
    if (!sameBytes(x.storage, y.storage)) out.set(bigints(x));
    bigints(row).forEach((update, k) => {
      out[start + k] = f(out[start + k], update);
    });
    return;
  }
  const out = numbers(y);
  if (!sameBytes(x.storage, y.storage)) out.set(numbers(x));
  const { dtype } = y;
  if (isHalf(dtype) && mode !== 0) {
    numbers(row).forEach((update, k) => {
      out[start + k] = halfBits(halfValue(out[start + k], dtype) + halfValue(update, dtype), dtype);
    });
    return;
  }
  const f = combine[mode];
  numbers(row).forEach((update, k) => {
    out[start + k] = f(out[start + k], update);
  });
}

function oneHot(indices: TensorRef, y: TensorRef, axis: number, on: number, off: number): void {
  const depth = y.shape[axis];
  const inner = product(y.shape.slice(axis + 1));
  const index = indexList(indices);
  const out = movable(y).fill(element(y, off));
  const yes = element(y, on);
  index.forEach((at, i) => {
    if (at >= 0 && at < depth) out[(Math.floor(i / inner) * depth + at) * inner + (i % inner)] = yes;
  });
}

function nonzero(x: TensorRef, y: TensorRef): void {
  const steps = stridesOf(x.shape);
  const out = bigints(y);
  const data = view(x);
  let to = 0;
  let found = 0;
  for (let i = 0; i < x.size; i++) {
    if (data[i] === 0 || data[i] === 0n) continue;
    if (++found > y.shape[0]) break;
    steps.forEach((step, axis) => {
      out[to++] = BigInt(Math.floor(i / step) % x.shape[axis]);
    });
  }
  if (found !== y.shape[0]) throw new InternalError(`not ${y.shape[0]} elements differ from 0`, 'Nonzero');
}

/** The kernels of gathering and scattering. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Gather: ([params, indices], [y], attrs) =>
    gather(params, indices, y, attrs.axis as number, attrs.batchDims as number),
  GatherGrad: ([dy, indices], [dparams], attrs) =>
    gatherGrad(dy, indices, dparams, attrs.axis as number, attrs.batchDims as number),
  SegmentReduce: ([x, ids], [y], attrs) => segmentReduce(x, ids, y, attrs.reduction as number),
  GatherNd: ([params, indices], [y]) => gatherNd(params, indices, y),
  ScatterNd: ([base, indices, updates], [y], attrs) =>
    scatterNd(base, indices, updates, y, attrs.mode as number),
  SetRow: ([x, index, row], [y], attrs) => setRow(x, index, row, y, attrs.mode as number),
  OneHot: ([indices], [y], attrs) =>
    oneHot(indices, y, attrs.axis as number, attrs.on as number, attrs.off as number),
  Nonzero: ([x], [y]) => nonzero(x, y),
};
