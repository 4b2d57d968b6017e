import '@eagre/backend-js';
import { constant, InvalidArgumentError, ones, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import * as layers from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { Layer } from './layer.ts';

const near = (got: Tensor, expected: readonly number[]): void => {
  const values = [...(got.data() as Float32Array)];
  expect(values.length).toBe(expected.length);
  values.forEach((v, i) => expect(v).toBeCloseTo(expected[i] as number, 5));
};

test('several inputs by position and by name', () => {
  const attention = new layers.MultiHeadAttention({ numHeads: 2, keyDim: 3, kernelInitializer: 'ones' });
  const [q, v, k] = [ones([1, 2, 4]), ones([1, 3, 4]).mul(2), ones([1, 3, 4]).mul(3)];
  const expected = attention([q, v, k]).array();
  expect(attention(q, v, k).array()).toEqual(expected);
  expect(attention(q, v, { key: k }).array()).toEqual(expected);
  expect((attention as unknown as (all: object) => Tensor)({ query: q, value: v, key: k }).array()).toEqual(
    expected,
  );
  expect(attention(q, v).array()).toEqual(attention([q, v]).array());
  expect(() => attention(q, { key: k })).toThrow('value must be given where key is');
  expect(() => attention(q, v, { value: v })).toThrow('value is given twice, by position and by name');
  expect(() => attention(q, v, { attention_mask: q } as never)).toThrow("did you mean 'attentionMask'?");
  const [a, b] = [Input([2, 4]), Input([3, 4])];
  const model = new Model([a, b], attention(a, b));
  expect(model([q, v]).array()).toEqual(attention(q, v).array());
});

test('masks of attention', () => {
  const attention = new layers.MultiHeadAttention({ numHeads: 1, keyDim: 2 });
  const x = constant([
    [
      [1, 2],
      [3, 4],
      [5, -6],
    ],
  ]);
  const first = attention(x, x.at(':', ':2'));
  for (const name of ['valueMask', 'keyMask'])
    near(attention(x, x, { [name]: [[true, true, false]] }), [...(first.data() as Float32Array)]);
  const both = attention(x, x, { keyMask: [[1, 1, 0]], queryMask: [[1, 0, 1]] });
  expect(both.at(0, 0).array()).toEqual(first.at(0, 0).array());
  // A place that is hidden attends to nothing.
  expect(both.at(0, 1).array()).toEqual([0, 0]);
  expect(() => attention(x, x, { keyMask: [1, 1, 0] })).toThrow('needs a keyMask [batch, time]');
});

test('states of cells and layers by position', () => {
  const x = ones([2, 3]);
  const [h, c] = [ones([2, 4]), ones([2, 4]).mul(2)];
  const lstm = new layers.LSTMCell(4, { kernelInitializer: 'ones' });
  const [y, states] = lstm(x, [h, c]);
  expect(states.length).toBe(2);
  expect(states[0]?.array()).toEqual(y.array());
  expect(lstm(x, { states: [h, c] })[0].array()).toEqual(y.array());
  expect(lstm(x)[0].array()).not.toEqual(y.array());
  const gru = new layers.GRUCell(4);
  const [, one] = gru(x, h);
  expect(one.shape).toEqual([2, 4]);
  expect(gru(x, [h])[1][0]?.array()).toEqual(one.array());
  const sequence = ones([2, 5, 3]);
  const layer = new layers.LSTM(4);
  expect(layer(sequence, [h, c]).array()).toEqual(layer(sequence, { initialState: [h, c] }).array());
});

test('cells of users give [output, states]', () => {
  class Counter extends Layer {
    readonly stateSize = 3;
    override call(x: Tensor, [h]: readonly [Tensor]): [Tensor, Tensor[]] {
      return [x.add(h), [h.add(1)]];
    }
  }
  const layer = new layers.RNN(new Counter(), { returnState: true });
  const [y, state] = layer<[Tensor, Tensor]>(ones([1, 4, 3]));
  expect(y.array()).toEqual([[4, 4, 4]]);
  expect(state.array()).toEqual([[4, 4, 4]]);
  class Wrong extends Counter {
    override call(x: Tensor): never {
      return x as never;
    }
  }
  expect(() => new layers.RNN(new Wrong())(ones([1, 4, 3]))).toThrow('must give [output, newStates]');
});

test('unknown options and what comes by position too much', () => {
  const x = ones([2, 3]);
  const dense = new layers.Dense(2);
  expect(() => dense(x, { bogus: 1 })).toThrow(
    `${dense.name}: 'bogus' is not an option; the options are training`,
  );
  expect(() => dense(x, true as never)).toThrow(
    'only inputs can be given by position; write { training: true }',
  );
  expect(() => dense(x, { mask: x })).toThrow(InvalidArgumentError);
  expect(dense({ inputs: x } as never).array()).toEqual(dense(x).array());
  const model = new Sequential([dense]);
  expect(() => model(x, true as never)).toThrow('write { training: true }');
  expect(() => model(x, { trainig: true })).toThrow("did you mean 'training'?");
  class Own extends Layer {
    override call(inputs: Tensor, { scale = 1 }: { scale?: number }): Tensor {
      return inputs.mul(scale);
    }
  }
  expect(new Own()(x, { scale: 3 }).sum().item()).toBe(18);
});

test('masks of other layers', () => {
  near(new layers.GlobalAveragePooling1D()(constant([[[1], [3], [8]]]), { mask: [[1, 1, 0]] }), [2]);
  near(new layers.Softmax()(constant([[1, 1, 9]]), { mask: [[true, true, false]] }), [0.5, 0.5, 0]);
  const norm = new layers.BatchNormalization({ momentum: 0, epsilon: 0 });
  const y = norm(constant([[[1], [3], [8]]]), { training: true, mask: [[true, true, false]] });
  near(y, [-1, 1, 6]);
  near(norm.movingMean.read(), [2]);
});

test('the mask of TimeDistributed goes to the layer step by step', () => {
  const inner = new layers.LSTM(2, { kernelInitializer: 'ones', recurrentInitializer: 'ones' });
  const layer = new layers.TimeDistributed(inner);
  const steps = [
    [true, true, false, false],
    [true, true, true, true],
    [true, false, false, false],
  ];
  const mask = constant([steps, steps], 'bool');
  const y = layer(ones([2, 3, 4, 5]), { mask });
  // Of Keras 3.15.
  near(y.at(0, ':2', 0), [0.9619632, 0.9983909]);
  near(y.at(1, 2), [...(inner(ones([1, 1, 5])).data() as Float32Array)]);
  class Masked extends Layer {
    override call(inputs: Tensor, { mask }: { mask?: Tensor }): Tensor {
      return mask === undefined ? inputs : inputs.mul(mask.cast('float32').expandDims(-1));
    }
  }
  near(new layers.TimeDistributed(new Masked())(ones([1, 2, 1]), { mask: [[1, 0]] }), [1, 0]);
  // A layer without masks does not see it. Files of Keras name the mask in each call.
  const dense = new layers.TimeDistributed(new layers.Dense(2));
  expect(dense(ones([1, 2, 1]), { mask: [[1, 0]] }).array()).toEqual(dense(ones([1, 2, 1])).array());
  const tokens = Input([3], { dtype: 'int32' });
  const words = new layers.Embedding(4, 1, { maskZero: true })(tokens);
  const tagger = new Model(tokens, dense(words, { mask: tokens.notEqual(0) }));
  expect((tagger(constant([[1, 2, 0]], 'int32')) as Tensor).shape).toEqual([1, 3, 2]);
  expect(() => layer(ones([2, 3, 4, 5]), { mask: constant([[[true]]]) })).toThrow(
    'the mask [1, 1, 1] does not begin as the input [2, 3, 4, 5] does',
  );
});

test('functions of Lambda, and build, may take lists', () => {
  const sum = new layers.Lambda(([a, b]: Tensor[]) => (a as Tensor).add(b as Tensor));
  expect(sum([ones([2]), ones([2])]).array()).toEqual([2, 2]);
  class Scaled extends Layer {
    size = 0;
    override build(shapes: readonly (readonly (number | null)[])[]): void {
      this.size = shapes.length;
    }
    override call([a, b]: readonly [Tensor, Tensor]): Tensor {
      return a.add(b).mul(this.size);
    }
  }
  expect(new Scaled()([ones([1]), ones([1])]).array()).toEqual([4]);
});

test('call by hand needs no options', () => {
  const x = ones([2, 4, 3]);
  for (const layer of [
    new layers.Dropout(0.5),
    new layers.Softmax(),
    new layers.LSTM(2),
    new layers.Bidirectional(new layers.GRU(2)),
    new layers.BatchNormalization(),
    new layers.MultiHeadAttention(2, 3),
    new layers.SpectralNormalization(new layers.Dense(2)),
    new Sequential([new layers.Dense(2), new layers.Dropout(0.5)]),
  ]) {
    const expected = layer(x) as Tensor;
    expect((layer.call(x) as Tensor).array()).toEqual(expected.array());
  }
  const input = Input([3]);
  const model = new Model(input, new layers.Dropout(0.5)(input));
  expect((model.call(ones([1, 3])) as Tensor).array()).toEqual([[1, 1, 1]]);
  const noisy = new (class extends layers.Dropout {
    override call(inputs: Tensor): Tensor {
      return super.call(inputs);
    }
  })(0.5);
  expect(noisy(x).array()).toEqual(x.array());
});
