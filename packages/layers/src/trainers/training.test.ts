import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import {
  constant,
  FailedPreconditionError,
  InvalidArgumentError,
  ones,
  random,
  type Tensor,
  UnimplementedError,
  zeros,
} from '@eagre/core';
import { losses, metrics } from '@eagre/metrics';
import { SGD } from '@eagre/optimizers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Callback, type Logs } from '../callbacks/index.ts';
import { Layer } from '../layer/layer.ts';
import {
  BatchNormalization,
  Concatenate,
  Dense,
  Dropout,
  GlobalAveragePooling1D,
  Identity,
  Lambda,
} from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { l2 } from '../regularizers.ts';
import type { StepLogs } from './compile.ts';
import type { FitOptions } from './training-options.ts';

const quiet = { verbose: 0 } as const;

const line = (options: ConstructorParameters<typeof Dense>[1] = {}): Sequential => {
  const model = new Sequential([new Dense(1, { kernelInitializer: 'ones', ...options })]);
  model.compile({ optimizer: new SGD(0.1), loss: 'mse' });
  return model;
};
const x = constant([[1], [2], [3], [4], [5]]);
const y = constant([[2], [4], [6], [8], [10]]);

/** The inputs of each batch that a model is trained on. */
function recorder(): { model: Model; seen: number[][] } {
  const seen: number[][] = [];
  class Records extends Sequential {
    override trainStep(batch: Tensor, target: Tensor | undefined, weight: Tensor | undefined): StepLogs {
      seen.push([...(batch.data() as Float32Array)]);
      return super.trainStep(batch, target, weight);
    }
  }
  const model = new Records([new Dense(1)]);
  model.compile({ loss: 'mse', runEagerly: true });
  return { model, seen };
}

describe('compile', () => {
  test('comes first', async () => {
    const model = new Sequential([new Dense(1)]);
    await expect(model.fit(x, y, quiet)).rejects.toThrow(FailedPreconditionError);
    await expect(model.evaluate(x, y, quiet)).rejects.toThrow('call model.compile');
    expect(() => model.optimizer).toThrow(FailedPreconditionError);
    expect(model.metrics).toEqual([]);
    expect((await model.predict(x)).shape).toEqual([5, 1]);
  });
  test('knows its names at once', () => {
    const model = new Sequential([new Dense(1)]);
    // @ts-expect-error
    expect(() => model.compile({ optimizer: 'nonsense' })).toThrow('nonsense');
    // @ts-expect-error
    expect(() => model.compile({ loss: 'nonsense' })).toThrow('nonsense');
    // @ts-expect-error
    expect(() => model.compile({ metrics: ['nonsense'] })).toThrow('nonsense');
    model.compile({ metrics: ['ce', new metrics.Precision()] });
    expect(model.optimizer.constructor.name).toBe('RMSprop');
    expect(model.metrics.map((m) => m.name)).toEqual(['loss', 'ce', 'precision']);
  });
  test('a model without a loss', async () => {
    const model = new Sequential([new Dense(1)]);
    model.compile();
    await expect(model.fit(x, y, quiet)).rejects.toThrow('neither a loss nor regularization losses');
    const penalized = new Sequential([new Dense(1, { kernelRegularizer: l2(1), kernelInitializer: 'ones' })]);
    penalized.compile({ optimizer: new SGD(0.25), metrics: ['mae'] });
    const { history } = await penalized.fit(x, undefined, { ...quiet, epochs: 2, batchSize: 5 });
    expect(history).toEqual({ loss: [1, 0.25] });
  });
});

describe('fit', () => {
  test('learns, and reports each epoch', async () => {
    const model = line();
    model.compile({ optimizer: new SGD(0.03), loss: 'mse' });
    const result = await model.fit(x, y, { ...quiet, epochs: 60, batchSize: 5, shuffle: false });
    const { loss } = result.history as { loss: number[] };
    expect(result.epoch).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(loss[0]).toBeCloseTo(11, 5);
    expect(loss.at(-1)).toBeLessThan(0.1);
  });

  test('a short last batch counts for less', async () => {
    const model = line({ trainable: false });
    const each = [1, 4, 9, 16, 25];
    const { history } = await model.fit(x, y, { ...quiet, batchSize: 4, shuffle: false });
    expect(history['loss']?.[0]).toBeCloseTo(each.reduce((a, b) => a + b) / 5, 5);
    expect((await model.evaluate(x, y, { ...quiet, batchSize: 2 }))['loss']).toBeCloseTo(11, 5);
  });

  test('every form of data', async () => {
    const nested = [[1], [2], [3], [4], [5]];
    const host = { data: Float32Array.of(1, 2, 3, 4, 5), shape: [5, 1] };
    for (const form of [x, nested, host]) {
      const { model, seen } = recorder();
      await model.fit(form, y, { ...quiet, batchSize: 2, shuffle: false });
      expect(seen).toEqual([[1, 2], [3, 4], [5]]);
    }
  });

  test('shuffles anew in each epoch, x with y and weights', async () => {
    random.setSeed(3);
    const orders: number[][] = [];
    class Checks extends Sequential {
      override trainStep(a: Tensor, b: Tensor | undefined, w: Tensor | undefined): Logs {
        orders.push([...(a.data() as Float32Array)]);
        expect(b?.data()).toEqual(a.mul(2).data());
        expect(w?.data()).toEqual(a.data());
        return {};
      }
    }
    const model = new Checks([new Dense(1)]);
    model.compile({ runEagerly: true });
    const many = constant(Array.from({ length: 20 }, (_, i) => [i]));
    await model.fit(many, many.mul(2), { ...quiet, epochs: 3, batchSize: 20, sampleWeight: many });
    expect(new Set(orders.map(String)).size).toBe(3);
    for (const order of orders)
      expect(order.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  test('without targets', async () => {
    class Auto extends Sequential {
      override trainStep(batch: Tensor, target: Tensor | undefined): StepLogs {
        expect(target).toBeUndefined();
        return super.trainStep(batch, batch, undefined);
      }
    }
    const model = new Auto([new Dense(1)]);
    model.compile({ loss: 'mse' });
    expect(Object.keys((await model.fit(x, { ...quiet, epochs: 2 })).history)).toEqual(['loss']);
    await model.fit(x, undefined, quiet);
    const plain = line();
    await expect(plain.fit(x, quiet)).rejects.toThrow('the loss needs targets');
  });

  test('labels of every dtype and shape', async () => {
    const inputs = random.normal([6, 4], { seed: 1 });
    const labels = [0, 1, 2, 0, 1, 2];
    const results: number[] = [];
    for (const form of [
      constant(labels, 'int32'),
      constant(labels, 'uint8'),
      constant(labels, 'int64'),
      constant(labels),
      constant(labels, 'int32').expandDims(-1),
      constant(labels, 'uint8').expandDims(-1),
    ]) {
      const model = new Sequential([Input({ shape: [4] }), new Dense(3, { kernelInitializer: 'ones' })]);
      model.compile({
        optimizer: new SGD(0.1),
        loss: new losses.SparseCategoricalCrossentropy({ fromLogits: true }),
        metrics: ['accuracy', 'sparse_top_k_categorical_accuracy'],
      });
      const logs = (await model.fit(inputs, form, { ...quiet, batchSize: 3, epochs: 3, shuffle: false }))
        .history;
      expect(Object.keys(logs)).toEqual(['loss', 'accuracy', 'sparse_top_k_categorical_accuracy']);
      results.push(...(logs['loss'] as number[]));
      expect(results.slice(-3)).toEqual(results.slice(0, 3));
    }
  });

  test("what 'accuracy' means", async () => {
    const fixed = (y2: Tensor, target: Tensor): Promise<Logs> => {
      const model = new Sequential([new Identity()]);
      model.compile({ loss: 'mse', metrics: ['acc'] });
      return model.evaluate(y2, target, quiet);
    };
    const binary = constant([[0.9], [0.2], [0.7]]);
    expect((await fixed(binary, constant([[1], [0], [0]])))['acc']).toBeCloseTo(2 / 3, 6);
    expect((await fixed(binary, constant([1, 0, 1])))['acc']).toBe(1);
    const rows = constant([
      [0.1, 0.9],
      [0.8, 0.2],
    ]);
    expect(
      (
        await fixed(
          rows,
          constant([
            [0, 1],
            [0, 1],
          ]),
        )
      )['acc'],
    ).toBe(0.5);
  });

  test('metrics of the same name are told apart', async () => {
    const model = line({ trainable: false });
    model.compile({ loss: 'mse', metrics: ['mae', 'mae'], weightedMetrics: ['mae', 'mse', 'mae'] });
    const logs = await model.evaluate(x, y, { ...quiet, sampleWeight: [1, 0, 0, 0, 0] });
    expect(Object.keys(logs)).toEqual(['loss', 'mae', 'mae_1', 'weighted_mae', 'mse', 'weighted_mae_1']);
    expect([logs['mae'], logs['weighted_mae'], logs['mse']]).toEqual([3, 1, 1]);
    expect(logs['loss']).toBeCloseTo(1 / 5, 6);
    model.compile({ loss: 'mse', metrics: [new metrics.F1Score()] });
    const hot = new Sequential([new Identity()]);
    hot.compile({ loss: 'mse', metrics: [new metrics.F1Score()] });
    await expect(hot.evaluate(ones([2, 3]), ones([2, 3]), quiet)).rejects.toThrow(UnimplementedError);
  });

  test.each([false, true])('one metric given twice, as in Keras 3.15; runEagerly %s', async (runEagerly) => {
    const inputs = constant([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
    const targets = constant([[1], [0], [3], [2]]);
    const sampleWeight = [1, 2, 0, 4];
    const logsOf = async (options: object): Promise<Logs> => {
      const model = new Sequential([new Dense(1, { kernelInitializer: 'ones', inputShape: [2] })]);
      model.compile({ optimizer: 'sgd', loss: 'mse', runEagerly, ...options });
      const logs = await model.evaluate(inputs, targets, { ...quiet, sampleWeight });
      const { history } = await model.fit(inputs, targets, { ...quiet, sampleWeight });
      expect(Object.keys(history)).toEqual(Object.keys(logs));
      return logs;
    };
    const mine = (): metrics.Metric => new metrics.MeanAbsoluteError('mine');
    const [one, two] = [mine(), mine()];
    // It sees each batch twice, once with the weights.
    const both = await logsOf({ metrics: [one], weightedMetrics: [one] });
    expect(Object.keys(both)).toEqual(['loss', 'mine', 'weighted_mine']);
    expect(both['loss']).toBe(133.5);
    expect(both['mine']).toBeCloseTo(6.9090909, 5);
    expect(both['weighted_mine']).toBe(both['mine']);
    expect(await logsOf({ metrics: [two, two] })).toEqual({ loss: 133.5, mine: 5.5, mine_1: 5.5 });
    const other = new metrics.MeanAbsoluteError('weighted_mae');
    const names = Object.keys(await logsOf({ metrics: ['mae'], weightedMetrics: ['mae', other] }));
    expect(names).toEqual(['loss', 'mae', 'weighted_mae', 'weighted_weighted_mae']);
  });

  test('several inputs', async () => {
    const [a, b] = [Input({ shape: [1] }), Input({ shape: [1] })];
    const model = new Model({ inputs: [a, b], outputs: new Dense(1)(new Concatenate()([a, b])) });
    model.compile({ loss: 'mse', metrics: ['mae'] });
    const options = { ...quiet, batchSize: 2, validationSplit: 0.4 };
    const { history } = await model.fit([x, y], y, options);
    expect(Object.keys(history)).toEqual(['loss', 'mae', 'val_loss', 'val_mae']);
    await model.fit(new Set([[[x, y], y] as const]), quiet);
    await model.fit([x, { data: Float32Array.of(1, 2, 3, 4, 5), shape: [5, 1] }], y, quiet);
    expect((await model.predict([x, y], { batchSize: 2 })).shape).toEqual([5, 1]);
    await expect(model.fit([x, ones([4, 1])], y, quiet)).rejects.toThrow('4 examples');
    await expect(model.fit([x, ones([4, 1])], y, options)).rejects.toThrow(
      'x has 5 examples, but y or sampleWeight has 4',
    );
  });

  test('weights of examples and classes', async () => {
    const weights = [1, 0, 2, 0, 1];
    const expected = (1 * 1 + 2 * 9 + 25) / 5;
    const one = line({ trainable: false });
    for (const sampleWeight of [weights, weights.map((w) => [w])]) {
      const { history } = await one.fit(x, y, { ...quiet, sampleWeight });
      expect(history['loss']?.[0]).toBeCloseTo(expected, 5);
    }
    await expect(one.fit(x, y, { ...quiet, sampleWeight: [1, 2] })).rejects.toThrow(
      'sampleWeight has 2 examples',
    );

    const labels = constant([0, 1, 1, 0, 1], 'int32');
    const hot = constant([0, 1, 1, 0, 1].map((l) => [1 - l, l]));
    const seen: unknown[] = [];
    class Records extends Sequential {
      override trainStep(_: Tensor, __: Tensor | undefined, w: Tensor | undefined): Logs {
        seen.push(w?.array());
        return {};
      }
    }
    const model = new Records([new Dense(2)]);
    model.compile({ runEagerly: true });
    const options = { ...quiet, shuffle: false, classWeight: { 1: 3 } };
    await model.fit(x, labels, options);
    await model.fit(x, labels.expandDims(-1), options);
    await model.fit(x, hot, options);
    await model.fit(x, labels, { ...options, sampleWeight: [[1], [1], [0.5], [2], [1]] });
    expect(seen).toEqual([
      [1, 3, 3, 1, 3],
      [1, 3, 3, 1, 3],
      [1, 3, 3, 1, 3],
      [[1], [3], [1.5], [2], [3]],
    ]);
    await expect(model.fit(x, undefined, options)).rejects.toThrow('classWeight needs targets');
  });

  describe('validation', () => {
    test('holds the last part back before shuffling', async () => {
      const { model, seen } = recorder();
      const tested: number[][] = [];
      class Tests extends Callback {
        override onTestBatchEnd(): void {
          tested.push([]);
        }
      }
      const options = { ...quiet, batchSize: 2, validationSplit: 0.4, epochs: 3, callbacks: [new Tests()] };
      const { history } = await model.fit(x, y, options);
      expect(seen.flat().sort().join()).toBe('1,1,1,2,2,2,3,3,3');
      expect([history['val_loss']?.length, tested.length]).toEqual([3, 3]);
    });
    test('does not touch the training numbers, nor statistics', async () => {
      const model = new Sequential([new BatchNormalization(), new Dropout(0.9), new Dense(1)]);
      model.compile({ loss: 'mse' });
      const big = ones([5, 1]).mul(1000);
      await model.fit(x, y, { ...quiet, validationData: [big, y] });
      const [mean] = (model.layers[0] as BatchNormalization).movingMean.array() as number[];
      expect(mean).toBeLessThan(5);
    });
    test('data, weights, batches, steps, frequency', async () => {
      const model = line({ trainable: false });
      const run = async (options: object): Promise<Record<string, number[]>> =>
        (await model.fit(x, y, { ...quiet, ...options })).history;
      expect((await run({ validationData: [x, y] }))['val_loss']?.[0]).toBeCloseTo(11, 5);
      expect((await run({ validationData: [x, y, [1, 0, 0, 0, 0]] }))['val_loss']?.[0]).toBeCloseTo(0.2, 5);
      expect((await run({ validationData: new Set([[x, y]]) }))['val_loss']?.[0]).toBeCloseTo(11, 5);
      const first = { validationData: [x, y], validationBatchSize: 1, validationSteps: 2 };
      expect((await run(first))['val_loss']?.[0]).toBeCloseTo(2.5, 5);
      const rare = await run({ validationData: [x, y], validationFreq: 2, epochs: 5 });
      expect([rare['loss']?.length, rare['val_loss']?.length]).toEqual([5, 2]);
      // The data given win over the share.
      expect((await run({ validationData: [x, y], validationSplit: 0.5 }))['val_loss']?.[0]).toBeCloseTo(
        11,
        5,
      );
      await expect(run({ validationData: x })).rejects.toThrow('validationData must be [x, y]');
      await expect(run({ validationSplit: 1 })).rejects.toThrow('(0, 1)');
      await expect(run({ validationSplit: 0.9 })).rejects.toThrow('leaves no examples');
      await expect(model.fit(new Set([[x, y] as const]), { validationSplit: 0.5 })).rejects.toThrow(
        'needs x and y',
      );
    });
  });

  describe('iterables', () => {
    const batches = [
      [x, y],
      [x.mul(2), y],
    ] as const;
    test('of batches, plain and asynchronous, in several epochs', async () => {
      const asynchronous = {
        async *[Symbol.asyncIterator]() {
          for (const batch of batches) {
            await new Promise((resolve) => setTimeout(resolve, 1));
            yield batch;
          }
        },
      };
      for (const source of [new Set(batches), asynchronous]) {
        const { model, seen } = recorder();
        const { history } = await model.fit(source, { ...quiet, epochs: 3 });
        expect([seen.length, history['loss']?.length]).toEqual([6, 3]);
      }
    });
    test('with weights, arrays, single inputs', async () => {
      const model = line({ trainable: false });
      const weighted = new Set([[x, y, [1, 0, 0, 0, 0]] as const]);
      expect((await model.evaluate(weighted, quiet))['loss']).toBeCloseTo(0.2, 5);
      expect((await model.evaluate(new Set([[[[1]], [[2]]]]), quiet))['loss']).toBeCloseTo(1, 5);
      const alone = new Set<readonly [Tensor] | Tensor>([x, [x]]);
      expect((await model.predict(alone)).shape).toEqual([10, 1]);
      await expect(model.predict(new Set([undefined as never]))).rejects.toThrow(
        'an iterable of batches must yield',
      );
    });
    test('says that they may be single examples where a model that is not built fails', async () => {
      const fitted = async (model: Sequential, ...example: Tensor[]): Promise<unknown> => {
        model.compile({ optimizer: 'sgd', loss: 'mse' });
        return model.fit(new Set([example as [Tensor, Tensor]]), quiet);
      };
      const advice = 'if these are single examples, give dataset.batch(size)';
      const dense = new Sequential([new Dense(1)]);
      await expect(fitted(dense, ones([2]), ones([1]))).rejects.toThrow(`[2] and [1]: ${advice}`);
      const pooled = new Sequential([new GlobalAveragePooling1D(), new Dense(1)]);
      await expect(fitted(pooled, ones([5, 2]), ones([]))).rejects.toThrow(advice);
      const bad = fitted(new Sequential([new GlobalAveragePooling1D()]), ones([2, 2]), ones([2, 1]));
      await expect(bad).rejects.not.toThrow(advice);
    });
    test('says that examples are no batches', async () => {
      const model = new Sequential([Input({ shape: [3] }), new Dense(2)]);
      model.compile({ optimizer: 'sgd', loss: 'mse' });
      const examples = new Set([[ones([3]), ones([2])] as const]);
      const message = 'the dataset gives examples [3], not batches [null, 3]: give dataset.batch';
      await expect(model.fit(examples, quiet)).rejects.toThrow(message);
      await expect(model.evaluate(examples, quiet)).rejects.toThrow(message);
      await expect(model.predict(new Set([ones([3])]), quiet)).rejects.toThrow(message);
    });
    test('bring their own targets', async () => {
      const model = line();
      await expect(model.fit(new Set(batches), y, quiet)).rejects.toThrow('leave y');
      await expect(model.fit(new Set(batches), { ...quiet, sampleWeight: [1] })).rejects.toThrow(
        'sampleWeight',
      );
    });
    test('a generator without end and stepsPerEpoch, in two calls', async () => {
      let made = 0;
      let closed = false;
      function* endless(): Generator<readonly [Tensor, Tensor]> {
        try {
          for (;;) {
            made++;
            yield [x.mul(made), y];
          }
        } finally {
          closed = true;
        }
      }
      const source = endless();
      const { model, seen } = recorder();
      await model.fit(source, { ...quiet, epochs: 3, stepsPerEpoch: 2 });
      expect([made, closed]).toEqual([6, false]);
      await model.fit(source, { ...quiet, stepsPerEpoch: 1 });
      expect(seen.map((s) => s[0])).toEqual([1, 2, 3, 4, 5, 6, 7]);
      source.return(undefined);
    });
    test('an iterator that was made for fit is closed', async () => {
      const closed: number[] = [];
      const source = {
        *[Symbol.iterator]() {
          try {
            for (;;) yield [x, y] as const;
          } finally {
            closed.push(1);
          }
        },
      };
      const { model } = recorder();
      await model.fit(source, { ...quiet, epochs: 2, stepsPerEpoch: 2 });
      await model.evaluate(source, { ...quiet, steps: 1 });
      await model.predict(source, { steps: 2 });
      expect(closed.length).toBe(3);
    });
    test('a generator that ended ends training, with a warning', async () => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
      const ended: string[] = [];
      class Ends extends Callback {
        override onTrainEnd(): void {
          ended.push('end');
        }
      }
      const { model } = recorder();
      const { history } = await model.fit(batches.values(), { ...quiet, epochs: 3, callbacks: [new Ends()] });
      expect([history['loss']?.length, ended, warn.mock.calls.length]).toEqual([1, ['end'], 1]);
      await expect(model.fit([][Symbol.iterator](), quiet)).rejects.toThrow('no batch');
      await expect(model.evaluate(new Set<never>(), quiet)).rejects.toThrow('no batch');
      await expect(model.predict(new Set<never>())).rejects.toThrow('no batch');
      warn.mockRestore();
    });
    test('an error in the data', async () => {
      const { model } = recorder();
      const failing = {
        *[Symbol.iterator]() {
          yield [x, y] as const;
          throw new Error('disk');
        },
      };
      await expect(model.fit(failing, quiet)).rejects.toThrow('disk');
      await model.fit(x, y, quiet);
    });
  });

  test('stepsPerEpoch goes on in the next epoch, and starts anew at the end', async () => {
    const { model, seen } = recorder();
    await model.fit(x, y, { ...quiet, batchSize: 2, epochs: 3, stepsPerEpoch: 2, shuffle: false });
    expect(seen).toEqual([[1, 2], [3, 4], [5], [1, 2], [3, 4]]);
    seen.length = 0;
    await model.fit(x, y, { ...quiet, batchSize: 3, epochs: 2, stepsPerEpoch: 2, shuffle: false });
    expect(seen).toEqual([
      [1, 2, 3],
      [4, 5],
      [1, 2, 3],
      [4, 5],
    ]);
  });

  test('options that cannot be', async () => {
    const model = line();
    for (const options of [
      { epochs: -1 },
      { epochs: 1.5 },
      { batchSize: 0 },
      { stepsPerEpoch: 0 },
      { validationFreq: 0 },
    ])
      await expect(model.fit(x, y, { ...quiet, ...options }), JSON.stringify(options)).rejects.toThrow(
        InvalidArgumentError,
      );
    await expect(model.fit(x, ones([3, 1]), quiet)).rejects.toThrow('y has 3 examples');
    await expect(model.fit(5, y, quiet)).rejects.toThrow('first dimension');
    await expect(model.fit(zeros([0, 1]), zeros([0, 1]), quiet)).rejects.toThrow('x has no examples');
    expect((await model.fit(x, y, { ...quiet, epochs: 3, initialEpoch: 2 })).epoch).toEqual([2]);
    expect((await model.fit(x, y, { ...quiet, epochs: 0 })).epoch).toEqual([]);
  });

  test('an error leaves everything ready for the next run', async () => {
    class Fails extends Callback {
      override onTrainBatchEnd(): void {
        throw new Error('in a callback');
      }
    }
    const model = line();
    await expect(model.fit(x, y, { ...quiet, callbacks: [new Fails()] })).rejects.toThrow('in a callback');
    await expect(model.fit(ones([5, 2, 2]), y, quiet)).rejects.toThrow();
    const { history } = await model.fit(x, y, { ...quiet, epochs: 2 });
    expect(history['loss']?.length).toBe(2);
  });
});

describe('callbacks', () => {
  test('are called in order, and waited for', async () => {
    const calls: string[] = [];
    class All extends Callback {
      async log(what: string): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, 1));
        calls.push(what);
      }
      override onTrainBegin = (): Promise<void> => this.log(`train ${this.params.steps} ${this.model.name}`);
      override onTrainEnd = (logs: Logs): Promise<void> => this.log(`end ${Object.keys(logs)}`);
      override onEpochBegin = (e: number): Promise<void> => this.log(`epoch ${e}`);
      override onEpochEnd = (e: number, logs: Logs): Promise<void> =>
        this.log(`ended ${e} ${Object.keys(logs)}`);
      override onTrainBatchBegin = (b: number): Promise<void> => this.log(`batch ${b}`);
      override onTrainBatchEnd = (b: number, logs: Logs): Promise<void> =>
        this.log(`done ${b} ${Object.keys(logs)}`);
      override onTestBegin = (): Promise<void> => this.log('test');
      override onTestBatchBegin = (b: number): Promise<void> => this.log(`test ${b}`);
      override onTestBatchEnd = (b: number): Promise<void> => this.log(`tested ${b}`);
      override onTestEnd = (logs: Logs): Promise<void> => this.log(`tested ${Object.keys(logs)}`);
      override onPredictBegin = (): Promise<void> => this.log('predict');
      override onPredictBatchBegin = (b: number): Promise<void> => this.log(`predict ${b}`);
      override onPredictBatchEnd = (b: number): Promise<void> => this.log(`predicted ${b}`);
      override onPredictEnd = (): Promise<void> => this.log('predicted');
    }
    const model = new Sequential([new Dense(1)], { name: 'm' });
    model.compile({ loss: 'mse' });
    const options = { ...quiet, batchSize: 3, callbacks: [new All()] };
    await model.fit(x, y, { ...options, validationData: [x, y], validationBatchSize: 5 });
    const tested = ['test', 'test 0', 'tested 0', 'tested loss'];
    expect(calls).toEqual([
      'train 2 m',
      'epoch 0',
      'batch 0',
      'done 0 loss',
      'batch 1',
      'done 1 loss',
      ...tested,
      'ended 0 loss,val_loss',
      'end loss,val_loss',
    ]);
    calls.length = 0;
    await model.evaluate(x, y, { ...options, batchSize: 5 });
    await model.predict(x, { ...options, batchSize: 5 });
    expect(calls).toEqual([...tested, 'predict', 'predict 0', 'predicted 0', 'predicted']);
  });

  test('stop training, also in the middle of an epoch', async () => {
    class Stops extends Callback {
      override onTrainBatchEnd(batch: number): void {
        if (batch === 1) this.model.stopTraining = true;
      }
    }
    const { model, seen } = recorder();
    const run = { ...quiet, batchSize: 1, epochs: 4 };
    const { history } = await model.fit(x, y, { ...run, callbacks: [new Stops()] });
    expect([seen.length, history['loss']?.length]).toEqual([2, 1]);
    await model.fit(x, y, run);
    expect(seen.length).toBe(22);
  });
});

describe('evaluate and predict', () => {
  test('give all numbers, and change nothing', async () => {
    const model = new Sequential([new BatchNormalization(), new Dense(1)]);
    model.compile({ loss: 'mse', metrics: ['mae'] });
    model(x);
    const before = model.getWeights().map((w) => w.array());
    const logs = await model.evaluate(x, y, quiet);
    expect(Object.keys(logs)).toEqual(['loss', 'mae']);
    expect(await model.evaluate(x, y, quiet)).toEqual(logs);
    await model.predict(x);
    expect(model.getWeights().map((w) => w.array())).toEqual(before);
  });
  test('in batches', async () => {
    const model = line();
    const whole = model(x);
    for (const batchSize of [1, 2, 5, 100]) {
      expect((await model.predict(x, { batchSize })).array()).toEqual(whole.array());
    }
    expect((await model.predict(x, { batchSize: 2, steps: 2 })).shape).toEqual([4, 1]);
    expect((await model.evaluate(x, y, { ...quiet, batchSize: 1, steps: 2 }))['loss']).toBeCloseTo(2.5, 5);
    const passes = new Sequential([new Identity()]);
    expect((await passes.predict(x, { batchSize: 2 })).array()).toEqual(x.array());
  });
  test('neither disposes what the user has', async () => {
    const held: Tensor[] = [];
    const model = new Sequential([
      new Lambda((t) => {
        held.push(t);
        return t;
      }),
      new Dense(1),
      new Lambda((t) => {
        held.push(t);
        return t;
      }),
    ]);
    model.compile({ loss: 'mse' });
    await model.predict(x, { batchSize: 2 });
    await model.evaluate(x, y, quiet);
    await model.fit(x, y, quiet);
    expect(held.length).toBeGreaterThan(8);
    for (const t of [...held, x, y]) expect(t.isDisposed).toBe(false);
  });
});

describe('own steps, losses and metrics', () => {
  test('a step of the user, with a metric among the attributes', async () => {
    const kept: Tensor[] = [];
    class Own extends Model {
      dense = new Dense(1, { kernelInitializer: 'ones' });
      tracker = new metrics.Mean('my_loss');
      sgd = new SGD(0.01);
      override call(t: Tensor): Tensor {
        return this.dense(t);
      }
      override trainStep(a: Tensor, b: Tensor, w: Tensor | undefined): Logs {
        kept.push(a, b);
        if (w !== undefined) kept.push(w);
        const tape = new GradientTape();
        const loss = b
          .sub(this(a, { training: true }))
          .square()
          .mean();
        this.sgd.applyGradients(tape.gradient(loss, this.trainableVariables), this.trainableVariables);
        this.tracker.updateState(loss);
        return { my_loss: this.tracker.result().item() };
      }
    }
    const model = new Own();
    model.compile({ runEagerly: true });
    const { history } = await model.fit(x, y, { ...quiet, epochs: 2, batchSize: 5, sampleWeight: ones([5]) });
    expect(history['my_loss']?.[0]).toBeCloseTo(11, 4);
    expect(history['my_loss']?.[1]).toBeLessThan(11);
    expect(kept.length).toBe(6);
    for (const t of kept) expect(t.isDisposed).toBe(false);
  });

  test('losses and metrics of the user keep what they want', async () => {
    const kept: Tensor[] = [];
    const hold = (t: Tensor): Tensor => {
      kept.push(t);
      return t;
    };
    class Own extends losses.Loss {
      override call(a: Tensor, b: Tensor): Tensor {
        return hold(hold(a).sub(hold(b)).square()).mean(-1);
      }
    }
    class Last extends metrics.Metric {
      last: Tensor | undefined;
      override updateState(a: Tensor, b: Tensor): void {
        this.last = hold(hold(b).sub(hold(a)).mean());
      }
      override result(): Tensor {
        return hold((this.last as Tensor).mul(1));
      }
    }
    const error: metrics.MetricFunction = (a, b) => hold(hold(a).sub(hold(b)));
    for (const loss of [new Own(), (a: Tensor, b: Tensor) => hold(hold(a).sub(hold(b)).abs()).mean(-1)]) {
      const model = new Sequential([new Dense(1)]);
      model.compile({
        loss,
        metrics: [new Last(), error],
        runEagerly: true,
      });
      await model.fit(x, y, { ...quiet, epochs: 2, batchSize: 2 });
      await model.evaluate(x, y, quiet);
    }
    expect(kept.length).toBeGreaterThan(50);
    for (const t of kept) expect(t.isDisposed).toBe(false);
  });

  test('addLoss of several numbers, a loss without reduction', async () => {
    class Adds extends Layer {
      override call(t: Tensor): Tensor {
        this.addLoss(t.mul(0).add(1));
        return t;
      }
    }
    const model = new Sequential([new Adds()]);
    model.compile({ loss: 'mse' });
    expect((await model.evaluate(x, x, { ...quiet, batchSize: 5 }))['loss']).toBe(5);
    model.compile({ loss: new losses.MeanSquaredError({ reduction: 'none' }) });
    expect((await model.evaluate(x, y, { ...quiet, batchSize: 5 }))['loss']).toBe(16);
  });
});

describe('progress', () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(console, 'log').mockImplementation((text) => {
      lines.push(
        String(text)
          .replace(/\d+(us|ms|s)\b/g, '#$1')
          .replace(/\d+\.#/g, '#'),
      );
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  test('one line for each epoch where nobody looks', async () => {
    const model = line({ trainable: false });
    await model.fit(x, y, { batchSize: 2, epochs: 2 });
    await model.evaluate(x, y);
    await model.predict(x);
    await model.predict(x, { verbose: 0 });
    vi.mocked(console.log).mockRestore();
    expect(lines.map((l) => l.replace(/#(us|ms|s)\/step/, '#/step'))).toEqual([
      'Epoch 1/2 - 3/3 #s #/step - loss: 11.0000',
      'Epoch 2/2 - 3/3 #s #/step - loss: 11.0000',
      'Evaluate - 1/1 #s #/step - loss: 11.0000',
      'Predict - 1/1 #s #/step',
    ]);
  });
});

test('arrays without a batch size are cut into as many batches as steps are asked for, as in Keras', async () => {
  const seen: number[] = [];
  class Sees extends Layer {
    override call(x: Tensor): Tensor {
      seen.push(x.shape[0] as number);
      return x;
    }
  }
  const model = new Sequential([new Sees(), new Dense(1)]);
  model.compile({ optimizer: 'sgd', loss: 'mse', runEagerly: true });
  const [x, y] = [ones([10, 2]), ones([10, 1])];
  const sizes = async (run: () => Promise<unknown>): Promise<number[]> => {
    seen.length = 0;
    await run();
    return [...seen];
  };
  const fit = (options: FitOptions): Promise<number[]> =>
    sizes(() => model.fit(x, y, { verbose: 0, shuffle: false, ...options }));
  await fit({});
  expect(await fit({ stepsPerEpoch: 3, epochs: 2 })).toEqual([4, 4, 2, 4, 4, 2]);
  expect(await fit({ stepsPerEpoch: 4 })).toEqual([3, 3, 3, 1]);
  expect(await fit({ stepsPerEpoch: 3, batchSize: 2 })).toEqual([2, 2, 2]);
  expect(await fit({ stepsPerEpoch: 3, validationSplit: 0.2, validationSteps: 2 })).toEqual([3, 3, 2, 1, 1]);
  expect(await sizes(() => model.evaluate(x, y, { verbose: 0, steps: 3 }))).toEqual([4, 4, 2]);
  expect(await sizes(() => model.predict(x, { verbose: 0, steps: 3 }))).toEqual([4, 4, 2]);
});

test('no tensor by name is refused', async () => {
  const model = line();
  await model.fit(x, y, quiet);
  const none = 'x contains no tensor';
  await expect(model.fit({} as never, y, quiet)).rejects.toThrow(none);
  await expect(model.predict({} as never)).rejects.toThrow(none);
  expect(() => model.trainOnBatch({} as never, y)).toThrow(none);
});

test.each(['trainStep', 'computeLoss', 'computeMetrics'] as const)(
  'an asynchronous %s is refused',
  async (name) => {
    class Own extends Sequential {}
    Object.defineProperty(Own.prototype, name, {
      value: async () => {
        throw new Error('later');
      },
    });
    for (const runEagerly of [false, true]) {
      const model = new Own([new Dense(1)]);
      model.compile({ optimizer: 'sgd', loss: 'mse', runEagerly });
      await expect(model.fit(ones([2, 2]), ones([2, 1]), { verbose: 0 })).rejects.toThrow(
        'must not be async',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  },
);

test('batches of strings run as plain code: no trace for each batch', async () => {
  let calls = 0;
  class Length extends Layer {
    override call(x: Tensor): Tensor {
      calls++;
      return constant(
        (x.array() as string[]).map((text) => [text.length]),
        'float32',
      );
    }
  }
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const model = new Sequential([new Length(), new Dense(1, { kernelInitializer: 'ones' })]);
  model.compile({ optimizer: new SGD(0), loss: 'mse' });
  const x = constant(Array.from({ length: 16 }, (_, i) => 'a'.repeat(i)));
  const y = constant(Array.from({ length: 16 }, (_, i) => [i + 1]));
  const { loss } = await model.evaluate(x, y, { ...quiet, batchSize: 1 });
  expect(loss).toBeCloseTo(1, 5);
  expect(calls).toBe(16);
  // Twice the same batches are not answered from traces.
  await model.evaluate(x, y, { ...quiet, batchSize: 1 });
  expect(calls).toBe(32);
  const { history } = await model.fit(x, y, { ...quiet, batchSize: 1 });
  expect(history.loss?.[0]).toBeCloseTo(1, 5);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});
