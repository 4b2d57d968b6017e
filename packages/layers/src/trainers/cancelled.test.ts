import '@eagre/backend-js';
import '@eagre/backend-native';
import { CancelledError, constant, InvalidArgumentError, ones, type Tensor } from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { Callback, LambdaCallback } from '../callbacks/index.ts';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import { PyDataset } from './py-dataset.ts';

const quiet = { verbose: 0, shuffle: false, batchSize: 2 } as const;
const still = { verbose: 0, batchSize: 2 } as const;
const x = constant([[1], [2], [3], [4], [5], [6]]);
const y = constant([[2], [4], [6], [8], [10], [12]]);
const FOREVER = 1e9;

function compiled(options: { runEagerly?: boolean; stepsPerExecution?: number } = {}): Sequential {
  const model = new Sequential([new Dense(1, { kernelInitializer: 'ones', inputShape: [1] })]);
  model.compile({ optimizer: new SGD(0.01), loss: 'mse', ...options });
  return model;
}
const values = (model: Sequential): unknown => model.getWeights().map((w) => w.array());

/** Aborts behind a number of steps, of whatever kind. */
class AbortAfter extends Callback {
  readonly called: string[] = [];
  readonly #controller = new AbortController();
  readonly #steps: number;
  #seen = 0;
  constructor(steps: number) {
    super();
    this.#steps = steps;
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  #step(): void {
    if (++this.#seen === this.#steps) this.#controller.abort();
  }
  override onTrainBegin(): void {
    this.called.push('begin');
  }
  override onEpochEnd(): void {
    this.called.push('epoch');
  }
  override onTrainEnd(): void {
    this.called.push('end');
  }
  override onTrainBatchEnd(): void {
    this.#step();
  }
  override onTestBatchEnd(): void {
    this.#step();
  }
  override onPredictBatchEnd(): void {
    this.#step();
  }
}

/** Batches without end, and how many iterators over them are open. */
class Batches {
  open = 0;
  async *[Symbol.asyncIterator](): AsyncGenerator<[Tensor, Tensor]> {
    this.open++;
    try {
      while (true) yield [x.at('0:2'), y.at('0:2')];
    } finally {
      this.open--;
    }
  }
}

async function errorOf(run: Promise<unknown>): Promise<CancelledError> {
  const error = await run.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(CancelledError);
  return error as CancelledError;
}

class Two extends PyDataset {
  readonly length = 3;
  ended = 0;
  getItem(i: number): [Tensor, Tensor] {
    return [x.at(`${2 * i}:${2 * i + 2}`), y.at(`${2 * i}:${2 * i + 2}`)];
  }
}

describe.each([true, false])('fit is cancelled, runEagerly: %s', (runEagerly) => {
  const sources = {
    arrays: (): Parameters<Sequential['fit']> => [x, y],
    'a PyDataset': (): Parameters<Sequential['fit']> => [new Two({ workers: 2 })],
    'a generator': (): Parameters<Sequential['fit']> => [new Batches()[Symbol.asyncIterator]()],
  };
  describe.each(Object.entries(sources))('%s', (name, source) => {
    const perEpoch = name === 'a generator' || name.startsWith('an endless') ? { stepsPerEpoch: 3 } : {};
    const options = { verbose: 0, shuffle: false, ...perEpoch, ...(name === 'arrays' ? quiet : {}) } as const;

    test('by a callback: it ends behind the step, and the model trains on', async () => {
      const model = compiled({ runEagerly });
      const after = new AbortAfter(5);
      const error = await errorOf(
        model.fit(...(source() as [Tensor]), {
          ...options,
          epochs: FOREVER,
          callbacks: [after],
          signal: after.signal,
        }),
      );
      expect(error.message).toBe('fit: the run was cancelled after 1 epoch and 2 steps of the next');
      // As for other errors.
      expect(after.called).toEqual(['begin', 'epoch']);
      expect(model.optimizer.iterations.item()).toBe(5);
      const same = compiled({ runEagerly });
      await same.fit(...(source() as [Tensor]), { ...options, epochs: 1 });
      await same.fit(...(source() as [Tensor]), { ...options, epochs: 1, stepsPerEpoch: 2 });
      expect(values(model)).toEqual(values(same));
      const { history } = await model.fit(...(source() as [Tensor]), { ...options, epochs: 2 });
      expect(history.loss).toHaveLength(2);
      expect(model.optimizer.iterations.item()).toBe(11);
    });

    test('by a timer, which has its turn', async () => {
      const model = compiled({ runEagerly });
      const given = source();
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 20);
      const error = await errorOf(
        model.fit(...(given as [Tensor]), { ...options, epochs: FOREVER, signal: controller.signal }),
      );
      const told =
        /^fit: the run was cancelled after(?: (\d+) epochs?)?(?: and)?(?: (\d+) steps?)?(?: of the next)?$/.exec(
          error.message,
        );
      const [epochs, steps] = [told?.[1], told?.[2]].map((n) => Number(n ?? 0)) as [number, number];
      expect(told).not.toBeNull();
      expect(model.optimizer.iterations.item()).toBe(3 * epochs + steps);
    });

    test('before it begins: nothing is trained', async () => {
      const model = compiled({ runEagerly });
      const before = values(model);
      const after = new AbortAfter(1);
      const error = await errorOf(
        model.fit(...(source() as [Tensor]), { ...options, callbacks: [after], signal: AbortSignal.abort() }),
      );
      expect(error.message).toBe('fit: the run was cancelled before its first step');
      expect(after.called).toEqual([]);
      expect(values(model)).toEqual(before);
      await model.fit(...(source() as [Tensor]), { ...options, signal: new AbortController().signal });
      expect(model.optimizer.iterations.item()).toBe(3);
    });
  });

  test('several steps in one go are cancelled between goes', async () => {
    const model = compiled({ runEagerly, stepsPerExecution: 2 });
    const after = new AbortAfter(2);
    const run = model.fit(x, y, { ...quiet, batchSize: 1, callbacks: [after], signal: after.signal });
    expect((await errorOf(run)).message).toBe('fit: the run was cancelled after 4 steps');
    expect(model.optimizer.iterations.item()).toBe(4);
  });

  test('while it validates', async () => {
    const model = compiled({ runEagerly });
    const after = new AbortAfter(3 + 3 + 3 + 2);
    const run = model.fit(x, y, {
      ...quiet,
      epochs: 5,
      validationData: [x, y],
      callbacks: [after],
      signal: after.signal,
    });
    expect((await errorOf(run)).message).toBe(
      'fit: the run was cancelled after 1 epoch and 3 steps of the next',
    );
    expect(after.called).toEqual(['begin', 'epoch']);
    expect(model.optimizer.iterations.item()).toBe(6);
  });

  test('at the end of the last epoch', async () => {
    const model = compiled({ runEagerly });
    const controller = new AbortController();
    const abort = new LambdaCallback({ onEpochEnd: (epoch) => void (epoch === 1 && controller.abort()) });
    const run = model.fit(x, y, { ...quiet, epochs: 2, callbacks: [abort], signal: controller.signal });
    expect((await errorOf(run)).message).toBe('fit: the run was cancelled after 2 epochs');
    expect(model.optimizer.iterations.item()).toBe(6);
  });
});

test('iterators that fit made are closed, a generator of the caller goes on', async () => {
  const model = compiled();
  for (const steps of [1, 2, 3]) {
    const batches = new Batches();
    const generator = batches[Symbol.asyncIterator]();
    for (const [data, open] of [
      [batches, 0],
      [generator, 1],
    ] as const) {
      const after = new AbortAfter(steps);
      const { signal } = after;
      await errorOf(model.fit(data, { verbose: 0, epochs: 9, stepsPerEpoch: 2, callbacks: [after], signal }));
      expect(batches.open).toBe(open);
    }
    await model.fit(generator, { verbose: 0, stepsPerEpoch: 2 });
  }
});

describe('evaluate and predict', () => {
  const runs = {
    evaluate: (model: Sequential, signal: AbortSignal, callbacks: Callback[] = []) =>
      model.evaluate(x, y, { ...still, signal, callbacks }),
    predict: (model: Sequential, signal: AbortSignal, callbacks: Callback[] = []) =>
      model.predict(x, { ...still, signal, callbacks }),
  };
  test.each(Object.entries(runs))('%s is cancelled between steps', async (name, run) => {
    const model = compiled();
    const after = new AbortAfter(2);
    expect((await errorOf(run(model, after.signal, [after]))).message).toBe(
      `${name}: the run was cancelled after 2 steps`,
    );
    expect((await errorOf(run(model, AbortSignal.abort()))).message).toBe(
      `${name}: the run was cancelled before its first step`,
    );
    await run(model, new AbortController().signal);
  });
  test('by a timer', async () => {
    const model = compiled();
    const ways = {
      evaluate: (data: Batches, signal: AbortSignal) => model.evaluate(data, { verbose: 0, signal }),
      predict: (data: Batches, signal: AbortSignal) => model.predict(data, { verbose: 0, signal }),
    };
    for (const run of Object.values(ways)) {
      const batches = new Batches();
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 20);
      await errorOf(run(batches, controller.signal));
      expect(batches.open).toBe(0);
    }
  });
  test('many short runs let a timer have its turn', async () => {
    const model = compiled();
    let fired = false;
    setTimeout(() => (fired = true), 1);
    const until = performance.now() + 300_000;
    while (!fired && performance.now() < until) await model.evaluate(x, y, still);
    expect(fired).toBe(true);
  });
});

test('what is no signal is refused', async () => {
  const model = compiled();
  for (const signal of [true, {}, new AbortController()] as unknown as AbortSignal[]) {
    await expect(model.fit(x, y, { ...quiet, signal })).rejects.toThrow(InvalidArgumentError);
    await expect(model.evaluate(x, y, { ...still, signal })).rejects.toThrow('signal must be an AbortSignal');
    await expect(model.predict(ones([1, 1]), { ...still, signal })).rejects.toThrow(InvalidArgumentError);
  }
});
