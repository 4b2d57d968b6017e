// Batch normalization of 16 bits with statistics of float32: what float32 gives, rounded once.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, nn, type Tensor, withBackend } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import * as tf from 'eagre';
import { afterEach, describe, expect, it } from 'vitest';
import { generator } from '../../testing/src/values.ts';

type Half = 'float16' | 'bfloat16';

/** The values, and the gradients by x, scale and offset, first and second, of sums of all results. */
function results(x: Tensor, scale: Tensor, offset: Tensor, traced: boolean): Tensor[] {
  const run = (...[t, s, o]: Tensor[]): Tensor[] => {
    const outer = new GradientTape();
    outer.watch([t, s, o]);
    const made = outer.record(() => {
      const inner = new GradientTape();
      inner.watch([t, s, o]);
      const [y, mean, variance, total] = inner.record(() => {
        const made = nn.fusedBatchNorm(t, s, o);
        const level = made.mean.mul(3).sum().add(made.variance.mul(2).sum());
        return [made.y, made.mean, made.variance, made.y.cast('float32').sin().sum().add(level)];
      });
      const first = inner.gradient(total, [t, s, o]) as Tensor[];
      const sums = first.map((g) => g.cast('float32').square().sum()).reduce((a, b) => a.add(b));
      return [y, mean, variance, ...first, sums];
    });
    return [...made.slice(0, -1), ...(outer.gradient(made[made.length - 1], [t, s]) as Tensor[])];
  };
  return (traced ? tfFunction(run) : run)(x, scale, offset) as Tensor[];
}

describe.each(['js', 'native'])('on %s', (backend) => {
  afterEach(() => tf.keras.mixedPrecision.setGlobalPolicy('float32'));

  it.each(['float16', 'bfloat16'] as const)(
    '%s is normalized as float32 is, eagerly and traced',
    (dtype: Half) => {
      withBackend(backend, () => {
        const random = generator(3);
        const numbers = (...shape: number[]): Tensor =>
          constant(
            Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() * 2 - 0.5),
          ).reshape(shape);
        // Numbers of 16 bits, so that only results are rounded.
        const x = numbers(6, 5, 3).cast(dtype);
        const [scale, offset] = [numbers(3), numbers(3)];
        const expected = results(x.cast('float32'), scale, offset, false);
        for (const traced of [false, true]) {
          const got = results(x, scale, offset, traced);
          expect(got.map((t) => t.dtype)).toEqual([
            dtype,
            'float32',
            'float32',
            dtype,
            'float32',
            'float32',
            dtype,
            'float32',
          ]);
          got.forEach((t, i) => {
            const [a, b] = [t, expected[i]].map((u) => [...u.cast('float64').data()].map(Number));
            const most = Math.max(1, ...b.map(Math.abs));
            const unit = dtype === 'bfloat16' ? 2 ** -7 : 2 ** -10;
            // y and its gradients are rounded before others are computed from them.
            const off = a.map((value, k) => Math.abs(value - b[k]) / most);
            expect(Math.max(...off), `result ${i}`).toBeLessThan(
              i === 1 || i === 2 ? 1e-6 : i === 0 ? unit : 8 * unit,
            );
          });
        }
      });
    },
  );

  it('a layer under a mixed policy gives what one of float32 gives, and moves by statistics of float32', () => {
    withBackend(backend, () => {
      const x = constant(Array.from({ length: 64 * 4 }, (_, i) => 100 + Math.sin(i) * 4)).reshape([64, 4]);
      const run = (policy: 'float32' | 'mixed_bfloat16' | 'mixed_float16'): [Tensor, Tensor, Tensor] => {
        tf.keras.mixedPrecision.setGlobalPolicy(policy);
        const layer = new tf.layers.BatchNormalization({ momentum: 0 });
        const y = layer(policy === 'float32' ? narrow.cast('float32') : narrow, { training: true }) as Tensor;
        return [y, layer.movingMean.read(), layer.movingVariance.read()];
      };
      let narrow = x;
      for (const [policy, dtype] of [
        ['mixed_bfloat16', 'bfloat16'],
        ['mixed_float16', 'float16'],
      ] as const) {
        narrow = x.cast(dtype);
        const [y, mean, variance] = run(policy);
        const [wideY, wideMean, wideVariance] = run('float32');
        expect(y.dtype).toBe(dtype);
        expect(y.data()).toEqual(wideY.cast(dtype).data());
        expect([...mean.data()]).toEqual([...wideMean.data()]);
        expect([...variance.data()]).toEqual([...wideVariance.data()]);
      }
    });
  });
});
