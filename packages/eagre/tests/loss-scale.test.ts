// Optimizers within a LossScaleOptimizer against Keras: scale, counts and values, in steps whose gradients are finite and in others.
import { readFileSync } from 'node:fs';
import { listBackends } from '@eagre/backend';
import { camelCaseKeys } from '@eagre/core/internal';
import { afterEach, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

type Numbers = readonly (number | string)[];
interface Golden {
  readonly start: readonly Numbers[];
  readonly gradients: readonly (readonly (Numbers | null)[])[];
  readonly cases: readonly {
    readonly optimizer: string;
    readonly options: Readonly<Record<string, unknown>>;
    readonly schedule: Readonly<Record<string, number>> | null;
    readonly steps: readonly {
      readonly scale: number;
      readonly counter: number;
      readonly iterations: number;
      readonly values: readonly (readonly number[])[];
      readonly state: readonly (readonly number[])[];
    }[];
  }[];
}
const { start, gradients, cases } = JSON.parse(
  readFileSync(new URL('../../optimizers/golden/loss-scale.json', import.meta.url), 'utf8'),
) as Golden;

/** Kernels in TypeScript round the numbers of an update once; the others do so after each operation, as TensorFlow. */
const isExact = (name: string, options: object, backend: string): boolean =>
  backend === 'native' || (name === 'SGD' && !('momentum' in options));

const numbersOf = (x: tf.Tensor | tf.Variable): number[] =>
  Array.from(x.data() as ArrayLike<number | bigint>, Number);

afterEach(() => vi.restoreAllMocks());

function follow(one: Golden['cases'][number], backend: string, isTraced: boolean): void {
  const { optimizer: name, options, schedule, steps } = one;
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  using _ = tf.experimental.withBackend(backend);
  using __ = tf.experimental.scope();
  const classes = tf.optimizers as unknown as Record<string, new (given: object) => tf.optimizers.Optimizer>;
  const given: Record<string, unknown> = camelCaseKeys(options);
  if (schedule !== null) {
    const kinds = tf.optimizers.schedules as unknown as Record<string, new (given: object) => unknown>;
    const Schedule = kinds[options.learning_rate as string] as (typeof kinds)[string];
    given.learningRate = new Schedule(camelCaseKeys(schedule));
  }
  const inner = new (classes[name] as (typeof classes)[string])(given);
  const optimizer = new tf.optimizers.LossScaleOptimizer(inner, { initialScale: 8, dynamicGrowthSteps: 2 });
  const variables = start.map((values) => new tf.Variable(tf.constant(values.map(Number), 'float32')));
  optimizer.build(variables);
  const update = (isThere: readonly boolean[], some: readonly tf.Tensor[]): void => {
    const left = [...some];
    optimizer.applyGradients(
      isThere.map((is) => (is ? optimizer.scaleLoss(left.shift() as tf.Tensor) : null)),
      variables,
    );
  };
  const close = (got: readonly number[], expected: readonly number[], what: string): void => {
    expect(got.length, what).toBe(expected.length);
    if (isExact(name, options, backend)) expect(got, what).toEqual(expected);
    else
      got.forEach((x, i) => {
        const y = expected[i] as number;
        expect(Math.abs(x - y), what).toBeLessThanOrEqual(2e-6 * Math.max(1, Math.abs(y)));
      });
  };
  for (const [i, step] of steps.entries()) {
    const now = (gradients[i] as Golden['gradients'][number]).map(
      (g) => g && tf.constant(g.map(Number), 'float32'),
    );
    const isThere = now.map((g) => g !== null);
    const some = now.filter((g) => g !== null);
    if (isTraced) tf.function((...own: tf.Tensor[]) => update(isThere, own))(...some);
    else update(isThere, some);
    const { dynamicScale, stepCounter, iterations } = optimizer;
    expect([dynamicScale?.item(), stepCounter?.item()], `step ${i}`).toEqual([step.scale, step.counter]);
    // Keras's property counts updates.
    const each = (options.gradient_accumulation_steps as number | undefined) ?? 1;
    expect(Math.floor(Number(iterations.item()) / each), `step ${i}`).toBe(step.iterations);
    for (const [k, variable] of variables.entries())
      close(numbersOf(variable), step.values[k] as number[], `variable ${k} in step ${i}`);
    const state = optimizer.variables;
    expect(state.length).toBe(step.state.length);
    for (const [k, variable] of state.entries())
      close(numbersOf(variable), step.state[k] as number[], `${variable.path} in step ${i}`);
  }
}

for (const { name: backend } of listBackends())
  for (const one of cases)
    for (const isTraced of [false, true])
      test(`${one.optimizer} ${JSON.stringify(one.options)}, ${backend}, ${isTraced ? 'traced' : 'eager'}`, () =>
        follow(one, backend, isTraced));
