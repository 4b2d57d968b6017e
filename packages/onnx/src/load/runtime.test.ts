// Ops of which the onnx package has no tests, those that ONNX Runtime adds among them: they give what onnxruntime gives.
import { readFileSync } from 'node:fs';
import { constant, type Tensor } from '@eagre/core';
import { expect, test } from 'vitest';
import { difference } from '../testing/compare.ts';
import { load } from './load.ts';

interface Stored {
  readonly dtype: 'float32';
  readonly shape: readonly number[];
  readonly data: readonly number[];
}
const { cases } = JSON.parse(readFileSync(new URL('../../golden/runtime.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly op: string;
    readonly model: string;
    readonly inputs: readonly Stored[];
    readonly outputs: readonly Stored[];
  }[];
};
const tensorOf = ({ dtype, data, shape }: Stored): Tensor =>
  constant(data as readonly number[] as number[], 'float64', { shape }).cast(dtype);

/** Where onnxruntime rounds at other places: to bytes in each step. */
const near: Readonly<Record<string, number>> = { DynamicQuantizeLSTM: 1e-3 };

for (const [i, { op, model, inputs, outputs }] of cases.entries())
  test(`${op}, ${i}`, async () => {
    const loaded = await load(Buffer.from(model, 'base64'));
    expect(loaded.traced).toBe(true);
    const found: unknown = loaded(...inputs.map(tensorOf));
    const results = (outputs.length === 1 ? [found] : found) as Tensor[];
    outputs.forEach((output, k) => {
      const wanted = tensorOf(output);
      const got = results[k] as Tensor;
      expect(got.dtype).toBe(wanted.dtype);
      const isFloat = output.dtype === 'float32';
      const [a, b] = [got, wanted].map((t) => (isFloat ? t : t.cast('float32'))) as [Tensor, Tensor];
      const room = op.startsWith('QLinear') ? 1 : (near[op] ?? 3e-6);
      expect(difference(a, b, 1e-5, isFloat || room === 1 ? room : 0), `output ${k}`).toBe(undefined);
    });
  });
