import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import {
  constant,
  InvalidArgumentError,
  ones,
  random,
  Tensor,
  type Variable,
  withBackend,
  zeros,
} from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { Layer } from '../../layer/layer.ts';
import { Input } from '../../models/functional.ts';
import { Model } from '../../models/model.ts';
import { Sequential } from '../../models/sequential.ts';
import { l2 } from '../../regularizers.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../../testing/golden.ts';
import { runLayerTest } from '../../testing/run-layer-test.ts';
import * as layers from '../index.ts';
import { RNNCellDeviceWrapper, RNNCellDropoutWrapper, RNNCellResidualWrapper } from './cell-wrappers.ts';

const { Bidirectional, Dense, GRU, GRUCell, LSTM, LSTMCell, RNN, SimpleRNN, SimpleRNNCell, TimeDistributed } =
  layers;
const list = (y: unknown): Tensor[] => y as Tensor[];
const sequence = (...shape: number[]): Tensor => random.Generator.fromSeed(9).normal(shape);

describe('layers', () => {
  test.each([
    [LSTM, [3], [2, 4, 2], [2, 3], 3],
    [LSTM, [3, { returnSequences: true, useBias: false }], [2, 4, 2], [2, 4, 3], 2],
    [LSTM, [2, { goBackwards: true, unitForgetBias: false, activation: 'relu' }], [2, 3, 2], [2, 2], 3],
    [LSTM, [2, { recurrentActivation: 'hardSigmoid', kernelRegularizer: 'l2' }], [1, 2, 2], [1, 2], 3],
    [GRU, [3, { activityRegularizer: 'l2' }], [2, 4, 2], [2, 3], 3],
    [GRU, [3, { returnSequences: true, resetAfter: false }], [2, 4, 2], [2, 4, 3], 3],
    [GRU, [3, { recurrentInitializer: 'glorotUniform', useBias: false }], [2, 4, 2], [2, 3], 2],
    [SimpleRNN, [3, { returnSequences: true }], [2, 4, 2], [2, 4, 3], 3],
  ] as const)('%o %j', (Class, args, inputShape, outputShape, trainable) => {
    runLayerTest(Class as typeof LSTM, {
      args: args as unknown as [number],
      inputShape,
      outputShape,
      trainable,
    });
  });
  test.each([
    [LSTM, { dropout: 0.4 }],
    [LSTM, { recurrentDropout: 0.4 }],
    [GRU, { dropout: 0.2, recurrentDropout: 0.2 }],
    [GRU, { dropout: 0.4, seed: 3 }],
    [SimpleRNN, { dropout: 0.2, recurrentDropout: 0.2 }],
  ] as const)('%o with %j', (Class, options) => {
    runLayerTest(Class as typeof LSTM, {
      args: [20, options] as unknown as [number],
      inputShape: [3, 4, 20],
      outputShape: [3, 20],
      trainable: 3,
      random: true,
    });
  });
  test('wrappers', () => {
    runLayerTest(RNN, {
      args: [[new LSTMCell(2), new GRUCell(3)], { returnSequences: true }],
      inputShape: [2, 3, 2],
      outputShape: [2, 3, 3],
      trainable: 6,
    });
    runLayerTest(Bidirectional, {
      args: [new LSTM(3, { returnSequences: true })],
      inputShape: [2, 4, 2],
      outputShape: [2, 4, 6],
      trainable: 6,
    });
    runLayerTest(Bidirectional, {
      args: [new GRU(3), { mergeMode: 'sum' }],
      inputShape: [2, 4, 2],
      outputShape: [2, 3],
      trainable: 6,
    });
    runLayerTest(TimeDistributed, {
      args: [new Dense(3)],
      inputShape: [2, 4, 2],
      outputShape: [2, 4, 3],
      trainable: 2,
    });
  });
});

test('weights are named as in Keras', () => {
  const names = (layer: Layer): string[] => {
    layer.build([null, 3, 2]);
    return layer.namedWeights.map((w) => w.path);
  };
  expect(names(new LSTM(2))).toEqual(['lstm_cell/kernel', 'lstm_cell/recurrent_kernel', 'lstm_cell/bias']);
  expect(names(new Bidirectional(new GRU(2, { useBias: false })))).toEqual([
    'forward_gru/gru_cell/kernel',
    'forward_gru/gru_cell/recurrent_kernel',
    'backward_gru/gru_cell/kernel',
    'backward_gru/gru_cell/recurrent_kernel',
  ]);
  expect(names(new RNN([new SimpleRNNCell(2), new SimpleRNNCell(2)]))).toContain(
    'stacked_rnn_cells/simple_rnn_cell_1/kernel',
  );
});

test('the forget gate begins open, recurrent weights orthonormal', () => {
  const layer = new LSTM(4);
  layer.build([null, null, 3]);
  expect(layer.cell.bias?.array()).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  const u = layer.cell.recurrentKernel;
  expect(u.shape).toEqual([4, 16]);
  const products = u.matmul(u, { transposeB: true }).array() as number[][];
  products.forEach((row, i) => {
    row.forEach((v, j) => expect(v).toBeCloseTo(i === j ? 1 : 0, 6));
  });
});

test('cells run one step', () => {
  const x = sequence(2, 1, 3);
  for (const Class of [LSTM, GRU, SimpleRNN] as const) {
    const layer = new Class(4, { returnState: true });
    const outputs = list(layer(x));
    const [y, states] = layer.cell(x.squeeze(1));
    expect([y, ...states].map((t) => t.array())).toEqual(outputs.map((t) => t.array()));
    const [again] = layer.cell(x.squeeze(1), { states });
    expect(list(layer(x, { initialState: outputs.slice(1) }))[0]?.array()).toEqual(again.array());
  }
});

test('a step by step run gives the same as the fused kernel', () => {
  const x = sequence(3, 5, 2);
  for (const [Class, Cell] of [
    [LSTM, LSTMCell],
    [GRU, GRUCell],
  ] as const) {
    const fused = new Class(4, { returnSequences: true });
    const steps = new RNN(new Cell(4, { activation: (t) => t.tanh() }), { returnSequences: true });
    const y = fused(x);
    steps(x);
    steps.setWeights(fused.getWeights());
    expect(steps(x).sub(y).abs().max().item()).toBeLessThan(1e-6);
  }
});

test('initial states may be inputs, also symbolic ones', () => {
  const layer = new GRU(2, { returnState: true });
  const [x, h] = [Input({ shape: [null, 3] }), Input({ shape: [2] })];
  const [y, last] = layer([x, h]) as unknown as [typeof x, typeof x];
  expect([y.shape, last.shape]).toEqual([
    [null, 2],
    [null, 2],
  ]);
  const model = new Model({ inputs: [x, h], outputs: [y, last] });
  const values = [sequence(4, 3, 3), sequence(4, 2)] as const;
  expect(list(model(values)).map((t) => t.array())).toEqual(
    list(layer(values[0], { initialState: values[1] })).map((t) => t.array()),
  );
});

test('dropout uses one mask for all steps', () => {
  const layer = new SimpleRNN(3, {
    dropout: 0.5,
    seed: 1,
    returnSequences: true,
    activation: 'linear',
    kernelInitializer: 'ones',
    recurrentInitializer: 'zeros',
  });
  const y = layer(ones([2, 4, 9]), { training: true }).unstack(1);
  for (const step of y) expect(step.array()).toEqual(y[0]?.array());
});

test('a stateful layer goes on where it stopped', () => {
  const x = sequence(2, 6, 3);
  const [first, second] = x.split(2, 1) as [Tensor, Tensor];
  for (const Class of [LSTM, GRU, SimpleRNN] as const) {
    const layer = new Class(3, { stateful: true });
    layer(first);
    const y = layer(second);
    layer.resetStates();
    expect(layer(x).sub(y).abs().max().item()).toBeLessThan(1e-6);
    expect(() => layer(ones([5, 2, 3]))).toThrow('expects states of shape [5, 3]');
    expect(layer.weights).toHaveLength(3);
  }
});

test('a stateful layer goes on in traced functions, with its last states', async () => {
  const x = sequence(2, 3, 4);
  for (const Class of [LSTM, GRU, SimpleRNN] as const) {
    const layer = new Class(3, { stateful: true, returnSequences: true });
    const expected = [layer(x), layer(x), layer(x), layer(x)].map((y) => y.array());
    layer.resetStates();
    const f = tfFunction((x: Tensor): Tensor => layer(x));
    expect(f(x).array()).toEqual(expected[0]);
    expect((await f.runAsync(x)).array()).toEqual(expected[1]);
    expect(layer(x).array()).toEqual(expected[2]);
    const taped = tfFunction((x: Tensor) => {
      const tape = new GradientTape();
      tape.watch(x);
      const y = layer(x);
      return [y, tape.gradient(y, x)] as const;
    });
    expect(taped(x)[0].array()).toEqual(expected[3]);
    layer.resetStates();
    expect(f(x).array()).toEqual(expected[0]);
    const [h, c] = [ones([2, 3]), ones([2, 3]).mul(2)];
    const states = layer instanceof LSTM ? [h, c] : [h];
    layer.resetStates(states);
    const plain = new Class(3, { returnSequences: true });
    plain(x);
    plain.setWeights(layer.getWeights());
    expect(f(x).array()).toEqual(plain(x, { initialState: states }).array());
    layer.resetStates();
    const more = sequence(5, 2, 4);
    const again = [layer(more), layer(more)].map((y) => y.array());
    layer.resetStates();
    expect([f(more), f(more)].map((y) => y.array())).toEqual(again);
    expect(layer.weights).toHaveLength(3);
  }
});

test('a stateful layer is traced for each batch where sizes may be any', () => {
  const layer = new GRU(3, { stateful: true });
  layer(sequence(2, 3, 4));
  layer.resetStates();
  const f = tfFunction({ inputSignature: [new TensorSpec([null, null, 4])] })(
    (x: Tensor): Tensor => layer(x),
  );
  const [first, second] = sequence(2, 6, 4).split(2, 1) as [Tensor, Tensor];
  f(first);
  const y = f(second);
  layer.resetStates();
  expect(
    layer(sequence(2, 6, 4))
      .sub(y)
      .abs()
      .max()
      .item(),
  ).toBeLessThan(1e-6);
});

test('steps that are masked are passed over', () => {
  const x = sequence(3, 4, 2);
  const mask = constant([
    [true, true, false, false],
    [true, true, true, true],
    [false, true, true, false],
  ]);
  for (const Class of [LSTM, GRU, SimpleRNN] as const) {
    for (const goBackwards of [false, true]) {
      const layer = new Class(5, { returnSequences: true, returnState: true, goBackwards });
      const [all, ...after] = layer(x, { mask }) as unknown as [Tensor, ...Tensor[]];
      const some = x.slice([2, 1, 0], [1, 2, 2]);
      const [plain, ...plainAfter] = layer(some) as unknown as [Tensor, ...Tensor[]];
      const [before, one, two, last] = (all.array() as number[][][])[2] as number[][];
      expect(before).toEqual([0, 0, 0, 0, 0]);
      assertClose([one, two], (plain.array() as number[][][])[0]);
      expect(last).toEqual(two);
      after.forEach((state, i) => {
        assertClose((state.array() as number[][])[2], ((plainAfter[i] as Tensor).array() as number[][])[0]);
      });
    }
    const both = new Bidirectional(new Class(5));
    const part = both(x.slice([0, 0, 0], [1, 2, 2])).array() as number[][];
    assertClose((both(x, { mask }).array() as number[][])[0], part[0]);
  }
  const layer = new LSTM(2, { name: 'masked' });
  expect(() => layer(x, { mask: ones([3, 4]) })).toThrow('expects a mask of bool [3, 4], got float32 [3, 4]');
  expect(() => layer(x, { mask: constant([true]) })).toThrow('expects a mask of bool [3, 4], got bool [1]');
});

function assertClose(found: unknown, expected: unknown): void {
  expect(
    constant(found as number[])
      .sub(constant(expected as number[]))
      .abs()
      .max()
      .item(),
  ).toBeLessThan(1e-5);
}

test('a model of them learns', () => {
  random.setSeed(3);
  const x = random.Generator.fromSeed(2).uniform([32, 6, 1], { minval: -1, maxval: 1 });
  const y = x.sum(1);
  const model = new Sequential([new Bidirectional(new LSTM(8)), new Dense(1)]);
  const loss = (): Tensor => model(x, { training: true }).sub(y).square().mean();
  const before = loss().item();
  for (let i = 0; i < 40; i++) {
    const tape = new GradientTape();
    const value = loss();
    const weights = model.trainableVariables;
    tape.gradient(value, weights).forEach((g, k) => {
      (weights[k] as Variable).assignSub((g as Tensor).mul(0.2));
    });
  }
  expect(loss().item()).toBeLessThan(before / 4);
});

test('says what does not fit', () => {
  const layer = new LSTM(2, { name: 'memory' });
  expect(() => layer(ones([2, 3]))).toThrow(
    "LSTM 'memory' expects input of rank 3 [batch, time, features], got [2, 3]",
  );
  expect(() => layer(ones([2, 0, 3]))).toThrow('at least one step');
  layer(ones([1, 2, 3]));
  expect(() => layer(ones([1, 2, 4]))).toThrow('was built for 3 features, got 4');
  expect(() => layer(ones([1, 2, 3]), { initialState: [ones([1, 2])] })).toThrow(
    'expects states of shape [1, 2], [1, 2], got [1, 2]',
  );
  expect(() => new LSTM(0)).toThrow(InvalidArgumentError);
  expect(() => new GRU(2, { dropout: 1 })).toThrow('below 1');
  expect(() => new RNN(new Dense(2) as never)).toThrow('needs a cell');
  expect(() => new RNN([])).toThrow('needs a list of cells');
  expect(() => new Bidirectional(new Dense(2) as never)).toThrow('needs a recurrent layer');
  expect(() => new TimeDistributed(new Dense(2))(ones([2, 2]))).toThrow('rank 3 or more');
});

// ---- as Keras computes

interface Described {
  readonly layer: string;
  readonly config: Record<string, unknown>;
}
interface Case extends Described {
  readonly cells?: readonly Described[];
  readonly inner?: Described;
  readonly mask?: readonly (readonly boolean[])[];
  readonly weights: Record<string, Values>;
  readonly calls: readonly {
    readonly x: Values;
    readonly states: readonly Values[];
    readonly outputs: readonly Values[];
    readonly upstream: readonly Values[];
    readonly inputGradients: readonly Values[];
    readonly gradients: Record<string, Values>;
  }[];
}
const golden = readGolden<{ readonly cases: readonly Case[] }>('rnn');
const classes = layers as unknown as Record<
  string,
  { fromConfig(config: object): Layer } & (new (...args: unknown[]) => Layer)
>;
const tensor = (values: Values): Tensor => tensorOf(values);
const made = ({ layer, config }: Described): Layer =>
  (classes[layer] as (typeof classes)[string]).fromConfig(config);

const close = (got: Tensor, expected: Values, what: string): void =>
  assertCloseTensor(got, expected, what, 4e-6);

describe.each(listBackends().map((b) => b.name))('as Keras computes, on %s', (backend) => {
  test.each(
    golden.cases.map(
      (c) =>
        [
          `${c.layer} ${JSON.stringify([c.config, c.inner ?? c.cells ?? []])}${c.mask === undefined ? '' : ' with a mask'}`,
          c,
        ] as const,
    ),
  )('%s', (_, c) => {
    withBackend(backend, () => {
      const Class = classes[c.layer] as (typeof classes)[string];
      const layer =
        c.cells !== undefined
          ? new Class(c.cells.length > 1 ? c.cells.map(made) : made(c.cells[0] as Described), c.config)
          : c.inner !== undefined
            ? new Class(made(c.inner), c.config)
            : made(c);
      layer.build(c.calls[0]?.x.shape as number[]);
      const named = layer.namedWeights;
      expect(named.map((w) => w.path).sort()).toEqual(Object.keys(c.weights).sort());
      for (const { path, variable } of named) variable.assign(tensor(c.weights[path] as Values));
      for (const call of c.calls) {
        const inputs = [call.x, ...call.states].map(tensor);
        const tape = new GradientTape();
        tape.watch(inputs);
        const result: unknown = layer(inputs[0] as Tensor, {
          ...(call.states.length > 0 ? { initialState: inputs.slice(1) } : {}),
          ...(c.mask === undefined ? {} : { mask: constant(c.mask) }),
        });
        const outputs =
          result instanceof Tensor ? [result] : ((list(result) as unknown[]).flat(Infinity) as Tensor[]);
        expect(outputs).toHaveLength(call.outputs.length);
        outputs.forEach((y, i) => close(y, call.outputs[i] as Values, `output ${i}`));
        const loss = outputs
          .map((y, i) => y.mul(tensor(call.upstream[i] as Values)).sum())
          .reduce((a, b) => a.add(b));
        const gradients = tape.gradient(loss, [...inputs, ...named.map((w) => w.variable)]);
        gradients.forEach((g, i) => {
          const path = named[i - inputs.length]?.path;
          const expected = path === undefined ? call.inputGradients[i] : call.gradients[path];
          close(g as Tensor, expected as Values, `gradient of ${path ?? `input ${i}`}`);
        });
      }
    });
  });
});

// What Keras 3.15.1 gives.
const wave = (): Tensor =>
  constant(
    Array.from({ length: 12 }, (_, i) => Math.sin(i * 0.7)),
    'float32',
    { shape: [2, 3, 2] },
  );

describe('penalties on outputs', () => {
  const options = {
    kernelInitializer: 'ones',
    recurrentInitializer: 'ones',
    activityRegularizer: l2(1),
  } as const;
  const losses = (layer: Layer): number[] => {
    layer(wave());
    return layer.losses.map((loss) => Number(loss.item().toFixed(5)));
  };
  test('count states that are returned', () => {
    expect(losses(new LSTM(2, { ...options, returnState: true }))).toEqual([0.74939, 0.74939, 3.86837]);
    expect(losses(new LSTM(2, { ...options, returnState: true, returnSequences: true }))).toEqual([
      1.40927, 0.74939, 3.86837,
    ]);
    expect(losses(new GRU(2, { ...options, returnState: true }))).toEqual([0.08968, 0.08968]);
    expect(losses(new Bidirectional(new LSTM(2, { ...options, returnState: true })))).toEqual([
      0.74939, 0.74939, 3.86837, 0.62671, 0.62671, 2.56162,
    ]);
    expect(losses(new LSTM(2, options))).toEqual([0.74939]);
  });
});

describe('TimeDistributed', () => {
  test('normalizes each step by itself in training', () => {
    const norm = new layers.BatchNormalization({ momentum: 0.9 });
    const y = new TimeDistributed(norm)(wave(), { training: true });
    const row = [0.99737751, 0.99924499, 0.99923569, 0.9972198, -0.98125124, -0.99888629];
    const expected = [...row, ...row.map((v) => -v)];
    expect(y.shape).toEqual([2, 3, 2]);
    (y.data() as Float32Array).forEach((v, i) => expect(v).toBeCloseTo(expected[i] as number, 5));
    const moving = norm
      .getWeights()
      .slice(2)
      .flatMap((w) => [...(w.data() as Float32Array)]);
    [0.03023816, 0.05777178, 0.80578464, 0.84352106].forEach((v, i) => expect(moving[i]).toBeCloseTo(v, 6));
  });
  test('calls layers of users for each step', () => {
    const shapes: (readonly number[])[] = [];
    class Looks extends Layer {
      override call(x: Tensor): Tensor {
        shapes.push(x.shape);
        return x.sub(x.mean(0));
      }
    }
    const x = wave();
    const y = new TimeDistributed(new Looks())(x);
    expect(y.array()).toEqual(x.sub(x.mean(0)).array());
    expect(shapes).toEqual([
      [2, 2],
      [2, 2],
      [2, 2],
    ]);
  });
});

test('getInitialState gives the states of zeros, in a list', () => {
  const stacked = (): layers.StackedRNNCells =>
    new layers.StackedRNNCells([new layers.GRUCell(2), new layers.LSTMCell(4)]);
  const made: readonly [{ getInitialState(n: number): Tensor[] }, number[]][] = [
    [new layers.GRU(3), [3]],
    [new layers.LSTM(3, { dtype: 'float64' }), [3, 3]],
    [new layers.SimpleRNN(3), [3]],
    [new layers.RNN(stacked()), [2, 4, 4]],
    [new layers.GRUCell(3), [3]],
    [new layers.LSTMCell(3), [3, 3]],
    [stacked(), [2, 4, 4]],
  ];
  for (const [layer, units] of made) {
    const states = layer.getInitialState(5);
    expect(states.map((s) => s.shape)).toEqual(units.map((n) => [5, n]));
    expect(states.every((s) => s.dtype === (layer as layers.GRU).dtype && s.sum().item() === 0)).toBe(true);
    expect(() => layer.getInitialState(undefined as never)).toThrow('batchSize');
  }
  const gru = new layers.GRU(3);
  const x = ones([5, 2, 1]);
  const y = gru(x, { initialState: gru.getInitialState(5) }) as Tensor;
  expect(y.array()).toEqual((gru(x) as Tensor).array());
});

describe('ConvLSTM', () => {
  const { ConvLSTM1D, ConvLSTM2D, ConvLSTM3D } = layers;
  test.each([
    [ConvLSTM1D, [2, 3], [2, 4, 5, 3], [2, 3, 2], 3],
    [ConvLSTM2D, [2, 3, { padding: 'same', returnSequences: true }], [2, 3, 4, 5, 1], [2, 3, 4, 5, 2], 3],
    [ConvLSTM2D, [3, [1, 2], { strides: 2, useBias: false }], [1, 3, 4, 5, 1], [1, 2, 2, 3], 2],
    [ConvLSTM3D, [2, 2, { dataFormat: 'channelsFirst' }], [1, 2, 1, 3, 2, 3], [1, 2, 2, 1, 2], 3],
  ] as const)('%o %j', (Class, args, inputShape, outputShape, trainable) => {
    runLayerTest(Class as never, { args: args as never, inputShape, outputShape, trainable });
  });

  test('states have the sizes of the convolution', () => {
    const layer = new ConvLSTM2D(2, 3, { returnState: true });
    expect(() => layer.getInitialState(2)).toThrow('behind a call');
    const [y, h, c] = list(layer(ones([2, 3, 5, 4, 1])));
    expect([y, h, c].map((t) => t?.shape)).toEqual(new Array(3).fill([2, 3, 2, 2]));
    expect(layer.getInitialState(4).map((t) => t.shape)).toEqual(new Array(2).fill([4, 3, 2, 2]));
    expect(() => layer(ones([1, 3, 5, 4, 1]), { initialState: [ones([1, 2]), ones([1, 2])] })).toThrow(
      'expects states of shape [1, 3, 2, 2], [1, 3, 2, 2], got [1, 2], [1, 2]',
    );
    expect(() => layer(ones([2, 5, 4, 1]))).toThrow('of rank 5 [batch, time, height, width, channels]');
    expect(() => layer(ones([2, 3, 5, 4, 2]))).toThrow('was built for 1 channels, got 2');
  });

  test('dropout of input and state differs by gate and is that of all steps', () => {
    const options = { dropout: 0.5, recurrentDropout: 0.5, seed: 1, padding: 'same' } as const;
    const layer = new ConvLSTM1D(2, 3, options);
    const x = ones([2, 3, 4, 1]);
    const plain = layer(x).array();
    expect(layer(x, { training: true }).array()).not.toEqual(plain);
    const masks = layer.cell.masks(2, 4, 1);
    expect([masks.input?.shape, masks.recurrent?.shape]).toEqual([
      [2, 4, 4],
      [2, 4, 8],
    ]);
    expect(() => new ConvLSTM1D(2, 3, { dropout: 1 })).toThrow('dropout rates below 1');
    expect(() => new ConvLSTM2D(2, 3, { strides: 2, dilationRate: 2 })).toThrow('together');
  });

  test('the forget gate begins open', () => {
    const layer = new ConvLSTM1D(1, 2);
    layer.build([null, null, 5, 1]);
    expect(layer.cell.bias?.array()).toEqual([0, 1, 0, 0]);
    expect(layer.namedWeights.map((w) => w.path)).toEqual([
      'conv_lstm_cell/kernel',
      'conv_lstm_cell/recurrent_kernel',
      'conv_lstm_cell/bias',
    ]);
  });
});

test('Bidirectional begins with given weights', () => {
  const first = new Bidirectional(new SimpleRNN(2));
  const x = constant([[[1], [2]]]);
  const y = first(x).array();
  const weights = first.getWeights();
  const second = new Bidirectional(new SimpleRNN(2), { weights });
  expect(second(x).array()).toEqual(y);
  expect(() => new Bidirectional(new SimpleRNN(2), { weights: weights.slice(1) })(x)).toThrow('setWeights');
  expect(() => new Bidirectional(new SimpleRNN(2), { weights: 1 as never })).toThrow('list');
});

describe('wrappers of cells', () => {
  const even = (low: number, high: number): Tensor =>
    constant(Array.from({ length: 12 }, (_, i) => low + ((high - low) * i) / 11)).reshape([2, 6]);
  const cell = (): layers.GRUCell => {
    const made = new layers.GRUCell(2);
    made.build([null, 2]);
    made.setWeights([even(-1, 1), even(1, -1), even(-0.5, 0.5)]);
    return made;
  };
  const x = constant([
    [0.5, -1],
    [2, 0.25],
  ]);
  const h = constant([
    [0.1, 0.2],
    [-0.3, 0.4],
  ]);
  // Of TensorFlow 2.21 with Keras 3.15.
  const STATE = [-0.5271497, -0.48859677, -0.43554768, 0.07745759];
  const near = (t: Tensor, expected: readonly number[]): void => {
    const values = [...(t.data() as Float32Array)];
    expected.forEach((v, i) => {
      expect(values[i]).toBeCloseTo(v, 5);
    });
  };

  test('give what TensorFlow gives', () => {
    const [sum, [state]] = new RNNCellResidualWrapper(cell())(x, [h]);
    near(sum, [-0.02714968, -1.4885968, 1.5644523, 0.3274576]);
    near(state as Tensor, STATE);
    const residualFn = (i: Tensor, o: Tensor): Tensor => i.mul(o);
    const [product] = new RNNCellResidualWrapper(cell(), { residualFn })(x, [h]);
    near(product, [-0.26357484, 0.48859677, -0.87109536, 0.0193644]);
    near(new RNNCellDeviceWrapper(cell(), '/cpu:0')(x, [h])[0], STATE);
    near(new RNNCellDropoutWrapper(cell())(x, [h])[0], STATE);
  });

  test('run over sequences, eagerly and traced, and train', () => {
    const rnn = new layers.RNN(new RNNCellResidualWrapper(new RNNCellResidualWrapper(cell())), {
      returnSequences: true,
    });
    const sequence = constant([
      [
        [0.5, -1],
        [2, 0.25],
        [1, 1],
      ],
    ]);
    const y = rnn(sequence) as Tensor;
    const plain = new layers.RNN(cell(), { returnSequences: true })(sequence) as Tensor;
    near(y, [...(plain.add(sequence).add(sequence).data() as Float32Array)]);
    const traced = tfFunction((s: Tensor) => rnn(s) as Tensor, {
      inputSignature: [new TensorSpec([null, null, 2])],
    });
    near(traced(sequence), [...(y.data() as Float32Array)]);
    expect(rnn.trainableVariables.length).toBe(3);
    expect((rnn.cell as layers.GRUCell).getInitialState(2).map((s) => s.shape)).toEqual([[2, 2]]);
  });

  test('dropout drops in each call, or the same in all', () => {
    const input = ones([200, 2]);
    const states = [zeros([200, 2])];
    const drops = new RNNCellDropoutWrapper(cell(), { outputKeepProb: 0.5, seed: 1 });
    const [y, [state]] = drops(input, states);
    const [plain] = cell()(input, states);
    const factor = y.div(plain);
    expect(new Set(factor.data() as Float32Array)).toEqual(new Set([0, 2]));
    expect(factor.mean().item()).toBeCloseTo(1, 0);
    near(state as Tensor, [...(plain.data() as Float32Array)]);
    const again = drops(input, states);
    expect(again[0].array()).not.toEqual(y.array());

    const options = {
      stateKeepProb: 0.5,
      inputKeepProb: 0.5,
      inputSize: 2,
      variationalRecurrent: true,
      seed: 5,
    };
    const same = new RNNCellDropoutWrapper(cell(), options);
    const [first, [kept]] = same(input, states);
    const [second] = same(input, states);
    expect(second.array()).toEqual(first.array());
    const rows = kept.div(first).array() as number[][];
    expect(rows.every((row) => row.join() === rows[0]?.join())).toBe(true);

    const two = new layers.StackedRNNCells([cell(), new layers.SimpleRNNCell(3)]);
    const filtered = new RNNCellDropoutWrapper(two, {
      stateKeepProb: 0.5,
      dropoutStateFilterVisitor: () => [false, true],
    });
    const zerosOf = (t: Tensor): number => t.equal(0).cast('float32').sum().item();
    const [, after] = filtered(input, filtered.getInitialState(200));
    expect(after.map((s) => zerosOf(s) > 0)).toEqual([false, true]);
  });

  test('are made anew of their configuration, and refuse what they cannot', () => {
    const dropout = new RNNCellDropoutWrapper(cell(), { inputKeepProb: 0.5, seed: 2 });
    const config = dropout.getConfig();
    expect(config).toMatchObject({ input_keep_prob: 0.5, state_keep_prob: 1, seed: 2, input_size: null });
    const copy = RNNCellDropoutWrapper.fromConfig(config);
    expect(copy.getConfig()).toEqual(config);
    const residual = new layers.RNN(new RNNCellResidualWrapper(cell()));
    const remade = layers.RNN.fromConfig(JSON.parse(JSON.stringify(residual.getConfig())));
    expect(remade.cell).toBeInstanceOf(RNNCellResidualWrapper);
    expect(() => new RNNCellDropoutWrapper(new layers.LSTMCell(2))).toThrow('LSTMCell');
    expect(() => new RNNCellDropoutWrapper(cell(), { inputKeepProb: 0 })).toThrow('above 0');
    expect(
      () => new RNNCellDropoutWrapper(cell(), { inputKeepProb: 0.5, variationalRecurrent: true }),
    ).toThrow('inputSize');
    expect(() => new RNNCellResidualWrapper(new layers.GRUCell(3))(x)).toThrow('cannot add');
    expect(() => new RNNCellResidualWrapper(new layers.Dense(3) as never)).toThrow('stateSize');
    expect(() => new RNNCellDeviceWrapper(cell(), '/gpu:9')(x)).toThrow('/gpu:9');
  });
});

describe('shapes of outputs as in Keras 3.15.1', () => {
  const x = [null, 5, 3];
  const pictures = [null, 5, 8, 7, 3];
  const { ConvLSTM1D, ConvLSTM2D } = layers;
  test.each<[string, (o: object) => Layer, (number | null)[], unknown, unknown]>([
    [
      'LSTM',
      (o) => new LSTM(4, o),
      x,
      [
        [null, 4],
        [null, 4],
        [null, 4],
      ],
      [
        [null, 5, 4],
        [null, 4],
        [null, 4],
      ],
    ],
    [
      'GRU',
      (o) => new GRU(4, o),
      x,
      [
        [null, 4],
        [null, 4],
      ],
      [
        [null, 5, 4],
        [null, 4],
      ],
    ],
    [
      'SimpleRNN',
      (o) => new SimpleRNN(4, o),
      x,
      [
        [null, 4],
        [null, 4],
      ],
      [
        [null, 5, 4],
        [null, 4],
      ],
    ],
    [
      'RNN',
      (o) => new RNN(new LSTMCell(4), o),
      x,
      [
        [null, 4],
        [null, 4],
        [null, 4],
      ],
      [
        [null, 5, 4],
        [null, 4],
        [null, 4],
      ],
    ],
    [
      'ConvLSTM1D',
      (o) => new ConvLSTM1D(4, 3, { strides: 2, ...o }),
      [null, 5, 8, 3],
      [
        [null, 3, 4],
        [null, 3, 4],
        [null, 3, 4],
      ],
      [
        [null, 5, 3, 4],
        [null, 3, 4],
        [null, 3, 4],
      ],
    ],
    [
      'ConvLSTM2D',
      (o) => new ConvLSTM2D(4, 3, { padding: 'same', ...o }),
      pictures,
      [
        [null, 8, 7, 4],
        [null, 8, 7, 4],
        [null, 8, 7, 4],
      ],
      [
        [null, 5, 8, 7, 4],
        [null, 8, 7, 4],
        [null, 8, 7, 4],
      ],
    ],
    ...(['concat', 'sum', 'mul', 'ave'] as const).map(
      (mergeMode): [string, (o: object) => Layer, (number | null)[], unknown, unknown] => {
        const width = mergeMode === 'concat' ? 8 : 4;
        const states = [
          [null, 4],
          [null, 4],
          [null, 4],
          [null, 4],
        ];
        return [
          `Bidirectional ${mergeMode}`,
          (o) => new Bidirectional(new LSTM(4, o), { mergeMode }),
          x,
          [[null, width], ...states],
          [[null, 5, width], ...states],
        ];
      },
    ),
    [
      'Bidirectional without a mode',
      (o) => new Bidirectional(new LSTM(4, o), { mergeMode: null }),
      x,
      [
        [null, 4],
        [null, 4],
        [null, 4],
        [null, 4],
        [null, 4],
        [null, 4],
      ],
      [
        [null, 5, 4],
        [null, 5, 4],
        [null, 4],
        [null, 4],
        [null, 4],
        [null, 4],
      ],
    ],
  ])('%s with returnState', (_, make, shape, last, all) => {
    expect(make({ returnState: true }).computeOutputShape(shape)).toEqual(last);
    const layer = make({ returnState: true, returnSequences: true });
    expect(layer.computeOutputShape(shape)).toEqual(all);
    expect((layer(Input(shape.slice(1))) as unknown as Tensor[]).map((t) => t.shape)).toEqual(all);
  });
  test('of both directions in a list, and of models with several outputs', () => {
    const both = new Bidirectional(new LSTM(4), { mergeMode: null });
    expect(both.computeOutputShape(x)).toEqual([
      [null, 4],
      [null, 4],
    ]);
    const input = Input([5, 3]);
    const states = new Model(input, new GRU(4, { returnState: true })(input) as never);
    expect(states.computeOutputShape([7, 5, 3])).toEqual([
      [7, 4],
      [7, 4],
    ]);
    expect(new Sequential([new GRU(4, { returnState: true })]).computeOutputShape([7, 5, 3])).toEqual([
      [7, 4],
      [7, 4],
    ]);
  });
});

test('cells, directions and their weights have the names that Keras gives them', () => {
  const paths = (layer: Layer): unknown[] => layer.weights.map((w) => w.path);
  const first = new LSTM(2, { name: 'lstm_7' });
  first.build([null, 3, 4]);
  expect(paths(first)).toEqual(['kernel', 'recurrent_kernel', 'bias'].map((n) => `lstm_7/lstm_cell/${n}`));
  const both = new Bidirectional(first, { name: 'both' });
  expect([both.forwardLayer.name, both.backwardLayer.name]).toEqual(['forward_lstm_7', 'backward_lstm_7']);
  both.build([null, 3, 4]);
  expect(paths(both)[0]).toBe('both/forward_lstm_7/lstm_cell/kernel');
  expect(both.namedWeights[0]?.path).toBe('forward_lstm/lstm_cell/kernel');
  const again = Bidirectional.fromConfig(both.getConfig());
  expect([again.forwardLayer.name, again.backwardLayer.name]).toEqual(['forward_lstm_7', 'backward_lstm_7']);
  // The backward layer that is given is used itself.
  const back = new GRU(2, { goBackwards: true, name: 'back' });
  const given = new Bidirectional(new GRU(2, { name: 'there' }), { backwardLayer: back, name: 'both' });
  expect(given.backwardLayer).toBe(back);
  given.build([null, 3, 4]);
  expect(paths(given).filter((_, i) => i % 3 === 0)).toEqual([
    'both/forward_there/gru_cell/kernel',
    'both/back/gru_cell/kernel',
  ]);
  expect(() => new Bidirectional(new GRU(2), { backwardLayer: new GRU(2) })).toThrow(/goBackwards/);
  expect(() => new Bidirectional(new GRU(2, { goBackwards: true }))).toThrow(/goBackwards/);
  expect(
    () => new Bidirectional(new GRU(2), { backwardLayer: new GRU(2, { goBackwards: true, stateful: true }) }),
  ).toThrow(/stateful/);
});
