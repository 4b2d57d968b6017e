import '@eagre/backend-js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ones, zeros } from '@eagre/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-being-read-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

function made(): Sequential {
  const model = new Sequential([new Dense(1, { inputShape: [2] })], { name: 'mine' });
  model.compile({ optimizer: 'sgd', loss: 'mse' });
  return model;
}

test.each(['w.weights.h5', 'w.safetensors'])(
  'a model whose weights of %s are still being read says so, once',
  async (name) => {
    const path = join(folder, name);
    await made().saveWeights(path);
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const quiet = { verbose: 0 } as const;
    const [x, y] = [ones([4, 2]), zeros([4, 1])];
    for (const [what, use] of Object.entries({
      fit: (m: Sequential) => m.fit(x, y, quiet),
      evaluate: (m: Sequential) => m.evaluate(x, y, quiet),
      predict: (m: Sequential) => m.predict(x, quiet),
      trainOnBatch: (m: Sequential) => m.trainOnBatch(x, y),
      testOnBatch: (m: Sequential) => m.testOnBatch(x, y),
      predictOnBatch: (m: Sequential) => m.predictOnBatch(x),
    })) {
      const model = made();
      const reading = model.loadWeights(path);
      const results = [use(model), model.predictOnBatch(x)];
      await Promise.all([reading, ...results]);
      expect(warn.mock.calls.map(([text]) => text)).toEqual([
        expect.stringMatching(new RegExp(`^${what}: the weights of the model 'mine' are still being read`)),
      ]);
      warn.mockClear();
      await use(model);
      // Those that were waited for say nothing, nor do those that failed.
      const other = made();
      await other.loadWeights(path);
      await expect(other.loadWeights(join(folder, 'none.safetensors'))).rejects.toThrow();
      await use(other);
      expect(warn).not.toHaveBeenCalled();
    }
  },
);
