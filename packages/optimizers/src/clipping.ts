import {
  clipByValue,
  constant,
  type DType,
  InvalidArgumentError,
  maximum,
  minimum,
  type Tensor,
} from '@eagre/core';
import { shown } from '@eagre/core/internal';
import type { Update } from './gradients.ts';

/** How gradients are kept small; null: not at all. */
export interface Clipping {
  readonly clipnorm: number | null;
  readonly clipvalue: number | null;
  readonly globalClipnorm: number | null;
}

/** @throws InvalidArgumentError when more than one of them is given, or one is no positive number. */
export function checkClipping(clipping: Clipping, optimizer: string): void {
  const given = Object.entries(clipping).filter(([, value]) => value !== null) as [string, unknown][];
  if (given.length > 1) {
    throw new InvalidArgumentError(
      `only one of ${given.map(([name, value]) => `${name} (${shown(value)})`).join(' and ')} can be given`,
      optimizer,
    );
  }
  for (const [name, value] of given) {
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new InvalidArgumentError(
        `${name} must be a number of at least 0, got ${shown(value)}`,
        optimizer,
      );
    }
  }
}

/** The gradients, shortened. A limit of 0 is none, as in Keras. */
export function clipGradients(updates: readonly Update[], clipping: Clipping): Update[] {
  const { clipnorm, clipvalue, globalClipnorm } = clipping;
  const each = (clip: (gradient: Tensor) => Tensor): Update[] =>
    updates.map(({ gradient, variable }) => ({ gradient: clip(gradient), variable }));
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
