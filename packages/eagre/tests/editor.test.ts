// What is written in place without types gets them from the library: this file has to compile as it stands.
import type { EachArgumentNeedsATypeOrADefaultValue } from '@eagre/graph';
import { expect, expectTypeOf, test } from 'vitest';
import * as tf from '../src/index.ts';

const { keras } = tf;

test('functions given to compile know their arguments', async () => {
  const model = new keras.Sequential([keras.Input({ shape: [1] }), new keras.layers.Dense(1)]);
  model.compile({
    loss: (yTrue, yPred) => yTrue.sub(yPred).square().mean(-1),
    metrics: [
      (yTrue, yPred) => yTrue.sub(yPred).abs().mean(-1),
      'mse',
      new keras.metrics.MeanAbsoluteError(),
    ],
  });
  const logs = await model.evaluate(tf.ones([2, 1]), tf.ones([2, 1]), { verbose: 0 });
  expect(Object.keys(logs)).toHaveLength(4);
  model.compile({ loss: { dense: (yTrue, yPred) => yTrue.sub(yPred).abs() } });
  model.compile({ loss: new keras.losses.MeanSquaredError(), metrics: [] as tf.metrics.Metric[] });
  const loss: tf.losses.LossLike = new keras.losses.Huber();
  expect(keras.losses.get(loss)).toBe(loss);
});

test('layers of one’s own can name the types of their options', () => {
  class Scale extends keras.layers.Layer {
    readonly factor: number;
    constructor(factor: number, options: tf.layers.LayerOptions = {}) {
      super(options);
      this.factor = factor;
    }
    override call(x: tf.Tensor, { training }: tf.layers.CallOptions): tf.Tensor {
      return training === true ? x : x.mul(this.factor);
    }
  }
  expect(new Scale(3, { name: 'three' })([1, 2]).array()).toEqual([3, 6]);
});

test('layers that merge are functions too', () => {
  const [a, b] = [keras.Input({ shape: [2] }), keras.Input({ shape: [3] })];
  const model = new keras.Model([a, b], keras.layers.concatenate([a, b]));
  expect(model([tf.ones([1, 2]), tf.zeros([1, 3])]).array()).toEqual([[1, 1, 0, 0, 0]]);
});

test('seeds and classes', () => {
  keras.utils.setRandomSeed(3);
  const first = tf.random.normal([2]).array();
  keras.utils.setRandomSeed(3);
  expect(tf.random.normal([2]).array()).toEqual(first);
  expect(keras.utils.toCategorical([1], 2).array()).toEqual([[0, 1]]);
});

test('the elements of a generator are what its signature says', () => {
  const scalar = new tf.TensorSpec([]);
  const sums = tf.data.Dataset.fromGenerator(() => [[1, 2]], { outputSignature: [scalar, scalar] }).map(
    (a, b) => a.add(b),
  );
  expect([...sums].map((x) => x.item())).toEqual([3]);
  const plain = tf.data.Dataset.fromGenerator(() => [[1, 2]]);
  expect([...plain].map((x) => x.shape)).toEqual([[2]]);
});

test('names show no more than what is for users', () => {
  const constraints = ['Constraint', 'MaxNorm', 'MinMaxNorm', 'NonNeg', 'UnitNorm'];
  const functions = ['deserialize', 'get', 'maxNorm', 'minMaxNorm', 'nonNeg', 'serialize', 'unitNorm'];
  expect(Object.keys(tf.keras.constraints).sort()).toEqual([...constraints, ...functions]);
  const regularizers = ['L1', 'L1L2', 'L2', 'OrthogonalRegularizer', 'Regularizer'];
  const makers = ['l1', 'l1L2', 'l1l2', 'l2', 'orthogonalRegularizer'];
  expect(Object.keys(tf.keras.regularizers).sort()).toEqual(
    [...regularizers, 'deserialize', 'get', ...makers, 'serialize'].sort(),
  );
  expect(tf.math.topK([1, 3, 2], 2).indices.array()).toEqual([1, 2]);
});

test('arguments of a traced function are tensors where they have no type', () => {
  const double = tf.function((x) => x.mul(2));
  const sum = tf.function({ inputSignature: [new tf.TensorSpec([null]), new tf.TensorSpec([null])] })(
    (a, b) => a.add(b),
  );
  expect(double(tf.constant([1, 2])).array()).toEqual([2, 4]);
  expect(sum(tf.constant([1, 2]), tf.constant([3, 4])).array()).toEqual([4, 6]);
  const times = tf.function((x: tf.Tensor, n: number, { more = 0 }: { more?: number } = {}) =>
    x.mul(n).add(more),
  );
  const y: tf.Tensor = times(tf.constant([1, 2]), 3, { more: 1 });
  expect(y.array()).toEqual([4, 7]);
  // @ts-expect-error
  expect(() => times(tf.constant(1), 'a')).toThrow();
  // @ts-expect-error
  expect(() => double('a')).toThrow();
});

test('an argument without a type beside one that has a type is an error', () => {
  const second = tf.function((x: tf.Tensor, n) => x.mul(n));
  expectTypeOf(second).toEqualTypeOf<EachArgumentNeedsATypeOrADefaultValue>();
  // @ts-expect-error: it is not callable.
  expect(second(tf.constant(1), 3).item()).toBe(3);
  const more = tf.function({ reduceRetracing: true })((x: tf.Tensor, ...n) => x.mul(n.length));
  expectTypeOf(more).toEqualTypeOf<EachArgumentNeedsATypeOrADefaultValue>();
  const byName = tf.function({ func: (n, x: tf.Tensor) => x.mul(n) });
  expectTypeOf(byName).toEqualTypeOf<EachArgumentNeedsATypeOrADefaultValue>();
  // Functions of any arguments, and those of which nothing is known, are functions still.
  const any = tf.function((...args: never[]) => args.length);
  expectTypeOf(any).parameters.toEqualTypeOf<never[]>();
  const wrapped = <F extends (...args: never[]) => unknown>(fn: F): tf.TracedFunction<F> => tf.function(fn);
  expectTypeOf(wrapped((x: tf.Tensor, n: number) => x.mul(n))).parameters.toEqualTypeOf<
    [tf.Tensor, number]
  >();
  const typed: tf.TracedFunction<(x: tf.Tensor) => tf.Tensor> = tf.function((x) => x.mul(2));
  expect(typed(tf.constant(1)).item()).toBe(2);
});

test('arguments with a default value keep its type in a traced function', () => {
  const scaled = tf.function((x: tf.Tensor, scale = 2, how = 'mul', options = { twice: false }) => {
    const y = how === 'mul' ? x.mul(scale) : x.add(scale);
    return options.twice ? y.mul(2) : y;
  });
  expectTypeOf(scaled).parameters.toEqualTypeOf<
    [x: tf.Tensor, scale?: number, how?: string, options?: { twice: boolean }]
  >();
  expectTypeOf(scaled.hostFunction).parameters.toEqualTypeOf<Parameters<typeof scaled>>();
  expect(scaled(tf.constant([1, 2])).array()).toEqual([2, 4]);
  expect(scaled(tf.constant([1, 2]), 3, 'add', { twice: true }).array()).toEqual([8, 10]);
  const first = tf.function({ autograph: false })((scale = 2, x: tf.Tensor) => x.mul(scale));
  expectTypeOf(first).parameters.toEqualTypeOf<[scale: number | undefined, x: tf.Tensor]>();
  expect(first(undefined, tf.constant([1, 2])).array()).toEqual([2, 4]);
  const none = tf.function((x, y, z, w, ...more) => [x, y, z, w, ...more]);
  expectTypeOf(none).parameters.toEqualTypeOf<
    [x: tf.Tensor, y: tf.Tensor, z: tf.Tensor, w: tf.Tensor, ...more: tf.Tensor[]]
  >();
  const typed = tf.function((n: number, { more = 0 }: { more?: number }) => tf.constant(n + more));
  expectTypeOf(typed).parameters.toEqualTypeOf<[n: number, { more?: number }]>();
  expect(typed(1, { more: 2 }).item()).toBe(3);
});

test('names that there are not, and gradients that may be null', () => {
  const model = new tf.Sequential([new tf.layers.Dense(1)]);
  // @ts-expect-error
  expect(() => model.compile({ optimizer: 'adamm', loss: 'mse' })).toThrow("did you mean 'Adam'?");
  // @ts-expect-error
  expect(() => new tf.layers.Dense(2, { activation: 'rellu' })).toThrow("did you mean 'relu'?");
  const [w, v] = [new tf.Variable(1), new tf.Variable(1)];
  const tape = new tf.GradientTape();
  const loss = tape.record(() => w.mul(2));
  new tf.optimizers.SGD(0.5).applyGradients(tape.gradient(loss, [w, v]), [w, v]);
  expect([w.item(), v.item()]).toEqual([0, 1]);
});
