import '@eagre/backend-js';
import { type Tensor, withBackend } from '@eagre/core';
import { execute, isFloating, listOps } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { hasFloats, materialize } from './values.ts';

// Ops that look at values on the host: they say so while a function is traced.
const hostOnly = new Set(['InvertPermutation', 'CheckNumericsV2']);

// Their parts are recognised as a kernel, which rounds otherwise than they do.
const recognised = new Set(['LayerNormalization']);

/**
 * Tests that every op on every sample gives in a traced function what it gives eagerly, on one backend.
 * @param tolerance of floats, relative to the largest one, where a backend computes what is traced in another order.
 */
export function tracedSuite(backend: string, tolerance = 0): void {
  describe(`traced ops on ${backend} equal eager ones`, () => {
    for (const op of listOps().values()) {
      it(op.name, () => {
        withBackend(backend, () => {
          for (const [index, sample] of op.samples().entries()) {
            const attrs = sample.attrs ?? {};
            const floats = hasFloats(sample) ? (['float32', 'float64'] as const) : (['float32'] as const);
            for (const float of floats) {
              const inputs = materialize(sample, float, index + 1);
              if (inputs.some((x) => x.dtype === 'string')) continue;
              const traced = tfFunction((...xs: Tensor[]) => execute(op, xs, attrs) as Tensor[]);
              if (hostOnly.has(op.name)) {
                expect(() => traced(...inputs)).toThrow('no value while tf.function traces');
                continue;
              }
              const expected = execute(op, inputs, attrs);
              // The second call runs what the first has made.
              for (const got of [traced(...inputs), traced(...inputs)]) {
                expect(got.length).toBe(expected.length);
                got.forEach((y, i) => {
                  const want = expected[i] as Tensor;
                  const where = `sample ${index}, ${float}, output ${i}`;
                  expect(y.dtype, where).toBe(want.dtype);
                  expect(y.shape, where).toEqual(want.shape);
                  const most = recognised.has(op.name) ? 1e-6 : isFloating(y.dtype) ? tolerance : 0;
                  if (most > 0 && y.size > 0) expect(distance(y, want), where).toBeLessThanOrEqual(most);
                  else if (y.dtype !== 'string') expect(y.data(), where).toEqual(want.data());
                });
              }
            }
          }
        });
      });
    }
  });
}

/** Of the elements, relative to the largest one and to 1. */
function distance(a: Tensor, b: Tensor): number {
  const expected = [...b.data()].map(Number);
  const scale = Math.max(1, ...expected.map(Math.abs).filter(Number.isFinite));
  return Math.max(
    ...[...a.data()].map((x, i) =>
      Object.is(Number(x), expected[i]) ? 0 : Math.abs(Number(x) - expected[i]) / scale,
    ),
  );
}
