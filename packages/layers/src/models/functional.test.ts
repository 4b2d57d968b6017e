import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, InvalidArgumentError, oneHot, ones, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { type CallOptions, Layer } from '../layer/layer.ts';
import { Add, Concatenate, Dense, Dropout, Embedding, Flatten, Lambda, Reshape } from '../layers/index.ts';
import { Input } from './functional.ts';
import type { KerasTensor } from './keras-tensor.ts';
import { Model } from './model.ts';
import { Sequential } from './sequential.ts';

test('a shortcut', () => {
  const inputs = Input({ shape: [4], name: 'img' });
  const a = new Dense(3, { activation: 'relu' })(inputs);
  const b = new Dense(3, { activation: 'relu' })(a);
  const outputs = new Dense(2)(new Add()([a, b]));
  const model = new Model({ inputs, outputs, name: 'short' });
  expect([model.name, model.built, model.layers.length]).toEqual(['short', true, 5]);
  expect(model.countParams()).toBe(15 + 12 + 8);
  const [, first, second, , last] = model.layers as [Layer, Dense, Dense, Add, Dense];
  const x = ones([2, 4]);
  const h = first(x);
  expect(model(x).array()).toEqual(last(h.add(second(h))).array());
  expect(model.computeOutputShape([7, 4])).toEqual([7, 2]);
});

test('inputs and outputs by position', () => {
  const inputs = Input({ shape: [4] });
  const [a, b] = [new Dense(3)(inputs), new Dense(2)(inputs)];
  const model = new Model(inputs, a, { name: 'short' });
  expect([model.name, model.built, model(ones([2, 4])).shape]).toEqual(['short', true, [2, 3]]);
  expect((new Model([inputs], [a, b])(ones([2, 4])) as unknown as Tensor[]).map((t) => t.shape)).toEqual([
    [2, 3],
    [2, 2],
  ]);
  expect(() => new Model(inputs, undefined as never)).toThrow('needs both inputs and outputs');
  expect(new Model({ x: inputs }, a)({ x: ones([2, 4]) } as never).shape).toEqual([2, 3]);
  // @ts-expect-error
  expect(() => new Model({ x: 1 }, a)).toThrow(InvalidArgumentError);
});

test('a shared layer has its weights once', () => {
  const [a, b] = [Input({ shape: [3] }), Input({ shape: [3] })];
  const shared = new Dense(2);
  const outputs = new Concatenate()([shared(a), shared(b)]);
  const model = new Model({ inputs: [a, b], outputs });
  expect(model.weights.length).toBe(2);
  const [x, y] = [ones([1, 3]), ones([1, 3]).mul(2)];
  const [row] = model([x, y]).array() as number[][];
  expect(row).toEqual([...(shared(x).data() as Float32Array), ...(shared(y).data() as Float32Array)]);
});

describe('several outputs', () => {
  const make = (): Model => {
    const x = Input({ shape: [3] });
    const h = new Dense(2)(x);
    return new Model({ inputs: x, outputs: [h, new Dense(1)(h), x] });
  };
  test('are an array', () => {
    const model = make();
    const x = ones([2, 3]);
    const ys = model(x) as unknown as Tensor[];
    expect(ys.map((t) => t.shape)).toEqual([
      [2, 2],
      [2, 1],
      [2, 3],
    ]);
    expect(ys.every((t) => !t.isDisposed) && !x.isDisposed).toBe(true);
    expect(model.computeOutputShape([7, 3])).toEqual([
      [7, 2],
      [7, 1],
      [7, 3],
    ]);
  });
  test('inside another model', () => {
    const inner = make();
    const x = Input({ shape: [3] });
    const [h, y] = inner(x) as unknown as [KerasTensor, KerasTensor];
    expect([h.shape, y.shape]).toEqual([
      [null, 2],
      [null, 1],
    ]);
    const outer = new Model({ inputs: x, outputs: new Concatenate()([h, y]) });
    expect(outer.layers.map((layer) => layer.name)).toEqual([x.name, inner.name, outer.layers[2]?.name]);
    expect(outer(ones([4, 3])).shape).toEqual([4, 3]);
  });
  test('are predicted one by one', async () => {
    const model = make();
    const x = ones([5, 3]);
    const ys = (await model.predict(x, { batchSize: 2 })) as unknown as Tensor[];
    expect(ys.map((t) => t.shape)).toEqual([
      [5, 2],
      [5, 1],
      [5, 3],
    ]);
    expect(ys[2]?.array()).toEqual(x.array());
    expect(x.isDisposed).toBe(false);
  });
});

describe('what does not fit', () => {
  test('shapes and numbers of inputs', () => {
    const a = Input({ shape: [3], name: 'a' });
    const b = Input({ shape: [null, 2], name: 'b' });
    const model = new Model({
      inputs: [a, b],
      outputs: new Concatenate()([a, new Flatten()(new Dense(2)(b))]),
    });
    expect(() => model([ones([1, 4]), ones([1, 1, 2])])).toThrow("input 'a' is [1, 4], expected [null, 3]");
    expect(() => model([ones([1, 3]), ones([1, 1, 3])])).toThrow("input 'b'");
    expect(() => model([ones([1, 3])])).toThrow('got 1 inputs for a model with 2 (a, b)');
    expect(() => model(ones([1, 3]))).toThrow(InvalidArgumentError);
    const wrong = Input({ shape: [5] });
    expect(() => model([wrong, b])).toThrow(InvalidArgumentError);
  });
  test('graphs', () => {
    const a = Input({ shape: [3], name: 'left' });
    const b = Input({ shape: [3] });
    const y = new Add()([a, b]);
    expect(() => new Model({ inputs: b, outputs: y })).toThrow("input 'left', which is not among");
    expect(() => new Model({ inputs: [a, a, b], outputs: y })).toThrow('listed twice');
    expect(() => new Model({ inputs: a })).toThrow('both inputs and outputs');
    expect(() => new Model({ inputs: { a: 1 } as never, outputs: a })).toThrow('symbolic tensors');
    expect(() => Input({ shape: [2.5] })).toThrow(InvalidArgumentError);
    expect(() => new Dense(2)(Input({ shape: [null] }))).toThrow(InvalidArgumentError);
  });
});

test('a last axis of 1 may be missing or superfluous; dtypes become those of the inputs', () => {
  const column = Input({ shape: [1] });
  const model = new Model({ inputs: column, outputs: new Dense(1, { kernelInitializer: 'ones' })(column) });
  expect(model([1, 2]).array()).toEqual([[1], [2]]);
  expect(model(Int32Array.of(1, 2)).array()).toEqual([[1], [2]]);
  const flat = Input({ shape: [] });
  const doubled = new Model({ inputs: flat, outputs: new Lambda((x) => x.mul(2))(flat) });
  expect(doubled([[1], [2]]).array()).toEqual([2, 4]);
  expect(() => model(['a'])).toThrow(InvalidArgumentError);
});

test('integers', () => {
  const ids = Input({ shape: [4], dtype: 'int32' });
  const shaped = new Reshape([2, 2])(ids);
  expect(shaped.dtype).toBe('int32');
  const hot = new Lambda((x) => oneHot(x, 7))(shaped);
  expect([hot.shape, hot.dtype]).toEqual([[null, 2, 2, 7], 'float32']);
  const model = new Model({ inputs: ids, outputs: new Embedding(7, 3)(ids) });
  expect(model([[0, 1, 2, 6]]).shape).toEqual([1, 4, 3]);
});

test('unknown sizes', () => {
  const x = Input({ shape: [null, 3] });
  const y = new Dense(2)(new Lambda((t) => t.mul(2))(x));
  expect(y.shape).toEqual([null, null, 2]);
  const model = new Model({ inputs: x, outputs: y });
  expect(model(ones([1, 5, 3])).shape).toEqual([1, 5, 2]);
  expect(model.computeOutputShape([2, 9, 3])).toEqual([2, 9, 2]);
  const fixed = Input({ shape: [2], batchSize: 4 });
  expect(() => new Model({ inputs: fixed, outputs: new Dense(1)(fixed) })(ones([3, 2]))).toThrow('[4, 2]');
});

test('a model from the middle of another', () => {
  const x = Input({ shape: [3] });
  const h = new Dense(2)(x);
  const y = new Dense(1)(h);
  const all = new Model({ inputs: x, outputs: y });
  const head = new Model({ inputs: x, outputs: h });
  const tail = new Model({ inputs: h, outputs: y });
  const value = ones([2, 3]);
  expect(tail(head(value)).array()).toEqual(all(value).array());
});

test('options of a call: what was said when the model was described holds', () => {
  const seen: CallOptions[] = [];
  class Note extends Layer {
    override call(x: Tensor, options: CallOptions): Tensor {
      seen.push({ ...options });
      return x;
    }
  }
  const x = Input({ shape: [2] });
  const y = new Note()(new Note()(x, { training: false, scale: 2 }));
  const model = new Model({ inputs: x, outputs: new Dropout(0.5)(y, { training: false }) });
  seen.length = 0;
  expect(model(ones([1, 2]), { training: true }).array()).toEqual([[1, 1]]);
  expect(seen).toEqual([{ training: false, scale: 2 }, { training: true }]);
});

test('subclassed and sequential models inside; names of weights', () => {
  class Block extends Model {
    inner = [new Dense(2), new Dense(2)];
    override call(x: Tensor): Tensor {
      return this.inner.reduce((y, layer) => layer(y), x);
    }
  }
  const x = Input({ shape: [3] });
  const y = new Sequential([new Dense(4), new Dense(3)])(x);
  const model = new Model({ inputs: x, outputs: new Block()(y) });
  expect(model.namedWeights.map((w) => w.path)).toEqual([
    'sequential/dense/kernel',
    'sequential/dense/bias',
    'sequential/dense_1/kernel',
    'sequential/dense_1/bias',
    'block/dense/kernel',
    'block/dense/bias',
    'block/dense_1/kernel',
    'block/dense_1/bias',
  ]);
  expect(model(ones([2, 3])).shape).toEqual([2, 2]);
});

test('a layer of the user in the graph keeps what it wants', () => {
  const held: Tensor[] = [];
  class Holds extends Layer {
    override call(x: Tensor): Tensor {
      const y = x.mul(2);
      held.push(x, y);
      return y.add(1);
    }
  }
  const x = Input({ shape: [2] });
  const model = new Model({ inputs: x, outputs: new Dense(1)(new Holds()(new Dense(2)(x))) });
  held.length = 0;
  model(constant([[1, 2]]));
  expect(held.map((t) => t.isDisposed)).toEqual([false, false]);
});

test('a model of inputs and outputs by name has them in the order of the names, as in Keras', () => {
  const first = Input([2], { name: 'first' });
  const second = Input([3], { name: 'second' });
  const model = new Model({ b: first, a: second }, { y: first, x: second });
  expect(model.inputs.map(({ name }) => name)).toEqual(['second', 'first']);
  expect(model.outputs.map(({ name }) => name)).toEqual(['second', 'first']);
  const { x, y } = model<{ x: Tensor; y: Tensor }>({ b: ones([1, 2]), a: ones([1, 3]) });
  expect([x.shape, y.shape]).toEqual([
    [1, 3],
    [1, 2],
  ]);
});

test('reshape of unknown sizes tells the shape that it was given, as in Keras 3.15.1', () => {
  const shape = (from: (number | null)[], to: number[]): unknown =>
    (Input({ batchShape: from }) as unknown as Tensor).reshape(to).shape;
  expect(shape([null, null, null, 4], [-1, 6, 6, 2, 2, 1])).toEqual([null, 6, 6, 2, 2, 1]);
  expect(shape([null, null, 4], [2, -1])).toEqual([2, null]);
  expect(shape([null, null, 4], [2, 3, 4])).toEqual([2, 3, 4]);
  expect(shape([null, 3, 4], [-1, 5])).toEqual([null, 5]);
  expect(() => shape([2, 3, 4], [-1, 5])).toThrow('do not fit');
});

test('an input that is no tensor is refused', () => {
  const [a, b] = ['a', 'b'].map((name) => Input({ shape: [2], name }));
  const model = new Model({ a, b }, { u: new Dense(1)(a), v: new Dense(2)(b) });
  const x = ones([1, 2]);
  expect(() => model({ a: { x }, b: x } as never)).toThrow(/the input 'a' is an object, expected a tensor/);
  expect(() => model([{ a: x, b: x }, { u: x }] as never)).toThrow(/the input 'a' is an object/);
});
