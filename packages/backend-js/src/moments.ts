import type { Kernel, KernelName, TensorRef } from '@eagre/backend';
import { numbers } from './view.ts';

/** Over neighbouring axes: for each place before and after them, two passes in float64. */
function moments(x: TensorRef, mean: TensorRef, variance: TensorRef, axes: readonly number[]): void {
  const product = (from: number, to?: number): number => x.shape.slice(from, to).reduce((a, b) => a * b, 1);
  const [first = x.shape.length] = axes;
  const n = product(first, first + axes.length);
  const inner = product(first + axes.length);
  const [data, means, variances] = [numbers(x), numbers(mean), numbers(variance)];
  for (let i = 0; i < mean.size; i++) {
    const start = Math.floor(i / inner) * n * inner + (i % inner);
    const end = start + n * inner;
    let center = 0;
    for (let at = start; at < end; at += inner) center += data[at];
    center /= n;
    let square = 0;
    for (let at = start; at < end; at += inner) square += (data[at] - center) ** 2;
    means[i] = center;
    variances[i] = square / n;
  }
}

/** The kernels of means and variances. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Moments: ([x], [mean, variance], attrs) => moments(x, mean, variance, attrs.axes as readonly number[]),
};
