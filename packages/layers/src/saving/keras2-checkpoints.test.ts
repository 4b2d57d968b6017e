// Checkpoints of Keras 2's models with its newer optimizers, which keep their state in lists: tools/golden/keras2_checkpoints.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Checkpoint, CheckpointOptions, listVariables } from '@eagre/checkpoint';
import { constant, InvalidArgumentError, UnimplementedError } from '@eagre/core';
import { Adadelta, Adafactor, Adam, Nadam, type Optimizer, RMSprop, schedules } from '@eagre/optimizers';
import { describe, expect, test, vi } from 'vitest';
import { callbacks, Input, layers, Model, Sequential } from '../index.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';

const folder = fileURLToPath(new URL('../../golden/keras2/', import.meta.url));
type Name = 'sequential' | 'functional' | 'nadam';
const golden = JSON.parse(readFileSync(`${folder}models.json`, 'utf8')) as {
  readonly x: number[];
  readonly y: number[];
  readonly models: Readonly<Record<Name, { before: number[]; loss: number; after: number[] }>>;
};
const x = constant(golden.x, 'float32', { shape: [2, 4, 3] });
const y = constant(golden.y, 'float32', { shape: [2, 1] });

function sequential(optimizer: Optimizer): Model {
  const model = new Sequential([
    new layers.Dense(3, { activation: 'tanh', inputShape: [4, 3] }),
    new layers.BatchNormalization(),
    new layers.Flatten(),
    new layers.Dense(1),
  ]);
  model.compile({ optimizer, loss: 'mse' });
  return model;
}
function functional(optimizer: Optimizer): Model {
  const input = Input([4, 3]);
  const attended = new layers.MultiHeadAttention(2, 2)([input, input]);
  const normal = new layers.LayerNormalization()(new layers.Add()([input, attended]) as never);
  const output: unknown = new layers.Dense(1)(new layers.LSTM(2)(normal) as never);
  const model = new Model({ inputs: input, outputs: output as KerasTensor });
  model.compile({ optimizer, loss: 'mse' });
  return model;
}
const outputs = (model: Model): number[] => (model.call(x, {}) as { array(): number[][] }).array().flat();
const step = async (model: Model): Promise<number> => (await model.trainOnBatch(x, y)).loss as number;
const close = (actual: readonly number[], wanted: readonly number[]): void => {
  expect(actual.length).toBe(wanted.length);
  for (const [i, v] of actual.entries()) expect(v).toBeCloseTo(wanted[i] as number, 5);
};

describe('what Keras 2 wrote gives the same, and trains on with the same losses', () => {
  test.each([
    [
      'sequential',
      () => sequential(new Adam(0.05, { amsgrad: true })),
      (model: Model) => new Checkpoint(model),
    ],
    [
      'functional',
      () => functional(new Adam(0.05)),
      (model: Model) => new Checkpoint({ model, optimizer: model.optimizer }),
    ],
    [
      'nadam',
      () => sequential(new Nadam(0.05, { useEma: true })),
      (model: Model) => new Checkpoint({ model, optimizer: model.optimizer }),
    ],
  ] as const)('%s', async (name, make, wrap) => {
    const model = make();
    const status = wrap(model).read(folder + name);
    const { before, loss, after } = golden.models[name];
    close(outputs(model), before);
    close([await step(model)], [loss]);
    close(outputs(model), after);
    status.assertConsumed();
    expect(model.optimizer.iterations.item()).toBe(4);
  });

  test('by loadWeights, into an optimizer that was built before', async () => {
    const model = sequential(new Adam(0.05, { amsgrad: true }));
    await step(model);
    const status = await model.loadWeights(`${folder}sequential`);
    status?.assertConsumed();
    close([await step(model)], [golden.models.sequential.loss]);
  });

  test('without the state, where that is wanted', async () => {
    const model = sequential(new Adam(0.05, { amsgrad: true }));
    await step(model);
    const momentum = model.optimizer.variables.at(-1)?.array();
    const skip = new CheckpointOptions({ experimentalSkipSlotVariables: true });
    new Checkpoint(model).read(`${folder}sequential`, skip).assertConsumed();
    expect(model.optimizer.variables.at(-1)?.array()).toEqual(momentum);
    expect(model.optimizer.iterations.item()).toBe(3);
  });
});

describe("written in Keras 2's form", () => {
  const lists = new CheckpointOptions({ optimizerState: 'lists' });
  const inFolder = async (run: (path: string) => void | Promise<void>): Promise<void> => {
    const path = mkdtempSync(join(tmpdir(), 'eagre-'));
    try {
      await run(join(path, 'weights'));
    } finally {
      rmSync(path, { recursive: true });
    }
  };

  test('is read back', () =>
    inFolder(async (path) => {
      const rates = () => new schedules.ExponentialDecay(0.1, 2, 0.5);
      for (const make of [
        () => new Adam(0.05, { amsgrad: true, useEma: true }),
        () => new Adam(rates()),
        () => new RMSprop({ learningRate: 0.01, momentum: 0.5, centered: true }),
        () => new Adadelta(),
        () => new Nadam(0.05),
      ]) {
        const one = sequential(make());
        for (let i = 0; i < 3; i++) await step(one);
        await one.saveWeights(path, lists);
        const two = sequential(make());
        const status = await two.loadWeights(path);
        expect(await step(two)).toBe(await step(one));
        status?.assertConsumed();
        expect(two.optimizer.variables.map((v) => v.array())).toEqual(
          one.optimizer.variables.map((v) => v.array()),
        );
      }
    }));

  test('names what Keras 2 names', () =>
    inFolder(async (path) => {
      const model = sequential(new Adam(0.05, { amsgrad: true }));
      await step(model);
      new Checkpoint(model).write(path, lists);
      const names = (file: string) =>
        listVariables(file)
          .map(([name]) => name)
          .filter((name) => name !== 'save_counter/.ATTRIBUTES/VARIABLE_VALUE');
      expect(names(path)).toEqual(names(`${folder}sequential`));
    }));

  test('by ModelCheckpoint', () =>
    inFolder(async (path) => {
      const model = sequential(new Adam(0.05));
      await model.fit(x, y, {
        epochs: 1,
        verbose: 0,
        callbacks: [new callbacks.ModelCheckpoint(path, { options: lists })],
      });
      expect(listVariables(path).map(([name]) => name)).toContain(
        'optimizer/_variables/1/.ATTRIBUTES/VARIABLE_VALUE',
      );
      expect(() => new callbacks.ModelCheckpoint(`${path}.npz`, { options: lists })).toThrow(
        InvalidArgumentError,
      );
    }));

  test('is refused where there is no such form', () =>
    inFolder(async (path) => {
      const model = sequential(new Adafactor());
      await step(model);
      await expect(model.saveWeights(path, lists)).rejects.toThrow(UnimplementedError);
      await expect(model.saveWeights(`${path}.npz`, lists)).rejects.toThrow(/options work for checkpoints/);
      expect(() => new Checkpoint(model).write(`${path}.npz`, lists)).toThrow(
        /optimizerState: 'lists' works for TensorFlow checkpoints/,
      );
      expect(() => new CheckpointOptions({ optimizerState: 'dicts' as never })).toThrow(InvalidArgumentError);
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      await model.saveWeights(path);
      expect(warn).not.toHaveBeenCalled();
    }));
});
