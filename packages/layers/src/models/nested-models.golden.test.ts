// Models whose inputs and outputs are lists and objects in each other, against Keras.
import '@eagre/backend-js';
import '@eagre/backend-native';
import '../index.ts';
import { fill, InvalidArgumentError, ones, type Tensor, zeros } from '@eagre/core';
import { camelCaseKeys, tree } from '@eagre/core/internal';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { Add, Concatenate, Dense } from '../layers/index.ts';
import { assertClose, readGolden, tensorOf, type Values } from '../testing/golden.ts';
import type { CompileOptions } from '../trainers/compile.ts';
import type { Inputs } from '../trainers/data-adapter.ts';
import { cloneModel, modelFromJSON } from './cloning.ts';
import { Input } from './functional.ts';
import type { KerasTensor } from './keras-tensor.ts';
import { Model } from './model.ts';

type Tree<T> = T | readonly Tree<T>[] | { readonly [name: string]: Tree<T> };
interface Case {
  readonly form: Tree<string>;
  readonly y: Tree<string | null>;
  readonly compile: Readonly<Record<string, unknown>>;
  readonly sample_weight: Tree<string | null>;
  /** Null where Keras throws. */
  readonly logs: Readonly<Record<string, number>> | null;
  readonly history: Readonly<Record<string, number>> | null;
}
interface Written {
  readonly config: {
    readonly input_layers: unknown;
    readonly output_layers: unknown;
    readonly layers: unknown;
  };
}
interface Whole {
  readonly json: Written;
  readonly predicted: Tree<number[]>;
}
const golden = readGolden<{
  readonly data: Readonly<Record<string, Values>>;
  readonly functional: readonly Case[];
  readonly subclassed: readonly Case[];
  readonly inner: Whole & { readonly outputShape: unknown; readonly outputNames: readonly string[] };
  readonly outer: Whole;
}>('nested-models');

const mapped = (form: unknown, fn: (leaf: string) => unknown): unknown =>
  tree.mapLeaves(form, 'test', (leaf) => (leaf === null ? null : fn(leaf as string)));
const data = (names: unknown): Inputs =>
  mapped(names, (name) => tensorOf(golden.data[name] as Values)) as Inputs;
const dense = (units: number, name: string): Dense => new Dense(units, { name, kernelInitializer: 'ones' });

function functional(form: unknown): Model {
  const x = Input([3], { name: 'i' });
  const a = dense(2, 'a')(x);
  const outputs: Readonly<Record<string, unknown>> = { a, b: dense(1, 'b')(x), c: dense(1, 'c')(a) };
  return new Model(x, mapped(form, (name) => outputs[name]) as never);
}
class Subclass extends Model {
  readonly form: () => unknown;
  readonly a = dense(2, 'a');
  readonly b = dense(1, 'b');
  readonly c = dense(1, 'c');
  constructor(form: unknown) {
    super();
    this.form = () => form;
  }
  override call(x: Tensor): never {
    const a = this.a(x);
    const outputs: Readonly<Record<string, unknown>> = { a, b: this.b(x), c: this.c(a) };
    return mapped(this.form(), (name) => outputs[name]) as never;
  }
}

const options = (given: Case['compile']): CompileOptions => ({
  optimizer: new SGD(0.01),
  ...camelCaseKeys(given),
});
const checkLogs = (
  found: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, number>>,
): void => {
  expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, value] of Object.entries(expected))
    assertClose([found[name] as number], [value], name, 1e-5);
};

// What Keras refuses and is plain enough here: the names of metrics in one list belong to the only tree there is.
for (const [kind, make] of Object.entries({ functional, subclassed: (form: unknown) => new Subclass(form) }))
  describe(`${kind} models train and are evaluated as in Keras`, () => {
    const cases = golden[kind as 'functional'].map(
      ({ logs, history, ...one }) => [JSON.stringify(one), { ...one, logs, history }] as const,
    );
    test.each(cases)('%s', async (_, { form, y, compile, sample_weight, logs, history }) => {
      const run = async (): Promise<void> => {
        const all = {
          verbose: 0,
          ...(sample_weight === null ? {} : { sampleWeight: data(sample_weight) }),
        } as const;
        const model = make(form);
        model.compile(options(compile));
        const found = await model.evaluate(data('x'), data(y), all);
        if (logs === null) return;
        checkLogs(found, logs);
        model.resetMetrics();
        checkLogs(
          model.testOnBatch(
            data('x'),
            data(y),
            sample_weight === null ? {} : { sampleWeight: data(sample_weight) },
          ),
          logs,
        );
        const { history: epochs } = await model.fit(data('x'), data(y), {
          ...all,
          batchSize: 2,
          shuffle: false,
        });
        checkLogs(
          Object.fromEntries(Object.entries(epochs).map(([name, list]) => [name, list[0]])),
          history as never,
        );
      };
      if (logs === null) await expect(run()).rejects.toThrow(InvalidArgumentError);
      else await run();
    });
  });

const three = (...names: readonly [string, string, string]) =>
  [3, 2, 1].map((size, i) => Input([size], { name: names[i] })) as [KerasTensor, KerasTensor, KerasTensor];
const inner = (): Model => {
  const [i, j, k] = three('i', 'j', 'k');
  const h = new Concatenate({ name: 'all' })([i, j, k]);
  const a = dense(2, 'a')(h);
  return new Model({
    inputs: { u: i, v: [j, { w: k }] },
    outputs: { p: a, q: [dense(1, 'b')(h), dense(1, 'c')(a)] },
    name: 'inner',
  });
};
const outer = (): Model => {
  const [i, j, k] = three('x3', 'x2', 'x1');
  const { p, q } = inner()<{ p: KerasTensor; q: KerasTensor[] }>({ u: i, v: [j, { w: k }] });
  return new Model([i, j, k], { sum: new Add({ name: 'sum' })(q), rest: [p] }, { name: 'outer' });
};
const x = { u: ones([4, 3]), v: [fill([4, 2], 2), { w: fill([4, 1], 3) }] };
const parts = [x.u, x.v[0], (x.v[1] as { w: Tensor }).w] as Tensor[];
const firstRows = (given: unknown): unknown =>
  tree.mapLeaves(given, 'test', (t) => ((t as Tensor).array() as number[][])[0]);
const quiet = { verbose: 0 } as const;

test('inputs in each other: calls, predict, shapes, names', async () => {
  const model = inner();
  const { predicted, outputShape, outputNames } = golden.inner;
  expect(firstRows(model(x as never))).toEqual(predicted);
  expect(firstRows(await model.predict(x as never, quiet))).toEqual(predicted);
  expect(firstRows(await model.predict(x as never, { ...quiet, batchSize: 3 }))).toEqual(predicted);
  expect(firstRows(model.predictOnBatch(x as never))).toEqual(predicted);
  // In one list, as in Keras, and by the names of the inputs.
  expect(firstRows(await model.predict(parts, quiet))).toEqual(predicted);
  expect(firstRows(model({ i: parts[0], j: parts[1], k: parts[2] } as never))).toEqual(predicted);
  expect(model.computeOutputShape({ u: [4, 3], v: [[4, 2], { w: [4, 1] }] } as never)).toEqual(outputShape);
  expect(model.outputNames).toEqual(outputNames);
  expect(model.inputNames).toEqual(['i', 'j', 'k']);
});

test('a model inside of another one gives what it is made of', async () => {
  expect(firstRows(await outer().predict(parts, quiet))).toEqual(golden.outer.predicted);
});

test.each(['inner', 'outer'] as const)(
  '%s: configurations of Keras and ours are read and written',
  async (name) => {
    const { json, predicted } = golden[name];
    const given = name === 'inner' ? (x as never) : parts;
    const read = modelFromJSON(JSON.stringify(json));
    expect(firstRows(await read.predict(given, quiet))).toEqual(predicted);
    const model = name === 'inner' ? inner() : outer();
    const { config } = JSON.parse(model.toJSON()) as Written;
    expect(config.input_layers).toEqual(json.config.input_layers);
    expect(config.output_layers).toEqual(json.config.output_layers);
    expect(firstRows(await modelFromJSON(model.toJSON()).predict(given, quiet))).toEqual(predicted);
    expect(firstRows(await cloneModel(model).predict(given, quiet))).toEqual(predicted);
  },
);

test('batches of structures', async () => {
  const y = { p: zeros([4, 2]), q: [zeros([4, 1]), zeros([4, 1])] };
  const model = inner();
  model.compile({ optimizer: new SGD(0.001), loss: 'mse', metrics: { p: 'mae', q: ['mse', []] } });
  const whole = await model.evaluate(x as never, y, quiet);
  expect(Object.keys(whole).sort()).toEqual(['a_mae', 'b_mse', 'loss', 'p_loss', 'q/b_loss', 'q/c_loss']);
  const batches = { [Symbol.iterator]: () => [[x, y] as never].values() };
  expect(await model.evaluate(batches, quiet)).toEqual(whole);
  expect(model.testOnBatch(x as never, y)).toEqual(whole);
  expect(model.trainOnBatch(x as never, y)['loss']).toBeCloseTo(whole['loss'] as number, 3);
  const { history } = await model.fit(x as never, y, {
    ...quiet,
    epochs: 2,
    validationData: [x as never, y],
  });
  expect(Object.keys(history)).toContain('val_q/b_loss');
  await model.fit(x as never, y, { ...quiet, validationSplit: 0.5, batchSize: 2 });
});

describe('what does not fit', () => {
  const trained = (compile: CompileOptions, y: unknown): Promise<unknown> => {
    const model = inner();
    model.compile({ optimizer: new SGD(0.001), ...compile });
    return model.evaluate(x as never, y as never, quiet);
  };
  const y = { p: zeros([4, 2]), q: [zeros([4, 1]), zeros([4, 1])] };
  const cases: Readonly<Record<string, readonly [() => unknown, string]>> = {
    'an input left out': [() => inner().predict({ u: x.u } as never, quiet), "x lacks the input 'j'"],
    'an input too many': [
      () => inner().predict({ ...x, t: x.u } as never, quiet),
      "x: there is no input 't'",
    ],
    'an input too many inside': [
      () => inner().predict({ u: x.u, v: [parts[1], { w: parts[2], z: parts[2] }] } as never, quiet),
      "x: there is no input 'z' at v[1]",
    ],
    'a shorter list': [
      () => inner().predict({ u: x.u, v: [parts[1]] } as never, quiet),
      'x has 1 items at v, expected 2',
    ],
    'a tensor for a list': [() => inner()({ u: x.u, v: parts[1] } as never), 'at v, expected a list of 2'],
    'a target left out': [() => trained({ loss: 'mse' }, { p: y.p }), "y lacks the output 'b'"],
    'a target of nobody': [() => trained({ loss: 'mse' }, { ...y, t: y.p }), "y: there is no output 't'"],
    'a loss of nobody': [() => trained({ loss: { p: 'mse', t: 'mse' } }, y), "loss: there is no output 't'"],
    'one loss for a list': [() => trained({ loss: { p: 'mse', q: 'mse' } }, y), 'at q, expected a list of 2'],
    'metrics left out': [
      () => trained({ loss: 'mse', metrics: { p: 'mae' } }, y),
      "metrics lacks the output 'q'",
    ],
    'weights left out': [
      () => trained({ loss: 'mse', lossWeights: { p: 1 } }, y),
      "lossWeights lacks the output 'q'",
    ],
    'no symbolic tensor': [
      () => new Model({ inputs: Input([2]), outputs: { p: [ones([1])] } as never }),
      'must be symbolic tensors',
    ],
    'nothing at all': [
      () => new Model({ inputs: Input([2]), outputs: { p: [] } as never }),
      'at least one input and one output',
    ],
  };
  test.each(Object.entries(cases))('%s', async (_, [run, message]) => {
    const failure = expect(Promise.resolve().then(run)).rejects;
    await failure.toThrow(message);
  });
});
