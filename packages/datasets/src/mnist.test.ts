import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fashionMnist } from './fashion-mnist.ts';
import type { IdxDataset } from './idx-dataset.ts';
import { mnist } from './mnist.ts';
import { split } from './split.ts';

const root = process.env['EAGRE_DATASETS'] ?? '';
const has = (dataset: IdxDataset, file: string): boolean => existsSync(join(root, dataset.name, file));
const hasTest = has(mnist, 't10k-images-idx3-ubyte.gz');

// The real files: set EAGRE_DATASETS to a folder that has mnist/ and fashion-mnist/.
describe('the real MNIST', () => {
  it.skipIf(!hasTest)('test split', async () => {
    const [images, labels] = await mnist.loadTest({ offline: true });
    expect([images.dtype, images.shape]).toEqual(['uint8', [10_000, 28, 28]]);
    expect([...labels.data.subarray(0, 10)]).toEqual([7, 2, 1, 0, 4, 1, 4, 9, 5, 9]);
    const perDigit = new Array(10).fill(0);
    for (const label of labels.data) perDigit[label]++;
    expect(perDigit).toEqual([980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    expect(images.data.reduce((total, pixel) => total + pixel, 0)).toBe(264_923_200);

    const [[xTrain, yTrain], [xHeld, yHeld]] = split(images, labels, [8000, 2000]);
    expect([xTrain.shape[0], yTrain.shape[0], xHeld.shape[0], yHeld.shape[0]]).toEqual([
      8000, 8000, 2000, 2000,
    ]);
    expect(xHeld.data.at(-1)).toBe(images.data.at(-1));
  });

  for (const dataset of [mnist, fashionMnist]) {
    const whole = hasTest && has(dataset, 'train-images-idx3-ubyte.gz');
    it.skipIf(!whole)(`${dataset.name}: both splits`, async () => {
      const [[xTrain, yTrain], [xTest, yTest]] = await dataset.loadData({ offline: true });
      expect([xTrain.shape, yTrain.shape]).toEqual([[60_000, 28, 28], [60_000]]);
      expect([xTest.shape, yTest.shape]).toEqual([[10_000, 28, 28], [10_000]]);
    });
  }
});
