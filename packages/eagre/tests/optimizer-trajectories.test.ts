// Keras's trajectories in traced steps; packages/optimizers has the eager ones.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

interface Trajectories {
  readonly start: Record<string, tf.NestedArray<number>>;
  readonly gradients: readonly (readonly tf.NestedArray<number>[])[];
  readonly cases: readonly {
    readonly options: Record<string, unknown>;
    readonly dtype: tf.DType;
    readonly values: readonly (readonly (readonly number[])[])[];
    readonly config: tf.optimizers.SerializedOptimizer;
  }[];
}

describe.each(['trajectories', 'long-trajectories'])('%s', (name) => {
  const url = new URL(`../../optimizers/golden/${name}.json`, import.meta.url);
  const { start, gradients, cases } = JSON.parse(readFileSync(url, 'utf8')) as Trajectories;
  const titled = cases.map(
    (c) => [`${c.config.class_name} ${c.dtype} ${JSON.stringify(c.options)}`, c] as const,
  );

  test.each(titled)('%s', (_, { config, dtype, values }) => {
    const variables = Object.entries(start).map(([name, v]) => new tf.Variable(v, { name, dtype }));
    const optimizer = tf.optimizers.deserialize(config);
    const step = tf.function((...grads: tf.Tensor[]) => {
      optimizer.applyGradients(grads, variables);
    });
    gradients.forEach((grads, s) => {
      step(...grads.map((g) => tf.constant(g, dtype)));
      variables.forEach((v, i) => {
        const got = v.data() as Float32Array;
        ((values[s] as number[][])[i] as number[]).forEach((expected, k) => {
          const off = Math.abs((got[k] as number) - expected) / Math.max(1, Math.abs(expected));
          expect(off, `step ${s}, ${v.name}[${k}]`).toBeLessThan(4e-6);
        });
      });
    });
  });
});
