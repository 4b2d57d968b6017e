import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import { type Tensor, withBackend } from '@eagre/core';
import { describe, expect, test } from 'vitest';
import type { Layer } from '../layer/layer.ts';
import { assertCloseTensor, readGolden, tensorOf, type Values } from '../testing/golden.ts';
import * as layers from './index.ts';

const classes: Record<string, unknown> = { ...layers };

interface Case {
  readonly layer: string;
  readonly config: Record<string, unknown>;
  readonly weights: Record<string, Values>;
  readonly steps: readonly {
    readonly training: boolean;
    readonly inputs: readonly Values[];
    readonly output: Values;
    readonly upstream: Values;
    readonly inputGradients: readonly (Values | null)[];
    readonly gradients: Record<string, Values>;
    readonly losses?: readonly number[];
    readonly statistics?: Record<string, Values>;
  }[];
}
const golden = readGolden<{ readonly cases: readonly Case[] }>('layers');

const tensor = (values: Values): Tensor => tensorOf(values);

const close = (got: Tensor, expected: Values, what: string): void =>
  assertCloseTensor(got, expected, what, 2e-6, 2);

describe.each(listBackends().map((b) => b.name))('as Keras computes, on %s', (backend) => {
  test.each(golden.cases.map((c) => [`${c.layer} ${JSON.stringify(c.config)}`, c] as const))('%s', (_, c) => {
    withBackend(backend, () => run(c));
  });
});

function run(c: Case): void {
  const layer = (classes[c.layer] as typeof Layer).fromConfig(c.config);
  const shapes = (c.steps[0] as Case['steps'][number]).inputs.map((x) => x.shape);
  layer.ensureBuilt((shapes.length > 1 ? shapes : shapes[0]) as number[]);
  const named = layer.namedWeights;
  expect(named.map((w) => w.path).sort()).toEqual(Object.keys(c.weights).sort());
  const variable = (name: string) => (named.find((w) => w.path === name) as (typeof named)[number]).variable;
  for (const [name, value] of Object.entries(c.weights)) variable(name).assign(tensor(value));

  for (const step of c.steps) {
    const inputs = step.inputs.map(tensor);
    const tape = new GradientTape();
    tape.watch(inputs);
    const y = layer(inputs.length > 1 ? inputs : (inputs[0] as Tensor), { training: step.training });
    close(y, step.output, 'output');
    if (step.losses !== undefined) {
      const got = layer.losses.map((l) => l.item()).sort();
      [...step.losses].sort().forEach((l, i) => expect(got[i]).toBeCloseTo(l, 5));
    }
    const names = Object.keys(step.gradients);
    const gradients = tape.gradient(y, [...inputs, ...names.map(variable)], {
      outputGradients: tensor(step.upstream),
    });
    step.inputGradients.forEach((expected, i) => {
      if (expected !== null) close(gradients[i] as Tensor, expected, `gradient of input ${i}`);
    });
    names.forEach((name, i) => {
      close(gradients[inputs.length + i] as Tensor, step.gradients[name] as Values, `gradient of ${name}`);
    });
    for (const [name, value] of Object.entries(step.statistics ?? {}))
      close(variable(name).read(), value, name);
  }
}
