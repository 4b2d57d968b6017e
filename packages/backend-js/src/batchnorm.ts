import type { Kernel, KernelName, TensorRef } from '@eagre/backend';
import { type NumberArray, numbers } from './view.ts';

/** Adds f(element index, channel) over all pixels, channel by channel. */
function sumChannels(
  size: number,
  channels: number,
  f: (i: number, channel: number) => number,
): Float64Array {
  const sums = new Float64Array(channels);
  for (let start = 0; start < size; start += channels) {
    for (let c = 0; c < channels; c++) sums[c] += f(start + c, c);
  }
  return sums;
}

function forward(
  x: TensorRef,
  scale: NumberArray,
  offset: NumberArray,
  [y, mean, variance]: readonly TensorRef[],
  epsilon: number,
): void {
  const data = numbers(x);
  const out = numbers(y);
  const channels = scale.length;
  const pixels = x.size / channels;
  // Two passes, so that a mean far from zero costs no digits of the variance.
  const means = sumChannels(x.size, channels, (i) => data[i]).map((sum) => sum / pixels);
  const variances = sumChannels(x.size, channels, (i, c) => (data[i] - means[c]) ** 2).map(
    (sum) => sum / pixels,
  );
  const factors = variances.map((v, c) => scale[c] / Math.sqrt(v + epsilon));
  for (let start = 0; start < x.size; start += channels) {
    for (let c = 0; c < channels; c++) {
      out[start + c] = (data[start + c] - means[c]) * factors[c] + offset[c];
    }
  }
  numbers(mean).set(means);
  numbers(variance).set(variances);
}

/**
 * With x̂ = (x − mean) / √(variance + epsilon) and means over the pixels of a channel:
 * dx = scale / √(variance + epsilon) · (dy − mean(dy) − x̂ · mean(dy · x̂)).
 */
function backward(
  [dy, x, scale, mean, variance]: readonly TensorRef[],
  [dx, dscale, doffset]: readonly TensorRef[],
  epsilon: number,
): void {
  const gradient = numbers(dy);
  const data = numbers(x);
  const out = numbers(dx);
  const means = numbers(mean);
  const channels = scale.size;
  const pixels = x.size / channels;
  const inverses = new Float64Array(numbers(variance)).map((v) => 1 / Math.sqrt(v + epsilon));
  const sums = sumChannels(x.size, channels, (i) => gradient[i]);
  const products = sumChannels(x.size, channels, (i, c) => gradient[i] * (data[i] - means[c]) * inverses[c]);
  const factors = new Float64Array(numbers(scale)).map((s, c) => s * inverses[c]);
  for (let start = 0; start < x.size; start += channels) {
    for (let c = 0; c < channels; c++) {
      const normal = (data[start + c] - means[c]) * inverses[c];
      out[start + c] = factors[c] * (gradient[start + c] - (sums[c] + normal * products[c]) / pixels);
    }
  }
  numbers(dscale).set(products);
  numbers(doffset).set(sums);
}

/** The kernels of batch normalisation. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  FusedBatchNorm: ([x, scale, offset], outputs, attrs) =>
    forward(x, numbers(scale), numbers(offset), outputs, attrs.epsilon as number),
  FusedBatchNormGrad: (inputs, outputs, attrs) => backward(inputs, outputs, attrs.epsilon as number),
};
