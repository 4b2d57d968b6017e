// Models and functions are exported to ONNX and read again: what comes back gives the same. With EAGRE_ONNX_OUT the files stay in that folder, with
// inputs and outputs, for tools/interop/onnx_exports.py.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';
import { exported } from './testing/onnx-models.ts';

const { EAGRE_ONNX_OUT: out } = process.env;
const folder = out ?? mkdtempSync(join(tmpdir(), 'eagre-onnx-'));
mkdirSync(folder, { recursive: true });
afterAll(() => {
  if (out === undefined) rmSync(folder, { recursive: true });
});

const leaves = (value: unknown): tf.Tensor[] => tf.nest.flatten(value) as tf.Tensor[];
const numbers = (x: tf.Tensor): number[] => Array.from(x.cast('float64').data() as Float64Array);
const plain = (x: tf.Tensor) => ({ dtype: x.dtype, shape: x.shape, values: numbers(x) });

describe.each([17, 18, 19, 20, 21])('opset %i', (opset) => {
  // The oldest and the newest are read again; the others are for other tools.
  test.runIf(out !== undefined || opset === 17 || opset === 21).each(Object.keys(exported))(
    '%s',
    async (name) => {
      const { target, options, inputs, call } = (exported[name] as (typeof exported)[string])();
      const file = join(folder, `${name}-${opset}.onnx`);
      await tf.onnx.save(target, file, { ...options, opset });
      const model = await tf.onnx.load(file);
      expect(model.traced).toBe(true);
      const runs = inputs.map((xs) => {
        const wanted = leaves(call(xs));
        const got = leaves(model(...xs));
        expect(got.map((y) => [y.dtype, ...y.shape])).toEqual(wanted.map((y) => [y.dtype, ...y.shape]));
        got.forEach((y, i) => {
          const want = numbers(wanted[i] as tf.Tensor);
          numbers(y).forEach((v, at) => {
            const w = want[at] as number;
            expect(Math.abs(v - w), `output ${i} at ${at}: ${v}, expected ${w}`).toBeLessThanOrEqual(
              2e-5 + 2e-4 * Math.abs(w),
            );
          });
        });
        return { inputs: xs.map(plain), outputs: wanted.map(plain) };
      });
      if (out !== undefined) writeFileSync(join(folder, `${name}-${opset}.json`), JSON.stringify(runs));
    },
  );
});

test('layers of texts are refused, for no ONNX file holds their tables', async () => {
  const lookup = new tf.layers.StringLookup({ vocabulary: ['a', 'b'], outputMode: 'oneHot' });
  const model = new tf.Sequential([tf.Input([1], { dtype: 'string' }), lookup, new tf.layers.Dense(2)]);
  await expect(tf.onnx.save(model, join(folder, 'texts.onnx'))).rejects.toThrow(
    /only SavedModels hold strings and tables/,
  );
});
