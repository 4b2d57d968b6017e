import { type DType, isHalf } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import type { Sample, SampleInput } from '@eagre/core/internal';

/** A small random generator (mulberry32), so that samples are the same everywhere. Values in [0, 1). */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** The values of a sample input. Floats are rounded to float32, so that every precision starts from the same numbers. */
function valuesOf(input: SampleInput, random: () => number): number[] {
  const n = sizeOf(input.shape);
  const each = (f: () => number): number[] => Array.from({ length: n }, f);
  switch (input.kind) {
    case 'uniform':
      return each(() => Math.fround(input.low + random() * (input.high - input.low)));
    case 'integer':
      return each(() => Math.floor(input.low + random() * (input.high - input.low)));
    case 'bool':
      return each(() => (random() < 0.5 ? 0 : 1));
    case 'values':
      return [...input.values];
    case 'distinct': {
      const list = Array.from({ length: n }, (_, i) => Math.fround((i - n / 2) * 0.25 + 0.1));
      for (let i = n - 1; i > 0; i--) {
        const j = Math.floor(random() * (i + 1));
        [list[i], list[j]] = [list[j] as number, list[i] as number];
      }
      return list;
    }
  }
}

/** Whether a sample has inputs whose precision can be chosen. */
export function hasFloats(sample: Sample): boolean {
  return sample.inputs.some(
    (i) => i.kind === 'uniform' || i.kind === 'distinct' || (i.kind === 'values' && i.dtype === undefined),
  );
}

type FloatDType = 'float32' | 'float64' | 'float16' | 'bfloat16';

/** The tensors of a sample on the current backend, its floats as `float`. */
export function materialize(sample: Sample, float: FloatDType, seed = 1): Tensor[] {
  const random = generator(seed);
  return sample.inputs.map((input) => {
    const list = valuesOf(input, random);
    const dtype: DType =
      input.kind === 'integer'
        ? input.dtype
        : input.kind === 'bool'
          ? 'bool'
          : input.kind === 'values'
            ? (input.dtype ?? float)
            : input.kind === 'uniform' && input.wide === true && isHalf(float)
              ? 'float32'
              : float;
    return constant(list, dtype, { shape: input.shape });
  });
}
