import { readFileSync } from 'node:fs';
import { halfBits, halfValue, InvalidArgumentError, isHalf, listBackends } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import * as tf from '../index.ts';
import { isFloating } from '../internal.ts';

interface Values {
  readonly dtype: tf.DType;
  readonly shape: readonly number[];
  readonly values: readonly (number | string)[];
}
interface Case {
  readonly op: string;
  readonly inputs: readonly Values[];
  readonly dtype?: tf.DType;
  readonly axis?: number;
  /** TensorFlow computes in 16 bits on the way: one step of the dtype may be between. */
  readonly near?: boolean;
  readonly result: Values;
}
const golden: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../../golden/halves.json', import.meta.url), 'utf8'),
);
const halves = ['float16', 'bfloat16'] as const;

function elementOf(text: number | string, dtype: tf.DType): number | bigint | boolean {
  if (isHalf(dtype)) return halfValue(text as number, dtype);
  if (dtype === 'bool') return text === 'True';
  if (isFloating(dtype)) return text === 'inf' ? Infinity : text === '-inf' ? -Infinity : Number(text);
  return BigInt(text);
}

const tensorOf = ({ dtype, shape, values }: Values): tf.Tensor =>
  tf.constant(
    values.map((text) => elementOf(text, dtype)),
    dtype,
    { shape },
  );

function run({ op, inputs, dtype, axis }: Case): tf.Tensor {
  const call = (tf as unknown as Record<string, (...args: unknown[]) => tf.Tensor>)[op];
  return call(...inputs.map(tensorOf), ...[dtype ?? axis].filter((argument) => argument !== undefined));
}

/** Bits as numbers whose order is that of the values, so that neighbours differ by 1. */
const ordered = (value: number, dtype: 'float16' | 'bfloat16'): number => {
  const bits = halfBits(value, dtype);
  return bits >= 0x8000 ? 0x8000 - bits : bits;
};

for (const { name } of listBackends()) {
  describe(`floats of 16 bits, on the backend ${name}`, () => {
    const within = (test: () => void) => () => tf.withBackend(name, test);
    for (const dtype of halves)
      it(
        `of ${dtype} are what they are in TensorFlow`,
        within(() => {
          const cases = golden.cases.filter(({ inputs, result }) =>
            [...inputs, result].some((values) => values.dtype === dtype),
          );
          expect(cases.length).toBeGreaterThan(60);
          for (const one of cases) {
            const result = run(one);
            const of = `${one.op} of ${one.inputs[0]?.dtype} ${one.dtype ?? ''}`;
            expect(`${of} ${result.dtype} [${result.shape}]`).toBe(
              `${of} ${one.result.dtype} [${one.result.shape}]`,
            );
            const got = [...result.data()];
            const wanted = [...tensorOf(one.result).data()];
            if (one.near === true) {
              got.forEach((value, i) => {
                const apart = ordered(value as number, dtype) - ordered(wanted[i] as number, dtype);
                expect([of, i, Math.abs(apart) <= 1]).toEqual([of, i, true]);
              });
            } else expect([of, ...got]).toEqual([of, ...wanted]);
          }
        }),
      );

    it(
      'move as their bytes do',
      within(() => {
        const numbers = tf.range(60, { dtype: 'float32' }).reshape([3, 4, 5]);
        for (const dtype of halves) {
          const x = numbers.cast(dtype);
          const moves: ((x: tf.Tensor) => tf.Tensor)[] = [
            (t) => t.reshape([5, 12]),
            (t) => t.transpose([2, 0, 1]),
            (t) => t.slice([1, 0, 2], [2, 3, 2]),
            (t) => t.reverse([0, 2]),
            (t) => t.tile([2, 1, 3]),
            (t) => t.gather([2, 0], { axis: 1 }),
            (t) =>
              tf.pad(t, {
                paddings: [
                  [1, 0],
                  [0, 2],
                  [1, 1],
                ],
                constantValues: 7,
              }),
            (t) => tf.concat([t, t], 1),
            (t) => tf.stack([t, t], 1),
            (t) => tf.split(t, 2, { axis: 1 })[1] as tf.Tensor,
            (t) => tf.where(numbers.greater(30), t, tf.zerosLike(t)),
            (t) => t.broadcastTo([2, 3, 4, 5]),
            (t) => tf.sort(t, { direction: 'DESCENDING' }),
            (t) => tf.oneHot([1, 0, 2], 3, { dtype: t.dtype, onValue: 9 }),
            (t) => tf.fill([2, 3], -2.5).cast(t.dtype),
            (t) => tf.range(5, { dtype: t.dtype }),
            (t) => tf.linspace(0, 4, 5, { dtype: t.dtype as 'float32' }),
            (t) => tf.tensorScatterNdAdd(t, [[1, 2]], tf.ones([1, 5], { dtype: t.dtype })),
            (t) => tf.unique(t.reshape([60])).values,
          ];
          for (const move of moves) {
            const got = move(x);
            expect(got.dtype).toBe(dtype);
            expect(got.cast('float32').array()).toEqual(move(numbers).array());
          }
        }
      }),
    );

    it(
      'are rounded once by each op',
      within(() => {
        for (const dtype of halves) {
          const step = dtype === 'float16' ? 2 ** -10 : 2 ** -7;
          const one = tf.ones([3], { dtype });
          // Half of a step is lost each time, though two would make one.
          const half = tf.constant(step / 2, dtype);
          expect(one.add(half).add(half).array()).toEqual([1, 1, 1]);
          expect(one.add(half.add(half)).array()).toEqual([1 + step, 1 + step, 1 + step]);
        }
      }),
    );
  });
}

describe('floats of 16 bits', () => {
  it('are made of numbers and read as float32', () => {
    for (const dtype of halves) {
      const x = tf.constant([1, -2.5, 0.1], dtype);
      const tenth = x.data()[2] as number;
      expect(x.data()).toBeInstanceOf(Float32Array);
      expect(Math.abs(tenth - 0.1)).toBeLessThan(1e-3);
      expect(tenth).not.toBe(Math.fround(0.1));
      expect(x.array()).toEqual([1, -2.5, tenth]);
      expect(x.slice([2], [1]).item()).toBe(tenth);
      expect(x.ndarray()).toEqual({ dtype, shape: [3], data: x.data() });
      expect(tf.constant(x.ndarray()).dtype).toBe(dtype);
      expect(tf.constant({ ...x.ndarray() }).array()).toEqual(x.array());
      expect(String(x)).toBe('[ 1.  -2.5  0.1]');
      expect(x.mul(2).dtype).toBe(dtype);
      expect(x.bitcast('uint16').bitcast(dtype).array()).toEqual(x.array());
    }
    expect(tf.constant(1, tf.float16).bitcast('uint16').item()).toBe(0x3c00);
    expect(tf.constant(1, tf.bfloat16).bitcast('uint16').item()).toBe(0x3f80);
  });

  it('meet others in what holds every value of both', () => {
    expect(tf.promote('float16', 'float32')).toBe('float32');
    expect(tf.promote('bfloat16', 'float64')).toBe('float64');
    expect(tf.promote('float16', 'uint8')).toBe('float16');
    expect(tf.promote('bfloat16', 'int8')).toBe('bfloat16');
    expect(() => tf.promote('float16', 'bfloat16')).toThrow(InvalidArgumentError);
    expect(() => tf.promote('float16', 'int16')).toThrow(InvalidArgumentError);
  });

  it('are drawn at random below the upper bound', () => {
    for (const dtype of halves) {
      const x = tf.random.uniform([4000], { dtype, seed: 5 });
      expect(x.dtype).toBe(dtype);
      const values = [...x.data()] as number[];
      expect(Math.max(...values)).toBeLessThan(1);
      expect(Math.abs(values.reduce((a, b) => a + b) / 4000 - 0.5)).toBeLessThan(0.03);
      expect(tf.random.normal([8], { dtype, seed: 5 }).dtype).toBe(dtype);
    }
  });
});
