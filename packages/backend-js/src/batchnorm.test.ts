import type { TensorRef } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './batchnorm.ts';
import { inner, noise, tensor, values } from './testing/kernels.ts';

const shape = [2, 3, 2, 3];
const epsilon = 1e-3;

function normalize(x: TensorRef, scale: TensorRef, offset: TensorRef): TensorRef[] {
  const outputs = [tensor('float64', x.shape), tensor('float64', [3]), tensor('float64', [3])];
  kernels.FusedBatchNorm!([x, scale, offset], outputs, { epsilon });
  return outputs;
}

describe('FusedBatchNorm', () => {
  const elements = noise(36, 1);
  const x = tensor('float64', shape, elements);
  const scale = tensor('float64', [3], [2, -1, 0.5]);
  const offset = tensor('float64', [3], [1, 0, -3]);

  it('normalizes each channel', () => {
    const [y, mean, variance] = normalize(x, scale, offset);
    for (let c = 0; c < 3; c++) {
      const channel = elements.filter((_, i) => i % 3 === c);
      const m = channel.reduce((a, b) => a + b) / 12;
      const v = channel.reduce((a, b) => a + (b - m) ** 2, 0) / 12;
      expect(values(mean)[c]).toBeCloseTo(m, 14);
      expect(values(variance)[c]).toBeCloseTo(v, 14);
      channel.forEach((value, i) => {
        const expected = ((value - m) / Math.sqrt(v + epsilon)) * [2, -1, 0.5][c] + [1, 0, -3][c];
        expect(values(y)[i * 3 + c]).toBeCloseTo(expected, 13);
      });
    }
  });

  it('keeps the digits of a variance far from zero', () => {
    const far = tensor('float32', [4, 1], [4096, 4097, 4096, 4097]);
    const outputs = [tensor('float32', [4, 1]), tensor('float32', [1]), tensor('float32', [1])];
    const one = tensor('float32', [1], [1]);
    kernels.FusedBatchNorm!([far, one, tensor('float32', [1], [0])], outputs, { epsilon: 0 });
    expect(outputs.map(values)).toEqual([[-1, 1, -1, 1], [4096.5], [0.25]]);
  });

  it('has the gradients of its values', () => {
    const dy = tensor('float64', shape, noise(36, 2));
    const [, mean, variance] = normalize(x, scale, offset);
    const gradients = [tensor('float64', shape), tensor('float64', [3]), tensor('float64', [3])];
    kernels.FusedBatchNormGrad!([dy, x, scale, mean, variance], gradients, { epsilon });
    const inputs = [x, scale, offset];
    const h = 1e-5;
    inputs.forEach((input, which) => {
      for (let i = 0; i < input.size; i++) {
        const [up, down] = [h, -h].map((step) => {
          const moved = (values(input) as number[]).map((v, j) => (j === i ? v + step : v));
          const changed = inputs.map((t, k) => (k === which ? tensor('float64', t.shape, moved) : t));
          return inner(normalize(changed[0], changed[1], changed[2])[0], dy);
        });
        expect(values(gradients[which])[i]).toBeCloseTo((up - down) / (2 * h), 7);
      }
    });
  });
});
