// Ops of which the onnx package has no tests: they give what onnxruntime gives.
import { readFileSync } from 'node:fs';
import { constant, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { difference } from '../testing/compare.ts';
import { load } from './load.ts';

interface Stored {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}
const { cases } = JSON.parse(readFileSync(new URL('../../golden/runtime.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly op: string;
    readonly model: string;
    readonly inputs: readonly Stored[];
    readonly output: Stored;
  }[];
};
const tensorOf = ({ data, shape }: Stored): Tensor => constant([...data], 'float32', { shape });

for (const [i, { op, model, inputs, output }] of cases.entries())
  test(`${op}, ${i}`, async () => {
    const loaded = await load(Buffer.from(model, 'base64'));
    expect(loaded.traced).toBe(true);
    const result = loaded(...inputs.map(tensorOf)) as Tensor;
    expect(difference(result, tensorOf(output), 1e-5, 1e-6)).toBe(undefined);
  });
