import '@eagre/backend-js';
import '@eagre/backend-native';
import { constant, ones, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { losses } from '@eagre/metrics';
import { describe, expect, test } from 'vitest';
import {
  Activation,
  Add,
  Attention,
  BatchNormalization,
  Bidirectional,
  Concatenate,
  Dense,
  Dropout,
  Embedding,
  GlobalAveragePooling1D,
  GRU,
  Lambda,
  LayerNormalization,
  LSTM,
  Masking,
  MultiHeadAttention,
  Permute,
  Reshape,
  SimpleRNN,
  Softmax,
  TimeDistributed,
} from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../testing/golden.ts';
import { type CallOptions, Layer } from './layer.ts';
import type { Mask } from './masks.ts';

interface Case {
  readonly model: keyof typeof models;
  readonly weights: readonly Values[];
  readonly inputs: readonly Values[];
  readonly masks: readonly (readonly (readonly boolean[])[] | null)[];
  readonly output: Values;
}

const TIME = 4;
const FEATURES = 3;
const input = (): KerasTensor => Input([TIME, FEATURES]);
const sequential =
  (...layers: readonly (() => Layer)[]) =>
  (): Model =>
    new Sequential([input(), ...layers.map((make) => make())]);
const scaled = (): Layer =>
  new Lambda((x: Tensor, { mask }: CallOptions) =>
    mask === undefined ? x : x.mul((mask as Tensor).cast('float32').expandDims(-1)),
  );
const joined = (join: () => Layer) => (): Model => {
  const [a, b] = [input(), input()];
  const y = join()([new Dense(3)(a), new Activation('tanh')(b)]);
  return new Model([a, b], new SimpleRNN(2)(y));
};
const models = {
  recurrent: sequential(() => new SimpleRNN(2)),
  'behind layers that pass it on': sequential(
    () => new Dense(3, { activation: 'tanh' }),
    () => new Dropout(0.5),
    () => new LayerNormalization(),
    () => new GRU(2),
  ),
  'two recurrent': sequential(
    () => new LSTM(2, { returnSequences: true }),
    () => new LSTM(2),
  ),
  'recurrent, then dense': sequential(
    () => new SimpleRNN(2, { returnSequences: true }),
    () => new Dense(2),
    () => new GlobalAveragePooling1D(),
  ),
  'dropped by a reshape': sequential(
    () => new Reshape([TIME, FEATURES]),
    () => new SimpleRNN(2),
  ),
  'dropped by a last step': sequential(
    () => new SimpleRNN(4),
    () => new Softmax(),
  ),
  'step by step': sequential(
    () => new TimeDistributed(new Dense(2)),
    () => new SimpleRNN(2),
  ),
  'function behind permutations': sequential(
    () => new Permute([2, 1]),
    () => new Permute([2, 1]),
    scaled,
  ),
  function: sequential(scaled, () => new SimpleRNN(2)),
  nested: (): Model => {
    const x = input();
    return new Model(x, new SimpleRNN(2)(new Sequential([input(), new Dense(3)])(x)));
  },
  'both directions': (): Model => {
    const x = input();
    const layer = new Bidirectional(new SimpleRNN(2, { returnSequences: true }), { mergeMode: null });
    const [forth, back] = layer<KerasTensor[]>(x) as [KerasTensor, KerasTensor];
    return new Model(x, new Add()([new SimpleRNN(2)(forth), new SimpleRNN(2)(back)]));
  },
  added: joined(() => new Add()),
  concatenated: joined(() => new Concatenate()),
  'concatenated in time': joined(() => new Concatenate({ axis: 1 })),
  attention: (): Model => {
    const [a, b] = [input(), input()];
    const y = new MultiHeadAttention(1, 2)([a, b]);
    return new Model([a, b], new GlobalAveragePooling1D()(y));
  },
  'with a state': (): Model => {
    const [x, state] = [input(), Input([2])];
    const y = new SimpleRNN(2, { returnSequences: true })(x, { initialState: [state] });
    return new Model([x, state], new SimpleRNN(2)(y));
  },
} satisfies Readonly<Record<string, () => Model>>;

describe('models that are called with masks are as in Keras', () => {
  test.each(
    readGolden<Case[]>('masks').map((c) => [`${c.model}, ${c.masks.map((m) => m !== null)}`, c] as const),
  )('%s', (name, { model: which, weights, inputs, masks, output }) => {
    const model = models[which]();
    model.setWeights(weights.map((w) => tensorOf(w)));
    const given = masks.map((m) => (m === null ? null : constant(m)));
    const x = inputs.map((i) => tensorOf(i));
    const [one] = x;
    const y = x.length === 1 ? model(one as Tensor, { mask: given[0] }) : model(x, { mask: given });
    assertCloseTensor(y, output, name, 1e-5);
  });
});

interface OwnCase extends Omit<Case, 'model' | 'masks'> {
  readonly model: keyof typeof ownModels;
  readonly target: Values;
  readonly sampleWeight: Values;
  readonly loss: number;
  readonly weightedLoss: number;
  readonly evaluated: readonly number[];
  readonly trained: readonly number[];
}
const embedding = (): Embedding => new Embedding(5, 3, { maskZero: true });
const embedded =
  (...layers: readonly (() => Layer)[]) =>
  (): Model =>
    new Sequential([Input({ shape: [TIME], dtype: 'int32' }), embedding(), ...layers.map((make) => make())]);
const ownModels = {
  embedding: embedded(() => new SimpleRNN(2)),
  'embedding, sequences': embedded(
    () => new GRU(2, { returnSequences: true }),
    () => new Dense(2),
  ),
  'embedding, mean': embedded(() => new GlobalAveragePooling1D()),
  'embedding, both directions': embedded(
    () => new Bidirectional(new LSTM(2, { returnSequences: true })),
    () => new Dense(1),
  ),
  'embedding, normalised': embedded(
    () => new BatchNormalization(),
    () => new SimpleRNN(2),
  ),
  'embedding, attention': (): Model => {
    const ids = Input({ shape: [TIME], dtype: 'int32' });
    const e = embedding()(ids);
    return new Model(ids, new GlobalAveragePooling1D()(new Attention()([e, e])));
  },
  'embedding, heads': (): Model => {
    const ids = Input({ shape: [TIME], dtype: 'int32' });
    const e = embedding()(ids);
    return new Model(ids, new GlobalAveragePooling1D()(new MultiHeadAttention(1, 2)([e, e])));
  },
  masking: sequential(
    () => new Masking(),
    () => new LSTM(2),
  ),
  'masking, added': (): Model => {
    const x = input();
    return new Model(x, new Add()([new Masking()(x), new Masking({ maskValue: 1 })(x)]));
  },
} satisfies Readonly<Record<string, () => Model>>;

describe('models whose layers make masks are as in Keras', () => {
  const cases = readGolden<OwnCase[]>('own_masks').map((c) => [c.model, c] as const);
  const made = ({ model: which, weights, inputs }: OwnCase): { model: Model; x: Tensor } => {
    const model = ownModels[which]();
    model.setWeights(weights.map((w) => tensorOf(w)));
    const x = tensorOf(inputs[0] as Values);
    return { model, x: which.startsWith('embedding') ? x.cast('int32') : x };
  };
  const mse = new losses.MeanSquaredError();
  const listed = (logs: unknown): number[] =>
    typeof logs === 'number' ? [logs] : Object.values(logs as object);

  test.each(cases)('%s', async (name, c) => {
    const { model, x } = made(c);
    assertCloseTensor(model(x), c.output, name, 1e-5);
    const [y, sampleWeight] = [tensorOf(c.target), tensorOf(c.sampleWeight)];
    expect(mse(y, model(x)).item()).toBeCloseTo(c.loss, 5);
    expect(mse(y, model(x), { sampleWeight }).item()).toBeCloseTo(c.weightedLoss, 5);
    model.compile({ loss: 'mae', optimizer: 'sgd', weightedMetrics: ['mse'] });
    const evaluated = await model.testOnBatch(x, y, { sampleWeight });
    listed(evaluated).forEach((v, i) => {
      expect(v).toBeCloseTo(c.evaluated[i] as number, 5);
    });
    for (const loss of c.trained) expect(listed(await model.trainOnBatch(x, y))[0]).toBeCloseTo(loss, 4);
  });

  test.each(cases)('%s, written as a class', (name, c) => {
    const { model, x } = made(c);
    // The same layers, called one by one by code of the user.
    const [, ...inside] = model instanceof Sequential ? [null, ...model.layers] : [];
    if (inside.length === 0) return;
    class Own extends Model {
      readonly all = inside;
      override call(inputs: Tensor): Tensor {
        return this.all.reduce((y, layer) => layer(y) as Tensor, inputs);
      }
    }
    const own = new Own();
    for (const run of [own, tfFunction((given: Tensor) => own(given))]) {
      const y = run(x) as Tensor;
      assertCloseTensor(y, c.output, name, 1e-5);
    }
    expect(mse(tensorOf(c.target), own(x) as Tensor).item()).toBeCloseTo(c.loss, 5);
  });
});

const mask = constant([[true, false]]);
const x = ones([1, 2, 1]);

test('masks of a model are those of its inputs', () => {
  const [a, b] = [Input({ shape: [2, 1], name: 'a' }), Input({ shape: [2, 1], name: 'b' })];
  const model = new Model([a, b], new Add()([scaled()(a), scaled()(b)]));
  const flat = (y: Tensor): unknown => y.reshape([-1]).array();
  expect(flat(model([x, x], { mask: [mask, null] }))).toEqual([2, 1]);
  expect(flat(model([x, x], { mask: { b: mask } }))).toEqual([2, 1]);
  expect(flat(model([x, x], { mask: [[true, false]] }))).toEqual([2, 1]);
  expect(flat(model([x, x], { mask: null }))).toEqual([2, 2]);
  expect(flat(scaled()(x, { mask }) as Tensor)).toEqual([1, 0]);
  expect(() => model([x, x], { mask: { c: mask } })).toThrow("no input 'c' for a mask; there are a, b");
  expect(() => model([x, x], { mask: [mask, mask, mask] })).toThrow('3 masks were given for 2 inputs');
  expect(() => model([x, x], { masks: mask })).toThrow("did you mean 'mask'?");
});

test('masks of several inputs reach nested models and recurrent layers', () => {
  const inputs = (): Record<'a' | 'b', KerasTensor> => ({
    a: Input({ shape: [2, 1], name: 'a' }),
    b: Input({ shape: [2, 1], name: 'b' }),
  });
  const inside = inputs();
  const inner = new Model(inside, new Add()([scaled()(inside.a), scaled()(inside.b)]));
  const outside = inputs();
  const outer = new Model(outside, inner({ a: outside.a, b: outside.b }));
  const y = outer({ a: x, b: x }, { mask: { b: mask } });
  expect((y as Tensor).reshape([-1]).array()).toEqual([2, 1]);

  const [seq, state] = [input(), Input([2])];
  const rnn = new SimpleRNN(2);
  const model = new Model([seq, state], rnn([seq, state]));
  const given = ones([1, TIME, FEATURES]);
  const mask4 = constant([[true, true, false, false]]);
  const masked = model([given, ones([1, 2])], { mask: [mask4, null] });
  const byHand = rnn(given, { initialState: [ones([1, 2])], mask: mask4 }) as Tensor;
  expect(masked.array()).toEqual(byHand.array());
});

test("a layer's own mask goes before that of the model", () => {
  const a = Input([2, 1]);
  const model = new Model(a, new GlobalAveragePooling1D()(a, { mask: constant([[false, true]]) }));
  const y = model(constant([[[3], [5]]]), { mask });
  expect(y.array()).toEqual([[5]]);
});

test("layers of one's own get masks, make them, and say whether they pass them on", () => {
  class Masking extends Layer {
    override call(inputs: Tensor): Tensor {
      return inputs.add(0);
    }
    override computeMask(inputs: Tensor): Mask {
      return inputs.notEqual(0).any(-1);
    }
  }
  class Plain extends Layer {
    given: unknown;
    override call(inputs: Tensor, options: CallOptions): Tensor {
      this.given = options.mask;
      return inputs.mul(1);
    }
  }
  const zero = constant([[[2], [0]]]);
  expect(new Sequential([new Masking(), new GlobalAveragePooling1D()])(zero).array()).toEqual([[2]]);
  const plain = new Plain();
  expect(plain.supportsMasking).toBe(false);
  const model = new Sequential([new Masking(), plain, new GlobalAveragePooling1D()]);
  expect(model(zero).array()).toEqual([[1]]);
  expect((plain.given as Tensor).array()).toEqual([[true, false]]);
  plain.supportsMasking = true;
  expect(model(zero).array()).toEqual([[2]]);
  // A nested model hands it on, and the next call knows nothing of it.
  const outer = new Sequential([new Sequential([new Masking()]), new GlobalAveragePooling1D()]);
  expect(outer(zero).array()).toEqual([[2]]);
});

test("layers of one's own that need a mask are described, with sizes that are not known", () => {
  class Hides extends Layer {
    override call(x: Tensor, { mask }: { mask: Tensor }): Tensor {
      return x.mul(mask.cast('float32').expandDims(-1));
    }
  }
  const ids = Input([null], { dtype: 'int32' });
  const rows = new Embedding(5, 2, { maskZero: true, embeddingsInitializer: 'ones' })(ids);
  const model = new Model(ids, new Hides()(rows) as KerasTensor);
  expect(model.outputs[0]?.shape).toEqual([null, null, 2]);
  expect((model(constant([[1, 0]], 'int32')) as Tensor).array()).toEqual([
    [
      [1, 1],
      [0, 0],
    ],
  ]);
});

test('nested arrays are tensors to layers that make masks', () => {
  const sums = (y: Tensor): unknown => y.sum(-1).array();
  expect(
    sums(
      new Masking()([
        [
          [1, 2],
          [0, 0],
        ],
      ]) as Tensor,
    ),
  ).toEqual([[3, 0]]);
  const layer = embedding();
  const rnn = new SimpleRNN(2);
  const ids = [[1, 3, 0, 0]];
  const wanted = rnn(layer(ids), { mask: [[true, true, false, false]] }) as Tensor;
  expect((rnn(layer(ids)) as Tensor).array()).toEqual(wanted.array());
});

test("layers inside of layers of one's own see masks, and make them", () => {
  class Reads extends Layer {
    readonly rnn = new SimpleRNN(2);
    override call(inputs: Tensor): Tensor {
      return this.rnn(inputs.mul(1) as Tensor, { mask: null })
        .mul(0)
        .add(this.rnn(inputs));
    }
  }
  class Makes extends Layer {
    readonly embedding = embedding();
    override call(inputs: Tensor): Tensor {
      return this.embedding(inputs);
    }
  }
  const [reads, makes, rnn] = [new Reads(), new Makes(), new SimpleRNN(2)];
  const ids = constant([[1, 3, 0, 0]], 'int32');
  const e = makes.embedding(ids);
  const wanted = rnn(e, { mask: ids.notEqual(0) }) as Tensor;
  const sequence = new Sequential([Input({ shape: [TIME], dtype: 'int32' }), makes, rnn]);
  expect(sequence(ids).array()).toEqual(wanted.array());
  const a = Input({ shape: [TIME], dtype: 'int32' });
  const model = new Model(a, reads(makes.embedding(a)));
  const inside = reads.rnn(e, { mask: ids.notEqual(0) }) as Tensor;
  expect(model(ids).array()).toEqual(inside.array());
  // What a model was called with is not known of its inputs afterwards.
  const x = ones([1, TIME, FEATURES]);
  const own = new Reads();
  const i = input();
  const outer = new Model(i, own(i));
  const plain = outer(x).array();
  expect(outer(x, { mask: constant([[true, false, false, false]]) }).array()).not.toEqual(plain);
  expect(outer(x).array()).toEqual(plain);
  expect(own(x).array()).toEqual(plain);
});

test('metrics without weights leave out what a mask hides, as in Keras 3.15.1', async () => {
  const a = Input({ shape: [null], dtype: 'int32' });
  const outputs = new Dense(2, { kernelInitializer: 'zeros' })(
    new Embedding({ inputDim: 4, outputDim: 3, maskZero: true })(a),
  );
  const model = new Model(a, outputs);
  model.compile({
    loss: new losses.SparseCategoricalCrossentropy({ fromLogits: true }),
    metrics: ['accuracy'],
  });
  // The first class is predicted everywhere. Of the six places three are seen, which are all of it.
  const logs = await model.evaluate(
    constant(
      [
        [1, 0, 0],
        [1, 2, 0],
      ],
      'int32',
    ),
    constant(
      [
        [0, 1, 1],
        [0, 0, 1],
      ],
      'int32',
    ),
    { verbose: 0 },
  );
  expect((logs as Record<string, number>).accuracy).toBe(1);
});
