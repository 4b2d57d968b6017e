// Attention in 16 bits: how far results and gradients are from those in float64, beside PyTorch's.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

/** The same numbers as in Python. */
function numbers(seed: number, shape: readonly number[], scale: number): tf.Tensor {
  let x = seed;
  const data = Float64Array.from({ length: shape.reduce((a, b) => a * b) }, () => {
    x = (Math.imul(x, 1103515245) + 12345) & 0x7fffffff;
    return (x / 2147483648 - 0.5) * scale;
  });
  return tf.constant({ data, shape: [...shape] } as never, 'float64');
}

// The root of the mean square of the errors of y and the gradients of query, key and value that scaled_dot_product_attention of PyTorch 2 has on the
// processor, is_causal=True; [batch, heads, time, size], and how wide query and key are.
const pytorch: readonly (readonly [
  dtype: 'bfloat16' | 'float16',
  shape: readonly number[],
  scale: number,
  errors: readonly number[],
])[] = [
  ['bfloat16', [1, 2, 128, 32], 8, [7.16e-4, 9.28e-4, 9.98e-4, 1.358e-3]],
  ['float16', [1, 2, 128, 32], 8, [9.24e-5, 1.428e-4, 1.445e-4, 1.715e-4]],
  ['bfloat16', [1, 1, 300, 64], 4, [2.778e-4, 2.049e-4, 2.79e-4, 5.411e-4]],
  ['float16', [1, 1, 300, 64], 4, [3.522e-5, 2.459e-5, 3.576e-5, 6.631e-5]],
];

test.each(pytorch.flatMap((row) => (['native', 'js'] as const).map((backend) => [backend, ...row] as const)))(
  '%s, %s, %j',
  (backend, dtype, shape, scale, errors) => {
    tf.experimental.withBackend(backend, () => {
      const given = [1, 2, 3, 4].map((seed) => numbers(seed, shape, seed < 3 ? scale : 2).cast(dtype));
      const run = (as: 'float64' | 'bfloat16' | 'float16'): tf.Tensor[] => {
        const [q, k, v, dy] = given.map((t) => t.cast(as)) as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
        const tape = new tf.GradientTape();
        tape.watch([q, k, v]);
        const y = tape.record(() => tf.nn.scaledDotProductAttention(q, k, v, { isCausal: true }));
        const gradients = tape.gradient(y, [q, k, v], { outputGradients: dy }) as tf.Tensor[];
        return [y, ...gradients].map((t) => t.cast('float64'));
      };
      const wanted = run('float64');
      run(dtype).forEach((t, i) => {
        const error = t
          .sub(wanted[i] as tf.Tensor)
          .square()
          .mean()
          .sqrt()
          .item();
        expect(error).toBeLessThan(1.05 * (errors[i] as number));
      });
    });
  },
);
