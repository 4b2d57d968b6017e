import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, FailedPreconditionError, InvalidArgumentError, ones, type Tensor } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { Layer } from '../layer/layer.ts';
import { Concatenate, Dense, Dropout, Embedding, Flatten, Identity } from '../layers/index.ts';
import { Input } from './functional.ts';
import { Model } from './model.ts';
import { Sequential } from './sequential.ts';

test('with an input shape the weights exist at once', () => {
  const byLayer = new Sequential([new Dense(4, { inputShape: [10] }), new Dense(2)]);
  const byInput = new Sequential([Input({ shape: [10] }), new Dense(4), new Dense(2)]);
  const byOption = new Sequential([new Dense(4), new Dense(2)], { inputShape: [10] });
  const byNested = new Sequential([new Sequential([new Dense(4, { inputShape: [10] })]), new Dense(2)]);
  for (const model of [byLayer, byInput, byOption, byNested]) {
    expect(model.built).toBe(true);
    expect(model.countParams()).toBe(44 + 10);
    expect(model(ones([3, 10])).shape).toEqual([3, 2]);
  }
});

test('without one they are made by the first call, or by build', () => {
  const make = (): Sequential => new Sequential([new Dense(4), new Dense(2)]);
  const called = make();
  expect([called.built, called.weights.length]).toEqual([false, 0]);
  expect(() => called.countParams()).toThrow(FailedPreconditionError);
  called(ones([1, 3]));
  expect(called.countParams()).toBe(16 + 10);
  expect(called.knownInputShape).toEqual([null, 3]);
  const built = make();
  built.build([null, 3]);
  expect([built.built, built.countParams()]).toEqual([true, 26]);
  const other = make();
  other.buildFor([null, 3]);
  expect(other.countParams()).toBe(26);
  expect(() => new Sequential().build([null, 3])).toThrow('has no layers');
});

test('add and pop', () => {
  const model = new Sequential();
  model.add(new Dense(4, { inputShape: [3] }));
  model.add(new Dense(2));
  expect(model.countParams()).toBe(26);
  const last = model.pop();
  expect([last.name.startsWith('dense'), model.layers.length, model.countParams()]).toEqual([true, 1, 16]);
  model.add(new Dense(5));
  expect(model.countParams()).toBe(16 + 25);
  model.pop();
  model.pop();
  expect(model.built).toBe(false);
  expect(() => model.pop()).toThrow('no layer to remove');
  model.add(new Dense(1, { inputShape: [7] }));
  expect(model.countParams()).toBe(8);

  const late = new Sequential([new Dense(2)]);
  late(ones([1, 3]));
  late.add(new Dense(5));
  expect(late.countParams()).toBe(8 + 15);
});

test('what cannot be added', () => {
  const dense = new Dense(2);
  const model = new Sequential([dense]);
  expect(() => model.add(dense)).toThrow(FailedPreconditionError);
  expect(() => model.add('dense' as unknown as Layer)).toThrow(InvalidArgumentError);
  expect(() => model.add(Input({ shape: [1] }))).toThrow('an Input comes first');
  const shaped = new Sequential([new Dense(2, { inputShape: [3] })]);
  const built = new Dense(1);
  built.build([null, 9]);
  class Picky extends Layer {
    override computeOutputShape(): never {
      throw new InvalidArgumentError('no');
    }
    override build(): void {
      throw new InvalidArgumentError('no');
    }
  }
  expect(() => shaped.add(new Picky())).toThrow('no');
  expect(shaped.layers.length).toBe(1);
  shaped.add(new Dense(1));
  expect(shaped(ones([1, 3])).shape).toEqual([1, 1]);
});

test('a subclass, with layers of its own beside the sequence', () => {
  class Net extends Sequential {
    readonly extra = new Dense(1, { name: 'extra' });
    constructor() {
      super([new Dense(2, { inputShape: [3] })]);
    }
    override call(x: Tensor): Tensor {
      return this.extra(super.call(x, {}));
    }
  }
  const net = new Net();
  expect(net(ones([4, 3])).shape).toEqual([4, 1]);
  expect(net.namedWeights.map((w) => w.path)).toEqual([
    'dense/kernel',
    'dense/bias',
    'extra/kernel',
    'extra/bias',
  ]);
});

test('nested, with models and several inputs', () => {
  class Doubles extends Model {
    inner = new Dense(3);
    override call(x: Tensor): Tensor {
      return this.inner(x).mul(2);
    }
  }
  const model = new Sequential([
    Input({ shape: [2] }),
    new Sequential([new Dense(4), new Dropout(0.5)]),
    new Doubles(),
    new Dense(1),
  ]);
  expect(model.countParams()).toBe(12 + 15 + 4);
  expect(model(ones([5, 2]), { training: true }).shape).toEqual([5, 1]);
  const joined = new Sequential([new Concatenate(), new Dense(1)]);
  expect(joined([ones([2, 3]), ones([2, 4])]).shape).toEqual([2, 1]);
  expect(joined.countParams()).toBe(8);
});

test('integers through layers that keep them', () => {
  const model = new Sequential([
    Input({ shape: [2, 3], dtype: 'int32' }),
    new Flatten(),
    new Embedding(5, 2),
  ]);
  expect(model.countParams()).toBe(10);
  expect(
    model.computeOutputSpec({ list: [{ shape: [null, 2, 3], dtype: 'int32' }], many: false }).list,
  ).toEqual([{ shape: [null, 6, 2], dtype: 'float32' }]);
});

describe('memory', () => {
  test('inputs and outputs stay, what lies between layers of ours goes', () => {
    const x = ones([2, 3]);
    const model = new Sequential([
      new Identity(),
      new Dense(3),
      new Dropout(0.5),
      new Flatten(),
      new Identity(),
    ]);
    const y = model(x);
    model(x, { training: true });
    expect([x.isDisposed, y.isDisposed]).toEqual([false, false]);
    expect(y.array()).toEqual(model(x).array());
    const nothing = new Sequential([new Identity(), new Dropout(0.1)]);
    expect(nothing(x)).toBe(x);
    expect(x.isDisposed).toBe(false);
  });

  test('a layer of the user that stashes tensors or gives the same one twice', () => {
    const cached = ones([2, 3]);
    const stash: Tensor[] = [];
    class Stash extends Layer {
      override call(x: Tensor): Tensor {
        stash.push(x);
        return cached;
      }
    }
    const model = new Sequential([new Dense(3), new Stash(), new Dense(2), new Stash(), new Dense(1)]);
    for (let i = 0; i < 3; i++) model(ones([2, 3]));
    for (const t of [...stash, cached]) expect(t.isDisposed).toBe(false);
    expect(stash.length).toBe(6);
  });
});

test('a last axis of 1 may be missing or superfluous, as in Keras', async () => {
  const line = new Sequential([new Dense(1, { inputShape: [1], kernelInitializer: 'ones' })]);
  expect((line(constant([1, 2])) as Tensor).array()).toEqual([[1], [2]]);
  line.compile({ optimizer: 'sgd', loss: 'meanSquaredError' });
  const { history } = await line.fit(constant([-1, 0, 1, 2, 3]), constant([-3, -1, 1, 3, 5]), {
    epochs: 2,
    batchSize: 2,
    shuffle: false,
    verbose: 0,
  });
  expect(history.loss).toEqual([1.918268, 1.4183422].map((v) => expect.closeTo(v, 4)));
  expect((await line.predict(constant([10, 11, 12]), { verbose: 0 })).shape).toEqual([3, 1]);
  expect(new Sequential([line, new Dense(2)])(ones([3])).shape).toEqual([3, 2]);
  const wide = new Sequential([Input([4]), new Dense(2)]);
  expect(wide(ones([3, 4, 1])).shape).toEqual([3, 2]);
  expect(() => wide(ones([4]))).toThrow('expects input of rank 2 or more');
});

test('the paths of weights begin with the model around, as in Keras', () => {
  class Own extends Model {
    readonly first = new Sequential([new Dense(2, { name: 'a' })], { name: 'inner' });
    readonly second = new Sequential([Input([2]), new Dense(2, { name: 'b' })], { name: 'built' });
    override call(x: Tensor): Tensor {
      return this.second(this.first(x));
    }
  }
  const model = new Own({ name: 'own' });
  model(ones([1, 2]));
  const paths = ['own/inner/a/kernel', 'own/inner/a/bias', 'built/b/kernel', 'built/b/bias'];
  expect(model.weights.map((w) => w.path)).toEqual(paths);
});
