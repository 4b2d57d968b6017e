import { readFileSync } from 'node:fs';
import '@eagre/backend-js';
import { getBackend, listBackends } from '@eagre/backend';
import '@eagre/backend-native';
import { constant, type DType, memory, type NestedArray, scope, Variable, withBackend } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import { deserialize, type SerializedOptimizer, schedules, serialize } from './index.ts';

interface Trajectories {
  readonly start: Record<string, NestedArray<number>>;
  readonly gradients: readonly (readonly NestedArray<number>[])[];
  readonly cases: readonly {
    readonly optimizer: string;
    /** Whether Keras computed with the options as given: it rounds them to float32, for float64 variables too. */
    readonly exact: boolean;
    readonly options: Record<string, unknown>;
    readonly dtype: DType;
    readonly values: readonly (readonly (readonly number[])[])[];
    readonly state: readonly {
      readonly name: string;
      readonly dtype: DType;
      readonly value: readonly number[];
    }[];
    readonly config: SerializedOptimizer;
  }[];
}
interface Schedules {
  readonly steps: readonly number[];
  readonly cases: readonly {
    readonly schedule: string;
    readonly config: Record<string, unknown>;
    readonly values: readonly number[];
  }[];
}
const golden = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../golden/${name}.json`, import.meta.url), 'utf8')) as T;

const files = ['trajectories', 'long-trajectories'].map((name) => golden<Trajectories>(name));

function near(
  got: ArrayLike<number | bigint>,
  expected: readonly number[],
  tolerance: number,
  what: string,
): void {
  expect(got.length, what).toBe(expected.length);
  expected.forEach((e, i) => {
    const g = Number(got[i]);
    if (!(Math.abs(g - e) <= tolerance * Math.max(1, Math.abs(e))))
      expect.fail(`${what}[${i}] is ${g}, expected ${e}`);
  });
}

for (const backend of listBackends().map((b) => b.name)) {
  describe(`trajectories as in Keras, ${backend}`, () => {
    const cases = files.flatMap(({ cases, ...data }) => cases.map((c) => ({ ...data, ...c })));
    for (const { start, gradients, optimizer: name, exact, options, dtype, values, state, config } of cases) {
      test(`${name} ${dtype} ${JSON.stringify(options)}`, () => {
        using _ = withBackend(backend);
        using __ = scope();
        const variables = Object.entries(start).map(([n, v]) => new Variable(v, { name: n, dtype }));
        const optimizer = deserialize(config);
        // Keras computes Adam's bias correction in float32, where 1 − 0.999 has lost five digits.
        const tolerance = dtype === 'float64' && exact ? 1e-12 : 4e-6;
        gradients.forEach((step, s) => {
          optimizer.applyGradients(
            step.map((g) => constant(g, dtype)),
            variables,
          );
          variables.forEach((v, i) =>
            near(v.data(), (values[s] as number[][])[i] as number[], tolerance, `step ${s}, ${v.path}`),
          );
        });
        // Keras calls both rows and columns of Adafactor as the variable itself.
        const names = optimizer.variables.map((v) => v.path);
        expect(names.map((n) => n.replace(/_[rc]$/, ''))).toEqual(state.map((v) => v.name));
        optimizer.variables.forEach((v, i) => {
          const expected = state[i] as (typeof state)[number];
          expect(v.dtype).toBe(expected.dtype);
          near(v.data(), expected.value, tolerance, v.path);
        });
        expect(serialize(optimizer)).toEqual(config);
        for (const v of [...variables, ...optimizer.variables]) v.dispose();
      });
    }
  });
}

test('updates leave nothing behind', () => {
  const info = () => getBackend('js').allocator.info().bytesTaken;
  using _ = withBackend('js');
  const variable = new Variable([1, 2, 3]);
  const grads = [constant([0.5, 1, -1])];
  for (const config of files
    .flatMap(({ cases }) => cases)
    .filter((c) => c.dtype === 'float32')
    .map((c) => c.config)) {
    const optimizer = deserialize(config);
    optimizer.applyGradients(grads, [variable]);
    const before = info();
    for (let i = 0; i < 10; i++) optimizer.applyGradients(grads, [variable]);
    expect(info(), config.class_name).toBe(before);
  }
  expect(memory()).toHaveProperty('js');
});

const { steps, cases: scheduleCases } = golden<Schedules>('schedules');

for (const { schedule: name, config, values } of scheduleCases) {
  test(`${name} ${JSON.stringify(config)}`, () => {
    const schedule = schedules.deserialize({ class_name: name, config });
    near(
      steps.map((s) => schedule(s)),
      values,
      1e-6,
      name,
    );
    expect(schedule.getConfig()).toMatchObject(config);
    expect(schedules.serialize(schedule).class_name).toBe(name);
  });
}
