import { isBig, type Kernel, type KernelName, product, type TensorRef } from '@eagre/backend';
import { bigints, numbers } from './view.ts';

/** Visits the elements of every line along `axis` in the order of the scan; `first` says that a line begins. */
function forEachInOrder(
  x: TensorRef,
  axis: number,
  reverse: boolean,
  visit: (at: number, first: boolean) => void,
): void {
  const n = x.shape[axis];
  const step = product(x.shape.slice(axis + 1));
  if (x.size === 0) return;
  for (let line = 0; line < x.size / n; line++) {
    const start = (line - (line % step)) * n + (line % step);
    for (let i = 0; i < n; i++) visit(start + (reverse ? n - 1 - i : i) * step, i === 0);
  }
}

interface Scan {
  readonly of: (a: number, b: number) => number;
  /** The same for integers of up to 32 bits, whose products may need more than 53 bits. */
  readonly ofInts: (a: number, b: number) => number;
  readonly ofBig: (a: bigint, b: bigint) => bigint;
  readonly start: number;
}
const sum: Scan = { of: (a, b) => a + b, ofInts: (a, b) => (a + b) | 0, ofBig: (a, b) => a + b, start: 0 };
const prod: Scan = {
  of: (a, b) => a * b,
  ofInts: Math.imul,
  ofBig: (a, b) => BigInt.asIntN(64, a * b),
  start: 1,
};

const over =
  (scan: Scan): Kernel =>
  ([x], [y], attrs) => {
    const axis = attrs.axis as number;
    const exclusive = Boolean(attrs.exclusive);
    const reverse = Boolean(attrs.reverse);
    if (isBig(x.dtype)) {
      const data = bigints(x);
      const out = bigints(y);
      let value = 0n;
      forEachInOrder(x, axis, reverse, (at, first) => {
        const before = first ? BigInt(scan.start) : value;
        value = scan.ofBig(before, data[at]);
        out[at] = exclusive ? before : value;
      });
      return;
    }
    const data = numbers(x);
    const out = numbers(y);
    // Floating numbers are accumulated in float64, whatever x's precision.
    const f = x.dtype === 'float32' || x.dtype === 'float64' ? scan.of : scan.ofInts;
    let value = 0;
    forEachInOrder(x, axis, reverse, (at, first) => {
      const before = first ? scan.start : value;
      value = f(before, data[at]);
      out[at] = exclusive ? before : value;
    });
  };

/** The kernels of running sums and products. */
export const kernels: Partial<Record<KernelName, Kernel>> = { CumSum: over(sum), CumProd: over(prod) };
