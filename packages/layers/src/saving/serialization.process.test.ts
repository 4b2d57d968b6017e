import '@eagre/backend-js';
import '../index.ts';
import { type DType, InvalidArgumentError, ones, random, type Tensor, Variable } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { Layer, type LayerOptions } from '../layer/layer.ts';
import {
  Activation,
  Add,
  BatchNormalization,
  Bidirectional,
  Dense,
  Embedding,
  GRU,
  Lambda,
  LeakyReLU,
  LSTM,
  LSTMCell,
  ReLU,
  RNN,
  Softmax,
  TimeDistributed,
} from '../layers/index.ts';
import { ops } from '../models/all-operations.ts';
import { Input } from '../models/functional.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { l2 } from '../regularizers.ts';

const read = (config: object): Record<string, unknown> => JSON.parse(JSON.stringify(config));

/** A model of the configuration as a file holds it, with the same weights. */
function again<M extends Model>(model: M): M {
  const Class = model.constructor as unknown as { fromConfig(config: object): M };
  for (const config of [model.getConfig(), read(model.getConfig())]) {
    const copy = Class.fromConfig(config);
    expect(read(copy.getConfig())).toEqual(read(model.getConfig()));
  }
  const copy = Class.fromConfig(read(model.getConfig()));
  copy.setWeights(model.getWeights());
  return copy;
}

test.each<[string, () => Layer]>([
  [
    'Bidirectional',
    () => new Bidirectional(new LSTM(3, { returnSequences: true, kernelRegularizer: l2(0.1) })),
  ],
  [
    'Bidirectional of two',
    () => new Bidirectional(new GRU(2), { backwardLayer: new GRU(2, { goBackwards: true }) }),
  ],
  ['TimeDistributed', () => new TimeDistributed(new Dense(2, { activation: 'relu' }))],
  ['RNN of cells', () => new RNN([new LSTMCell(3), new LSTMCell(2)])],
])('%s goes through JSON', (_, make) => {
  const layer = make();
  const x = random.normal([2, 4, 3]);
  layer(x);
  const Class = layer.constructor as unknown as { fromConfig(config: object): Layer };
  const copy = Class.fromConfig(read(layer.getConfig()));
  copy(x);
  copy.setWeights(layer.getWeights());
  expect(copy(x).array()).toEqual(layer(x).array());
});

describe('models', () => {
  test('one after another', () => {
    const plain = new Sequential([new Dense(3), new Dense(2)]);
    const copy = Sequential.fromConfig(read(plain.getConfig()));
    expect(copy.layers.map((layer) => layer.name)).toEqual(plain.layers.map((layer) => layer.name));
    expect(copy.built).toBe(false);

    const words = new Sequential([
      Input([5], { dtype: 'int32' }),
      new Embedding(7, 4),
      new Bidirectional(new GRU(3)),
    ]);
    const ids = ones([2, 5], 'int32');
    expect(again(words)(ids).array()).toEqual(words(ids).array());

    const nested = new Sequential([new Sequential([new Dense(3, { inputShape: [2] })]), new Dense(1)]);
    const x = random.normal([4, 2]);
    expect(again(nested)(x).array()).toEqual(nested(x).array());
  });

  test('functional, with shared layers, ops, constants, several inputs and outputs by name', () => {
    const [a, b] = [Input([4], { name: 'a' }), Input([4], { name: 'b', dtype: 'float64' as DType })];
    const shared = new Dense(3, { name: 'shared' });
    const [x, y] = [shared(a), shared(b)] as [KerasTensor, KerasTensor];
    const sum = new Add()([x, y])
      .mul(2)
      .add(ones([3]))
      .sub(y) as KerasTensor;
    const normal = new BatchNormalization()(ops.concat([sum, x], -1), { training: false }) as KerasTensor;
    const model = new Model({ a, b }, { joined: normal, first: x });
    const given = { a: random.normal([2, 4]), b: random.normal([2, 4]) };
    const copy = again(model);
    const results = (m: Model): unknown =>
      Object.entries(m(given as never) as unknown as Record<string, Tensor>).map(([k, t]) => [k, t.array()]);
    expect(results(copy)).toEqual(results(model));
    expect(copy.inputNames).toEqual(['a', 'b']);
    expect(copy.outputNames).toEqual(['first', 'joined']);
  });

  test('functional, nested, and of a class of its own', () => {
    class Own extends Model {
      twice(): number {
        return 2;
      }
    }
    const x = Input([3]);
    const inner = new Model(x, new Dense(2)(x).relu(), { name: 'inner' });
    const y = Input([3]);
    const model = new Own(y, [inner(y), inner(y.mul(2))]);
    const copy = again(model);
    expect(copy.twice()).toBe(2);
    const given = random.normal([2, 3]);
    const results = (m: Model): unknown => (m(given) as unknown as Tensor[]).map((t) => t.array());
    expect(results(copy)).toEqual(results(model));
    expect(copy.getLayer('inner')).toBeInstanceOf(Model);
  });

  test('a class of the user’s is found in the process, and by its registered name in a file', () => {
    class Scaled extends Layer {
      readonly by: number;
      constructor(options: LayerOptions & { readonly by: number }) {
        const { by, ...rest } = options;
        super(rest);
        this.by = by;
      }
      override call(x: Tensor): Tensor {
        return x.mul(this.by);
      }
      override getConfig(): Record<string, unknown> {
        return { ...super.getConfig(), by: this.by };
      }
      static override fromConfig(config: Readonly<Record<string, unknown>>): Scaled {
        return new Scaled(config as unknown as { by: number });
      }
    }
    const model = new Sequential([new Scaled({ by: 3 })]);
    expect(Sequential.fromConfig(model.getConfig())(ones([1, 1])).item()).toBe(3);
    expect(() => Sequential.fromConfig(read(model.getConfig()))).toThrow('registerKerasSerializable');
    registerKerasSerializable(Scaled);
    expect(Sequential.fromConfig(read(model.getConfig()))(ones([1, 1])).item()).toBe(3);
  });

  test('what no file holds is refused by name', () => {
    const x = Input([2]);
    const held = new Model(x, x.mul(new Variable([1, 2])));
    expect(() => held.getConfig()).toThrow(
      'was called with a variable, which a configuration cannot contain',
    );
    const lambda = new Sequential([new Lambda((t) => t.mul(2))]);
    expect(Sequential.fromConfig(lambda.getConfig())(ones([1, 1])).item()).toBe(2);
    expect(() => Sequential.fromConfig(read(lambda.getConfig()))).toThrow('is not known: register it with');
    expect(() => Sequential.fromConfig({ layers: [3] })).toThrow("expected a layer's configuration");
  });

  test('functions of Lambda are found by name', () => {
    const tripled = (t: Tensor): Tensor => t.mul(3);
    const same = <T>(shape: T): T => shape;
    const model = new Sequential([Input([2]), new Lambda(tripled, { outputShape: same })]);
    expect(() => Sequential.fromConfig(read(model.getConfig()))).toThrow('the function "tripled"');
    registerKerasSerializable(tripled, { name: 'tripled' });
    registerKerasSerializable(same, { name: 'same' });
    for (const config of [model.getConfig(), read(model.getConfig())])
      expect(Sequential.fromConfig(config)(ones([1, 2])).array()).toEqual([[3, 3]]);
  });
});

test('functions of the user as regularizers, constraints, initializers and activations', () => {
  const penalty = (w: Variable | Tensor): Tensor => w.square().sum();
  const halved = (w: Tensor): Tensor => w.mul(0.5);
  const twos = (shape: readonly number[]): Tensor => ones(shape).mul(2);
  const squash = (x: Tensor): Tensor => x.tanh();
  const options = {
    kernelRegularizer: penalty,
    activityRegularizer: penalty,
    kernelConstraint: halved,
    kernelInitializer: twos,
    activation: squash,
  };
  const layer = new Dense(1, options);
  const file = read(layer.getConfig());
  const named = (config: string): object => ({
    module: 'builtins',
    class_name: 'function',
    config,
    registered_name: 'function',
  });
  const key = (option: string): string => option.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
  for (const [option, fn] of Object.entries(options)) expect(file[key(option)]).toEqual(named(fn.name));
  // Within the process the functions themselves are there.
  expect(Dense.fromConfig(layer.getConfig())(ones([1, 1])).item()).toBeCloseTo(Math.tanh(2));
  for (const option of Object.keys(options)) {
    const alone = { units: 1, [option]: file[key(option)] };
    expect(() => Dense.fromConfig(alone)).toThrow(InvalidArgumentError);
    expect(() => Dense.fromConfig(alone)).toThrow('registerKerasSerializable');
  }
  for (const fn of [penalty, halved, twos, squash]) registerKerasSerializable(fn, { package: 'mine' });
  for (const config of [file, read(layer.getConfig())]) {
    const copy = Dense.fromConfig(config);
    expect(copy(ones([1, 1])).item()).toBeCloseTo(Math.tanh(2));
    // Of the kernel, and of the output.
    const found = copy.losses.map((loss) => Number(loss.item())).sort();
    expect(found).toEqual([expect.closeTo(Math.tanh(2) ** 2), 4]);
  }
  expect(read(layer.getConfig())['activation']).toEqual(named('mine>squash'));
});

describe('layers as activations', () => {
  const x = random.normal([2, 3, 4]);
  class Scale extends Layer {
    readonly by: number;
    constructor({ by = 2, ...options }: LayerOptions & { readonly by?: number } = {}) {
      super(options);
      this.by = by;
    }
    override call(inputs: Tensor): Tensor {
      return inputs.mul(this.by);
    }
    override getConfig(): Record<string, unknown> {
      return { ...super.getConfig(), by: this.by };
    }
  }

  test('are part of the configuration, also as JSON', () => {
    const dense = new Dense(2, { activation: new ReLU({ maxValue: 0.5, name: 'mine' }) });
    expect(read(dense.getConfig())['activation']).toEqual({
      module: 'keras.layers',
      class_name: 'ReLU',
      config: {
        name: 'mine',
        trainable: true,
        dtype: {
          module: 'keras',
          class_name: 'DTypePolicy',
          config: { name: 'float32' },
          registered_name: null,
        },
        max_value: 0.5,
        negative_slope: 0,
        threshold: 0,
      },
      registered_name: null,
    });
    for (const layer of [
      dense,
      new Activation(new LeakyReLU()),
      new LSTM(2, { activation: new LeakyReLU(), recurrentActivation: new ReLU({ maxValue: 1 }) }),
      new Bidirectional(new GRU(2, { activation: new Softmax() })),
    ] as Layer[]) {
      const y = layer(x);
      const Class = layer.constructor as unknown as { fromConfig(config: object): Layer };
      const copy = Class.fromConfig(read(layer.getConfig()));
      copy.buildFrom({ list: [{ shape: [2, 3, 4], dtype: 'float32' }], many: false });
      copy.setWeights(layer.getWeights());
      expect(copy(x).array()).toEqual(y.array());
      expect(read(copy.getConfig())).toEqual(read(layer.getConfig()));
    }
  });

  test("of one's own class have to be registered for files", () => {
    const layer = new Activation(new Scale({ by: 3 }));
    expect(Activation.fromConfig(layer.getConfig())(ones([1])).array()).toEqual([3]);
    const config = read(layer.getConfig());
    expect(() => Activation.fromConfig(config)).toThrow(InvalidArgumentError);
    expect(() => Activation.fromConfig(config)).toThrow("unknown layer 'Scale'");
    registerKerasSerializable(Scale);
    expect(Activation.fromConfig(config)(ones([1])).array()).toEqual([3]);
  });

  test('what is no configuration of a layer is refused', () => {
    expect(() => new Dense(2, { activation: { name: 'relu' } as never })).toThrow(
      "expected a layer's configuration",
    );
  });
});

test('indices of functional models are written as Keras writes them', () => {
  const x = Input([4, 3]);
  const given = [x.at(':', '1:3', '-1'), x.at('...', null, { end: 2 }), x.at(0), x.at({ start: 1, step: 2 })];
  const model = new Model(x, given);
  const slice = (start: number | null, stop: number | null, step: number | null): object => ({
    class_name: '__slice__',
    config: { start, stop, step },
  });
  const { layers } = read(model.getConfig()) as { layers: { inbound_nodes: { args: unknown[] }[] }[] };
  const keys = layers.slice(1).map((one) => one.inbound_nodes[0]?.args[1]);
  expect(keys).toEqual([
    [slice(null, null, 1), slice(1, 3, 1), -1],
    [{ class_name: '__ellipsis__', config: {} }, null, slice(null, 2, null)],
    [0],
    [slice(1, null, 2)],
  ]);
  const values = random.normal([5, 4, 3]);
  const arrays = (one: Model): unknown => (one(values) as unknown as Tensor[]).map((y) => y.array());
  expect(arrays(again(model))).toEqual(arrays(model));
});
