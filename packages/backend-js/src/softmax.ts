import { type Kernel, type KernelName, OutOfRangeError, type TensorRef } from '@eagre/backend';
import { numbers, view } from './view.ts';

/** Elements in the last axis. */
function width(t: TensorRef): number {
  return t.shape[t.shape.length - 1];
}

/**
 * Calls `visit` for every row of the last axis with the row's start, exp(x − max) for its elements, their sum, and its
 * maximum. All in float64.
 */
function forEachRow(
  x: TensorRef,
  visit: (start: number, exponentials: Float64Array, sum: number, largest: number) => void,
): void {
  const data = numbers(x);
  const n = width(x);
  const exponentials = new Float64Array(n);
  for (let start = 0; start < x.size; start += n) {
    let largest = -Infinity;
    for (let i = 0; i < n; i++) largest = Math.max(largest, data[start + i]);
    let sum = 0;
    for (let i = 0; i < n; i++) {
      exponentials[i] = Math.exp(data[start + i] - largest);
      sum += exponentials[i];
    }
    visit(start, exponentials, sum, largest);
  }
}

function softmax(x: TensorRef, y: TensorRef): void {
  const out = numbers(y);
  forEachRow(x, (start, exponentials, sum) => {
    for (let i = 0; i < exponentials.length; i++) out[start + i] = exponentials[i] / sum;
  });
}

function logSoftmax(x: TensorRef, y: TensorRef): void {
  const data = numbers(x);
  const out = numbers(y);
  forEachRow(x, (start, exponentials, sum, largest) => {
    const log = Math.log(sum);
    for (let i = 0; i < exponentials.length; i++) out[start + i] = data[start + i] - largest - log;
  });
}

function crossEntropy(logits: TensorRef, labels: TensorRef, loss: TensorRef, backprop: TensorRef): void {
  const data = numbers(logits);
  const label = numbers(labels);
  const losses = numbers(loss);
  const out = numbers(backprop);
  losses.fill(0);
  forEachRow(logits, (start, exponentials, sum, largest) => {
    const n = exponentials.length;
    const log = Math.log(sum);
    let total = 0;
    let entropy = 0;
    for (let i = start; i < start + n; i++) {
      total += label[i];
      entropy -= label[i] * (data[i] - largest - log);
    }
    losses[start / n] = entropy;
    for (let i = 0; i < n; i++) out[start + i] = (exponentials[i] / sum) * total - label[start + i];
  });
}

function sparseCrossEntropy(
  logits: TensorRef,
  labels: TensorRef,
  loss: TensorRef,
  backprop: TensorRef,
): void {
  const classes = width(logits);
  const label = view(labels);
  for (let row = 0; row < label.length; row++) {
    if (label[row] < 0 || label[row] >= classes) {
      throw new OutOfRangeError(
        `label ${label[row]} (of row ${row}) is outside of the ${classes} classes`,
        'SparseSoftmaxCrossEntropyWithLogits',
      );
    }
  }
  const data = numbers(logits);
  const losses = numbers(loss);
  const out = numbers(backprop);
  forEachRow(logits, (start, exponentials, sum, largest) => {
    const row = start / classes;
    const hit = Number(label[row]);
    losses[row] = Math.log(sum) - (data[start + hit] - largest);
    for (let i = 0; i < classes; i++) out[start + i] = exponentials[i] / sum - (i === hit ? 1 : 0);
  });
}

/** The kernels of softmax and its gradient. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Softmax: ([x], [y]) => softmax(x, y),
  LogSoftmax: ([x], [y]) => logSoftmax(x, y),
  SoftmaxCrossEntropyWithLogits: ([logits, labels], [loss, backprop]) =>
    crossEntropy(logits, labels, loss, backprop),
  SparseSoftmaxCrossEntropyWithLogits: ([logits, labels], [loss, backprop]) =>
    sparseCrossEntropy(logits, labels, loss, backprop),
};
