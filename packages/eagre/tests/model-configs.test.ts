import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import * as tf from '../src/index.ts';

const { layers, Model, Sequential, Input } = tf.keras;
const { cloneModel, modelFromJSON } = tf.keras.models;
const { ops } = tf.keras;
type AnyModel = tf.keras.Model;
type Symbolic = tf.keras.KerasTensor;

// What Keras writes of models, and what they predict: tools/golden/models.py.
interface Case {
  readonly name: string;
  readonly json: Record<string, unknown>;
  readonly inputs?: unknown;
  readonly weights?: readonly { readonly path: string; readonly value: unknown }[];
  readonly outputs?: unknown;
  readonly layers?: readonly string[];
}
const golden = JSON.parse(readFileSync(new URL('../golden/models.json', import.meta.url), 'utf8')) as {
  readonly models: readonly Case[];
};

class Scaled extends layers.Layer {
  readonly by: number;
  constructor({ by, ...options }: tf.keras.layers.LayerOptions & { readonly by: number }) {
    super(options);
    this.by = by;
  }
  override call(x: tf.Tensor): tf.Tensor {
    return x.mul(this.by);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), by: this.by };
  }
}
class Perceptron extends Model {
  readonly hidden: tf.keras.layers.Dense;
  readonly units: number;
  readonly activation: 'relu';
  constructor({
    units,
    activation = 'relu',
    ...options
  }: tf.keras.layers.LayerOptions & { readonly units: number; readonly activation?: 'relu' }) {
    super(options);
    this.units = units;
    this.hidden = new layers.Dense(units, { activation });
    this.activation = activation;
  }
  override call(x: tf.Tensor): tf.Tensor {
    return this.hidden(x);
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), units: this.units, activation: this.activation };
  }
}
for (const Class of [Scaled, Perceptron])
  tf.keras.saving.registerKerasSerializable(Class, { package: 'mine' });

/** The same models as there. */
const make: Readonly<Record<string, () => AnyModel>> = {
  unbuilt: () => new Sequential([new layers.Dense(3, { activation: 'relu' }), new layers.Dense(2)]),
  sequential() {
    const model = new Sequential([
      Input([4], { name: 'features' }),
      new layers.Dense(3, { activation: 'relu' }),
      new layers.Dropout(0.5),
      new layers.Dense(2, { name: 'last' }),
    ]);
    model.compile({ optimizer: 'adam', loss: 'mse', metrics: ['mae'] });
    return model;
  },
  compiled() {
    const model = new Sequential([Input([4]), new layers.Dense(3)]);
    const { SGD, schedules } = tf.optimizers;
    model.compile({
      optimizer: new SGD(new schedules.ExponentialDecay(0.1, 10, 0.5), { momentum: 0.5, clipnorm: 1 }),
      loss: new tf.losses.CategoricalCrossentropy({ fromLogits: true }),
      metrics: [new tf.metrics.CategoricalAccuracy({ name: 'acc' }), 'mse'],
      weightedMetrics: ['mae'],
      runEagerly: true,
    });
    return model;
  },
  words: () =>
    new Sequential([
      Input([5], { dtype: 'int32' }),
      new layers.Embedding(7, 4),
      new layers.Bidirectional(new layers.LSTM(3, { returnSequences: true })),
      new layers.TimeDistributed(new layers.Dense(2)),
      new layers.GRU(2),
    ]),
  images: () =>
    new Sequential([
      Input([8, 8, 1]),
      new layers.Rescaling(0.5),
      new layers.Conv2D(2, 3, { padding: 'same', activation: 'relu' }),
      new layers.BatchNormalization(),
      new layers.MaxPooling2D(),
      new layers.DepthwiseConv2D(3),
      new layers.LayerNormalization(),
      new layers.Flatten(),
      new layers.Dense(3, { activation: 'softmax' }),
    ]),
  nested_sequential: () =>
    new Sequential([
      new Sequential([Input([3]), new layers.Dense(2)]),
      new layers.ReLU(),
      new layers.Dense(1),
    ]),
  functional() {
    const x = Input([4], { name: 'x' });
    const h = new layers.Dense(3, { activation: 'tanh' })(x);
    return new Model(x, new layers.Dense(1)(h), { name: 'plain' });
  },
  branches() {
    const [a, b] = [Input([4], { name: 'a' }), Input([3], { name: 'b', dtype: 'float32' })];
    const left = new layers.ReLU()(new layers.Dense(3)(a));
    const out = new layers.Dense(2, { name: 'wide' })(new layers.Concatenate()([left, b]));
    const model = new Model([a, b], [out, new layers.Add()([left, b])]);
    model.compile({ loss: ['mse', null], optimizer: 'rmsprop', lossWeights: [0.5, 1] });
    return model;
  },
  shared() {
    const [a, b] = [Input([4], { name: 'a' }), Input([4], { name: 'b' })];
    const dense = new layers.Dense(3, { name: 'shared' });
    const [x, y] = [dense(a), dense(b)];
    const difference = new layers.Subtract()([x, y]);
    return new Model({ b, a }, { difference, again: new layers.Dense(4)(y) });
  },
  twice() {
    const x = Input([4]);
    const dense = new layers.Dense(4);
    return new Model(x, dense(new layers.ReLU()(dense(x))));
  },
  nested() {
    const x = Input([3]);
    const inner = new Model(x, new layers.Dense(3, { activation: 'relu' })(x), { name: 'inner' });
    const y = Input([3]);
    return new Model(y, [inner(y), inner(new layers.Dense(3)(y))]);
  },
  deep() {
    const x = Input([3], { name: 'deepest' });
    const inner = new Model(x, new layers.Dense(3)(x), { name: 'inner' });
    const y = Input([3], { name: 'middle' });
    const middle = new Model(y, inner(y), { name: 'outer' });
    const block = new Sequential([new layers.Dense(3), middle], { name: 'block' });
    const z = Input([3], { name: 'z' });
    return new Model(z, block(z), { name: 'deep' });
  },
  operators() {
    const x = Input([4], { name: 'x' });
    const y = new layers.Dense(4)(x);
    let z = x.mul(2).add(y);
    z = ops.sub(1, z);
    z = z.div(ops.abs(y).add(1));
    return new Model(x, z.pow(2).neg().matmul(x.transpose()));
  },
  operations() {
    const x = Input([4, 3], { name: 'x' });
    const a = ops.relu(x);
    const b = x.mean(1, { keepdims: true });
    const c = ops.concat([a, a.add(b)], -1).reshape([-1, 24]);
    const d = c.softmax().expandDims(1);
    const e = d.transpose([0, 2, 1]).squeeze(-1);
    const [squared, raised] = [e.square(), e.exp()];
    const f = raised.sub(squared.sqrt()).clip(0.5, 2);
    const g = ops.stack([f.sum({ axis: -1 }), f.max(-1)], 1);
    const h = g.maximum(0.25);
    return new Model(x, [f, h, ops.cast(f.argMax(-1, { dtype: 'int32' }), 'float32')]);
  },
  elementwise() {
    const [x, y] = [Input([3], { name: 'x' }), Input([3], { name: 'y' })];
    const p = x.sigmoid();
    const one = [
      x.abs(),
      x.neg(),
      x.sign(),
      x.floor(),
      x.ceil(),
      x.square(),
      x.exp(),
      x.expm1(),
      x.sin(),
      x.cos(),
      x.tanh(),
    ];
    one.push(
      x.relu(),
      ops.relu6(x),
      ops.selu(x),
      ops.softplus(x),
      ops.softsign(x),
      ops.silu(x),
      ops.hardSigmoid(x),
    );
    one.push(ops.erf(x), x.isNan(), x.atan());
    const ofP = [p.sqrt(), p.rsqrt(), p.log(), p.log1p(), p.reciprocal(), p.asin()];
    const two = [
      x.add(y),
      x.sub(y),
      x.mul(y),
      x.maximum(y),
      x.minimum(y),
      x.atan2(y),
      x.greater(y),
      x.lessEqual(y),
      x.notEqual(y),
    ];
    const positive = x.greater(0);
    const other = y.less(0).logicalNot();
    two.push(positive.logicalAnd(other), ops.where(x.greater(y), x, 0));
    two.push(
      ops.leakyRelu(x, { negativeSlope: 0.5 }),
      ops.elu(x, { alpha: 0.5 }),
      ops.gelu(x, false),
      p.pow(2),
      x.round(),
    );
    return new Model([x, y], [...one, ...ofP, ...two]);
  },
  structural() {
    const [x, y] = [Input([4, 6], { name: 'x' }), Input([6, 2], { name: 'y' })];
    const parts = x.split(3, -1);
    const outer = x.split([1, 2, -1], 1);
    const taken = x.gather([0, 2], 1);
    const [best] = ops.topK(x, 2);
    const outputs = [
      parts[1],
      outer[0],
      taken,
      best,
      ops.einsum('bij,bjk->bik', x, y),
      x.matmul(y),
      x.std(-1),
    ];
    outputs.push(
      x.variance([1, 2], { keepdims: true }),
      x.min(1),
      x.prod(-1),
      x.greater(1).any(-1),
      x.greater(-1).all(-1),
    );
    outputs.push(
      ops.logSumExp(x, -1),
      x.argMin(1, { dtype: 'int32' }),
      x.cumsum(1),
      x.reverse(1),
      x.repeat(2, 1),
      x.roll(1, 1),
      x.tile([1, 2, 1]),
    );
    outputs.push(
      x.swapAxes(1, 2),
      x.moveAxis(1, 2),
      x.sort(-1),
      x.argSort(-1),
      ops.zerosLike(x),
      ops.onesLike(x, 'int32'),
    );
    outputs.push(
      ops.oneHot(x.argMax(-1, { dtype: 'int32' }), 6, { axis: -1, dtype: 'float32' }),
      x.logSoftmax(-1),
      x.pad([
        [0, 0],
        [1, 1],
        [0, 0],
      ]),
    );
    outputs.push(ops.tril(x), x.unstack(1)[1]);
    return new Model([x, y], outputs as Symbolic[]);
  },
  options() {
    const x = Input([4, 3], { name: 'x' });
    const mask = Input([4], { dtype: 'bool', name: 'mask' });
    const h = new layers.LSTM(3, { returnSequences: true })(x, { mask });
    const n = new layers.BatchNormalization()(h, { training: false });
    const q = new layers.MultiHeadAttention(2, 3)(n, x, { useCausalMask: true });
    return new Model([x, mask], new layers.GlobalAveragePooling1D()(q));
  },
  states() {
    const x = Input([4, 3], { name: 'x' });
    const [y, h, c] = new layers.LSTM(2, { returnSequences: true, returnState: true })(x);
    const z = new layers.LSTM(2)(y!, { initialState: [h, c] });
    return new Model(x, [z, c!]);
  },
  attention() {
    const [q, v] = [Input([4, 3], { name: 'q' }), Input([5, 3], { name: 'v' })];
    const a = new layers.MultiHeadAttention(2, 2)([q, v]);
    const b = new layers.MultiHeadAttention(1, 2)([q, v, v]);
    return new Model([q, v], new layers.LayerNormalization()(a.add(b)));
  },
  cells() {
    const x = Input([4, 3], { name: 'x' });
    const two = [new layers.LSTMCell(3), new layers.GRUCell(2)];
    const y = new layers.RNN(two, { returnSequences: true })(x);
    return new Model(x, new layers.RNN(new layers.SimpleRNNCell(2))(y));
  },
  custom() {
    const x = Input([2], { name: 'x' });
    return new Model(x, new Scaled({ by: 3 })(x));
  },
  subclassed() {
    const model = new Perceptron({ units: 3, name: 'perceptron' });
    model.buildFor([null, 4]);
    model.compile({ loss: 'mse' });
    return model;
  },
  frozen() {
    const x = Input([2], { batchSize: 3, name: 'x' });
    const inner = new Sequential([Input([2]), new layers.Dense(2)], { name: 'inner' });
    inner.trainable = false;
    return new Model(x, inner(x), { name: 'frozen' });
  },
};

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What Keras wrote, without what says nothing more, and with what is said otherwise here. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
    // Float32 there.
    if (key === 'learning_rate' && item === Math.fround(0.001)) return [key, 0.001];
    // What Keras adds to calls that were given no options: no mask, and no training where that is the default.
    if (key === 'kwargs' && isObject(item)) {
      const isAdded = ([name, option]: [string, unknown]): boolean =>
        option === null || (name === 'training' && 'mask' in item);
      return [key, comparable(Object.fromEntries(Object.entries(item).filter((o) => !isAdded(o))))];
    }
    // Of states that a layer is called with, it says the shape.
    if (key === 'build_config' && isObject(item) && isObject(item['shapes_dict'])) {
      const { sequences_shape: shape } = item['shapes_dict'];
      if (shape !== undefined) return [key, { input_shape: shape }];
    }
    // Of layers that are built, their only axes there.
    if (key === 'attention_axes') return [key, null];
    if (key === 'axis' && Array.isArray(item) && item.length === 1 && 'rms_scaling' in value)
      return [key, item[0]];
    return [key, comparable(item)];
  });
  return Object.fromEntries(entries);
}

/** Models with masks that layers hand on: Keras says them as arguments of calls, and how they are computed as calls. */
const handsMasksOn = ['options'];
/** Where the same is called in another way: the inputs of a layer by name. */
const calledOtherwise = ['attention'];

const nested = (value: unknown): unknown => {
  if (value instanceof tf.Tensor) return value.array();
  if (Array.isArray(value)) return value.map(nested);
  return Object.fromEntries(Object.entries(value as object).map(([key, item]) => [key, nested(item)]));
};
function expectClose(got: unknown, want: unknown): void {
  if (Array.isArray(want)) {
    expect((got as unknown[]).length).toBe(want.length);
    want.forEach((item, i) => {
      expectClose((got as unknown[])[i], item);
    });
  } else if (isObject(want)) {
    for (const [key, item] of Object.entries(want)) expectClose((got as Json)[key], item);
  } else if (typeof want === 'number') {
    expect(Math.abs(Number(got) - want)).toBeLessThan(1e-4 * Math.max(1, Math.abs(want)));
  } else expect(got).toBe(want);
}
/** The examples in the form and the dtypes in which the model takes them. */
function examples(model: AnyModel, given: unknown): unknown {
  const one = (value: unknown, { dtype }: Symbolic): tf.Tensor => tf.constant(value as number[], dtype);
  const input = model.input as Symbolic | readonly Symbolic[] | Readonly<Record<string, Symbolic>>;
  if (input instanceof tf.keras.KerasTensor) return one(given, input);
  if (Array.isArray(input)) return (given as unknown[]).map((value, i) => one(value, input[i]!));
  return Object.fromEntries(
    Object.entries(input).map(([key, t]) => [key, one((given as Json)[key], t as Symbolic)]),
  );
}
function expectPredictions(model: AnyModel, { inputs, weights, outputs }: Case): void {
  if (weights === undefined) return;
  model.setWeights(weights.map(({ value }) => tf.constant(value as number[])));
  expectClose(nested(model(examples(model, inputs) as tf.Tensor)), outputs);
}

beforeEach(() => tf.keras.clearSession());

describe('models are written as Keras writes them', () => {
  test.each(golden.models.map((one) => [one.name, one] as const))('%s', (name, keras) => {
    const model = make[name]!();
    if (keras.layers !== undefined) {
      const own = model.layers.filter((layer) => layer.constructor.name !== 'Operation');
      expect(own.map((layer) => layer.name)).toEqual(keras.layers);
    }
    const written = JSON.parse(model.toJSON()) as Json;
    if (![...handsMasksOn, ...calledOtherwise].includes(name))
      expect(comparable(written)).toEqual(comparable(keras.json));
    expect(JSON.parse(JSON.stringify(model))).toEqual(written);
    expectPredictions(model, keras);
    // And read again, it is the same.
    const copy = modelFromJSON(model.toJSON());
    expect(JSON.parse(copy.toJSON())).toEqual(written);
    expectPredictions(copy, keras);
  });
});

describe('models of Keras are read', () => {
  test.each(golden.models.map((one) => [one.name, one] as const))('%s', (_, keras) => {
    const model = modelFromJSON(JSON.stringify(keras.json));
    expectPredictions(model, keras);
    expectPredictions(modelFromJSON(model.toJSON()), keras);
    if (keras.weights !== undefined) expectPredictions(cloneModel(model), keras);
  });
});

test('what no file holds is refused by name', () => {
  const x = Input([2]);
  const other = new Model(x, x.squaredDifference(1));
  expect(() => other.toJSON()).toThrow(tf.errors.UnimplementedError);
  expect(() => other.toJSON()).toThrow("Keras has no op 'squaredDifference', so no file holds it");
  expect(() => new Model(x, x.matmul([[1], [2]], { transposeA: false })).toJSON()).not.toThrow();
  const turned = new Model(x, x.matmul([[1, 2]], { transposeB: true }));
  expect(() => turned.getConfig()).toThrow("Keras's Matmul has no transposeB");
  expect(cloneModel(turned)(tf.ones([1, 2])).array()).toEqual([[3]]);
  expect(() => new Model(x, x.mul(new tf.Variable(2))).toJSON()).toThrow('called with a variable');
  expect(() => new Model(x, x.mul(tf.constant(Number.NaN))).toJSON()).toThrow('called with the number NaN');
});

test('classes whose constructor keeps what it takes to itself say what to write', () => {
  class Mlp extends Model {
    readonly hidden: tf.keras.layers.Dense;
    constructor(units: number) {
      super();
      this.hidden = new layers.Dense(units);
    }
    override call(x: tf.Tensor): tf.Tensor {
      return this.hidden(x);
    }
  }
  expect(() => new Mlp(3).toJSON()).toThrow(tf.errors.FailedPreconditionError);
  expect(() => new Mlp(3).getConfig()).toThrow('add to the class: getConfig() { return {');
  expect(() => cloneModel(new Mlp(3))).toThrow(
    'the constructor of Mlp takes arguments that its configuration does not contain',
  );
});

describe('modelFromJSON', () => {
  test('refuses what is no model', () => {
    for (const bad of [3, null, '{', '[]', '3', '{"class_name": "Dense"}'])
      expect(() => modelFromJSON(bad as never)).toThrow(tf.errors.InvalidArgumentError);
    const dense = JSON.stringify(tf.layers.serialize(new layers.Dense(2)));
    expect(() => modelFromJSON(dense)).toThrow('the text is of no model, but of a Dense');
    tf.keras.clearSession();
    const model = JSON.parse(make['functional']!().toJSON()) as {
      config: { layers: { inbound_nodes: unknown[]; registered_name: unknown }[] };
    };
    const changed = (change: (layers: (typeof model)['config']['layers']) => void): string => {
      const copy = structuredClone(model);
      change(copy.config.layers);
      return JSON.stringify(copy);
    };
    expect(() => modelFromJSON(changed((all) => all.splice(1, 1)))).toThrow('a call of the layer');
    expect(() => modelFromJSON(changed(([, dense]) => dense!.inbound_nodes.pop()))).toThrow(
      'tensors that do not exist',
    );
  });

  test('finds classes of one’s own by name, inside of models too', () => {
    class Doubled extends layers.Layer {
      override call(x: tf.Tensor): tf.Tensor {
        return x.mul(2);
      }
    }
    const x = Input([1]);
    const model = new Model(x, new Sequential([new Doubled()])(x));
    expect(() => modelFromJSON(model.toJSON())).toThrow("unknown layer 'Doubled'");
    const copies = [
      modelFromJSON(model.toJSON(), { Doubled }),
      tf.keras.saving.customObjectScope({ Doubled }, () => modelFromJSON({ jsonString: model.toJSON() })),
      Model.fromConfig(JSON.parse(JSON.stringify(model.getConfig())) as Json, { Doubled }),
      tf.keras.saving.deserializeKerasObject(JSON.parse(model.toJSON()) as never, { Doubled }) as AnyModel,
    ];
    for (const copy of copies) expect(copy(tf.ones([1, 1])).item()).toBe(2);
    const written = tf.keras.saving.serializeKerasObject(model);
    expect(written).toEqual(JSON.parse(model.toJSON()));
  });

  test('gives models that train on, compiled as the first one was', async () => {
    tf.random.setSeed(1);
    const { SGD, schedules } = tf.optimizers;
    const mine = (y: tf.Tensor, p: tf.Tensor): tf.Tensor => y.sub(p).square();
    tf.keras.saving.registerKerasSerializable(mine, { name: 'mine' });
    const x = Input([3]);
    const model = new Model(x, {
      a: new layers.Dense(1)(x),
      b: new layers.Dense(1)(new layers.Dropout(0.5)(x)),
    });
    model.compile({
      optimizer: new SGD(new schedules.ExponentialDecay(0.1, 10, 0.5)),
      loss: { a: mine, b: 'meanSquaredError' },
      lossWeights: { a: 2, b: 0.5 },
      metrics: { a: ['mae', new tf.metrics.RootMeanSquaredError()] },
    });
    const copy = modelFromJSON(model.toJSON({ indent: 2 }));
    expect(copy.getCompileConfig()).toMatchObject({
      loss: { a: { class_name: 'function', config: 'Custom>mine' }, b: 'mean_squared_error' },
      loss_weights: { a: 2, b: 0.5 },
    });
    copy.setWeights(model.getWeights());
    const [data, y] = [tf.ones([4, 3]), { a: tf.ones([4, 1]), b: tf.zeros([4, 1]) }];
    const of = async (m: AnyModel): Promise<unknown> => m.evaluate(data, y, { verbose: 0 });
    expect(await of(copy)).toEqual(await of(model));
    await copy.fit(data, y, { verbose: 0 });
    const { loss } = (await of(copy)) as { loss: number };
    expect(loss).toBeLessThan(((await of(model)) as { loss: number }).loss);
    // A metric that was read does not make another one of its class known.
    expect(new Sequential([new layers.Dense(1)]).getCompileConfig()).toEqual({});
    class Own extends Model {
      override compile(): void {
        throw new Error('other options');
      }
    }
    const own = new Own(x, new layers.Dense(1)(x));
    own.compileFromConfig(model.getCompileConfig());
    expect(own.getCompileConfig()).toEqual({});
  });

  test('lets dropout drop in training, also where Keras noted that calls do not train', () => {
    const x = Input([100]);
    const written = JSON.parse(new Model(x, new layers.Dropout(0.5)(x)).toJSON()) as {
      config: { layers: { inbound_nodes: { kwargs: Json }[] }[] };
    };
    written.config.layers[1]!.inbound_nodes[0]!.kwargs = { training: false };
    const model = modelFromJSON(JSON.stringify(written));
    expect(
      model(tf.ones([1, 100]), { training: true })
        .min()
        .item(),
    ).toBe(0);
  });
});

describe('getBuildConfig and buildFromConfig', () => {
  test('make the weights of layers and of models', () => {
    const dense = new layers.Dense(2);
    expect(dense.getBuildConfig()).toBe(null);
    dense.buildFromConfig({ input_shape: [null, 3] });
    expect(dense.weights.map((w) => w.shape)).toEqual([[3, 2], [2]]);
    expect(dense.getBuildConfig()).toEqual({ input_shape: [null, 3] });
    const attention = new layers.MultiHeadAttention(2, 3);
    attention(tf.ones([1, 4, 5]));
    expect(attention.getBuildConfig()).toEqual({
      shapes_dict: { query_shape: [1, 4, 5], value_shape: [1, 4, 5] },
    });
    const other = new layers.MultiHeadAttention(2, 3);
    other.buildFromConfig({ config: attention.getBuildConfig()! });
    expect(other.weights.map((w) => w.shape)).toEqual(attention.weights.map((w) => w.shape));
    const model = new Sequential([new layers.Dense(3), new layers.Dense(1)]);
    expect(model.getBuildConfig()).toBe(null);
    model.buildFromConfig({ input_shape: [null, 2] });
    expect(model.getBuildConfig()).toEqual({ input_shape: [null, 2] });
    expect(model.countParams()).toBe(13);
  });
});

describe('cloneModel', () => {
  const values = (m: AnyModel, x: tf.Tensor): unknown => m(x).array();

  test('gives another model of the same kind', () => {
    for (const one of ['sequential', 'functional', 'nested_sequential', 'deep', 'operators', 'subclassed']) {
      const model = make[one]!();
      const copy = cloneModel(model);
      expect(copy.constructor).toBe(model.constructor);
      expect(JSON.parse(copy.toJSON())).toEqual(JSON.parse(model.toJSON()));
      expect(copy.weights.some((w) => model.weights.includes(w))).toBe(false);
      copy.setWeights(model.getWeights());
      const x = tf.random.normal([
        2,
        model.built && one !== 'subclassed' ? model.inputs[0]!.shape.at(-1)! : 4,
      ]);
      expect(values(copy, x)).toEqual(values(model, x));
    }
  });

  test('with layers and calls of one’s own, on given inputs', () => {
    const model = make['twice']!();
    // The same layers, with another one behind each.
    const copy = cloneModel(model, {
      cloneFunction: (layer) => layer,
      callFunction: (layer, ...args) => (layer as never as (...all: unknown[]) => Symbolic)(...args).mul(2),
    });
    const dense = model.getLayer('dense');
    expect(copy.getLayer('dense')).toBe(dense);
    const x = tf.random.normal([3, 4]);
    const expected = dense(dense(x).mul(2).relu().mul(2)).mul(2).array();
    expectClose(values(copy, x), expected);
    const input = Input([4], { name: 'mine' });
    const on = cloneModel(model, { inputTensors: input });
    expect(on.inputs).toEqual([input]);
    tf.keras.clearSession();
    const wider = cloneModel(make['functional']!(), {
      cloneFunction: (layer) =>
        (layer as unknown as typeof layers.Dense.prototype).units === 3
          ? new layers.Dense(5, { name: 'wide' })
          : layers.Dense.fromConfig(layer.getConfig()),
    });
    expect(wider.layers.map((layer) => layer.name)).toEqual(['x', 'wide', 'dense_1']);
    expect(wider.countParams()).toBe(4 * 5 + 5 + 5 + 1);
  });

  test('asks for the layers of models inside with recursive', () => {
    const seen: string[] = [];
    const cloneFunction = (layer: tf.layers.Layer): tf.layers.Layer => {
      seen.push(layer.name);
      return (layer.constructor as never as typeof layers.Dense).fromConfig(layer.getConfig());
    };
    const model = make['deep']!();
    cloneModel(model, { cloneFunction });
    expect(seen).toEqual(['block']);
    seen.length = 0;
    const copy = cloneModel(model, { cloneFunction, recursive: true });
    expect(seen).toEqual(['dense_1', 'dense']);
    copy.setWeights(model.getWeights());
    const x = tf.ones([1, 3]);
    expect(values(copy, x)).toEqual(values(model, x));
    expect(copy.getLayer('block')).not.toBe(model.getLayer('block'));
  });

  test('of classes whose constructor takes what it likes, gives the library’s', () => {
    class Tower extends Sequential {
      constructor(units: readonly number[]) {
        super([Input([3]), ...units.map((n) => new layers.Dense(n))]);
      }
    }
    class Plain extends Sequential {
      twice(): number {
        return 2;
      }
    }
    const tower = cloneModel(new Tower([4, 2]));
    expectTypeOf(tower).toEqualTypeOf<tf.keras.Sequential>();
    expect([tower.constructor, tower.countParams()]).toEqual([Sequential, 16 + 10]);
    expect(cloneModel({ model: new Plain([new layers.Dense(2)]) })).toBeInstanceOf(Plain);
    class Head extends Model {
      constructor(units: number) {
        const x = Input([3]);
        super({ inputs: x, outputs: new layers.Dense(units)(x) });
      }
    }
    expect(cloneModel(new Head(2)).constructor).toBe(Model);
    expectTypeOf(cloneModel(new Head(2))).toEqualTypeOf<tf.keras.Model>();
  });

  test('refuses what fits no model', () => {
    const model = make['functional']!();
    const sequential = make['sequential']!();
    const subclassed = make['subclassed']!();
    const f = (layer: tf.layers.Layer): tf.layers.Layer => layer;
    const wrong: readonly [string, () => unknown][] = [
      ['expected a model', () => cloneModel(3 as never)],
      ['expected a model', () => cloneModel(new layers.Dense(1) as never)],
      ['cloneFunction must be a function', () => cloneModel(model, { cloneFunction: 3 as never })],
      ['callFunction must be a function', () => cloneModel(model, { callFunction: 'x' as never })],
      ['recursive must be true or false', () => cloneModel(model, { recursive: 1 as never })],
      ['must return a layer', () => cloneModel(model, { cloneFunction: () => 3 as never })],
      ["must have the form of the model's inputs", () => cloneModel(model, { inputTensors: [Input([4])] })],
      ['expected symbolic tensors', () => cloneModel(model, { inputTensors: tf.ones([1]) as never })],
      ['must give 1 symbolic tensors', () => cloneModel(model, { callFunction: () => [] as never })],
      ['callFunction is of functional models', () => cloneModel(sequential, { callFunction: f as never })],
      ['one input', () => cloneModel(sequential, { inputTensors: [Input([4]), Input([4])] })],
      ['of the class Perceptron', () => cloneModel(subclassed, { cloneFunction: f })],
    ];
    for (const [message, call] of wrong) {
      expect(call).toThrow(tf.errors.InvalidArgumentError);
      expect(call).toThrow(message);
    }
  });
});

test('checkpoints know layers by their places in Keras’s order', () => {
  const model = make['branches']!();
  const places = [...model.trackableView().children!].filter(([name]) => name.startsWith('layer'));
  expect(places.map(([name, layer]) => [name, (layer as tf.layers.Layer).name])).toEqual([
    ['layer_with_weights-0', 'dense'],
    ['layer-1', 'dense'],
    ['layer-2', 're_lu'],
    ['layer-4', 'concatenate'],
    ['layer_with_weights-1', 'wide'],
    ['layer-5', 'wide'],
    ['layer-6', 'add'],
  ]);
});

test('an InputLayer is no layer of a sequential model', () => {
  const { InputLayer, Dense } = tf.keras.layers;
  const model = new Sequential([new InputLayer({ shape: [3], name: 'in' }), new Dense(2, { name: 'out' })]);
  const names = (m: AnyModel): string[] => m.layers.map((layer) => layer.name);
  expect(names(model)).toEqual(['out']);
  expect(model.getLayer(0).name).toBe('out');
  const children = [...model.trackableView().children!].flatMap(([name]) =>
    name.startsWith('layer') ? [name] : [],
  );
  expect(children).toEqual(['layer_with_weights-0', 'layer-0']);
  const copy = modelFromJSON(model.toJSON());
  expect([names(copy), copy.inputNames, copy.inputs[0]!.name]).toEqual([['out'], model.inputNames, 'in']);
  expect(JSON.parse(copy.toJSON())).toEqual(JSON.parse(model.toJSON()));
  copy.setWeights(model.getWeights());
  expect(copy(tf.ones([1, 3])).array()).toEqual(model(tf.ones([1, 3])).array());
});
