import { GradientTape } from '@eagre/autodiff';
import { isComplex } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { isFloating, sizeOf } from '@eagre/core/internal';
import { generator } from './values.ts';

type Fn = (inputs: readonly Tensor[]) => readonly Tensor[];

export interface GradCheckOptions {
  /** 1 or 2: also the gradient of the gradient. */
  readonly order?: 1 | 2;
  /** Permitted difference relative to the larger of the two, and at least to 1. */
  readonly tolerance?: number;
  readonly seed?: number;
}

/**
 * Compares the tape's gradient of a function with central differences along a random direction, in float64 (as JAX's check_grads
 * does). Inputs and outputs that are not floating are left alone.
 * @throws Error with both numbers where they differ.
 */
export function checkGradients(given: Fn, inputs: readonly Tensor[], options: GradCheckOptions = {}): void {
  // Of complex results both parts count.
  const fn: Fn = (xs) => given(xs).flatMap((y) => (isComplex(y.dtype) ? [y.real(), y.imag()] : [y]));
  const { order = 1, tolerance = 2e-5, seed = 7 } = options;
  const random = generator(seed);
  const like = (t: Tensor): Tensor => {
    const list = Array.from({ length: sizeOf(t.shape) }, () => random() * 2 - 1);
    return constant(list, 'float64', { shape: t.shape });
  };
  const floats = inputs.flatMap((t, i) => (isFloating(t.dtype) ? [i] : []));
  if (floats.length === 0) return;
  const weights = fn(inputs).map((y) => (isFloating(y.dtype) ? like(y) : null));
  if (weights.every((w) => w === null)) return;
  const place = (chosen: readonly Tensor[]): Tensor[] => {
    const all = [...inputs];
    floats.forEach((at, i) => {
      all[at] = chosen[i] as Tensor;
    });
    return all;
  };
  /** A scalar of the outputs, so that one direction tells of all of them. */
  const loss = (chosen: readonly Tensor[]): Tensor => {
    const parts = fn(place(chosen)).flatMap((y, i) => {
      const w = weights[i];
      return w === null || w === undefined ? [] : [y.mul(w).sum()];
    });
    return parts.reduce((a, b) => a.add(b));
  };
  const gradient = (chosen: readonly Tensor[]): Tensor[] => {
    using tape = new GradientTape();
    tape.watch(chosen);
    return tape.gradient(loss(chosen), chosen, { unconnectedGradients: 'zero' });
  };
  const chosen = floats.map((i) => inputs[i] as Tensor);
  compare(loss, gradient(chosen), chosen, like, tolerance, 'first');
  if (order === 1) return;
  const mix = chosen.map(like);
  const slope = (at: readonly Tensor[]): Tensor =>
    gradient(at)
      .map((g, i) => g.mul(mix[i] as Tensor).sum())
      .reduce((a, b) => a.add(b));
  const second = (at: readonly Tensor[]): Tensor[] => {
    using tape = new GradientTape();
    tape.watch(at);
    return tape.gradient(slope(at), at, { unconnectedGradients: 'zero' });
  };
  compare(slope, second(chosen), chosen, like, tolerance * 5, 'second');
}

function compare(
  f: (at: readonly Tensor[]) => Tensor,
  grads: readonly Tensor[],
  at: readonly Tensor[],
  like: (t: Tensor) => Tensor,
  tolerance: number,
  order: string,
): void {
  const direction = at.map(like);
  const h = 1e-5;
  const moved = (step: number): Tensor[] => at.map((x, i) => x.add((direction[i] as Tensor).mul(step)));
  const numeric = (f(moved(h)).item() - f(moved(-h)).item()) / (2 * h);
  const exact = grads
    .map((g, i) => g.mul(direction[i] as Tensor).sum())
    .reduce((a, b) => a.add(b))
    .item();
  const scale = Math.max(1, Math.abs(numeric), Math.abs(exact));
  if (!(Math.abs(numeric - exact) <= tolerance * scale)) {
    throw new Error(`${order} order: the tape gives ${exact}, differences give ${numeric}`);
  }
}
