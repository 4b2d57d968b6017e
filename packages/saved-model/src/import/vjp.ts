// Gradients of ops for graphs that hold gradient ops.
import { GradientTape } from '@eagre/autodiff';
import type { Tensor } from '@eagre/core';

/** The gradients of what `fn` computes from `inputs`, times `dy`; null for inputs that it does not depend on. */
export function vjp(
  fn: (...inputs: readonly Tensor[]) => Tensor,
  inputs: readonly Tensor[],
  dy: Tensor,
): (Tensor | null)[] {
  return vjps((...xs) => [fn(...xs)], inputs, [dy]);
}

/** The gradients of the sum of several results, each times its `dy`. */
export function vjps(
  fn: (...inputs: readonly Tensor[]) => readonly Tensor[],
  inputs: readonly Tensor[],
  dys: readonly Tensor[],
): (Tensor | null)[] {
  const tape = new GradientTape();
  const ys = tape.record(() => {
    tape.watch(inputs);
    return fn(...inputs);
  });
  return tape.denseGradient(ys, inputs, { outputGradients: dys }) as (Tensor | null)[];
}
