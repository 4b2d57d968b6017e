import '@eagre/backend-js';
import '@eagre/backend-native';
import {
  concat,
  constant,
  FailedPreconditionError,
  ones,
  random,
  range,
  type Tensor,
  Variable,
} from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { Concatenate, Dense, Embedding, InputLayer, LSTM } from '../layers/index.ts';
import { ops } from '../models/all-operations.ts';
import { Input } from '../models/functional.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { Model } from '../models/model.ts';
import { Operation } from '../models/operations.ts';
import { Sequential } from '../models/sequential.ts';
import { Layer } from './layer.ts';

const quiet = { verbose: 0 } as const;

describe('ops on symbolic tensors', () => {
  test('methods, beside constants, variables and other symbolic tensors', () => {
    const [a, b] = [Input({ shape: [2, 3] }), Input({ shape: [3] })];
    const w = new Variable([1, 2, 3]);
    const y = a.mul(w).add(b.expandDims(1)).sub(1).reshape([-1, 6]);
    expect([y.shape, y.dtype]).toEqual([[null, 6], 'float32']);
    const model = new Model([a, b], y.sum(1, { keepdims: true }));
    const [x, z] = [random.normal([4, 2, 3]), random.normal([4, 3])];
    const expected = (): unknown =>
      x.mul(w).add(z.expandDims(1)).sub(1).reshape([-1, 6]).sum(1, { keepdims: true }).array();
    expect(model([x, z]).array()).toEqual(expected());
    w.assign([0, 1, -1]);
    expect(model([x, z]).array()).toEqual(expected());
    // Another size of the batch, and other positions of the symbolic tensor.
    expect(model([x.at('0:2'), z.at('0:2')]).shape).toEqual([2, 1]);
    const other = new Model(b, ops.sub(1, b));
    expect(other(z).array()).toEqual(constant(1).sub(z).array());
  });
  test('functions of several tensors', () => {
    const [a, b] = [Input({ shape: [2] }), Input({ shape: [3] })];
    const joined = ops.concat([a, ops.relu(b)], -1);
    expect(joined.shape).toEqual([null, 5]);
    const model = new Model([a, b], joined);
    const [x, z] = [random.normal([4, 2]), random.normal([4, 3])];
    expect(model([x, z]).array()).toEqual(concat([x, z.relu()], -1).array());
    expect(ops.concat([x, x], 0).shape).toEqual([8, 2]);
    const [p, q] = a.unstack(1);
    expect(new Model(a, ops.where(a.greater(0), a, 0).add(p!.mul(q!).expandDims(1)))(x).shape).toEqual([
      4, 2,
    ]);
  });
  test('are operations of the model', () => {
    const a = Input({ shape: [2] });
    const y = a.mul(2).softmax();
    const model = new Model(a, y);
    expect(model.operations.map((layer) => layer.constructor.name)).toEqual([
      'InputLayer',
      'Operation',
      'Operation',
    ]);
    const [, first] = model.operations as [Layer, Operation];
    const copy = Operation.fromConfig({ ...first.getConfig(), name: 'again' });
    expect([first.op, copy.op, copy.name]).toEqual(['mul', 'mul', 'again']);
    expect(() => new Operation({ op: 'nothing' })).toThrow("there is no op 'nothing'");
  });
  test('train', async () => {
    random.setSeed(5);
    const a = Input({ shape: [2] });
    const h = new Dense(2)(a);
    const model = new Model(a, h.square().sum(-1, { keepdims: true }));
    model.compile({ optimizer: new SGD(0.01), loss: 'mse' });
    const x = random.normal([16, 2]);
    const { history } = await model.fit(x, x.square().sum(1, { keepdims: true }), { ...quiet, epochs: 8 });
    expect(history['loss']!.at(-1)).toBeLessThan(history['loss']![0]!);
  });
});

class Attend extends Layer {
  readonly query = new Dense(2, { kernelInitializer: 'ones' });
  override call(x: Tensor, context: Tensor, { scale = 1 }: { scale?: number } = {}): Tensor {
    return this.query(x).matmul(context, { transposeB: true }).mul(scale);
  }
}

describe('several inputs by position', () => {
  test('eagerly', () => {
    const layer = new Attend();
    const [x, context] = [random.normal([2, 3]), random.normal([5, 2])];
    const expected = x.sum(1, { keepdims: true }).mul([1, 1]).matmul(context, { transposeB: true });
    expect(layer(x, context).shape).toEqual([2, 5]);
    for (const [got, factor] of [
      [layer(x, context), 1],
      [layer(x, context, { scale: 2 }), 2],
    ] as const) {
      const error = got.sub(expected.mul(factor)).abs().max().item();
      expect(error).toBeLessThan(1e-5);
    }
    expect(() => new Dense(2)(x, context)).toThrow('only inputs can be given by position');
  });
  test('symbolically', () => {
    const [x, context] = [Input({ shape: [4, 3] }), Input({ shape: [5, 2] })];
    const layer = new Attend();
    const y = layer(x, context, { scale: 2 });
    expect(y.shape).toEqual([null, 4, 5]);
    const model = new Model([x, context], y);
    const [a, b] = [random.normal([2, 4, 3]), random.normal([2, 5, 2])];
    expect(model([a, b]).array()).toEqual(layer(a, b, { scale: 2 }).array());
  });
});

test('symbolic states', () => {
  const encoderInput = Input({ shape: [null, 3] });
  const [, h, c] = new LSTM(4, { returnState: true })(encoderInput);
  const decoderInput = Input({ shape: [null, 2] });
  const decoder = new LSTM(4, { returnSequences: true });
  const y = new Dense(1)(decoder(decoderInput, { initialState: [h!, c!] }));
  expect(y.shape).toEqual([null, null, 1]);
  const model = new Model([encoderInput, decoderInput], y);
  const [a, b] = [random.normal([2, 5, 3]), random.normal([2, 6, 2])];
  const [encoder, , , dense] = model.layers.slice(2) as [Layer, Layer, Layer, Layer];
  expect(model.layers.map((layer) => layer.constructor.name)).toEqual([
    'InputLayer',
    'InputLayer',
    'LSTM',
    'LSTM',
    'Dense',
  ]);
  expect([encoder, dense]).toEqual([model.layers[2], undefined]);
  const [, h1, c1] = model.layers[2]!(a);
  const direct = model.layers[4]!(decoder(b, { initialState: [h1, c1] }));
  expect(model([a, b]).array()).toEqual(direct.array());
  const without = model.layers[4]!(decoder(b));
  expect(model([a, b]).array()).not.toEqual(without.array());
});

describe('inputs and outputs of layers and models', () => {
  test('of a functional model', () => {
    const x = Input({ shape: [4], name: 'x' });
    const hidden = new Dense(3, { name: 'hidden' });
    const model = new Model(x, new Dense(2)(hidden(x)));
    expect(model.inputs).toEqual([x]);
    expect([model.input, model.output]).toEqual([x, model.outputs[0]]);
    expect([hidden.input, hidden.output.shape]).toEqual([x, [null, 3]]);
    const features = new Model(model.inputs, model.getLayer('hidden').output);
    const values = random.normal([2, 4]);
    expect(features(values).array()).toEqual(hidden(values).array());
    expect(model.layers[0]).toBeInstanceOf(InputLayer);
    expect(model.layers[0]?.name).toBe('x');
    expect(model.getLayer('x').output).toBe(x);
  });
  test('of a sequence', () => {
    const model = new Sequential([new Dense(3, { inputShape: [4] }), new Dense(2)]);
    const features = new Model(model.inputs, model.layers[0]!.output);
    const values = random.normal([2, 4]);
    expect(features(values).array()).toEqual(model.layers[0]!(values).array());
    expect(new Model(model.input, model.output)(values).array()).toEqual(model(values).array());
    model.add(new Dense(1));
    expect((model.output as KerasTensor).shape).toEqual([null, 1]);
    expect(() => new Sequential([new Dense(1)]).inputs).toThrow(FailedPreconditionError);
  });
  test('of what was not called, or several times', () => {
    expect(() => new Dense(1).output).toThrow('was not called on symbolic tensors');
    const shared = new Dense(1);
    shared(Input({ shape: [2] }));
    shared(Input({ shape: [2] }));
    expect(() => shared.output).toThrow('called 2 times');
  });
  test('a class may use the names', () => {
    class Own extends Layer {
      override output = new Dense(2);
      override call(x: Tensor): Tensor {
        return this.output(x);
      }
    }
    const layer = new Own();
    layer(random.normal([1, 2]));
    expect(layer.weights.length).toBe(2);
  });
  test('a model inside a model', () => {
    const x = Input({ shape: [4] });
    const inner = new Model(x, new Dense(3)(x));
    const y = Input({ shape: [4] });
    const outer = new Model(y, inner(y).relu());
    const values = random.normal([2, 4]);
    expect(outer(values).array()).toEqual(inner(values).relu().array());
    expect(outer.layers[1]).toBe(inner);
  });
});

describe('tensors by name', () => {
  const data = { a: random.normal([8, 2]), b: random.normal([8, 3]) };
  const targets = { sum: random.normal([8, 1]), both: random.normal([8, 5]) };
  const functional = (): Model => {
    const inputs = { a: Input({ shape: [2] }), b: Input({ shape: [3] }) };
    const both = new Concatenate()([inputs.a, inputs.b]);
    return new Model({ inputs, outputs: { sum: new Dense(1)(both), both } });
  };
  class Own extends Model {
    readonly dense = new Dense(1);
    override call({ a, b }: { a: Tensor; b: Tensor }): { sum: Tensor; both: Tensor } {
      const both = concat([a, b], -1);
      return { sum: this.dense(both), both };
    }
  }
  test.each([
    ['functional', functional],
    ['subclassed', () => new Own()],
  ])('%s', async (_, make) => {
    const model: Model = make();
    const y = model<{ sum: Tensor; both: Tensor }>(data);
    expect(Object.keys(y)).toEqual(['sum', 'both']);
    expect(y.both.array()).toEqual(concat([data.a, data.b], -1).array());
    model.compile({ optimizer: 'sgd', loss: { sum: 'mse', both: 'mae' }, metrics: { sum: ['mae'] } });
    const { history } = await model.fit(data, targets, { ...quiet, batchSize: 4 });
    expect(Object.keys(history).sort()).toEqual(['both_loss', 'loss', 'sum_loss', 'sum_mae'].sort());
    const logs = await model.evaluate(data, targets, quiet);
    const expected = targets.both.sub(y.both).abs().mean().item();
    expect(logs['both_loss']).toBeCloseTo(expected, 5);
    const predicted = await model.predict<{ sum: Tensor; both: Tensor }>(data, { batchSize: 3 });
    expect([predicted.sum.shape, predicted.both.shape]).toEqual([
      [8, 1],
      [8, 5],
    ]);
    const batches = [[{ a: data.a, b: data.b }, targets]] as const;
    expect(await model.evaluate(batches[Symbol.iterator]() as never, quiet)).toEqual(logs);
  });
  test('where one tensor is wanted', () => {
    for (const layer of [new Dense(1), new Own()])
      expect(() => layer({})).toThrow('takes a tensor, got an empty object');
    expect(() => new Dense(1)(data)).toThrow('takes a tensor, got tensors by name (a, b)');
    expect(() => new Dense(1)({ a: Input({ shape: [2] }) })).toThrow('got tensors by name (a)');
  });
  test('by the names of inputs', () => {
    const [a, b] = [Input({ shape: [2], name: 'a' }), Input({ shape: [3], name: 'b' })];
    const model = new Model([a, b], new Concatenate()([a, b]));
    expect(model({ b: data.b, a: data.a }).array()).toEqual(concat([data.a, data.b], -1).array());
    expect(() => model({ a: data.a })).toThrow("the input 'b' is missing");
  });
  test('symbolically', () => {
    const inputs = { a: Input({ shape: [2] }), b: Input({ shape: [3] }) };
    const y = new Own()<{ sum: KerasTensor; both: KerasTensor }>(inputs);
    expect([y.sum.shape, y.both.shape]).toEqual([
      [null, 1],
      [null, 5],
    ]);
    const model = new Model(inputs, y.both.mul(2));
    expect(model(data).array()).toEqual(concat([data.a, data.b], -1).mul(2).array());
  });
});

test('types of calls', () => {
  // Of what is not known a call with values.
  // biome-ignore lint/suspicious/noExplicitAny: that is what is tested
  const unknown: any = random.normal([2, 3]);
  const y = new Dense(1)(unknown);
  expectTypeOf(y).toEqualTypeOf<Tensor>();
  const input = Input({ shape: [4, 3] });
  expectTypeOf(new Dense(1)(input)).toEqualTypeOf<KerasTensor>();
  expectTypeOf(input.mul(2).sum(1)).toEqualTypeOf<KerasTensor>();
  expectTypeOf(input.unstack(1)).toEqualTypeOf<KerasTensor[]>();
  // A model of several outputs, described further.
  const pair = new Model(input, [input.mul(2), input.add(1)]);
  const [a, b] = pair(input);
  const sum = new Model(input, ops.add(a!, b!));
  expect(sum(ones([1, 4, 3])).shape).toEqual([1, 4, 3]);
  // Options of one's own, without training among them.
  class Scaled extends Layer {
    override call(x: Tensor, { factor = 1 }: { factor?: number } = {}): Tensor {
      return x.mul(factor);
    }
  }
  expect(new Scaled()(ones([1]), { factor: 3 }).array()).toEqual([3]);
});

describe('layers of users that know how long a sequence may be', () => {
  test('a table of positions that is shorter than the sizes that are tried', () => {
    class Positions extends Layer {
      tokens = new Embedding(9, 4);
      positions = new Embedding(5, 4);
      override call(x: Tensor): Tensor {
        return this.tokens(x).add(this.positions(range(0, x.shape[1] as number, 1, { dtype: 'int32' })));
      }
    }
    const input = Input({ shape: [null], dtype: 'int32' });
    const model = new Model(input, new Positions()(input));
    expect(model.outputs[0]?.shape).toEqual([null, null, 4]);
    expect(model(constant([[1, 2, 3]], 'int32')).shape).toEqual([1, 3, 4]);
    expect(() => model(constant([[1, 2, 3, 4, 5, 6]], 'int32'))).toThrow(/rows 0 … 4/);
  });
  test('the same with a variable', () => {
    class Positions extends Layer {
      table = new Variable([[1], [2], [3], [4]]);
      override call(x: Tensor): Tensor {
        return x.add(this.table.read().slice([0, 0], [x.shape[1] as number, 1]));
      }
    }
    const input = Input({ shape: [null, 2] });
    const model = new Model(input, new Positions()(input));
    expect(model.outputs[0]?.shape).toEqual([null, null, 2]);
    expect(model(ones([1, 3, 2])).array()).toEqual([
      [
        [2, 2],
        [3, 3],
        [4, 4],
      ],
    ]);
  });
  test('what no size makes work is refused as it was said first', () => {
    class Refuses extends Layer {
      override call(x: Tensor): Tensor {
        throw new FailedPreconditionError(`of ${x.shape[1]}`);
      }
    }
    expect(() => new Refuses()(Input({ shape: [null] }))).toThrow(/of 32/);
  });
});
