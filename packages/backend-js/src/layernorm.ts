import type { Kernel, KernelName, TensorRef } from '@eagre/backend';
import { numbers } from './view.ts';

interface Norm {
  readonly x: TensorRef;
  readonly gamma?: TensorRef | undefined;
  readonly beta?: TensorRef | undefined;
  readonly y: TensorRef;
  /** Without it, nothing is subtracted: RMSNorm. */
  readonly mean?: TensorRef;
  readonly rstd: TensorRef;
  readonly epsilon: number;
}

function forward({ x, gamma, beta, y, mean, rstd, epsilon }: Norm): void {
  const data = numbers(x);
  const out = numbers(y);
  const scale = gamma === undefined ? undefined : numbers(gamma);
  const shift = beta === undefined ? undefined : numbers(beta);
  const means = mean === undefined ? undefined : numbers(mean);
  const inverses = numbers(rstd);
  const n = x.size / rstd.size;
  for (let row = 0; row < rstd.size; row++) {
    const at = row * n;
    let center = 0;
    if (means !== undefined) {
      for (let i = 0; i < n; i++) center += data[at + i];
      center /= n;
      means[row] = center;
    }
    let square = 0;
    for (let i = 0; i < n; i++) square += (data[at + i] - center) ** 2;
    const inverse = 1 / Math.sqrt(square / n + epsilon);
    inverses[row] = inverse;
    for (let i = 0; i < n; i++) {
      out[at + i] = (data[at + i] - center) * inverse * (scale?.[i] ?? 1) + (shift?.[i] ?? 0);
    }
  }
}

interface NormGrad {
  readonly dy: TensorRef;
  readonly x: TensorRef;
  readonly mean?: TensorRef;
  readonly rstd: TensorRef;
  readonly gamma?: TensorRef | undefined;
  readonly dx: TensorRef;
  readonly dgamma: TensorRef;
  readonly dbeta?: TensorRef;
}

/**
 * With x̂ = (x − mean) · rstd, h = dy · gamma and means over a row: dx = rstd · (h − mean(h) − x̂ · mean(h · x̂)), where RMSNorm
 * has neither mean nor mean(h); dgamma = Σ dy · x̂ and dbeta = Σ dy over the rows.
 */
function backward({ dy, x, mean, rstd, gamma, dx, dgamma, dbeta }: NormGrad): void {
  const gradient = numbers(dy);
  const data = numbers(x);
  const out = numbers(dx);
  const means = mean === undefined ? undefined : numbers(mean);
  const inverses = numbers(rstd);
  const scale = gamma === undefined ? undefined : numbers(gamma);
  const n = dgamma.size;
  const products = new Float64Array(n);
  const sums = new Float64Array(n);
  for (let row = 0; row < rstd.size; row++) {
    const at = row * n;
    const center = means?.[row] ?? 0;
    const inverse = inverses[row];
    let level = 0;
    let slope = 0;
    for (let i = 0; i < n; i++) {
      const normal = (data[at + i] - center) * inverse;
      const h = gradient[at + i] * (scale?.[i] ?? 1);
      level += h;
      slope += h * normal;
      sums[i] += gradient[at + i];
      products[i] += gradient[at + i] * normal;
    }
    level = means === undefined ? 0 : level / n;
    slope /= n;
    for (let i = 0; i < n; i++) {
      const normal = (data[at + i] - center) * inverse;
      out[at + i] = inverse * (gradient[at + i] * (scale?.[i] ?? 1) - level - normal * slope);
    }
  }
  numbers(dgamma).set(products);
  if (dbeta !== undefined) numbers(dbeta).set(sums);
}

/** The kernels of layer normalisation. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  LayerNorm: ([x, ...more], [y, mean, rstd], attrs) =>
    forward({
      x,
      gamma: attrs.scaled ? more[0] : undefined,
      beta: attrs.shifted ? more[more.length - 1] : undefined,
      y,
      mean,
      rstd,
      epsilon: attrs.epsilon as number,
    }),
  LayerNormGrad: ([dy, x, mean, rstd, gamma], [dx, dgamma, dbeta]) =>
    backward({ dy, x, mean, rstd, gamma, dx, dgamma, dbeta }),
  RMSNorm: ([x, gamma], [y, rstd], attrs) => forward({ x, gamma, y, rstd, epsilon: attrs.epsilon as number }),
  RMSNormGrad: ([dy, x, rstd, gamma], [dx, dgamma]) => backward({ dy, x, rstd, gamma, dx, dgamma }),
};
