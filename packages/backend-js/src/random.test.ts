import { InvalidArgumentError, type KernelName, type NumericDType, UnimplementedError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './random.ts';
import { run, values } from './testing/kernels.ts';
import { view } from './view.ts';

const attrs = { k0: 0x12345678, k1: 0x9abcdef0, counter0: 7, counter1: 0xffffffff };

/** FNV-1a of the bytes. */
function checksum(name: KernelName, dtype: NumericDType, a: number, b: number): number {
  const y = view(run(kernels, name, [], dtype, [4099], { ...attrs, low: a, high: b, mean: a, stddev: b }));
  let h = 2166136261;
  for (const byte of new Uint8Array(y.buffer, y.byteOffset, y.byteLength)) h = Math.imul(h ^ byte, 16777619);
  return h >>> 0;
}

describe('random numbers', () => {
  // The same sums stand in native/tests/random_test.cc.
  it.each([
    ['RandomUniform', 'float32', -1, 3, 0x785257ae],
    ['RandomUniform', 'float64', -1, 3, 0xf99b7037],
    ['RandomNormal', 'float32', 0.25, 3, 0xa5783603],
    ['RandomNormal', 'float64', 0.25, 3, 0x458fbf0a],
    ['TruncatedNormal', 'float32', 0.25, 3, 0x0e1033f1],
    ['TruncatedNormal', 'float64', 0.25, 3, 0x3fdbd02d],
    ['RandomUniformInt', 'int32', -100, 1000, 0x8502cc4d],
    ['RandomUniformInt', 'int64', -1e12, 1e15, 0x789e86fa],
    ['RandomUniformInt', 'uint8', 0, 256, 0x722a2f03],
  ] as const)('%s of %s are the native ones', (name, dtype, a, b, expected) => {
    expect(checksum(name, dtype, a, b)).toBe(expected);
  });

  it.each([
    ['RandomUniform', 1.75, 0.5 / Math.sqrt(12), 1.5, 2],
    ['RandomNormal', 1.5, 2, -12, 15],
    ['TruncatedNormal', 1.5, 2 * 0.8796256610342398, -2.5, 5.5],
  ] as const)('%s has its moments', (name, mean, deviation, low, high) => {
    const ranges = { low: 1.5, high: 2, mean: 1.5, stddev: 2 };
    for (const dtype of ['float32', 'float64'] as const) {
      const y = values(run(kernels, name, [], dtype, [100003], { ...attrs, ...ranges })) as number[];
      const average = y.reduce((a, b) => a + b) / y.length;
      const variance = y.reduce((a, b) => a + (b - average) ** 2, 0) / y.length;
      expect(average).toBeCloseTo(mean, 1);
      expect(Math.sqrt(variance)).toBeCloseTo(deviation, 1);
      expect(y.every((v) => v >= low && v <= high && (name !== 'RandomUniform' || v < high))).toBe(true);
    }
  });

  it('start alike whatever the size', () => {
    for (const name of ['RandomUniform', 'RandomNormal', 'TruncatedNormal'] as const) {
      for (const dtype of ['float32', 'float64'] as const) {
        const ranges = { low: 0, high: 1, mean: 0, stddev: 1 };
        const all = values(run(kernels, name, [], dtype, [9], { ...attrs, ...ranges }));
        for (let n = 0; n < 9; n++) {
          expect(values(run(kernels, name, [], dtype, [n], { ...attrs, ...ranges }))).toEqual(
            all.slice(0, n),
          );
        }
      }
    }
  });

  it('are integers of a range, by one formula for small and large', () => {
    const draw = (low: number, high: number) =>
      values(run(kernels, 'RandomUniformInt', [], 'int64', [50], { ...attrs, low, high })) as bigint[];
    const all = draw(0, 2 ** 53 - 1);
    expect(new Set(all).size).toBe(50);
    expect(draw(-3, 4).every((v) => v >= -3n && v < 4n)).toBe(true);
    // 3 divides 3 · 2^20 and 3 · 2^22, on both sides of the limit of the exact float64 formula.
    expect(draw(0, 3 * 2 ** 22).map((v) => v % 3n)).toEqual(draw(0, 3));
    expect(draw(0, 3 * 2 ** 18).map((v) => v % 3n)).toEqual(draw(0, 3));
  });

  it('are refused where there are none', () => {
    expect(() => run(kernels, 'RandomUniformInt', [], 'int32', [1], { ...attrs, low: 5, high: 5 })).toThrow(
      InvalidArgumentError,
    );
    expect(() => run(kernels, 'RandomUniform', [], 'int32', [1], { ...attrs, low: 0, high: 1 })).toThrow(
      UnimplementedError,
    );
  });
});
