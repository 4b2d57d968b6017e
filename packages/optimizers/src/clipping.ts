import {
  clipByValue,
  constant,
  type DType,
  InvalidArgumentError,
  maximum,
  minimum,
  type Tensor,
} from '@eagre/core';
import type { Update } from './gradients.ts';

/** How gradients are kept small; null: not at all. */
export interface Clipping {
  readonly clipnorm: number | null;
  readonly clipvalue: number | null;
  readonly globalClipnorm: number | null;
}

/** @throws InvalidArgumentError when more than one of them is given. */
export function checkClipping(optimizer: Clipping & { readonly name: string }): void {
  const { clipnorm, clipvalue, globalClipnorm } = optimizer;
  const given = Object.entries({ clipnorm, clipvalue, globalClipnorm }).filter(([, value]) => value !== null);
  if (given.length > 1) {
    throw new InvalidArgumentError(
      `only one of ${given.map(([name, value]) => `${name} (${value})`).join(' and ')} can be given`,
      optimizer.name,
    );
  }
}

/** The gradients, shortened. A limit of 0 is none, as in Keras. */
export function clipGradients(updates: readonly Update[], clipping: Clipping): Update[] {
  const { clipnorm, clipvalue, globalClipnorm } = clipping;
  const each = (clip: (gradient: Tensor) => Tensor): Update[] =>
    updates.map((update) => ({ ...update, gradient: clip(update.gradient) }));
  if (clipnorm !== null && clipnorm > 0) {
    return each((g) => g.mul(clipnorm).div(maximum(squaredNorm(g).sqrt(), clipnorm)));
  }
  if (clipvalue !== null && clipvalue > 0) return each((g) => clipByValue(g, -clipvalue, clipvalue));
  if (globalClipnorm !== null && globalClipnorm > 0) {
    const wide: DType = updates.some((u) => u.gradient.dtype === 'float64') ? 'float64' : 'float32';
    const norm = updates
      .map(({ gradient }) => squaredNorm(gradient).cast(wide))
      .reduce((a, b) => a.add(b))
      .sqrt();
    // norm − norm is 0, but NaN for a norm that is not finite: then no update hides what went wrong.
    const scale = minimum(constant(1, wide).div(norm), 1 / globalClipnorm)
      .mul(globalClipnorm)
      .add(norm.sub(norm));
    return each((g) => g.mul(scale.cast(g.dtype)));
  }
  return [...updates];
}

function squaredNorm(x: Tensor): Tensor {
  return x.square().sum();
}
