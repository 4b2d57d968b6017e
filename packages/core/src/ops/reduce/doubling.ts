// Running products by doubling; nothing here is public.
import { dims } from '../../shapes/dims.ts';
import { atMost, lessThan } from '../../shapes/shape-env.ts';
import type { Tensor } from '../../tensor/tensor.ts';

/** Moved toward the start along an axis; at the end something else comes in. */
export function shifted(t: Tensor, axis: number, by: number, filler: number): Tensor {
  const begin = dims(t).map((_, i) => (i === axis ? by : 0));
  return t.slice(begin).pad(
    begin.map((after): [number, number] => [0, after]),
    { constantValues: filler },
  );
}

/**
 * The running product of complex numbers by doubling, in about log2(n) steps of complex products.
 */
export function complexCumprod(given: Tensor, axis: number, exclusive: boolean, reverse: boolean): Tensor {
  const turned = (t: Tensor): Tensor => (reverse ? t : t.reverse(axis));
  const n = dims(given)[axis];
  if (atMost(n, 0)) return given.identity();
  let product = turned(given);
  for (let by = 1; lessThan(by, n); by *= 2) product = product.mul(shifted(product, axis, by, 1));
  return turned(exclusive ? shifted(product, axis, 1, 1) : product);
}
