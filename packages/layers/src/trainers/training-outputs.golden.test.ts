import '@eagre/backend-js';
import '@eagre/backend-native';
import type { Tensor } from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { assertClose, readGolden, tensorOf, type Values } from '../testing/golden.ts';
import type { CompileOptions } from './compile.ts';
import type { Inputs } from './data-adapter.ts';

type Names = string | readonly string[] | Readonly<Record<string, string>>;
interface Case {
  readonly name: string;
  readonly model: keyof typeof models;
  readonly y: Names;
  readonly compile: Omit<CompileOptions, 'optimizer'>;
  readonly fit: { readonly sampleWeight?: Names; readonly validationSplit?: number };
  readonly before: readonly Values[];
  readonly history: Readonly<Record<string, readonly number[]>>;
  readonly after: readonly Values[];
  readonly evaluated: Readonly<Record<string, number>>;
  readonly predicted: readonly Values[];
}
const golden = readGolden<{
  readonly data: Readonly<Record<string, Values>>;
  readonly cases: readonly Case[];
}>('training-outputs');

class Subclass extends Model {
  readonly hidden = new Dense(4, { activation: 'tanh' });
  readonly digit = new Dense(3, { activation: 'softmax' });
  readonly size = new Dense(1);
  override call(x: Tensor): Tensor[] {
    const h = this.hidden(x);
    return [this.digit(h), this.size(h)];
  }
}
const models = {
  functional: (): Model => {
    const x = Input({ shape: [3], name: 'x' });
    const h = new Dense(4, { activation: 'tanh', name: 'hidden' })(x);
    const digit = new Dense(3, { activation: 'softmax', name: 'digit' })(h);
    return new Model(x, [digit, new Dense(1, { name: 'size' })(h)]);
  },
  subclass: (): Model => new Subclass(),
};

function data(names: string): Tensor;
function data(names: Names): Inputs;
function data(names: Names): Inputs {
  if (typeof names === 'string') {
    return tensorOf(golden.data[names] as Values, names === 'labels' ? 'int32' : 'float32');
  }
  if (Array.isArray(names)) return (names as readonly string[]).map((name) => data(name));
  return Object.fromEntries(Object.entries(names).map(([output, name]) => [output, data(name as string)]));
}

const close = (got: ArrayLike<number | bigint>, expected: readonly number[], what: string): void =>
  assertClose(got, expected, what, 1e-5);
function alike(got: Readonly<Record<string, unknown>>, expected: Readonly<Record<string, unknown>>): void {
  expect(Object.keys(got).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, value] of Object.entries(expected))
    close([got[name]].flat() as number[], [value].flat() as number[], name);
}

describe.each([false, true])('as Keras trains several outputs, eagerly: %s', (runEagerly) => {
  test.each(golden.cases.map((c) => [c.name, c] as const))('%s', async (_, c) => {
    const model = models[c.model]();
    const x = data('x');
    model(x);
    model.setWeights(c.before.map((w) => tensorOf(w)));
    model.compile({ optimizer: new SGD(0.1), ...c.compile, runEagerly });
    const { sampleWeight, validationSplit } = c.fit;
    const { history } = await model.fit(x, data(c.y), {
      batchSize: 4,
      epochs: 2,
      shuffle: false,
      verbose: 0,
      ...(sampleWeight === undefined ? {} : { sampleWeight: data(sampleWeight) }),
      ...(validationSplit === undefined ? {} : { validationSplit }),
    });
    alike(history, c.history);
    c.after.forEach(({ values }, i) => {
      close(model.weights[i]?.data() ?? [], values, `weight ${i} after training`);
    });
    alike(await model.evaluate(x, data(c.y), { batchSize: 5, verbose: 0 }), c.evaluated);
    const predicted = await model.predict<Tensor[]>(x);
    c.predicted.forEach(({ values }, i) => close(predicted[i]?.data() ?? [], values, `output ${i}`));
  });
});
