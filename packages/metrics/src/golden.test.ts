import { readFileSync } from 'node:fs';
import '@eagre/backend-js';
import { listBackends } from '@eagre/backend';
import '@eagre/backend-native';
import { constant, type DType, type NestedArray, scope, type Tensor, withBackend } from '@eagre/core';
import { camelCaseKeys } from '@eagre/core/internal';
import { describe, expect, test } from 'vitest';
import { losses, metrics } from './index.ts';

type Values = NestedArray<number>;
interface LossCase {
  readonly loss: string;
  readonly options: Record<string, unknown>;
  readonly dtype: DType;
  readonly yTrue: Values;
  readonly yPred: Values;
  readonly config: Record<string, unknown>;
  readonly plain: readonly number[];
  readonly weighted: readonly number[];
  readonly sum: readonly number[];
  readonly meanWithSampleWeight: readonly number[];
  readonly none: readonly number[];
  readonly noneWeighted: readonly number[];
}
interface MetricCase {
  readonly metric: string;
  readonly options: Record<string, unknown>;
  readonly yTrue: readonly Values[];
  readonly yPred: readonly Values[];
  readonly plain: readonly (readonly number[])[];
  readonly weighted: readonly (readonly number[])[];
  readonly variables: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly value: readonly number[];
  }[];
  readonly config: Record<string, unknown>;
}
interface ReductionCase {
  readonly metric: 'Mean' | 'Sum';
  readonly values: Values;
  readonly sampleWeight: Values | null;
  readonly result: readonly number[];
}
const golden = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../golden/${name}.json`, import.meta.url), 'utf8')) as T;

const lossFile = golden<{ sampleWeight: number[]; cases: LossCase[] }>('losses');
const metricFile = golden<{ sampleWeight: number[][]; cases: MetricCase[]; reductions: ReductionCase[] }>(
  'metrics',
);

function near(got: Tensor, expected: readonly number[], tolerance: number, what: string): void {
  const values = Array.from(got.data(), Number);
  expect(values.length, what).toBe(expected.length);
  expected.forEach((e, i) => {
    const g = values[i] as number;
    if (!(Math.abs(g - e) <= tolerance * Math.max(1, Math.abs(e))))
      expect.fail(`${what}[${i}] is ${g}, expected ${e}`);
  });
}

for (const backend of listBackends().map((b) => b.name)) {
  describe(`losses as in Keras, ${backend}`, () => {
    for (const { loss: name, options, dtype, yTrue, yPred, config, ...expected } of lossFile.cases) {
      test(`${name} ${dtype} ${JSON.stringify(options)}`, () => {
        using _ = withBackend(backend);
        using __ = scope();
        const p = constant(yPred, dtype);
        // Keras 3 has no epsilon in the logarithms of the one, which changes it by 1e-7 / p, a float32 log(2) in the second, and the third in float32.
        const rough = ['BinaryCrossentropy', 'LogCosh', 'CTC'].includes(name);
        const tolerance = rough || dtype === 'float32' ? 5e-6 : 1e-12;
        const make = (reduction: losses.ReductionName): losses.Loss =>
          losses.deserialize({ class_name: name, config: { ...options, reduction } });
        // Weights of whole examples stand beside several losses each.
        const wide = [-1, ...make('none')(yTrue, p).shape.slice(1).fill(1)];
        const sampleWeight = constant(lossFile.sampleWeight, dtype).reshape(wide);
        const value = (reduction: losses.ReductionName, weighted: boolean): Tensor =>
          make(reduction)(yTrue, p, weighted ? { sampleWeight } : {});
        near(value('sumOverBatchSize', false), expected.plain, tolerance, 'plain');
        near(value('mean', true), expected.weighted, tolerance, 'weighted');
        near(value('sum', true), expected.sum, tolerance, 'sum');
        near(
          value('meanWithSampleWeight', true),
          expected.meanWithSampleWeight,
          tolerance,
          'meanWithSampleWeight',
        );
        near(value('none', false), expected.none, tolerance, 'none');
        near(value('none', true), expected.noneWeighted, tolerance, 'noneWeighted');
        expect(value('none', false).dtype).toBe(dtype);
        // Keras leaves some options out of its configs (delta, axis), though it takes them.
        expect(
          losses.serialize(losses.deserialize({ class_name: name, config: options })).config,
        ).toMatchObject(config);
      });
    }
  });

  describe(`metrics as in Keras, ${backend}`, () => {
    for (const { metric: name, options, yTrue, yPred, variables, config, ...expected } of metricFile.cases) {
      test(`${name} ${JSON.stringify(options)}`, () => {
        using _ = withBackend(backend);
        const metric = metrics.deserialize({ class_name: name, config: options });
        const run = (
          weights: readonly (number[] | null)[],
          results: readonly (readonly number[])[],
          what: string,
        ): void => {
          metric.resetState();
          yTrue.forEach((t, i) => {
            const sampleWeight = weights[i] ?? null;
            metric.updateState(t, constant(yPred[i] as Values), { sampleWeight });
            near(metric.result(), results[i] as readonly number[], 1e-5, `${what} ${i}`);
          });
        };
        run(metricFile.sampleWeight, expected.weighted, 'weighted');
        run([null, null], expected.plain, 'plain');
        if (variables.length > 0) {
          expect(metric.variables.map((v) => [v.path, v.shape])).toEqual(
            variables.map((v) => [v.name, v.shape]),
          );
          metric.variables.forEach((v, i) => near(v.read(), variables[i]?.value ?? [], 1e-5, v.path));
        }
        expect(metric.getConfig()).toMatchObject(config);
        expect(metrics.deserialize(metrics.serialize(metric)).getConfig()).toEqual(metric.getConfig());
      });
    }

    for (const { metric: name, values, sampleWeight, result } of metricFile.reductions) {
      test(`${name} of ${JSON.stringify(values)} by ${JSON.stringify(sampleWeight)}`, () => {
        using _ = withBackend(backend);
        const metric = new metrics[name]();
        metric.updateState(values, { sampleWeight });
        near(metric(2.5), result, 1e-6, name);
      });
    }
  });
}

test('names of options', () => {
  expect(camelCaseKeys({ from_logits: 1, top_k: 2, beta_1: 3, axis: 4 })).toEqual({
    fromLogits: 1,
    topK: 2,
    beta1: 3,
    axis: 4,
  });
});
