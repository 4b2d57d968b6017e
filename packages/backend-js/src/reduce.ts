import {
  type BigArray,
  dtypeTraits,
  InvalidArgumentError,
  isBig,
  isBigArray,
  type Kernel,
  type KernelName,
  list,
  type NumericDType,
  product,
  saturateBig,
  type TensorRef,
  type TypedArray,
} from '@eagre/backend';
import { maxBig, minBig } from './numeric.ts';
import { bigints, type NumberArray, numbers, view } from './view.ts';

/**
 * Walks x in order, in runs along its innermost axes, which are all reduced or all kept: `visit(from, to, n, step)` stands
 * for the elements x[from …from + n) that go to y[to + i · step], step being 0 or 1.
 */
function forEachRun(
  shape: readonly number[],
  axes: readonly number[],
  visit: (from: number, to: number, n: number, step: number) => void,
): void {
  const size = product(shape);
  if (size === 0) return;
  // Innermost first; adjacent axes of one kind are merged. A stride is y's, 0 for a reduced axis.
  const sizes: number[] = [1];
  const strides: number[] = [0];
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] === 1) continue;
    const reduced = axes.includes(axis);
    const last = sizes.length - 1;
    if (sizes[last] === 1) {
      sizes[last] = shape[axis];
      strides[last] = reduced ? 0 : stride;
    } else if ((strides[last] === 0) === reduced) {
      sizes[last] *= shape[axis];
    } else {
      sizes.push(shape[axis]);
      strides.push(reduced ? 0 : stride);
    }
    if (!reduced) stride *= shape[axis];
  }

  const run = sizes[0];
  const index = sizes.map(() => 0);
  let to = 0;
  for (let from = 0; from < size; from += run) {
    visit(from, to, run, strides[0]);
    for (let axis = 1; axis < sizes.length; axis++) {
      to += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      to -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
}

/** Sums in float64, whatever x's precision. */
function sumFloats(x: TensorRef, axes: readonly number[], outputSize: number): Float64Array {
  const data = numbers(x);
  const sums = new Float64Array(outputSize);
  forEachRun(x.shape, axes, (from, to, n, step) => {
    if (step === 0) {
      let sum = 0;
      for (let i = from; i < from + n; i++) sum += data[i];
      sums[to] += sum;
    } else {
      for (let i = 0; i < n; i++) sums[to + i] += data[from + i];
    }
  });
  return sums;
}

function fold(
  x: TensorRef,
  axes: readonly number[],
  y: NumberArray,
  f: (a: number, b: number) => number,
): void {
  const data = numbers(x);
  forEachRun(x.shape, axes, (from, to, n, step) => {
    for (let i = 0; i < n; i++) {
      const at = to + i * step;
      y[at] = f(y[at], data[from + i]);
    }
  });
}

function foldBig(
  x: TensorRef,
  axes: readonly number[],
  y: BigArray,
  f: (a: bigint, b: bigint) => bigint,
): void {
  const data = bigints(x);
  forEachRun(x.shape, axes, (from, to, n, step) => {
    for (let i = 0; i < n; i++) {
      const at = to + i * step;
      y[at] = f(y[at], data[from + i]);
    }
  });
}

function isFloating(t: TensorRef): boolean {
  return t.dtype === 'float32' || t.dtype === 'float64';
}

function sum(x: TensorRef, y: TensorRef, axes: readonly number[]): void {
  if (isBig(x.dtype)) {
    foldBig(x, axes, bigints(y).fill(0n), (a, b) => a + b);
  } else if (isFloating(x)) {
    numbers(y).set(sumFloats(x, axes, y.size));
  } else {
    // Adding into y itself wraps as its dtype does.
    fold(x, axes, numbers(y).fill(0), (a, b) => a + b);
  }
}

/** The mean of integers adds in 64 bits and is truncated toward zero; that of none is 0. */
function mean(x: TensorRef, y: TensorRef, axes: readonly number[]): void {
  const count = product(axes.map((axis) => x.shape[axis]));
  if (isBig(x.dtype)) {
    const out = bigints(y).fill(0n);
    foldBig(x, axes, out, (a, b) => a + b);
    for (let i = 0; i < out.length; i++) out[i] /= BigInt(Math.max(count, 1));
    return;
  }
  const sums = sumFloats(x, axes, y.size);
  const out = numbers(y);
  // Storing into an integer array truncates, and makes 0 of NaN.
  for (let i = 0; i < out.length; i++) out[i] = sums[i] / count;
}

function prod(x: TensorRef, y: TensorRef, axes: readonly number[]): void {
  if (isBig(x.dtype)) {
    foldBig(x, axes, bigints(y).fill(1n), (a, b) => a * b);
  } else if (isFloating(x)) {
    const products = new Float64Array(y.size).fill(1);
    fold(x, axes, products, (a, b) => a * b);
    numbers(y).set(products);
  } else {
    fold(x, axes, numbers(y).fill(1), Math.imul);
  }
}

function max(x: TensorRef, y: TensorRef, axes: readonly number[]): void {
  if (isBig(x.dtype))
    foldBig(x, axes, bigints(y).fill(saturateBig(-Infinity, x.dtype as NumericDType)), maxBig);
  else fold(x, axes, numbers(y).fill(dtypeTraits[x.dtype].low), Math.max);
}

function min(x: TensorRef, y: TensorRef, axes: readonly number[]): void {
  if (isBig(x.dtype))
    foldBig(x, axes, bigints(y).fill(saturateBig(Infinity, x.dtype as NumericDType)), minBig);
  else fold(x, axes, numbers(y).fill(dtypeTraits[x.dtype].high), Math.min);
}

/** The position of the first extreme in `n` elements from `start`, `stride` apart; NaN is passed over. */
function extreme(data: TypedArray, start: number, stride: number, n: number, largest: boolean): number {
  let best = 0;
  let known: number | bigint = largest ? -Infinity : Infinity;
  for (let i = 0; i < n; i++) {
    const value = data[start + i * stride];
    if (largest ? value > known : value < known) {
      best = i;
      known = value;
    }
  }
  return best;
}

function argExtreme(x: TensorRef, y: TensorRef, axis: number, largest: boolean): void {
  const n = x.shape[axis];
  if (n === 0 && y.size > 0) {
    throw new InvalidArgumentError(
      `axis ${axis} of shape [${x.shape}] is empty`,
      largest ? 'ArgMax' : 'ArgMin',
    );
  }
  const stride = product(x.shape.slice(axis + 1));
  const data = view(x);
  const out = view(y);
  for (let i = 0; i < y.size; i++) {
    const inner = i % stride;
    const start = (i - inner) * n + inner;
    const found = extreme(data, start, stride, n, largest);
    if (isBigArray(out)) out[i] = BigInt(found);
    else out[i] = found;
  }
}

type Reduction = (x: TensorRef, y: TensorRef, axes: readonly number[]) => void;
const over =
  (reduce: Reduction): Kernel =>
  ([x], [y], attrs) =>
    reduce(x, y, list(attrs.axes));

/** The kernels of reductions. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Sum: over(sum),
  Mean: over(mean),
  Prod: over(prod),
  Max: over(max),
  Min: over(min),
  All: over((x, y, axes) => fold(x, axes, numbers(y).fill(1), (a, b) => a & b)),
  Any: over((x, y, axes) => fold(x, axes, numbers(y).fill(0), (a, b) => a | b)),
  ArgMax: ([x], [y], attrs) => argExtreme(x, y, attrs.axis as number, true),
  ArgMin: ([x], [y], attrs) => argExtreme(x, y, attrs.axis as number, false),
};
