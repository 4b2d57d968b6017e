// Gradients of ops for graphs that hold gradient ops.
import { GradientTape } from '@eagre/autodiff';
import type { Tensor } from '@eagre/core';

/** The gradients of what `fn` computes from `inputs`, times `dy`; null for inputs that it does not depend on. */
export function vjp(
  fn: (...inputs: readonly Tensor[]) => Tensor,
  inputs: readonly Tensor[],
  dy: Tensor,
): (Tensor | null)[] {
  const tape = new GradientTape();
  const y = tape.record(() => {
    tape.watch(inputs);
    return fn(...inputs);
  });
  return tape.denseGradient(y, inputs, { outputGradients: dy }) as (Tensor | null)[];
}
