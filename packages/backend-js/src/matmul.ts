import { type BigArray, type Kernel, type KernelName, product, type TensorRef } from '@eagre/backend';
import { bigints, type NumberArray, numbers } from './view.ts';

/**
 * y[0, n) += row · matrix, for `row` of k elements and `matrix` of k rows of n. Four of its rows are taken at a time, which
 * saves three of four passes over y; the order of additions depends on k alone.
 */
export function addRowTimesMatrix(
  y: Float64Array,
  row: Float64Array,
  matrix: Float64Array,
  k: number,
  n: number,
): void {
  let l = 0;
  for (; l + 4 <= k; l += 4) {
    const r0 = row[l];
    const r1 = row[l + 1];
    const r2 = row[l + 2];
    const r3 = row[l + 3];
    const m0 = l * n;
    const m1 = m0 + n;
    const m2 = m1 + n;
    const m3 = m2 + n;
    for (let j = 0; j < n; j++) {
      y[j] += r0 * matrix[m0 + j] + r1 * matrix[m1 + j] + (r2 * matrix[m2 + j] + r3 * matrix[m3 + j]);
    }
  }
  for (; l < k; l++) {
    const r = row[l];
    const m = l * n;
    for (let j = 0; j < n; j++) y[j] += r * matrix[m + j];
  }
}

/** Stores a row of sums, with the bias and activation of the contract, rounded to the dtype of `y` before the bias and after it. */
export function storeRow(
  y: NumberArray,
  at: number,
  sums: Float64Array,
  n: number,
  bias: NumberArray | undefined,
  activation: number,
): void {
  for (let j = 0; j < n; j++) {
    y[at + j] = sums[j];
    if (bias !== undefined) y[at + j] += bias[j];
    if (activation === 1) y[at + j] = Math.max(y[at + j], 0);
  }
}

/** A matrix inside a tensor: element [i, j] lies at start + i · row + j · column. */
interface Strides {
  row: number;
  column: number;
}

interface Problem {
  m: number;
  k: number;
  n: number;
  a: Strides;
  b: Strides;
  batches: number;
  /** Where a batch's matrices start in a, b, and y. */
  start: (batch: number) => { a: number; b: number; y: number };
}

/** For a matrix of the batch shape `to`, the number of the matrix of `from`, which broadcasts to it. */
function broadcastIndex(from: readonly number[], to: readonly number[]): (batch: number) => number {
  const steps = to.map(() => 0);
  let step = 1;
  for (let axis = to.length - 1, own = from.length - 1; own >= 0; axis--, own--) {
    if (from[own] > 1) steps[axis] = step;
    step *= from[own];
  }
  return (batch) => {
    let index = 0;
    for (let axis = to.length - 1, rest = batch; axis >= 0; axis--) {
      index += (rest % to[axis]) * steps[axis];
      rest = Math.floor(rest / to[axis]);
    }
    return index;
  };
}

function problem(
  a: TensorRef,
  b: TensorRef,
  y: TensorRef,
  transposeA: boolean,
  transposeB: boolean,
): Problem {
  const [m, n] = y.shape.slice(-2);
  const k = a.shape[a.shape.length - (transposeA ? 2 : 1)];
  const batch = y.shape.slice(0, -2);
  const ofA = broadcastIndex(a.shape.slice(0, -2), batch);
  const ofB = broadcastIndex(b.shape.slice(0, -2), batch);
  return {
    m,
    k,
    n,
    a: transposeA ? { row: 1, column: m } : { row: k, column: 1 },
    b: transposeB ? { row: 1, column: k } : { row: n, column: 1 },
    batches: product(batch),
    start: (i) => ({ a: ofA(i) * m * k, b: ofB(i) * k * n, y: i * m * n }),
  };
}

/** Copies rows × columns elements, row by row, into float64. */
function pack(
  to: Float64Array,
  from: NumberArray,
  start: number,
  strides: Strides,
  rows: number,
  columns: number,
): void {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++)
      to[i * columns + j] = from[start + i * strides.row + j * strides.column];
  }
}

/** b is copied to float64 in the order that the inner loop reads, a row by row, so that loop has one form for all cases. */
function floats(
  p: Problem,
  a: NumberArray,
  b: NumberArray,
  y: NumberArray,
  bias: NumberArray | undefined,
  relu: number,
): void {
  const row = new Float64Array(p.k);
  const matrix = new Float64Array(p.k * p.n);
  const sums = new Float64Array(p.n);
  let packed = -1;
  for (let number = 0; number < p.batches; number++) {
    const batch = p.start(number);
    if (batch.b !== packed) pack(matrix, b, batch.b, p.b, p.k, p.n);
    packed = batch.b;
    for (let i = 0; i < p.m; i++) {
      pack(row, a, batch.a + i * p.a.row, p.a, 1, p.k);
      sums.fill(0);
      addRowTimesMatrix(sums, row, matrix, p.k, p.n);
      storeRow(y, batch.y + i * p.n, sums, p.n, bias, relu);
    }
  }
}

function int32s(
  p: Problem,
  a: NumberArray,
  b: NumberArray,
  y: NumberArray,
  bias: NumberArray | undefined,
  relu: number,
): void {
  for (let number = 0; number < p.batches; number++) {
    const batch = p.start(number);
    for (let i = 0; i < p.m; i++) {
      for (let j = 0; j < p.n; j++) {
        let sum = bias === undefined ? 0 : bias[j];
        for (let l = 0; l < p.k; l++) {
          const left = a[batch.a + i * p.a.row + l * p.a.column];
          sum = (sum + Math.imul(left, b[batch.b + l * p.b.row + j * p.b.column])) | 0;
        }
        y[batch.y + i * p.n + j] = relu === 1 ? Math.max(sum, 0) : sum;
      }
    }
  }
}

function int64s(
  p: Problem,
  a: BigArray,
  b: BigArray,
  y: BigArray,
  bias: BigArray | undefined,
  relu: number,
): void {
  for (let number = 0; number < p.batches; number++) {
    const batch = p.start(number);
    for (let i = 0; i < p.m; i++) {
      for (let j = 0; j < p.n; j++) {
        let sum = bias === undefined ? 0n : bias[j];
        for (let l = 0; l < p.k; l++) {
          const left = a[batch.a + i * p.a.row + l * p.a.column];
          sum += left * b[batch.b + l * p.b.row + j * p.b.column];
        }
        sum = BigInt.asIntN(64, sum);
        y[batch.y + i * p.n + j] = relu === 1 && sum < 0n ? 0n : sum;
      }
    }
  }
}

/** The kernels of products of matrices. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  MatMul: ([a, b, bias], [y], attrs) => {
    if (y.size === 0) return;
    const p = problem(a, b, y, Boolean(attrs.transposeA), Boolean(attrs.transposeB));
    const activation = attrs.activation as number;
    if (y.dtype === 'int64') {
      int64s(p, bigints(a), bigints(b), bigints(y), bias && bigints(bias), activation);
    } else {
      const multiply = y.dtype === 'int32' ? int32s : floats;
      multiply(p, numbers(a), numbers(b), numbers(y), bias && numbers(bias), activation);
    }
  },
};
