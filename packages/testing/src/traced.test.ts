import '@eagre/backend-js';
import '@eagre/backend-native';
import { listBackends } from '@eagre/backend';
import { type Tensor, withBackend } from '@eagre/core';
import { execute, listOps } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { describe, expect, it } from 'vitest';
import { hasFloats, materialize } from './values.ts';

// Ops that look at values on the host: they say so while a function is traced.
const hostOnly = new Set(['InvertPermutation', 'CheckNumericsV2']);

// Their parts are recognised as a kernel, which rounds otherwise than they do.
const recognised = new Set(['LayerNormalization']);

describe.each(listBackends().map((b) => [b.name] as const))(
  'traced ops on %s equal eager ones',
  (backend) => {
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
                  if (recognised.has(op.name)) expect(distance(y, want), where).toBeLessThan(1e-6);
                  else if (y.dtype !== 'string') expect(y.data(), where).toEqual(want.data());
                });
              }
            }
          }
        });
      });
    }
  },
);

function distance(a: Tensor, b: Tensor): number {
  return a.sub(b).abs().max().item();
}
