// Older .h5 files as Keras 2 writes them: tools/golden/keras2_files.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { constant, type Tensor } from '@eagre/core';
import { expect, test, vi } from 'vitest';
import { loadModel } from '../index.ts';

const folder = fileURLToPath(new URL('../../golden/keras2-files/', import.meta.url));
interface Case {
  readonly x: readonly { readonly shape: number[]; readonly data: number[] }[];
  readonly y: number[];
  readonly outputs: number[];
  readonly losses: number[];
}
const { cases } = JSON.parse(readFileSync(`${folder}models.json`, 'utf8')) as {
  readonly cases: Readonly<Record<string, Case>>;
};

test.each(Object.keys(cases))('%s predicts the same, and trains on with the same losses', async (name) => {
  const { x, y, outputs, losses } = cases[name] as Case;
  const warn = vi.spyOn(console, 'warn');
  const model = await loadModel(`${folder}${name}.h5`);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
  const tensors = x.map(({ shape, data }) => constant(data, 'float32', { shape }));
  const given = (tensors.length === 1 ? tensors[0] : tensors) as Tensor;
  const got = (model(given) as Tensor).array() as number[][];
  got.flat().forEach((v, i) => {
    expect(v).toBeCloseTo(outputs[i] as number, 4);
  });
  const targets = constant(y, 'float32', { shape: [y.length, 1] });
  for (const loss of losses) {
    model.resetMetrics();
    expect(model.trainOnBatch(given, targets)['loss']).toBeCloseTo(loss, 4);
  }
});
