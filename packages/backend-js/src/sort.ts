import { type Kernel, type KernelName, ResourceExhaustedError, type TensorRef } from '@eagre/backend';
import { movable } from './moves.ts';
import { numbers } from './view.ts';

/** Ascending, NaN after all else; 0 and -0 are equal. */
function compare(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
}

// V8 sorts no typed array of 2²⁷ elements by a function.
const MOST = 2 ** 26;

function topK(x: TensorRef, values: TensorRef, indices: TensorRef, descending: boolean): void {
  const n = x.shape[x.shape.length - 1];
  const k = values.shape[values.shape.length - 1];
  if (values.size === 0) return;
  if (n > MOST) {
    throw new ResourceExhaustedError(
      `JavaScript sorts at most ${MOST} elements, not ${n}; sort parts, or use the native backend`,
      'TopK',
    );
  }
  const data = movable(x);
  const sorted = movable(values);
  const places = numbers(indices);
  const order = new Int32Array(n);
  for (let row = 0; row < x.size / n; row++) {
    const start = row * n;
    for (let i = 0; i < n; i++) order[i] = i;
    // It is stable.
    order.sort(
      descending
        ? (i, j) => compare(data[start + j], data[start + i])
        : (i, j) => compare(data[start + i], data[start + j]),
    );
    for (let i = 0; i < k; i++) {
      places[row * k + i] = order[i];
      sorted[row * k + i] = data[start + order[i]];
    }
  }
}

/** The kernels of order. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  TopK: ([x], [values, indices], attrs) => topK(x, values, indices, Boolean(attrs.descending)),
};
