import { listBackends } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

type Fn = (args: readonly tf.Tensor[]) => readonly tf.Tensor[];

const keep = { keepdims: true };

function softmax(x: tf.Tensor): tf.Tensor {
  const e = tf.exp(x.sub(tf.reduceMax(x, -1, keep)));
  return e.div(tf.reduceSum(e, -1, keep));
}
function logSoftmax(x: tf.Tensor): tf.Tensor {
  const shifted = x.sub(tf.reduceMax(x, -1, keep));
  return shifted.sub(tf.math.log(tf.reduceSum(tf.exp(shifted), -1, keep)));
}
function layerNorm(x: tf.Tensor, gamma: tf.Tensor, beta: tf.Tensor): tf.Tensor {
  const centred = x.sub(tf.reduceMean(x, -1, keep));
  const variance = tf.reduceMean(tf.square(centred), -1, keep);
  return centred
    .mul(tf.math.rsqrt(variance.add(1e-3)))
    .mul(gamma)
    .add(beta);
}
function rmsNorm(x: tf.Tensor, gamma: tf.Tensor): tf.Tensor {
  return x.div(tf.sqrt(tf.reduceMean(x.mul(x), -1, keep).add(1e-6))).mul(gamma);
}
const meanSquare = (x: tf.Tensor, y: tf.Tensor): tf.Tensor => tf.reduceMean(tf.square(x.sub(y)));

/** With the gradients of the first arguments, for an incoming gradient that is the last one. */
const withGradients =
  (fn: (args: readonly tf.Tensor[]) => tf.Tensor, sources: number): Fn =>
  (args) => {
    const tape = new tf.GradientTape();
    const watched = args.slice(0, sources);
    tape.watch(watched);
    const y = fn(args);
    const weighted = y.rank === 0 ? y : y.mul(args[args.length - 1] as tf.Tensor);
    return [y, ...(tape.gradient(weighted, watched) as tf.Tensor[])];
  };

const sample = (...shape: number[]): tf.Tensor =>
  tf
    .sin(tf.range(shape.reduce((a, b) => a * b, 1)).mul(1.7))
    .mul(3)
    .reshape(shape);

/** What a traced function computes is what it computes eagerly, within some units in the last place; returns its plan's kernels. */
function compare(fn: Fn, args: readonly tf.Tensor[]): readonly string[] {
  const traced = tf.function(fn);
  const results = traced(args);
  fn(args).forEach((expected, i) => {
    const actual = results[i] as tf.Tensor;
    expect(actual.shape).toEqual(expected.shape);
    const values = Array.from(actual.data() as Float32Array);
    Array.from(expected.data() as Float32Array).forEach((value, j) => {
      if (Number.isFinite(value))
        expect(Math.abs((values[j] as number) - value)).toBeLessThan(3e-6 * (1 + Math.abs(value)));
      else expect(values[j]).toBe(value);
    });
  });
  const text = traced.getConcreteFunction(args).planText();
  return [...text.matchAll(/ = ([A-Z]\w*)\(/g)].map((match) => match[1] as string);
}

describe.each(listBackends().map(({ name }) => name))('rows by hand on %s', (backend) => {
  const on = (fn: Fn, make: () => tf.Tensor[]): readonly string[] =>
    tf.experimental.withBackend(backend, () => compare(fn, make()));

  const x = (): tf.Tensor => sample(6, 33);
  const row = (): tf.Tensor => sample(33).add(0.5);

  it('are one kernel', () => {
    expect(
      on(
        ([a]) => [softmax(a)],
        () => [x()],
      ),
    ).toEqual(['Softmax']);
    expect(
      on(
        ([a]) => [logSoftmax(a)],
        () => [x()],
      ),
    ).toEqual(['LogSoftmax']);
    expect(
      on(
        ([a, b, c]) => [layerNorm(a, b, c)],
        () => [x(), row(), tf.range(33).mul(1)],
      ),
    ).toEqual(['LayerNorm']);
    expect(
      on(
        ([a, b]) => [rmsNorm(a, b)],
        () => [x(), row()],
      ),
    ).toEqual(['RMSNorm']);
    expect(
      on(
        ([a, b]) => [meanSquare(a, b)],
        () => [x(), x().neg()],
      ),
    ).toEqual(['MapReduce']);
  });

  it('have the same NaN and infinities', () => {
    const odd = (): tf.Tensor =>
      tf.constant([
        [1, NaN, 2, 0],
        [Infinity, 1, 2, 3],
        [-Infinity, 1, 2, 3],
        [-Infinity, -Infinity, -Infinity, -Infinity],
        [1e38, -1e38, 3, 4],
        [0, 0, 0, 0],
      ]);
    expect(
      on(
        ([a]) => [softmax(a)],
        () => [odd()],
      ),
    ).toEqual(['Softmax']);
    expect(
      on(
        ([a]) => [logSoftmax(a)],
        () => [odd()],
      ),
    ).toEqual(['LogSoftmax']);
    expect(
      on(
        ([a]) => [layerNorm(a, tf.ones([4]), tf.zeros([4]))],
        () => [odd().slice([0, 0], [4, 4])],
      ),
    ).toContain('LayerNorm');
    expect(
      on(
        ([a]) => [tf.reduceMax(tf.square(a.sub(1)), -1)],
        () => [odd()],
      ),
    ).toEqual(['MapReduce']);
    expect(
      on(
        ([a]) => [tf.reduceSum(tf.exp(a))],
        () => [odd()],
      ),
    ).toEqual(['MapReduce']);
  });

  it('have gradients, for which sums are made with what they are of', () => {
    const maps = (fn: Fn, make: () => tf.Tensor[]): number =>
      on(fn, make).filter((kernel) => kernel === 'MapReduce').length;
    expect(
      maps(
        withGradients(([a]) => softmax(a), 1),
        () => [x(), x().add(1)],
      ),
    ).toBeGreaterThanOrEqual(3);
    expect(
      maps(
        withGradients(([a]) => logSoftmax(a), 1),
        () => [x(), x().add(1)],
      ),
    ).toBeGreaterThanOrEqual(3);
    expect(
      maps(
        withGradients(([a, b]) => meanSquare(a, b), 1),
        () => [x(), x().add(1)],
      ),
    ).toBe(1);
    const kernels = on(
      withGradients(([a, b, c]) => layerNorm(a, b, c), 3),
      () => [x(), row(), row().neg(), x().add(2)],
    );
    expect(kernels).toContain('LayerNorm');
    expect(kernels).toContain('MapReduce');
    expect(
      on(
        withGradients(([a, b]) => rmsNorm(a, b), 2),
        () => [x(), row(), x().add(2)],
      ),
    ).toContain('MapReduce');
  });

  it('need not be of float32, nor of two axes', () => {
    const wide = (): tf.Tensor => sample(3, 2, 20).cast('float64');
    expect(
      on(
        ([a]) => [softmax(a)],
        () => [wide()],
      ),
    ).toEqual(['Softmax']);
    expect(
      on(
        ([a]) => [tf.reduceSum(tf.abs(a.sub(0.5)), [1, 2])],
        () => [wide()],
      ),
    ).toEqual(['MapReduce']);
    const whole = (): tf.Tensor => tf.range(40).cast('int32');
    expect(
      on(
        ([a]) => [tf.reduceMin(a.mul(a).sub(50)), tf.reduceAll(a.greater(-1))],
        () => [whole()],
      ),
    ).toEqual(['MapReduce']);
  });
});

// One element for all, or one for each row, of every width in memory.
it.each([
  'float16',
  'bfloat16',
  'float32',
  'float64',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'int64',
  'uint32',
  'uint64',
] as const)('sums of products with a number of the run: %s', (dtype) => {
  const of = (shape: number[], first: number): tf.Tensor =>
    tf
      .range(shape.reduce((n, size) => n * size, 1))
      .mod(3)
      .add(first)
      .cast(dtype)
      .reshape(shape);
  const step = (a: tf.Tensor, b: tf.Tensor): tf.Tensor[] => [
    a.mul(b).sum(),
    a.mul(b).sum(-1),
    a.add(b).max(-1),
    a.mul(b).sum(0).add(b.max()),
  ];
  for (const [rows, columns] of [
    [1, 2],
    [2, 6],
    [3, 70],
  ] as const) {
    const a = of([rows, columns], 1);
    for (const b of [of([], 5), of([1], 5), of([1, 1], 5), of([rows, 1], 5), of([1, columns], 5)]) {
      const wanted = step(a, b).map((y) => y.cast('float64').array());
      const traced = tf.function(step)(a, b) as tf.Tensor[];
      expect(traced.map((y) => y.cast('float64').array())).toEqual(wanted);
    }
  }
});
