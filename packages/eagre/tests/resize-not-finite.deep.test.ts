// Images with a NaN or an infinity in another size, against TensorFlow: it spreads as far as a filter reaches, and no further.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as tf from '../src/index.ts';

type Value = number | 'NaN' | 'Infinity' | '-Infinity';
type Spots = readonly (readonly [readonly [number, number, number, number], Value])[];
type Case = readonly [
  spots: string,
  size: readonly [number, number],
  method: tf.image.ResizeMethod,
  antialias: boolean,
  values: readonly Value[],
];
const golden = JSON.parse(
  readFileSync(new URL('../golden/resize-not-finite.json', import.meta.url), 'utf8'),
) as { readonly spots: Readonly<Record<string, Spots>>; readonly cases: readonly Case[] };

function imageOf(spots: Spots): tf.Tensor {
  const values = Array.from({ length: 30 }, (_, i) => (i * 7) % 11);
  for (const [[, y, x], value] of spots) values[y * 6 + x] = Number(value);
  return tf.constant(values, { shape: [1, 5, 6, 1] });
}

const anySizes = { inputSignature: [new tf.TensorSpec([null, null, null, null], 'float32')] };

it.each(Object.entries(golden.spots))('%s', (name, spots) => {
  const image = imageOf(spots);
  for (const [of, size, method, antialias, values] of golden.cases) {
    if (of !== name) continue;
    const call = (x: tf.Tensor): tf.Tensor => tf.image.resize(x, size, { method, antialias });
    for (const y of [call(image), tf.function(call)(image), tf.function(anySizes)(call)(image)]) {
      const got = Array.from(y.data() as Float32Array);
      const what = `${method} ${antialias} ${size}`;
      // Which values are finite, exactly. What the others are hangs in TensorFlow on weights that are 0 but for rounding.
      const finite = (list: readonly unknown[]): readonly boolean[] =>
        list.map((v) => Number.isFinite(Number(v)));
      expect([what, finite(got)]).toEqual([what, finite(values)]);
      const apart = got.map((v, i) => (Number.isFinite(v) ? Math.abs(v - Number(values[i])) : 0));
      expect([what, Math.max(...apart)]).toEqual([what, expect.closeTo(0, 3)]);
    }
  }
});
