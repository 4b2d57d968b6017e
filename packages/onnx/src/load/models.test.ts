// Models of PyTorch and scikit-learn, which tools/golden/onnx_models.py has exported: they give what those programs gave.
import { constant, Tensor } from '@eagre/core';
import { onnx } from '@eagre/formats';
import { expect, test } from 'vitest';
import { goldenArchive, infoOf, valuesOf } from '../testing/archive.ts';
import { difference } from '../testing/compare.ts';
import { load } from './load.ts';

const files = goldenArchive('models.zip');
const { models } = infoOf<{ readonly models: Readonly<Record<string, number>> }>(files);
const bytesOf = (name: string): Uint8Array => files.get(name) as Uint8Array;

/** What `ZipMap` gives, a map for each row, as a matrix. */
function asTensor(value: unknown): Tensor {
  if (value instanceof Tensor) return value;
  return constant((value as readonly ReadonlyMap<unknown, number>[]).map((row) => [...row.values()]));
}

// Models with strings or maps among their results cannot be traced.
const EAGER = new Set([
  'sklearn-logistic-strings',
  'sklearn-one-hot-strings',
  'sklearn-tfidf',
  'sklearn-counts',
  'sklearn-characters',
]);

test.each(Object.entries(models))('%s', async (name, runs) => {
  const model = await load(bytesOf(`${name}.onnx`));
  expect(model.traced).toBe(!EAGER.has(name));
  for (let i = 0; i < runs; i++) {
    const graph = onnx.GraphProto.decode(bytesOf(`${name}.${i}.pb`));
    const wanted = valuesOf(graph, 'o') as Tensor[];
    const result: unknown = model(...(valuesOf(graph, 'i') as Tensor[]));
    const got = (wanted.length === 1 ? [result] : (result as unknown[])).map(asTensor);
    expect(got.length).toBe(wanted.length);
    wanted.forEach((want, k) => {
      expect(difference(got[k] as Tensor, want, 1e-4, 1e-5), `run ${i}, output ${k}`).toBe(undefined);
    });
  }
});
