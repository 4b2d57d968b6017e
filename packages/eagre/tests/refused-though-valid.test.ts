// Values are those of TensorFlow 2.21.
import * as tf from 'eagre';
import { describe, expect, it } from 'vitest';

const close = (got: unknown, wanted: unknown): void => {
  const flat = (v: unknown): number[] => [v].flat(9).map(Number);
  expect(JSON.stringify(got).replace(/-?[\d.e+-]+|null/g, 'n')).toBe(
    JSON.stringify(wanted).replace(/-?[\d.e+-]+|null/g, 'n'),
  );
  const [a, b] = [flat(got), flat(wanted)];
  for (let i = 0; i < b.length; i++)
    if (Number.isFinite(b[i])) expect(a[i]).toBeCloseTo(b[i] as number, 5);
    else expect(a[i]).toBe(b[i]);
};
/** Eagerly, and traced. */
const both = <A extends unknown[], R>(fn: (...args: A) => R, ...args: A): R[] => [
  fn(...args),
  (tf.function(fn as never) as unknown as (...a: A) => R)(...args),
];

describe('ragged', () => {
  const ragged = (values: unknown, dtype: 'float32' | 'int32' = 'float32'): tf.RaggedTensor & tf.Tensor =>
    tf.ragged.constant(values as never, { dtype }) as never;
  const rows = () => ragged([[1, 2], [3], []]);
  it('reduceLogsumexp', () => {
    for (const y of both((x: tf.Tensor) => tf.reduceLogsumexp(x), rows()))
      close((y as tf.Tensor).array(), 3.407606);
    for (const y of both((x: tf.Tensor) => tf.reduceLogsumexp(x, 1), rows()))
      close((y as tf.Tensor).array(), [2.3132617, 3, -Infinity]);
    close(tf.reduceLogsumexp(rows(), 1, { keepdims: true }).array(), [[2.3132617], [3], [-Infinity]]);
    const far = ragged([[1000, 1000], [-1000]]);
    expect(tf.reduceLogsumexp(far, 1).array()).toEqual([Math.fround(1000 + Math.LN2), -1000]);
    const x = ragged([[0, 0], [5]]);
    using tape = new tf.GradientTape();
    tape.watch(x.flatValues);
    const y = tf.reduceLogsumexp(x, 1);
    close((tape.gradient(y, x.flatValues) as tf.Tensor).array(), [0.5, 0.5, 1]);
  });
  it('embeddingLookup', () => {
    const table = tf.range(6).cast('float32').reshape([3, 2]);
    const ids = ragged([[0, 2], [1], []], 'int32');
    for (const y of both((at: tf.Tensor) => tf.nn.embeddingLookup(table, at), ids))
      expect((y as unknown as tf.RaggedTensor).toList()).toEqual([
        [
          [0, 1],
          [4, 5],
        ],
        [[2, 3]],
        [],
      ]);
    close((tf.nn.embeddingLookup(table, ids, { maxNorm: 1 }) as unknown as tf.RaggedTensor).toList(), [
      [
        [0, 1],
        [0.62469506, 0.78086877],
      ],
      [[0.5547002, 0.8320503]],
      [],
    ]);
  });
});

describe('numpy', () => {
  it('bitwiseNot, amax and amin of bools', () => {
    const np = tf.experimental.numpy;
    expect(np.bitwiseNot(tf.constant([1, 2], 'int32')).array()).toEqual([-2, -3]);
    for (const y of both((x: tf.Tensor) => np.bitwiseNot(x), tf.constant([true, false])))
      expect(y.array()).toEqual([false, true]);
    for (const y of both((x: tf.Tensor) => [np.amax(x), np.amin(x)] as const, tf.constant([true, false])))
      expect(y.map((t) => t.item())).toEqual([true, false]);
    const m = [
      [true, false],
      [false, false],
    ];
    expect(np.amax(m, 1, { keepdims: true }).array()).toEqual([[true], [false]]);
  });
  it('take has modes', () => {
    const take = (...args: Parameters<typeof tf.experimental.numpy.take>) =>
      tf.experimental.numpy.take(...args).array();
    const x = [10, 20, 30];
    expect(take(x, [0, 4, -1, -7])).toEqual([10, 30, 10, 10]);
    expect(take(x, [0, 4, -1, -7], null, { mode: 'clip' })).toEqual([10, 30, 10, 10]);
    expect(take(x, [0, 4, -1, -7], null, { mode: 'wrap' })).toEqual([10, 20, 30, 30]);
    const m = [x, [1, 2, 3]];
    for (const y of both(
      (a: tf.Tensor) => tf.experimental.numpy.take(a, [0, 4, -1, -7], -1, { mode: 'wrap' }),
      tf.constant(m),
    ))
      expect(y.array()).toEqual([
        [10, 20, 30, 30],
        [1, 2, 3, 3],
      ]);
    expect(() => take(x, [0], null, { mode: 'raise' as never })).toThrow(tf.errors.InvalidArgumentError);
    for (const places of [tf.constant([0.5]), tf.constant([true]), tf.constant([0n] as never, 'uint64')])
      expect(() => take(x, places)).toThrow(/take: indices is (float32|bool|uint64), expected int/);
    expect(take(x, tf.constant([2 ** 32 - 1], 'uint32'))).toEqual([30]);
  });
});

it('l2Normalize of complex numbers', () => {
  const x = tf.complex(tf.constant([3, 0, 2]), tf.constant([4, 1, 0]));
  for (const y of both((z: tf.Tensor) => tf.nn.l2Normalize(z), x)) {
    expect(y.dtype).toBe('complex64');
    close(y.real().array(), [0.5477226, 0, 0.36514837]);
    close(y.imag().array(), [0.73029673, 0.18257418, 0]);
  }
  const rows = tf.complex(tf.zeros([2, 2]), tf.zeros([2, 2]));
  close(tf.nn.l2Normalize(rows, 1).real().array(), [
    [0, 0],
    [0, 0],
  ]);
});

it('convertImageDtype of 64 bit integers', () => {
  const x = tf.constant([0n, 1n, 2n ** 62n, -5n, 2n ** 63n - 1n] as never, 'int64');
  const to = (dtype: tf.DType, saturate = false) =>
    [...both((v: tf.Tensor) => tf.image.convertImageDtype(v, dtype, { saturate }), x)].map((y) => y.array());
  const same = (got: unknown[], wanted: unknown): void => {
    for (const one of got) expect(one).toEqual(wanted);
  };
  const floats = [0, 1.0842021724855044e-19, 0.5, -5.421010862427522e-19, 1];
  same(to('float32'), floats);
  same(to('float64'), floats);
  same(to('uint8'), [0, 0, 128, 255, 255]);
  same(to('uint8', true), [0, 0, 128, 0, 255]);
  same(to('int32'), [0, 0, 1073741824, -1, 2147483647]);
  same(to('uint32', true), [0, 0, 2147483648, 0, 4294967295]);
  const back = (v: tf.TensorLike): unknown => tf.image.convertImageDtype(v, 'int64').array();
  expect(back(tf.constant([0, 1], 'uint8'))).toEqual([0n, 2n ** 55n]);
  expect(back(tf.constant([0, 1], 'int32'))).toEqual([0n, 2n ** 32n]);
  expect(back(tf.constant([0, 0.5]))).toEqual([0n, 2n ** 62n]);
});

it('lstsq by singular values leaves the regularizer out', () => {
  const a = tf.constant(
    [
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    'float64',
  );
  const b = tf.constant([[1], [2], [3.5]], 'float64');
  for (const l2Regularizer of [0, 0.5])
    close(tf.linalg.lstsq(a, b, { l2Regularizer, fast: false }).array(), [[0.3333333333], [0.2916666667]]);
  close(tf.linalg.lstsq(a, b, { l2Regularizer: 0.5 }).array(), [[0.29032258], [0.32258065]]);
});
