import { scope, type Tensor, type Variable } from '@eagre/core';

const CHANNELS = [1, 3, 4];

/**
 * A weight as images [count, height, width, channels], as Keras shows it: a vector as a column, a matrix lying down, each channel of a
 * stack of matrices by itself; null for what is no image.
 */
export function weightImage(weight: Variable): Tensor | null {
  return scope(() => {
    const x = weight.read().squeeze();
    const [a = 1, b = 1, c = 1] = x.shape;
    if (x.rank === 1) return x.reshape([1, a, 1, 1]);
    if (x.rank === 2) return a > b ? x.transpose().reshape([1, b, a, 1]) : x.reshape([1, a, b, 1]);
    if (x.rank === 3) return x.transpose([2, 0, 1]).reshape([c, a, b, 1]);
    return x.rank === 4 && CHANNELS.includes(x.shape[3]) ? x : null;
  });
}
