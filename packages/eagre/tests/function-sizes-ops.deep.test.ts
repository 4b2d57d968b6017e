import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

afterEach(() => vi.restoreAllMocks());
type Values = readonly number[][];
type Fn = (...xs: tf.Tensor[]) => tf.Tensor | readonly tf.Tensor[];

const values = (result: unknown): Values =>
  (Array.isArray(result) ? (result as tf.Tensor[]) : [result as tf.Tensor]).map((t) => [
    ...t.shape,
    ...Array.from(t.data() as Float32Array, Number),
  ]);

/** The function and the gradient of its first result for each float argument. */
const withGradients =
  (fn: Fn): Fn =>
  (...xs) => {
    const tape = new tf.GradientTape();
    const floats = xs.filter((x) => x.dtype === 'float32');
    for (const x of floats) tape.watch(x);
    const y = fn(...xs);
    const list = Array.isArray(y) ? (y as tf.Tensor[]) : [y as tf.Tensor];
    const grads = tape.gradient((list[0] as tf.Tensor).mul(1.5), floats) as (tf.Tensor | null)[];
    return [...list, ...grads.filter((g): g is tf.Tensor => g !== null)];
  };

/** One trace for all sizes gives what the function itself and a trace for each size give. */
function agree(
  fn: Fn,
  shapes: readonly (readonly (number | string)[])[],
  options: { ints?: number } = {},
): number {
  const partial = shapes.map((s) => s.map((d) => (typeof d === 'string' ? null : d)));
  const sized = tf.function({ inputSignature: partial.map((s, i) => spec(s, i, shapes.length, options)) })(
    fn,
  );
  const plain = tf.function(fn);
  for (const [a, b, c] of [
    [3, 4, 5],
    [2, 2, 2],
    [1, 7, 4],
    [7, 1, 3],
    [5, 3, 1],
    [32, 6, 8],
    [1, 1, 1],
    [4, 4, 9],
  ]) {
    const sizes: Record<string, number> = { a: a as number, b: b as number, c: c as number };
    tf.random.setSeed(5);
    const xs = shapes.map((s, i) => {
      const shape = s.map((d) => (typeof d === 'string' ? (sizes[d] as number) : d));
      return spec(shape, i, shapes.length, options).dtype === 'int32'
        ? tf.random.uniform(shape, { maxval: 3, dtype: 'int32' })
        : tf.random.uniform(shape, { minval: 0.1, maxval: 0.9 });
    });
    const attempt = (f: Fn): Values | string => {
      tf.random.setSeed(6);
      try {
        return values(f(...xs));
      } catch (error) {
        return (error as Error).constructor.name;
      }
    };
    const expected = attempt(plain);
    expect([a, b, c, attempt(sized)]).toEqual([a, b, c, expected]);
    const eager = attempt(fn);
    if (typeof eager === 'string') expect(expected).toBe(eager);
    else {
      const other = eager.flat();
      const off = (expected as Values).flat().filter((v, i) => {
        const e = other[i] as number;
        return !Object.is(v, e) && !(Math.abs(v - e) < 1e-4 * (1 + Math.abs(e)));
      });
      expect(off).toEqual([]);
    }
  }
  return sized.experimentalGetTracingCount();
}

function spec(
  shape: readonly (number | null)[],
  i: number,
  count: number,
  { ints = 0 }: { ints?: number },
): tf.TensorSpec {
  return new tf.TensorSpec(shape, i >= count - ints ? 'int32' : 'float32');
}

const once: Readonly<Record<string, [Fn, ...(readonly (number | string)[])[]]>> = {
  'arithmetic and broadcasting': [
    (x, y) =>
      x
        .add(1)
        .mul(y)
        .sub(x.mean(0, { keepdims: true }))
        .square(),
    ['a', 3],
    ['a', 3],
  ],
  'reductions with counts': [
    (x) => tf.stack([x.mean(), x.sum(), x.std(), x.variance(), x.max(), x.min(), x.logSumExp()]),
    ['a', 'b'],
  ],
  'counts beyond 2^53': [
    (x) => {
      const column = x.reshape([-1, 1]);
      return column.matmul(column, { transposeB: true }).square().mean();
    },
    ['a', 'b'],
  ],
  'moments over several axes': [(x) => tf.nn.moments(x, [0, 1]), ['a', 'b', 3]],
  'softmax over an unknown axis': [(x) => x.softmax(-1).mul(x), ['a', 'b']],
  'reshapes by -1': [(x) => x.reshape([-1, 4]).sum(1).reshape([-1]), ['a', 'b', 4]],
  'reshape by the shape of another': [(x, y) => x.reshape(y.shape).mul(y), ['a', 6], ['a', 2, 3]],
  'transposes and products': [(x, y) => x.matmul(y).add(x.transpose().sum()), ['a', 'b'], ['b', 3]],
  'batched products': [(x, y) => x.matmul(y, { transposeB: true }), ['a', 'b', 3], ['a', 'c', 3]],
  einsum: [(x, y) => tf.einsum('bqd,bkd->bqk', x, y), ['a', 'b', 3], ['a', 'c', 3]],
  'joining and cutting': [(x, y) => tf.concat([x, y, x], 0).slice([1, 0]), ['a', 3], ['b', 3]],
  'the last and the first': [(x) => tf.stack([x.at(-1), x.at(0)]), ['a', 3]],
  'all but the last': [(x) => x.at(':-1', ':'), ['a', 3]],
  reversed: [(x) => x.at('::-1').add(x.reverse(0)), ['a', 3]],
  'padding and tiling': [
    (x) =>
      tf
        .pad(x, [
          [1, 2],
          [0, 1],
        ])
        .tile([2, 3]),
    ['a', 'b'],
  ],
  'zeros, ones and random draws of its shape': [
    (x) => tf.zerosLike(x).add(tf.onesLike(x)).add(tf.zeros(x.shape)).mul(x),
    ['a', 'b'],
  ],
  'scans and sorting': [(x) => x.cumsum(0).add(x.sort(0)), ['a', 3]],
  'gathering rows': [(x, i) => tf.gather(x, tf.minimum(i, tf.shape(x).at(0).sub(1))), ['a', 3], ['b']],
  'one hot and losses': [
    (x, i) => tf.nn.sparseSoftmaxCrossEntropyWithLogits({ labels: i, logits: x }),
    ['a', 3],
    ['a'],
  ],
  'size as a number': [(x) => x.sum().div(tf.shape(x).prod().cast('float32')), ['a', 'b']],
  convolution: [(x) => tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), { padding: 'SAME' }), ['a', 'b', 'c', 2]],
  'strided pooling without padding': [(x) => tf.nn.avgPool2d(x, 2), ['a', 6, 8, 2]],
  'normalisation of rows': [(x) => tf.nn.l2Normalize(x, -1), ['a', 'b']],
  'dropped out': [(x) => tf.nn.dropout(x, 0.5, { seed: 3 }), ['a', 'b']],
};

describe('one trace for all sizes', () => {
  test.each(Object.entries(once))('%s', (name, [fn, ...shapes]) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const ints = fn.length === 2 && shapes.some((s) => s.length === 1) ? 1 : 0;
    const count = agree(withGradients(fn), shapes, { ints });
    // No element is left of one row.
    expect(count).toBe(name.startsWith('all but') ? 2 : 1);
    expect(warn.mock.calls.flat().filter((text) => String(text).includes('each size'))).toEqual([]);
  });
});

// Each asks for something that one trace cannot serve, or not for all sizes: right all the same.
const each: Readonly<Record<string, [Fn, ...(readonly (number | string)[])[]]>> = {
  'code that branches on a size': [(x) => ((x.shape[0] as number) > 3 ? x.mul(2) : x.neg()), ['a', 3]],
  'code that computes with a size': [(x) => x.mul(Math.sqrt(x.shape[0] as number)), ['a', 3]],
  'code that asks for the number of elements': [(x) => x.div(x.size), ['a', 3]],
  'code that catches what it is told': [
    (x) => {
      try {
        return x.mul(x.shape[0] as number);
      } catch {
        return x;
      }
    },
    ['a', 3],
  ],
  'a shape as a constant': [(x) => x.add(tf.constant([x.shape]).cast('float32').sum()), ['a', 3]],
  'a shape as an argument': [
    (x) =>
      x
        .mean(0)
        .add(x.shape.length)
        .mul(x.shape as never)
        .sum(),
    ['a', 2],
  ],
  'a branch on a gradient that depends on the size alone': [
    (x) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      const dx = tape.gradient(x.mean(), x) as tf.Tensor;
      return tf.cond(
        (dx.at(0) as tf.Tensor).greater(0.3),
        () => x.mul(2),
        () => x.neg(),
      ) as tf.Tensor;
    },
    ['a'],
  ],
  'attention over features of any size': [
    (x) => tf.nn.scaledDotProductAttention(x, x, x) as tf.Tensor,
    ['a', 'b', 2, 'c'],
  ],
  'code that iterates over sizes': [(x) => x.mul(x.shape.reduce((p, d) => p * d, 1)), ['a', 3]],
  'ranges that end inside': [(x) => x.at('0:3', ':').sum(1), ['a', 3]],
  'ranges from behind': [(x) => x.at('-3:', ':').sum(), ['a', 3]],
  'every second': [(x) => x.at('::2').sum(), ['a', 3]],
  'a place that may not be there': [(x) => x.at(3), ['a', 3]],
  squeezed: [(x) => x.squeeze().mul(2), ['a', 'b', 3]],
  'equal pieces': [(x) => tf.split(x, 2)[0] as tf.Tensor, ['a', 3]],
  'single rows': [(x) => tf.addN(tf.unstack(x)), ['a', 3]],
  'the largest three': [(x) => tf.math.topK(x, 3).values, ['a', 'b']],
  mirrored: [(x) => tf.pad(x, [[2, 2]], { mode: 'REFLECT' }), ['a']],
  'strides with padding': [(x) => tf.nn.maxPool2d(x, 2, { padding: 'SAME' }), [2, 'a', 'b', 1]],
  'windows larger than images': [(x) => tf.nn.avgPool2d(x, 3, { strides: 1 }), [2, 'a', 'b', 1]],
  'odd sizes halved and doubled': [
    (x) => {
      const y = tf.nn.maxPool2d(x, 2);
      return tf.concat([y, y], 1);
    },
    [1, 'a', 'b', 1],
  ],
  'blocks of pixels': [(x) => tf.nn.spaceToDepth(x, 2), [1, 'a', 'b', 1]],
  'shapes that fit only sometimes': [(x) => x.reshape([2, -1]), ['a', 3]],
  'broadcasting against a known size': [(x) => x.add(tf.ones([4, 3])), ['a', 3]],
  'two sizes that must be one': [(x, y) => x.add(y), ['a'], ['b']],
  'weights from the left': [
    (x, w) => new tf.losses.MeanSquaredError()(x, tf.zerosLike(x), { sampleWeight: w }),
    ['a', 'b', 2],
    ['c'],
  ],
  'a column of labels or several': [(x, y) => tf.losses.meanSquaredError(x, y), ['a', 'b'], ['a']],
};

describe('what depends on sizes otherwise', () => {
  test.each(Object.entries(each))('%s', (_, [fn, ...shapes]) => {
    vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    agree(fn, shapes);
  });
});

test('the inverse of a permutation, which the run checks', () => {
  const int = (n: number[]): tf.Tensor => tf.constant(n, 'int32');
  const signature = { inputSignature: [new tf.TensorSpec([null], 'int32')] };
  for (const f of [
    tf.function((x: tf.Tensor) => tf.math.invertPermutation(x)),
    tf.function(signature)((x: tf.Tensor) => tf.math.invertPermutation(x)),
    tf.function((x: tf.Tensor) => tf.math.invertPermutation([2, 0, 1]).add(x.sum().mul(0)).at(`:${x.size}`)),
  ])
    expect(f(int([2, 0, 1])).array()).toEqual([1, 2, 0]);
  const f = tf.function(signature)((x: tf.Tensor) => tf.math.invertPermutation(x));
  expect(f(int([1, 0])).array()).toEqual([1, 0]);
  expect(() => f(int([1, 1]))).toThrow(tf.errors.InvalidArgumentError);
});
