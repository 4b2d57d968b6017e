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
          expect(off, `step ${s}, ${v.path}[${k}]`).toBeLessThan(4e-6);
        });
      });
    });
  });
});

describe('each optimizer with each option that all have', () => {
  type Case = [name: string, options: Record<string, unknown>, iterations: number, values: number[][]];
  const url = new URL('../../optimizers/golden/option-trajectories.json', import.meta.url);
  const golden = JSON.parse(readFileSync(url, 'utf8')) as {
    readonly start: [number[][], number[]];
    readonly gradients: [number[][], number[]][];
    readonly looked_at: number[];
    readonly cases: Case[];
  };
  const camel = (options: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(options).map(([key, v]) => [
        key.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()),
        v,
      ]),
    );

  test.each(golden.cases)('%s %j', (name, options, iterations, values) => {
    const Class = tf.optimizers[name as 'SGD'];
    for (const traced of [false, true]) {
      const optimizer = new Class({ learningRate: 0.0625, ...camel(options) });
      const variables = golden.start.map(
        (x, i) => new tf.Variable(x, { name: ['kernel', 'bias'][i] as string }),
      );
      const apply = (...gradients: tf.Tensor[]): void => {
        optimizer.apply(gradients, variables);
      };
      const step = traced ? (tf.function(apply as never) as unknown as typeof apply) : apply;
      const seen: number[][] = [];
      const look = (): void => {
        seen.push(variables.flatMap((v) => Array.from(v.data() as Float32Array)));
      };
      golden.gradients.forEach((gradients, i) => {
        step(...gradients.map((g) => tf.constant(g)));
        if (golden.looked_at.includes(i)) look();
      });
      optimizer.finalizeVariableValues(variables);
      look();
      values.forEach((expected, k) =>
        expected.forEach((value, i) => {
          const off = Math.abs((seen[k]?.[i] as number) - value) / Math.max(1, Math.abs(value));
          expect(off, `look ${k}, element ${i}, ${traced ? 'traced' : 'eager'}`).toBeLessThan(8e-6);
        }),
      );
      // Here all steps count; Keras counts updates.
      const every = (options['gradient_accumulation_steps'] as number | undefined) ?? 1;
      expect(Math.floor(optimizer.iterations.item() / every)).toBe(iterations);
    }
  });
});
