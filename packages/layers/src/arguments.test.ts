import '@eagre/backend-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, ones, type Tensor, type Variable } from '@eagre/core';
import { afterAll, expect, test } from 'vitest';
import { Callback, History, LambdaCallback, ProgressBar } from './callbacks/index.ts';
import { Layer } from './layer/layer.ts';
import { Dense, LSTM } from './layers/index.ts';
import { Sequential } from './models/sequential.ts';
import { toCategorical } from './to-categorical.ts';

const refused = (message: string, call: () => unknown): void => {
  expect(call).toThrow(InvalidArgumentError);
  expect(call).toThrow(message);
};
const bad = (value: unknown): never => value as never;

test('methods of layers', () => {
  const layer = new Dense(1, { useBias: false });
  refused('write { shape: [2] }', () => layer.addWeight(bad([2])));
  refused("did you mean 'initializer'?", () => layer.addWeight({ initialiser: 'zeros' } as never));
  expect(layer.addWeight(null).shape).toEqual([]);
  const own = new Dense(1, { useBias: false, inputShape: [1] });
  own(ones([1, 1]));
  own.setWeights({ weights: [[[3]]] });
  expect(own.getWeights()[0]?.array()).toEqual([[3]]);
  refused('weights must be given', () => own.setWeights(...([] as unknown as [never])));
  refused('takes at most', () => (own.countParams as (x: number) => number)(1));
  own.addLoss({ loss: ones([]) });
  expect(own.losses).toHaveLength(1);
  expect(new LSTM(2).getInitialState({ batchSize: 3 })[0]?.shape).toEqual([3, 2]);
});

test('a class may give them arguments of its own', () => {
  class Own extends Layer {
    w!: Variable;
    override build(): void {
      this.w = this.addWeight([2, 2], 'w');
    }
    override addWeight(...args: readonly unknown[]): Variable {
      const [shape, name] = args as [number[], string];
      return super.addWeight({ shape, name, initializer: 'ones' });
    }
    override call(x: Tensor): Tensor {
      return x.matmul(this.w);
    }
  }
  expect(new Own()(ones([1, 2])).array()).toEqual([[2, 2]]);
});

test('callbacks', () => {
  class Mine extends Callback {}
  refused('Mine: takes at most 0 arguments, got 1', () => new (Mine as new (x: number) => Mine)(3));
  expect(new History().epoch).toEqual([]);
  refused('onEpochEnd must be a function, got 3', () => new LambdaCallback({ onEpochEnd: bad(3) }));
  refused("did you mean 'onEpochEnd'?", () => new LambdaCallback({ on_epoch_end: () => {} } as never));
  expect(new LambdaCallback({ onEpochEnd: null })).toBeInstanceOf(Callback);
  const out = { write: () => true };
  for (const bar of [
    new ProgressBar({ label: 'x', out }),
    new ProgressBar('x', out),
    new ProgressBar('x', { out }),
  ])
    expect(bar).toBeInstanceOf(ProgressBar);
  refused("'lable' is not an option", () => new ProgressBar({ lable: 'x' } as never));
});

const folder = mkdtempSync(join(tmpdir(), 'eagre-arguments-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('models', async () => {
  const model = new Sequential([new Dense(1)]);
  model.buildFor({ inputShape: [null, 2] });
  expect(model.countParams()).toBe(3);
  const path = join(folder, 'w.npz');
  await model.saveWeights({ filepath: path });
  expect(await model.loadWeights({ filepath: path })).toBe(null);
  await expect(model.saveWeights(bad(undefined))).rejects.toThrow('path must be given');
  await expect(model.saveWeights(path, bad({ overwrit: true }))).rejects.toThrow(InvalidArgumentError);
});

test('toCategorical', () => {
  expect(toCategorical({ x: [1], numClasses: 2 }).array()).toEqual([[0, 1]]);
  expect(toCategorical([1], { numClasses: 3 }).array()).toEqual([[0, 1, 0]]);
  refused('takes at most', () => (toCategorical as (...args: unknown[]) => Tensor)([1], 2, 3));
});
