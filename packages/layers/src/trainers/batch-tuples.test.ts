import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { Callback } from '../callbacks/callback.ts';
import { Dense, Input } from '../layers/index.ts';
import type { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { packXYSampleWeight, unpackXYSampleWeight } from './batch-tuples.ts';

test('batches as lists', () => {
  expect(packXYSampleWeight(1)).toBe(1);
  expect(packXYSampleWeight([1, 2])).toEqual([[1, 2]]);
  expect(packXYSampleWeight(1, 2)).toEqual([1, 2]);
  expect(packXYSampleWeight({ a: 1 }, null, 3)).toEqual([{ a: 1 }, null, 3]);
  expect(unpackXYSampleWeight(1)).toEqual([1, null, null]);
  expect(unpackXYSampleWeight([1, 2])).toEqual([1, 2, null]);
  expect(() => unpackXYSampleWeight([1, 2, 3, 4])).toThrow('a batch is [x]');
});

test('callbacks that have methods of Keras’s older names', async () => {
  const seen: unknown[] = [];
  class Own extends Callback {
    override setModel(model: Model): void {
      super.setModel(model);
      seen.push([model.name, this.params.epochs]);
    }
    override onBatchBegin(batch: number): void {
      seen.push(batch);
    }
    override async onBatchEnd(batch: number): Promise<void> {
      seen.push(-batch);
    }
  }
  const model = new Sequential([Input([1]), new Dense(1)], { name: 'm' });
  model.compile({ loss: 'mse' });
  await model.fit([[1], [2]], [[1], [2]], { batchSize: 1, verbose: 0, callbacks: [new Own()] });
  expect(seen).toEqual([['m', 1], 0, -0, 1, -1]);
});
