import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { dtypeTraits } from '@eagre/backend';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { execute, isFloating, listOps, sizeOf } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';
import { checkGradients } from './grad-check.ts';
import { generator, hasFloats, materialize } from './values.ts';

const differentiable = [...listOps().values()].filter((op) => op.notDifferentiable === undefined);

/** Tests the gradients of all ops on a backend, and to order 2 the gradients of these, by differences, in float64. */
export function differencesSuite(backend: string, order: 1 | 2): void {
  describe(`gradients on ${backend}, to order ${order}`, () => {
    for (const op of differentiable) {
      it(op.name, () => {
        for (const [index, sample] of op.samples().entries()) {
          if (!hasFloats(sample)) continue;
          withBackend(backend, () =>
            checkGradients(
              (inputs) => execute(op, inputs, sample.attrs ?? {}),
              materialize(sample, 'float64', index + 1),
              { order },
            ),
          );
        }
      });
    }
  });
}

// Gradients take several kernels, and what one rounds grows in the next.
const UNITS = { float32: 2 ** 10, float16: 32, bfloat16: 32 };

/**
 * Tests that the gradients of all ops in float32 and 16 bits are on a backend what they are on the reference: there in float64 instead of
 * float32. Differences are measured against the largest element, and against 1 at least.
 */
export function gradientSuite(backend: string): void {
  describe.each(['float32', 'float16', 'bfloat16'] as const)(
    `gradients on ${backend} agree with the reference in %s`,
    (dtype) => {
      const unit = 2 ** (1 - dtypeTraits[dtype].digits);
      for (const op of differentiable) {
        const samples = op.samples().filter(hasFloats);
        if (samples.length === 0) continue;
        it(op.name, () => {
          for (const [index, sample] of samples.entries()) {
            const gradients = (name: string, float: typeof dtype | 'float64'): number[][] =>
              withBackend(name, () => {
                const random = generator(7);
                const inputs = materialize(sample, float, index + 1);
                const watched = inputs.filter((x) => isFloating(x.dtype));
                const tape = new GradientTape();
                tape.watch(watched);
                const outputs = tape
                  .record(() => execute(op, inputs, sample.attrs ?? {}))
                  .filter((y) => isFloating(y.dtype));
                if (outputs.length === 0) return [];
                const outputGradients = outputs.map((y) =>
                  constant(
                    Array.from({ length: sizeOf(y.shape) }, () => Math.fround(random() * 2 - 1)),
                    y.dtype,
                    { shape: y.shape },
                  ),
                );
                return tape
                  .gradient(outputs, watched, { outputGradients, unconnectedGradients: 'zero' })
                  .map((dx: Tensor) => [...dx.cast('float64').data()].map(Number));
              });
            const expected = gradients('js', dtype === 'float32' ? 'float64' : dtype);
            const got = gradients(backend, dtype);
            got.forEach((dx, i) => {
              const where = `sample ${index}, input ${i}`;
              const scale = Math.max(1, ...expected[i].map(Math.abs).filter(Number.isFinite));
              const off = dx.map((x, k) =>
                Object.is(x, expected[i][k]) ? 0 : Math.abs(x - expected[i][k]) / (scale * unit),
              );
              expect(dx.length, where).toBe(expected[i].length);
              // Not a number is never as near.
              expect(
                off.filter((units) => !(units <= UNITS[dtype])),
                where,
              ).toEqual([]);
            });
          }
        });
      }
    },
  );
}
