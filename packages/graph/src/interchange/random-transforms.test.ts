import { hostView, type KernelAttrs, type KernelName, type NumericDType } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { describe, expect, test } from 'vitest';
import { type Arithmetic, floatTransforms, integerTransform, type Transform } from './random-transforms.ts';

type Value = number | bigint | boolean;
interface Typed {
  readonly dtype: 'float32' | 'float64' | 'int64' | 'bool';
  readonly value: Value;
}

const bytes = new DataView(new ArrayBuffer(8));
const rounded = (dtype: Typed['dtype'], value: Value): Typed => ({
  dtype,
  value:
    dtype === 'float32'
      ? Math.fround(value as number)
      : dtype === 'int64'
        ? BigInt(value)
        : (value as number),
});
/** In JavaScript's numbers, one value at a time. */
function operation(fn: (a: never, b: never) => Value, result?: 'bool') {
  return (a: Typed | number, b: Typed | number = 0): Typed => {
    const { dtype } = (typeof a === 'number' ? b : a) as Typed;
    const [x, y] = [a, b].map((v) => (typeof v === 'number' ? rounded(dtype, v) : v));
    if (x?.dtype !== y?.dtype) throw new Error(`${x?.dtype} and ${y?.dtype}`);
    return rounded(result ?? dtype, fn(x?.value as never, y?.value as never));
  };
}
const unary = (fn: (a: never) => Value) => (a: Typed) => rounded(a.dtype, fn(a.value as never));
const floor = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;
const even = (x: number): number => x + 6755399441055744 - 6755399441055744;
const plain: Arithmetic<Typed> = {
  add: operation((a: number, b: number) => a + b),
  sub: operation((a: number, b: number) => a - b),
  mul: operation((a: number, b: number) => a * b),
  div: operation((a: number, b: number) => a / b),
  floorDiv: operation(floor as never),
  mod: operation(((a: bigint, b: bigint) => a - floor(a, b) * b) as never),
  neg: unary((a: number) => -a),
  sqrt: unary(Math.sqrt as never),
  round: unary(even as never),
  min: operation(Math.min as never),
  less: operation((a: number, b: number) => a < b, 'bool'),
  equal: operation((a: number, b: number) => a === b, 'bool'),
  select: (condition, a, b) => (condition.value === true ? a : b),
  cast: ({ value }, dtype) => rounded(dtype, dtype === 'int64' ? value : Number(value)),
  bitcast: ({ dtype, value }, to) => {
    if (dtype === 'int64') bytes.setBigInt64(0, value as bigint);
    else bytes.setFloat64(0, value as number);
    return rounded(to, to === 'int64' ? bytes.getBigInt64(0) : bytes.getFloat64(0));
  },
};

const SIZE = 2000;
const stream = { k0: 11, k1: 7, counter0: 5, counter1: 0 };
function kernel(name: KernelName, dtype: NumericDType, attrs: KernelAttrs): (number | bigint)[] {
  const storage = jsBackend.allocator.allocate(SIZE * 8);
  const y = { dtype, shape: [SIZE], size: SIZE, storage };
  jsBackend.kernel(name, [])?.([], [y], { ...stream, ...attrs });
  return Array.from(hostView(storage, dtype, SIZE) as Float64Array);
}

// Each number of these kernels is made of two words.
const low53 = kernel('RandomUniformInt', 'int64', { low: 0, high: 2 ** 53 }) as bigint[];
const high53 = kernel('RandomUniform', 'float64', { low: 0, high: 1 }) as number[];
const words = low53.flatMap((low, i) => {
  const first = Math.floor((high53[i] as number) * 2 ** 27) * 32 + Number((low >> 32n) & 31n);
  return [BigInt(first), low & 0xffffffffn];
});

function transformed({ perBlock, run }: Transform, a: Typed, b: Typed): Value[] {
  return Array.from({ length: Math.min(SIZE / perBlock, words.length / 4) }, (_, block) => {
    const [w0, w1, w2, w3] = words
      .slice(4 * block, 4 * block + 4)
      .map((value): Typed => ({ dtype: 'int64', value })) as [Typed, Typed, Typed, Typed];
    return run(plain, [w0, w1, w2, w3], a, b).map(({ value }) => value);
  }).flat();
}

const double = (value: number): Typed => ({ dtype: 'float64', value });
const kernels = {
  RandomUniform: 'RandomUniform',
  RandomStandardNormal: 'RandomNormal',
  TruncatedNormal: 'TruncatedNormal',
} as const;

describe('numbers made of words in operations that TensorFlow has are those of the kernels', () => {
  const distributions = Object.keys(floatTransforms) as (keyof typeof floatTransforms)[];
  test.each(distributions)('%s', (name) => {
    for (const dtype of ['float32', 'float64'] as const) {
      for (const [a, b] of [
        [0, 1],
        [-2.3, 0.7],
        [0.1, 0.1],
      ] as const) {
        const attrs: KernelAttrs = name === 'RandomUniform' ? { low: a, high: b } : { mean: a, stddev: b };
        const expected = kernel(kernels[name], dtype, attrs);
        expect(transformed(floatTransforms[name][dtype], double(a), double(b)), dtype).toEqual(expected);
      }
    }
  });

  test('RandomUniformInt', () => {
    for (const [low, high] of [
      [0, 1],
      [-5, 6],
      [0, 2 ** 32],
      [-(2 ** 31), 2 ** 31],
      [-(2 ** 53) + 1, 2 ** 53 - 1],
    ] as const) {
      const range: Typed = { dtype: 'int64', value: BigInt(high) - BigInt(low) };
      expect(transformed(integerTransform, { dtype: 'int64', value: BigInt(low) }, range)).toEqual(
        kernel('RandomUniformInt', 'int64', { low, high }),
      );
    }
  });
});
