// What the tests of control flow share.
import { GradientTape } from '@eagre/autodiff';
import type { Tensor } from '@eagre/core';

/** Value, gradient, and gradient of the gradient's sum. */
export const orders =
  (f: (x: Tensor) => Tensor) =>
  (x: Tensor): readonly [Tensor, Tensor, Tensor] => {
    const outer = new GradientTape();
    outer.watch(x);
    const inner = new GradientTape();
    inner.watch(x);
    const y = f(x);
    const first = inner.gradient(y, x, { unconnectedGradients: 'zero' });
    return [y, first, outer.gradient(first.sum(), x, { unconnectedGradients: 'zero' })];
  };
