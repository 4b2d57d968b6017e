import '@eagre/backend-js';
import { InvalidArgumentError, ones } from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test, vi } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import {
  type Callback,
  LambdaCallback,
  LearningRateScheduler,
  type Logs,
  ReduceLROnPlateau,
  TerminateOnNaN,
} from './index.ts';

/** The history of a model whose epochs end with the given numbers. */
async function run(logs: readonly Logs[], ...callbacks: Callback[]): Promise<Record<string, number[]>> {
  let epoch = 0;
  class Scripted extends Sequential {
    override trainStep(): Logs {
      return logs[epoch++] as Logs;
    }
  }
  const model = new Scripted([new Dense(1, { inputShape: [1] })]);
  model.compile({ optimizer: new SGD(1), runEagerly: true });
  const { history } = await model.fit(ones([4, 1]), { verbose: 0, epochs: logs.length, callbacks });
  return { ...history, rate: [model.optimizer.learningRate] };
}
const rounded = (values: readonly number[] = []): number[] => values.map((v) => Number(v.toPrecision(6)));

describe('ReduceLROnPlateau', () => {
  const values = [3, 2, 2.00005, 1.99995, 2.5, 2.5, 1.5, 1.6, 1.7, 1.8, 1.9, 1.7, 1.6];
  const logs = values.map((v) => ({ val_loss: v }));

  // What Keras 3.15.1 gives for these values.
  test.each([
    [{ patience: 2 }, [1, 1, 1, 1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001, 1e-4, 1e-4], 1e-5],
    [
      { patience: 2, cooldown: 2, factor: 0.5 },
      [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125],
      0.125,
    ],
    [
      { patience: 1, factor: 0.5, minLr: 0.2, mode: 'max' },
      [1, 1, 0.5, 0.25, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2],
      0.2,
    ],
  ] as const)('%o', async (options, rates, last) => {
    const history = await run(logs, new ReduceLROnPlateau(options));
    expect(rounded(history.learning_rate)).toEqual(rates);
    expect(rounded(history.rate)).toEqual([last]);
  });

  test('what it cannot do', async () => {
    expect(() => new ReduceLROnPlateau({ factor: 1 })).toThrow(InvalidArgumentError);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    expect((await run([{ loss: 1 }], new ReduceLROnPlateau())).rate).toEqual([1]);
    expect(warn.mock.calls[0]?.[0]).toContain("ReduceLROnPlateau: there is no 'val_loss' to watch");
    warn.mockRestore();
  });
});

test('LearningRateScheduler', async () => {
  const seen: [number, number][] = [];
  const schedule = new LearningRateScheduler((epoch, rate) => {
    seen.push([epoch, rate]);
    return epoch === 0 ? rate : rate / 2;
  });
  const history = await run([{ loss: 1 }, { loss: 1 }, { loss: 1 }], schedule);
  expect(seen).toEqual([
    [0, 1],
    [1, 1],
    [2, 0.5],
  ]);
  expect(history.learning_rate).toEqual([1, 0.5, 0.25]);
  expect(() => new LearningRateScheduler(0.1 as never)).toThrow('the schedule must be a function, got 0.1');
  await expect(run([{ loss: 1 }], new LearningRateScheduler(() => Number.NaN))).rejects.toThrow(
    'must return a number of at least 0, got NaN',
  );
});

test('TerminateOnNaN', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const losses = [1, Number.NaN, 1].map((loss) => ({ loss }));
  expect((await run(losses, new TerminateOnNaN())).loss).toEqual([1, Number.NaN]);
  expect(log.mock.calls).toEqual([['Batch 0: the loss is NaN, training ends']]);
  log.mockRestore();
});

test('LambdaCallback', async () => {
  const calls: string[] = [];
  const callback = new LambdaCallback({
    onTrainBegin: () => void calls.push('begin'),
    onEpochEnd: async (epoch, logs) => void calls.push(`${epoch}: ${logs.loss}`),
  });
  await run([{ loss: 2 }, { loss: 1 }], callback);
  expect(calls).toEqual(['begin', '0: 2', '1: 1']);
  // @ts-expect-error
  expect(() => new LambdaCallback({ onEpochFinished: () => {} })).toThrow(
    "'onEpochFinished' is not an option; the options are onTrainBegin,",
  );
});
