// The functions of tf.experimental.numpy against TensorFlow, and its dtypes.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';
import { testCases } from './testing/golden-cases.ts';

testCases('numpy-rest.json');

describe('dtypes of tf.experimental.numpy', () => {
  const { numpy: np } = tf.experimental;
  it('meet as in NumPy', () => {
    const meet = ([a, b, c]: readonly [tf.DType, tf.DType, tf.DType]): void => {
      expect([np.promoteTypes(a, b), np.promoteTypes(b, a)]).toEqual([c, c]);
    };
    const table: readonly (readonly [tf.DType, tf.DType, tf.DType])[] = [
      ['int8', 'uint8', 'int16'],
      ['int32', 'float32', 'float64'],
      ['int16', 'float32', 'float32'],
      ['uint64', 'int8', 'float64'],
      ['bool', 'int8', 'int8'],
      ['float16', 'float32', 'float32'],
      ['complex64', 'float64', 'complex128'],
      ['int8', 'float16', 'float16'],
      ['uint32', 'int32', 'int64'],
    ];
    table.forEach(meet);
    expect(np.resultType('int8', tf.constant([1], 'uint8'))).toBe('int16');
    expect(() => np.promoteTypes('int8', 'string')).toThrow(tf.errors.InvalidArgumentError);
    expect([np.issubdtype('float32', np.inexact), np.issubdtype('int8', 'inexact')]).toEqual([true, false]);
    expect(np.iinfo('int16').max).toBe(32767);
    expect([np.finfo('float32').eps, np.finfo('float64').eps]).toEqual([2 ** -23, Number.EPSILON]);
    expect(() => np.finfo('int8')).toThrow(tf.errors.InvalidArgumentError);
    expect(() => np.iinfo('float32')).toThrow(tf.errors.InvalidArgumentError);
    expect([np.isscalar(3), np.isscalar([3]), np.isrealobj([1]), np.iscomplexobj([1])]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(np.shape(tf.ones([2, 3]))).toEqual([2, 3]);
    expect([np.pi, np.e, np.inf, np.float, np.newaxis]).toEqual([Math.PI, Math.E, Infinity, 'float64', null]);
    expect(tf.constant(1)).toBeInstanceOf(np.ndarray);
  });
  it('draws at random', () => {
    np.random.seed(3);
    const a = np.random.rand(2, 3);
    np.random.seed(3);
    expect(np.random.rand(2, 3).array()).toEqual(a.array());
    expect(np.random.randn(4).shape).toEqual([4]);
    expect([
      np.random.random([2]).shape,
      np.random.standardNormal(3).shape,
      np.random.random().shape,
    ]).toEqual([[2], [3], []]);
    const dice = np.random.randint(1, 7, [50]);
    expect([dice.dtype, Number(dice.min().item()) >= 1, Number(dice.max().item()) <= 6]).toEqual([
      'int64',
      true,
      true,
    ]);
    expect(np.random.uniform(2, 3, [5]).greaterEqual(2).all().item()).toBe(true);
    expect(() => np.random.randint(1.5)).toThrow(tf.errors.InvalidArgumentError);
  });
});

describe('two dtypes in tf.experimental.numpy', () => {
  type Cell = string | readonly [dtype: string, values: readonly number[]] | null;
  const golden = JSON.parse(
    readFileSync(new URL('../golden/numpy-dtypes.json', import.meta.url), 'utf8'),
  ) as {
    readonly a: readonly number[];
    readonly b: readonly number[];
    readonly tables: Readonly<Record<string, Readonly<Record<tf.DType, Readonly<Record<tf.DType, Cell>>>>>>;
  };
  const { numpy: np } = tf.experimental;
  type Run = (a: tf.Tensor, b: tf.Tensor) => tf.Tensor;
  const special: Readonly<Record<string, Run>> = {
    tensordot: (a, b) => np.tensordot(a, b, 1),
    divmod: (a, b) => np.divmod(a, b)[1],
    clip: (a, b) => np.clip(a, b, b),
    where: (a, b) => np.where([true, false, true], a, b) as tf.Tensor,
    concatenate: (a, b) => np.concatenate([a, b]),
    stack: (a, b) => np.stack([a, b]),
    hstack: (a, b) => np.hstack([a, b]),
    vstack: (a, b) => np.vstack([a, b]),
  };
  it.each(Object.keys(golden.tables))('%s', (name) => {
    const run = special[name] ?? (np as unknown as Record<string, Run>)[name];
    const [x, y] = [tf.constant(golden.a, 'int32'), tf.constant(golden.b, 'int32')];
    const wrong: string[] = [];
    for (const [a, row] of Object.entries(golden.tables[name]))
      for (const [b, cell] of Object.entries(row)) {
        // What TensorFlow refuses is often a kernel that it does not have.
        if (cell === null) continue;
        const [dtype, values] = typeof cell === 'string' ? [cell] : cell;
        let got: tf.Tensor | string;
        try {
          got = run(tf.cast(x, a as tf.DType), tf.cast(y, b as tf.DType));
        } catch (error) {
          got = (error as Error).message;
        }
        if (typeof got === 'string' || got.dtype !== dtype)
          wrong.push(`${a} ${b}: ${typeof got === 'string' ? got : got.dtype}, not ${dtype}`);
        else if (values !== undefined)
          expect(got.cast('complex128').real().flatten().array(), `${name} ${a} ${b}`).toEqual(values);
      }
    expect(wrong).toEqual([]);
  });
});
