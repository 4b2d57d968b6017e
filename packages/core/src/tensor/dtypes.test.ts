import { readFileSync } from 'node:fs';
import { dtypeTraits, InvalidArgumentError, isBig, listBackends, UnimplementedError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import * as tf from '../index.ts';
import { isFloating } from '../internal.ts';

interface Values {
  readonly dtype: tf.DType;
  readonly shape: readonly number[];
  readonly values: readonly string[];
}
interface Case {
  readonly op: string;
  readonly inputs: readonly Values[];
  readonly dtype?: tf.DType;
  readonly axis?: number;
  readonly result: Values;
}
const golden: { readonly cases: readonly Case[] } = JSON.parse(
  readFileSync(new URL('../../golden/dtypes.json', import.meta.url), 'utf8'),
);

const integers = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'] as const;

function elementOf(text: string, dtype: tf.DType): number | bigint | boolean {
  if (dtype === 'bool') return text === 'True';
  return isFloating(dtype) ? Number(text) : BigInt(text);
}

function tensorOf({ dtype, shape, values }: Values): tf.Tensor {
  return tf.constant(
    values.map((text) => elementOf(text, dtype)),
    dtype,
    { shape },
  );
}

function run({ op, inputs, dtype, axis }: Case): tf.Tensor {
  const call = (tf as unknown as Record<string, (...args: unknown[]) => tf.Tensor>)[op];
  return call(...inputs.map(tensorOf), ...[dtype ?? axis].filter((argument) => argument !== undefined));
}

for (const { name } of listBackends()) {
  describe(`integers of all widths, on the backend ${name}`, () => {
    const within = (test: () => void) => () => tf.withBackend(name, test);
    for (const dtype of integers)
      it(
        `of ${dtype} are what they are in TensorFlow`,
        within(() => {
          const cases = golden.cases.filter(({ inputs }) => inputs[0]?.dtype === dtype);
          expect(cases.length).toBeGreaterThan(20);
          for (const one of cases) {
            const result = run(one);
            const of = `${one.op} of ${dtype} ${one.dtype ?? ''}`;
            expect(`${of} ${result.dtype} [${result.shape}]`).toBe(
              `${of} ${one.result.dtype} [${one.result.shape}]`,
            );
            expect([of, ...result.data()]).toEqual([of, ...tensorOf(one.result).data()]);
          }
        }),
      );

    it(
      'are made of floats and truth values',
      within(() => {
        for (const one of golden.cases.filter(({ inputs }) => !inputs[0]?.dtype.includes('int')))
          expect([one, ...run(one).data()]).toEqual([one, ...tensorOf(one.result).data()]);
        // What TensorFlow leaves to the processor: floats saturate, and NaN is 0.
        const ends = tf.constant([-Infinity, Infinity, Number.NaN], 'float64');
        for (const dtype of integers) {
          const array = new dtypeTraits[dtype].array(3);
          const bits = BigInt(dtypeTraits[dtype].digits);
          const high = 2n ** bits - 1n;
          const low = dtypeTraits[dtype].kind === 'int' ? -(2n ** bits) : 0n;
          array.set((isBig(dtype) ? [low, high, 0n] : [Number(low), Number(high), 0]) as never);
          expect(ends.cast(dtype).data()).toEqual(array);
          expect(ends.saturateCast(dtype).data()).toEqual(array);
        }
      }),
    );

    it(
      'move as their bytes do',
      within(() => {
        for (const dtype of integers) {
          const numbers = tf.range(60, { dtype: 'int32' }).reshape([3, 4, 5]);
          const x = numbers.cast(dtype);
          const moves: ((x: tf.Tensor) => tf.Tensor)[] = [
            (t) => t.reshape([5, 12]),
            (t) => t.transpose([2, 0, 1]),
            (t) => t.slice([1, 0, 2], [2, 3, 2]),
            (t) => t.reverse([0, 2]),
            (t) => t.tile([2, 1, 3]),
            (t) => t.gather([2, 0], { axis: 1 }),
            (t) =>
              tf.pad(
                t,
                [
                  [1, 0],
                  [0, 2],
                  [1, 1],
                ],
                { constantValues: 7 },
              ),
            (t) =>
              tf.pad(
                t,
                [
                  [1, 0],
                  [0, 2],
                  [1, 1],
                ],
                { mode: 'REFLECT' },
              ),
            (t) => tf.concat([t, t], 1),
            (t) => tf.stack([t, t], 1),
            (t) => tf.split(t, 2, { axis: 1 })[1] as tf.Tensor,
            (t) => tf.where(numbers.greater(30), t, tf.zerosLike(t)),
            (t) => t.broadcastTo([2, 3, 4, 5]),
            (t) => t.cumsum(1),
            (t) => tf.sort(t, { direction: 'DESCENDING' }),
            (t) => tf.oneHot([1, 0, 2], 3, { dtype: t.dtype, onValue: 9 }),
          ];
          for (const move of moves) {
            const got = move(x);
            expect(got.dtype).toBe(dtype);
            expect(got.cast('int32').data()).toEqual(move(numbers).cast(dtype).cast('int32').data());
          }
        }
        // Long enough for tiles, odd rows and threads.
        const large = tf.range(300 * 701, { dtype: 'int32' }).reshape([300, 701]);
        for (const dtype of ['int16', 'uint32', 'uint64'] as const) {
          const moved = large.cast(dtype).transpose().cast('int32');
          const expected = large.transpose().cast(dtype).cast('int32');
          expect(moved.equal(expected).all().item<boolean>()).toBe(true);
        }
      }),
    );
  });
}

describe('integers of all widths', () => {
  it('come from typed arrays and go into them', () => {
    for (const dtype of integers) {
      const { array } = dtypeTraits[dtype];
      const data = new array(3);
      data.fill((isBig(dtype) ? 5n : 5) as never);
      const x = tf.constant(data);
      expect(x.dtype).toBe(dtype);
      expect(x.data()).toEqual(data);
      expect(x.ndarray()).toEqual({ dtype, shape: [3], data });
      expect(x.array()).toEqual(isBig(dtype) ? [5n, 5n, 5n] : [5, 5, 5]);
      expect(x.sub(x).add(7).slice([0], [1]).item()).toBe(7);
    }
    expect(tf.constant(2n ** 64n - 1n, 'uint64').item('bigint')).toBe(2n ** 64n - 1n);
    expect(String(tf.constant([-128, 7], 'int8'))).toBe('[-128    7]');
    expect(() => tf.constant(128, 'int8')).toThrow(/128 is out of range for int8 \(-128 … 127\)/);
    expect(() => tf.constant(-1, 'uint64')).toThrow(/is out of range for uint64/);
    expect(() => tf.constant(1.5, 'uint16')).toThrow(InvalidArgumentError);
  });

  it('meet in what holds every value of both', () => {
    expect(tf.promote('int8', 'int16')).toBe('int16');
    expect(tf.promote('uint16', 'float32')).toBe('float32');
    expect(tf.promote('uint32', 'int64')).toBe('int64');
    expect(() => tf.promote('int8', 'uint8')).toThrow(InvalidArgumentError);
    expect(() => tf.promote('uint64', 'int64')).toThrow(InvalidArgumentError);
  });

  it('have bits for other dtypes of the right size', () => {
    const x = tf.constant([1, -1], 'float32');
    expect([...x.bitcast('uint32').data()]).toEqual([0x3f800000, 0xbf800000]);
    expect(x.bitcast('int16').shape).toEqual([2, 2]);
    expect(x.bitcast('int16').bitcast('float32').array()).toEqual([1, -1]);
    expect(() => tf.constant([1, 2, 3], 'int16').bitcast('int32')).toThrow(/last axis must hold 2 elements/);
    expect(() => tf.constant([true]).bitcast('int8')).toThrow(InvalidArgumentError);
  });

  it('are not multiplied as matrices', () => {
    const x = tf.constant([[1, 2]], 'int8');
    const product = () => x.matmul(x, { transposeB: true });
    expect(() => tf.withBackend('js', product)).toThrow(UnimplementedError);
    expect(product).toThrow(
      /MatMul: .* for \(int8.*\); convert to another dtype before, for example x.cast\('int32'\)/,
    );
  });
});
