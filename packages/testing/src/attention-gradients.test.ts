// Gradients of attention in 16 bits against those in float64 of the same numbers. The sum of exponentials that the gradient takes from the result must not be rounded to 16 bits.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { dtypeTraits, listBackends } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { expect, it } from 'vitest';
import { generator } from './values.ts';

/** Of query, key, value and mask. */
function gradients(inputs: readonly Tensor[], upstream: Tensor, isCausal: boolean): Float64Array[] {
  const [query, key, value, mask] = inputs as [Tensor, Tensor, Tensor, Tensor];
  const tape = new GradientTape();
  for (const x of inputs) tape.watch(x);
  const y = tape.record(() => core.nn.scaledDotProductAttention(query, key, value, { mask, isCausal }));
  const made = tape.gradient(y, inputs, { outputGradients: upstream }) as Tensor[];
  made.forEach((each, i) => expect(each.dtype).toBe(inputs[i].dtype));
  return made.map((each) => each.cast('float64').data() as Float64Array);
}

/** How long the difference is, of the length of what is right. */
function distance(got: Float64Array, right: Float64Array): number {
  const length = (list: Float64Array): number => Math.sqrt(list.reduce((sum, x) => sum + x * x, 0));
  return length(got.map((x, i) => x - right[i])) / length(right);
}

it.each(
  (['float16', 'bfloat16'] as const).flatMap((dtype) =>
    ([0.5, 1, 3] as const).map((size) => [dtype, size] as const),
  ),
)('are right in %s, with numbers of size %d', (dtype, size) => {
  const random = generator(5);
  const of = (shape: readonly number[], scale: number): Tensor =>
    constant(
      Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => scale * (4 * random() - 2)),
      dtype,
    ).reshape(shape);
  const shape = [1, 2, 40, 32];
  const inputs = [of(shape, size), of(shape, size), of(shape, 1), of([1, 1, 40, 40], size)];
  const upstream = of(shape, 1);
  const exact = inputs.map((x) => x.cast('float64'));
  for (const isCausal of [false, true]) {
    const right = gradients(exact, upstream.cast('float64'), isCausal);
    for (const { name } of listBackends())
      withBackend(name, () =>
        gradients(inputs, upstream, isCausal).forEach((got, i) => {
          // Results are rounded; a slope also has the error of y, which the larger of what is subtracted has.
          expect(distance(got, right[i]), `input ${i} on ${name}`).toBeLessThan(
            2 * 2 ** -dtypeTraits[dtype].digits,
          );
        }),
      );
  }
});
