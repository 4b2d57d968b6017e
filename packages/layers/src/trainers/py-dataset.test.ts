import '@eagre/backend-js';
import '@eagre/backend-native';
import { fill, InvalidArgumentError, ones, random, type Tensor, UnimplementedError } from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { beforeEach, describe, expect, test } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import type { BatchLike } from './data-adapter.ts';
import { PyDataset, type PyDatasetOptions } from './py-dataset.ts';

const seen: string[] = [];
beforeEach(() => {
  seen.length = 0;
});

/** Batches whose values are their numbers. */
class Numbers extends PyDataset {
  readonly length: number | null;
  constructor(length: number | null, options: PyDatasetOptions = {}) {
    super(options);
    this.length = length;
  }
  override getItem(index: number): BatchLike | Promise<BatchLike> {
    seen.push(`${index}`);
    return [fill([2, 1], index), ones([2, 1])];
  }
  override onEpochBegin(): void {
    seen.push('begin');
  }
  override async onEpochEnd(): Promise<void> {
    await Promise.resolve();
    seen.push('end');
  }
}

function model(): Sequential {
  const made = new Sequential([new Dense(1, { inputShape: [1], useBias: false, kernelInitializer: 'ones' })]);
  made.compile({ optimizer: new SGD(0), loss: 'mse' });
  return made;
}

describe('fit', () => {
  test('goes through it in each epoch, and tells it', async () => {
    const fitted = model().fit(new Numbers(3), { epochs: 2, shuffle: false, verbose: 0 });
    const { history } = await fitted;
    // Squares of -1, 0 and 1.
    expect(history.loss?.map((loss) => Math.fround(loss))).toEqual([2 / 3, 2 / 3].map(Math.fround));
    const epoch = ['begin', '0', '1', '2', 'end'];
    expect(seen).toEqual([...epoch, ...epoch]);
  });

  test('shuffles it unless told otherwise', async () => {
    random.setSeed(3);
    await model().fit(new Numbers(50), { verbose: 0 });
    const order = seen.slice(1, -1).map(Number);
    expect(order).not.toEqual(order.toSorted((a, b) => a - b));
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test('takes some batches of one without end, and validates on another', async () => {
    const validationData = new Numbers(2);
    const options = { epochs: 2, stepsPerEpoch: 2, verbose: 0, validationData } as const;
    await model().fit(new Numbers(null), options);
    const validated = ['begin', '0', '1', 'end'];
    expect(seen).toEqual([...validated, ...validated, 'begin', '2', '3', 'end', ...validated]);
    await expect(model().fit(new Numbers(null), { verbose: 0 })).rejects.toThrow('infinite');
    await expect(model().fit(new Numbers(0), { verbose: 0 })).rejects.toThrow('there was no batch');
  });
});

test('evaluate and predict', async () => {
  const made = model();
  expect(await made.evaluate(new Numbers(3), { verbose: 0 })).toEqual({ loss: expect.closeTo(2 / 3) });
  const outputs = (await made.predict(new Numbers(3), { verbose: 0 })) as Tensor;
  expect(outputs.flatten().array()).toEqual([0, 0, 1, 1, 2, 2]);
});

test('workers wait for several batches at once, in order', async () => {
  let [running, most] = [0, 0];
  class Slow extends Numbers {
    override async getItem(index: number): Promise<BatchLike> {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, index % 2 === 0 ? 8 : 1));
      running--;
      return (await super.getItem(index)) as BatchLike;
    }
  }
  const values = async (data: PyDataset): Promise<unknown[]> => {
    const all: unknown[] = [];
    for await (const batch of data) all.push((batch as Tensor[])[0]?.at(0, 0).item());
    return all;
  };
  expect(await values(new Slow(6, { workers: 3 }))).toEqual([0, 1, 2, 3, 4, 5]);
  expect(most).toBe(3);
  most = 0;
  expect(await values(new Slow(4, { workers: 3, maxQueueSize: 2 }))).toEqual([0, 1, 2, 3]);
  expect(most).toBe(2);
  most = 0;
  expect(await values(new Slow(3))).toEqual([0, 1, 2]);
  expect(most).toBe(1);
});

test('errors come where the batch is wanted, and none is left over', async () => {
  class Failing extends Numbers {
    override getItem(index: number): BatchLike {
      if (index >= 1) throw new Error(`no batch ${index}`);
      return super.getItem(index) as BatchLike;
    }
  }
  const fitted = model().fit(new Failing(4, { workers: 4 }), { verbose: 0, shuffle: false });
  await expect(fitted).rejects.toThrow('no batch 1');
  await new Promise((resolve) => setTimeout(resolve, 5));
});

test('what a class lacks, and wrong options', async () => {
  class Bare extends PyDataset {
    override getItem(): Tensor {
      return ones([1, 1]);
    }
  }
  await expect(model().predict(new Bare(), { verbose: 0 })).rejects.toThrow(UnimplementedError);
  await expect(model().predict(new Numbers(-1), { verbose: 0 })).rejects.toThrow(InvalidArgumentError);
  expect(() => new Numbers(1, { useMultiprocessing: true as never })).toThrow(UnimplementedError);
  expect(() => new Numbers(1, { workers: 0 })).toThrow(InvalidArgumentError);
  expect(() => new Numbers(1, { queue: 3 } as never)).toThrow("Numbers: 'queue' is not an option");
  await expect(model().fit(new Numbers(1), ones([1, 1]))).rejects.toThrow('yields targets');
});
