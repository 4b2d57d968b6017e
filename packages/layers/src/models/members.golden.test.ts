import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { constant, type Tensor } from '@eagre/core';
import { tfFunction } from '@eagre/graph';
import { SGD } from '@eagre/optimizers';
import { expect, test } from 'vitest';
import { Callback, type Logs } from '../callbacks/callback.ts';
import { Layer } from '../layer/layer.ts';
import { BatchNormalization, Concatenate, Dense, Dropout, Input, LSTM, Reshape } from '../layers/index.ts';
import { l2 } from '../regularizers.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../testing/golden.ts';
import { SeedGenerator } from '../utils/seed-generator.ts';
import { Model } from './model.ts';
import { Sequential } from './sequential.ts';
import type { SummaryOptions } from './summary.ts';

type Call = readonly [what: string, batch: number, loss?: number];
interface Execution {
  readonly size: number;
  readonly epochs: number;
  readonly steps: number | null;
  readonly x: Values;
  readonly y: Values;
  readonly before: Values[];
  readonly history: Record<string, number[]>;
  readonly evaluated: Record<string, number>;
  readonly predicted: Values;
  readonly after: Values[];
  readonly calls: readonly Call[];
}
type Names = { readonly [name: string]: Names | readonly number[] };
const golden = readGolden<{
  readonly summaries: readonly {
    readonly model: 'sequence' | 'trained' | 'graph';
    readonly options: Readonly<Record<string, unknown>>;
    readonly lines: readonly string[];
  }[];
  readonly stateless: Record<'x' | 'y' | 'outputs', Values> &
    Record<'trainable' | 'others' | 'after' | 'gradients', Values[]> & {
      readonly losses: number[];
      readonly loss: number;
    };
  readonly executions: readonly Execution[];
  readonly states: Names;
}>('members');

function sequence(): Sequential {
  return new Sequential(
    [
      Input([3], { name: 'x' }),
      new Dense(4, { activation: 'tanh', kernelRegularizer: l2(0.1), name: 'first' }),
      new BatchNormalization({ name: 'norm' }),
      new Dense(1, { name: 'last' }),
    ],
    { name: 'sequence' },
  );
}

function graph(): Model {
  const inputs = [Input([3], { name: 'left' }), Input([4], { name: 'right' })] as const;
  const shared = new Dense(4, { name: 'shared' });
  const inner = new Sequential(
    [Input([4]), new Dense(5, { name: 'hidden' }), new Dropout(0.5, { name: 'drop' })],
    { name: 'inner' },
  );
  const a = shared(new Dense(4, { name: 'a_layer_of_a_rather_long_name', trainable: false })(inputs[0]));
  const b = shared(inputs[1]);
  const joined = new Concatenate({ name: 'joined' })([a, b, inner(b)]);
  const lstm = new LSTM(2, { returnState: true, name: 'lstm' });
  const [output] = lstm<[typeof a]>(new Reshape([13, 1], { name: 'reshape' })(joined));
  return new Model(inputs, output, { name: 'graph' });
}

const close = (got: readonly Tensor[], expected: readonly Values[]): void => {
  expect(got.length).toBe(expected.length);
  got.forEach((t, i) => assertCloseTensor(t, expected[i], `tensor ${i}`, 1e-4));
};

test.each(golden.summaries)('summary of $model, $options', async ({ model: kind, options, lines }) => {
  const model = kind === 'graph' ? graph() : sequence();
  if (kind === 'trained') {
    model.compile({ optimizer: 'adam', loss: 'mse' });
    await model.fit([[1, 2, 3]], [[1]], { verbose: 0 });
  }
  const got: string[] = [];
  const named = Object.entries(options).map(([name, value]) => [
    name.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()),
    value,
  ]);
  model.summary({ ...(Object.fromEntries(named) as SummaryOptions), printFn: (line) => got.push(line) });
  // Shapes are written as they are everywhere here, as wide as in Python.
  const expected = lines.map((line) =>
    line
      .replace(/\((None,[^)]*)\)/g, '[$1]')
      .replaceAll('None', 'null')
      .replace('2)]', '2]]'),
  );
  expect(got.map((line) => line.trimEnd())).toEqual(
    expected.map((line) => line.replaceAll('(null,', '[null,')),
  );
});

test('calls without side effects', () => {
  const { x, y, trainable, others, outputs, after, losses, gradients, loss } = golden.stateless;
  const model = sequence();
  model.compile({ optimizer: 'sgd', loss: 'mse' });
  const before = model.getWeights().map((w) => w.array());
  const given = trainable.map((v) => tensorOf(v));
  const state = others.map((v) => tensorOf(v));
  const tape = new GradientTape();
  for (const t of given) tape.watch(t);
  const [got, now, found] = model.statelessCall(given, state, tensorOf(x), {
    training: true,
    returnLosses: true,
  });
  const target = got.square().sum();
  close([got], [outputs]);
  close(now, after);
  expect(found?.map((t) => t.item())).toEqual(losses.map((v) => expect.closeTo(v, 4)));
  close(tape.gradient(target, given) as Tensor[], gradients);
  const metricValues = model.metricsVariables.map((v) => v.read());
  const [value, [sameWeights]] = model.statelessComputeLoss(given, state, metricValues, {
    x: tensorOf(x),
    y: tensorOf(y),
    yPred: got,
  });
  expect(value.item()).toBeCloseTo(loss, 4);
  close(sameWeights, trainable);
  expect(model.getWeights().map((w) => w.array())).toEqual(before);
  expect(state.map((t) => t.array())).toEqual(others.map((v) => tensorOf(v).array()));

  const traced = tfFunction((input: Tensor, ...all: Tensor[]) =>
    model.statelessCall(all.slice(0, given.length), all.slice(given.length), input, { training: true }),
  );
  const [again, then] = traced(tensorOf(x), ...given, ...state);
  close([again], [outputs]);
  close(then, after);
  expect(model.getWeights().map((w) => w.array())).toEqual(before);
});

test('values that do not fit', () => {
  const model = sequence();
  const weights = model.trainableVariables.map((v) => v.read());
  const state = model.nonTrainableVariables.map((v) => v.read());
  expect(() => model.statelessCall(weights.slice(1), state, [[1, 2, 3]])).toThrow(
    'trainableVariables must be a list of 6 values, got 5 values',
  );
  expect(() => model.statelessCall([...weights].reverse(), state, [[1, 2, 3]])).toThrow(
    "the value of 'sequence/first/kernel' is float32 [1], expected float32 [3, 4]",
  );
  expect(() => new Dense(2).statelessCall([], [], [[1]])).toThrow('the layer has no weights yet');
  expect(() => model.statelessCall(weights, state, [[1, 2, 3]], { trainin: true } as never)).toThrow(
    "did you mean 'training'?",
  );
});

class Seen extends Callback {
  readonly calls: Call[] = [];
  override onTrainBatchBegin(batch: number): void {
    this.calls.push(['trainBegin', batch]);
  }
  override onTrainBatchEnd(batch: number, { loss }: Logs): void {
    this.calls.push(['trainEnd', batch, loss]);
  }
  override onTestBatchBegin(batch: number): void {
    this.calls.push(['testBegin', batch]);
  }
  override onTestBatchEnd(batch: number, { loss }: Logs): void {
    this.calls.push(['testEnd', batch, loss]);
  }
  override onPredictBatchBegin(batch: number): void {
    this.calls.push(['predictBegin', batch]);
  }
  override onPredictBatchEnd(batch: number): void {
    this.calls.push(['predictEnd', batch]);
  }
}

const nearly = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, v: unknown) =>
    typeof v === 'number' && !Number.isInteger(v) ? expect.closeTo(v, 4) : v,
  ) as T;

test.each(golden.executions)('$size steps in one go, of $steps', async (wanted) => {
  const { size, epochs, steps } = wanted;
  const [x, y] = [tensorOf(wanted.x), tensorOf(wanted.y)];
  const model = sequence();
  model.setWeights(wanted.before.map((v) => tensorOf(v)));
  model.compile({
    optimizer: new SGD(0.05),
    loss: 'mse',
    metrics: ['mae'],
    stepsPerExecution: size,
    jitCompile: true,
    autoScaleLoss: true,
  });
  expect(model.getCompileConfig()).toMatchObject({ steps_per_execution: size, jit_compile: true });
  const seen = new Seen();
  const { history } = await model.fit(x, y, {
    batchSize: 2,
    epochs,
    ...(steps === null ? {} : { stepsPerEpoch: steps }),
    shuffle: false,
    verbose: 0,
    callbacks: [seen],
    validationData: [x.at(':5'), y.at(':5')],
    validationBatchSize: 2,
  });
  expect(history).toEqual(nearly(wanted.history));
  expect(await model.evaluate(x, y, { batchSize: 3, verbose: 0, callbacks: [seen] })).toEqual(
    nearly(wanted.evaluated),
  );
  close([await model.predict(x, { batchSize: 4, verbose: 0, callbacks: [seen] })], [wanted.predicted]);
  close(model.getWeights(), wanted.after);
  expect(seen.calls).toEqual(nearly(wanted.calls));
});

test('what compile does not take', () => {
  const model = sequence();
  expect(model.compiled).toBe(false);
  expect(() => model.compile({ stepsPerExecution: 0 })).toThrow('an integer of at least 1');
  expect(() => model.compile({ jitCompile: 'yes' as never })).toThrow('expected true or false');
  expect(() => model.compile({ autoScaleLoss: 1 as never })).toThrow('expected true or false');
  model.compile({ jitCompile: true, runEagerly: true });
  expect([model.compiled, model.jitCompile, model.runEagerly]).toEqual([true, false, true]);
});

test('functions of iterators', async () => {
  const batches = [1, 2, 3].map((i) => [constant([[i, 0, 1]]), constant([[i]])] as const);
  const model = sequence();
  const same = sequence();
  same.setWeights(model.getWeights());
  for (const one of [model, same])
    one.compile({ optimizer: new SGD(0.1), loss: 'mse', stepsPerExecution: 2 });
  const { history } = await same.fit(batches.values(), { verbose: 0 });
  const iterator = batches[Symbol.iterator]();
  const train = model.makeTrainFunction();
  train(iterator);
  const last = train(iterator);
  expect(last).toEqual({ loss: history['loss']?.[0] });
  expect(() => train(iterator)).toThrow('the iterator has ended');
  expect(model.getWeights().map((w) => w.array())).toEqual(same.getWeights().map((w) => w.array()));
  expect(model.makePredictFunction(true)(batches.map(([x]) => [x] as const)[Symbol.iterator]()).length).toBe(
    2,
  );
  model.resetMetrics();
  expect(Object.keys(model.makeTestFunction({ force: true })(batches[Symbol.iterator]()))).toEqual(['loss']);

  class Own extends Sequential {
    override makeTrainFunction(): never {
      throw new Error('not called');
    }
  }
  const own = new Own([Input([3]), new Dense(1)]);
  own.compile({ loss: 'mse' });
  await expect(own.fit(batches.values(), { verbose: 0 })).rejects.toThrow('override trainStep');
});

test('the state of seed generators is part of it', () => {
  class Noise extends Layer {
    readonly seedGenerator = new SeedGenerator(3);
    override call(x: Tensor): Tensor {
      this.seedGenerator.next();
      return x;
    }
  }
  const model = new Sequential([Input([3]), new Noise(), new Dense(1)]);
  const before = (model.getStateTree().nonTrainableVariables as never)['seed_generator'];
  expect(Object.keys(before)).toEqual(['seed_generator_state']);
  model.setStateTree({ nonTrainableVariables: { seed_generator: { seed_generator_state: [7n, 1n] } } });
  const [state] = model.nonTrainableVariables;
  expect(state?.read().array()).toEqual([7n, 1n]);
});

test('the state of a model by its paths', async () => {
  const model = sequence();
  model.compile({ optimizer: 'adam', loss: 'mse', metrics: ['mae'] });
  await model.fit([[1, 2, 3]], [[1]], { verbose: 0 });
  const tree = model.getStateTree();
  const shapes = (at: object): unknown =>
    Object.fromEntries(
      Object.entries(at).map(([name, v]) => [name, 'dtype' in v ? (v as Tensor).shape : shapes(v as object)]),
    );
  const { trainable_variables, non_trainable_variables } = golden.states as Record<string, Names>;
  expect(shapes(tree.trainableVariables)).toEqual(trainable_variables);
  expect(shapes(tree.nonTrainableVariables)).toEqual(non_trainable_variables);
  const one = { total: [], count: [] };
  expect(shapes(tree.metricsVariables)).toEqual({ loss: one, mean_absolute_error: one });
  expect(Object.keys(tree.optimizerVariables).length).toBeGreaterThan(0);

  const other = sequence();
  other.compile({ optimizer: 'adam', loss: 'mse', metrics: ['mae'] });
  other.setStateTree({ trainableVariables: tree.trainableVariables });
  other.setStateTree({ nonTrainableVariables: tree.nonTrainableVariables });
  expect(other.getWeights().map((w) => w.array())).toEqual(model.getWeights().map((w) => w.array()));
  expect(() => other.setStateTree({ trainableVariables: { sequence: { first: { kernels: [1] } } } })).toThrow(
    "sequence has no 'sequence/first/kernels' among its trainableVariables",
  );
  const arrays = model.getStateTree({ valueFormat: 'numpyArray' });
  const [, bias] = model.getWeights();
  expect(arrays.trainableVariables).toMatchObject({ sequence: { first: { bias: bias.ndarray() } } });
  expect(model.getStateTree('numpyArray')).toEqual(arrays);
  other.setStateTree({ trainableVariables: arrays.trainableVariables });
  expect(() => model.getStateTree('numpy' as never)).toThrow(
    "valueFormat must be 'backendTensor' or 'numpyArray', got 'numpy'",
  );
  expect(() => other.setStateTree({ weights: {} } as never)).toThrow("'weights' is none of");
});
