// Gradients of ops for graphs that hold gradient ops.
import { GradientTape } from '@eagre/autodiff';
import type { Tensor } from '@eagre/core';
import { dims } from '@eagre/core/internal';
import { inSizesOf } from '@eagre/graph';

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
  return tape.denseGradient(ys, inputs, {
    outputGradients: dys.map((dy, i) => fitted(dy, ys[i] as Tensor)),
  }) as (Tensor | null)[];
}

/** Behind branches of other sizes a run tells those of a gradient: it comes to a branch in the sizes of any. */
function fitted(dy: Tensor, y: Tensor): Tensor {
  return dy.rank === y.rank && dims(dy).some((size) => typeof size !== 'number') ? inSizesOf(dy, y) : dy;
}
