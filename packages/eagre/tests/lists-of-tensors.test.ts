// A list that holds tensors stands for the tensor that tf.stack makes of them, wherever a tensor is taken.
import type { Declared } from '@eagre/core/internal';
import { describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';
import { functions, valuesFor } from './testing/arguments.ts';
import { plainOf } from './testing/plain.ts';

interface Kinds {
  readonly kinds: readonly { readonly tensor?: boolean }[];
}

/** The tensors along the first axis of a value, or null where it has none. */
function rowsOf(value: unknown): tf.Tensor[] | null {
  if (!(value instanceof tf.Tensor || Array.isArray(value))) return null;
  const x = tf.constant(value as tf.TensorLike);
  return x.rank === 0 || x.shape[0] === 0 ? null : x.unstack();
}

/** They take lists whose items are not of one tensor. */
const ofLists = /^(?:meshgrid|debugging\.assert(?:SameFloatDtype|Shapes))$/;

const cases = functions.flatMap(({ name, fn, takes }) => {
  const { positional, kinds } = takes as Declared & Kinds;
  return positional.flatMap((key, i) =>
    kinds[i]?.tensor === true && !ofLists.test(name) ? [{ name, key, fn, takes: takes as Declared }] : [],
  );
});

it('there are many functions', () => {
  expect(cases.length).toBeGreaterThan(300);
});

it.each(cases)('$name: $key', async ({ name, key, fn, takes }) => {
  const values = valuesFor(name, takes);
  const given = rowsOf(values[key]);
  if (given === null) return;
  const call = async (value: unknown): Promise<unknown> => {
    tf.random.setSeed(5);
    return plainOf(await fn({ ...values, [key]: value }), (other) => typeof other);
  };
  // Numbers may stand for integers, too.
  const int = given.every(({ dtype }) => dtype === 'float32') ? given.map((x) => x.cast('int32')) : given;
  let [rows, wanted] = [given, (await call(tf.stack(given)).catch(() => null)) as unknown];
  if (wanted === null) [rows, wanted] = [int, await call(tf.stack(int))];
  expect(await call(rows)).toEqual(wanted);
});

const a = tf.constant([1, 2]);
const b = tf.constant([3.5, 4]);

it('what is no tensor takes the dtype of the first', () => {
  const both = (x: tf.TensorLike, dtype?: tf.DType): unknown[] => {
    const y = tf.constant(x, dtype);
    return [y.dtype, y.array()];
  };
  // As in TensorFlow 2.21's tf.add(x, 0) and tf.convert_to_tensor(x, dtype).
  expect(both([a, [5, 6]])).toEqual([
    'float32',
    [
      [1, 2],
      [5, 6],
    ],
  ]);
  expect(both([[5, 6], a.cast('int32')])).toEqual([
    'int32',
    [
      [5, 6],
      [1, 2],
    ],
  ]);
  expect(
    both([
      [a.at(0), 2],
      [3, b.at(1)],
    ]),
  ).toEqual([
    'float32',
    [
      [1, 2],
      [3, 4],
    ],
  ]);
  expect(both([new tf.Variable(a), b])).toEqual([
    'float32',
    [
      [1, 2],
      [3.5, 4],
    ],
  ]);
  expect(both([a, b], 'float64')).toEqual([
    'float64',
    [
      [1, 2],
      [3.5, 4],
    ],
  ]);
  expect(both([a, b], 'int32')).toEqual([
    'int32',
    [
      [1, 2],
      [3, 4],
    ],
  ]);
  expect(both([tf.constant('x'), 'y'])).toEqual(['string', ['x', 'y']]);
  // TensorFlow cuts it to 0.
  expect(() => both([a.cast('int32'), [0.5, 1]])).toThrow(tf.errors.InvalidArgumentError);
  expect(both([new Float32Array([5, 6]), a])).toEqual([
    'float32',
    [
      [5, 6],
      [1, 2],
    ],
  ]);
  expect(tf.add(a.cast('float64'), [a, b]).dtype).toBe('float64');
  expect(tf.add(a, [[1, 2], a.cast('int32')]).dtype).toBe('float32');
  expect(tf.constant([a, b], undefined, { shape: [4] }).array()).toEqual([1, 2, 3.5, 4]);
  expect(new tf.Variable([a, b]).read().shape).toEqual([2, 2]);
});

it('has gradients, also in traced functions', () => {
  const f = (x: tf.Tensor): tf.Tensor => tf.multiply([x, [x.at(1), 3]], [b, x]);
  for (const fn of [f, tf.function(f)]) {
    using tape = new tf.GradientTape();
    tape.watch(a);
    const y = fn(a);
    expect(y.array()).toEqual([
      [3.5, 8],
      [2, 6],
    ]);
    expect((tape.gradient(y, a) as tf.Tensor).array()).toEqual([5.5, 8]);
  }
});

describe('what does not fit is refused', () => {
  const endless: unknown[] = [1];
  endless.push(endless, a);
  it.each([
    ['other sizes', [a, [1, 2, 3]]],
    ['other dtypes', [a, tf.constant(['x', 'y'])]],
    ['texts', [a, ['x', 'y']]],
    ['fractions', [a.cast('int32'), [1.5, 2]]],
    ['ragged tensors', [a, tf.ragged.constant([[1], [2, 3]])]],
    ['null', [a, null]],
    ['a list that holds itself', endless],
  ])('%s', (_, value) => {
    expect(() => tf.add(value as never, 1)).toThrow(tf.errors.InvalidArgumentError);
  });
});

it('pixels have a height, a width and four channels', () => {
  const data = Uint8ClampedArray.from({ length: 8 }, (_, i) => i);
  // ImageData, as pages have it, is of a class.
  const pixels = new (class {
    readonly data = data;
    get width(): number {
      return 1;
    }
    get height(): number {
      return 2;
    }
  })();
  for (const image of [pixels, { data, width: 1, height: 2 }]) {
    const x = tf.constant(image);
    expect([x.dtype, x.array()]).toEqual(['uint8', [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]]);
    expect(tf.convertToTensor(image).shape).toEqual([2, 1, 4]);
    expect(tf.image.resize(image, [4, 2]).shape).toEqual([4, 2, 4]);
  }
  for (const bad of [
    { data, width: 2, height: 2 },
    { data, width: 0.5, height: 4 },
    { data, width: -1, height: -2 },
  ])
    expect(() => tf.constant(bad)).toThrow(tf.errors.InvalidArgumentError);
});

it('models take rows in typed arrays', async () => {
  const rows = Array.from({ length: 8 }, (_, i) => new Float32Array([i / 8, 1]));
  const model = new tf.keras.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'zeros' })]);
  model.compile({ optimizer: 'sgd', loss: 'mse' });
  const targets = rows.map(([x]) => x);
  const { history } = await model.fit(rows, targets, { verbose: 0, batchSize: 8 });
  expect(history.loss[0]).toBeCloseTo(targets.reduce((sum, x) => sum + x * x, 0) / 8, 5);
  expect(((await model.predict(rows, { verbose: 0 })) as tf.Tensor).shape).toEqual([8, 1]);
  expect((model.predictOnBatch(rows) as tf.Tensor).shape).toEqual([8, 1]);
  expect((await model.evaluate(rows, targets, { verbose: 0 })).loss).toBeGreaterThan(0);
});
