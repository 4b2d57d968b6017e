import '@eagre/backend-js';
import '@eagre/backend-native';
import { FailedPreconditionError, ones, type Tensor } from '@eagre/core';
import { MultiOptimizer, OptimizerMap, type OptimizerOptions, SGD } from '@eagre/optimizers';
import { expect, test } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import { Callback, EarlyStopping, SwapEMAWeights } from './index.ts';

const [x, y] = [ones([2, 1]), ones([2, 1]).mul(3)];
const weightOf = (model: Sequential): number => model.weights[0]?.item() as number;

/** A weight w that starts at 0; each epoch is a step w += (3 − w) / 2, which the average follows at half the speed. */
function started(options: Partial<OptimizerOptions> = {}, wrap = false): Sequential {
  const model = new Sequential([
    new Dense(1, { useBias: false, inputShape: [1], kernelInitializer: 'zeros' }),
  ]);
  const sgd = new SGD(0.25, { useEma: true, emaMomentum: 0.5, ...options });
  model.compile({ optimizer: wrap ? new MultiOptimizer(new OptimizerMap(sgd)) : sgd, loss: 'mse' });
  return model;
}
// After each step: the weight, and its average.
const weights = [1.5, 2.25, 2.625];
const averages = [1.5, 1.875, 2.25];

class Spy extends Callback {
  readonly seen: Record<string, number[]> = { epoch: [], test: [], batch: [] };
  #see(when: string): void {
    this.seen[when]?.push(weightOf(this.model as Sequential));
  }
  override onEpochEnd(): void {
    this.#see('epoch');
  }
  override onTestBatchEnd(): void {
    this.#see('test');
  }
  override onTrainBatchEnd(): void {
    this.#see('batch');
  }
}

test.each([
  ['an optimizer', false],
  ['several optimizers', true],
])('averages of %s are in the model while it is tested', async (_, wrap) => {
  const [model, spy] = [started({}, wrap), new Spy()];
  await model.fit(x, y, {
    epochs: 3,
    verbose: 0,
    callbacks: [new SwapEMAWeights(), spy],
    validationData: [x, y],
  });
  expect(spy.seen).toEqual({ batch: weights, test: averages, epoch: weights });
  // As always with useEma.
  expect(weightOf(model)).toBe(averages[2]);
});

test('at the end of epochs, too', async () => {
  const [model, spy] = [started(), new Spy()];
  const callbacks = [new SwapEMAWeights(true), spy];
  await model.fit(x, y, { epochs: 3, verbose: 0, callbacks, validationData: [x, y] });
  expect(spy.seen).toEqual({ batch: weights, test: averages, epoch: averages });
  expect(weightOf(model)).toBe(averages[2]);
});

test('training that stops early ends with the averages', async () => {
  const model = started();
  const stop = new EarlyStopping('loss', { mode: 'max' });
  const callbacks = [stop, new SwapEMAWeights({ swapOnEpoch: true })];
  await model.fit(x, y, { epochs: 3, verbose: 0, callbacks });
  expect(stop.stoppedEpoch).toBe(1);
  expect(weightOf(model)).toBe(averages[1]);
});

test('evaluate and predict leave the weights as they were', async () => {
  const model = started();
  for (let i = 0; i < 2; i++) model.trainOnBatch(x, y);
  const callbacks = [new SwapEMAWeights()];
  expect((await model.evaluate(x, y, { verbose: 0, callbacks })).loss).toBe((3 - averages[1]) ** 2);
  const outputs = (await model.predict(x, { verbose: 0, callbacks })) as Tensor;
  expect(outputs.at(0, 0).item()).toBe(averages[1]);
  expect(weightOf(model)).toBe(weights[1]);
  class Fails extends Callback {
    override onTestBatchEnd(): void {
      throw new Error('stop');
    }
  }
  const failing = [...callbacks, new Fails()];
  await expect(model.evaluate(x, y, { verbose: 0, callbacks: failing })).rejects.toThrow('stop');
  expect(weightOf(model)).toBe(weights[1]);
});

test('an optimizer without averages is refused', async () => {
  for (const wrap of [false, true]) {
    const model = started({ useEma: false }, wrap);
    model.trainOnBatch(x, y);
    const evaluated = model.evaluate(x, y, { verbose: 0, callbacks: [new SwapEMAWeights()] });
    await expect(evaluated).rejects.toThrow(FailedPreconditionError);
  }
});
