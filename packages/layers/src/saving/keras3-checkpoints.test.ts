// Checkpoints that tf.train.Checkpoint made of Keras 3's models: tools/golden/keras3_checkpoints.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Checkpoint } from '@eagre/checkpoint';
import { constant, UnimplementedError } from '@eagre/core';
import { Adam, RMSprop } from '@eagre/optimizers';
import { expect, test } from 'vitest';
import { Input, layers, Model, Sequential } from '../index.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';

const folder = fileURLToPath(new URL('../../golden/keras3/', import.meta.url));
type Name = 'sequential' | 'functional' | 'rmsprop';
const golden = JSON.parse(readFileSync(`${folder}models.json`, 'utf8')) as {
  readonly x: number[];
  readonly models: Readonly<Record<Name, { before: number[]; after: number[] }>>;
};
const x = constant(golden.x, 'float32', { shape: [2, 4, 3] });
const y = constant([[0.5], [-0.25]]);

const make = {
  sequential: (): Model =>
    new Sequential([
      new layers.Dense(3, { activation: 'tanh', inputShape: [4, 3] }),
      new layers.BatchNormalization(),
      new layers.Flatten(),
      new layers.Dense(1),
    ]),
  functional: (): Model => {
    const input = Input([4, 3]);
    const attended = new layers.MultiHeadAttention(2, 2)([input, input]);
    const normal = new layers.LayerNormalization()(new layers.Add()([input, attended]) as never);
    const output: unknown = new layers.Dense(1)(new layers.LSTM(2)(normal) as never);
    return new Model({ inputs: input, outputs: output as KerasTensor });
  },
};
const close = (actual: unknown, wanted: readonly number[]): void => {
  (actual as number[][]).flat().forEach((v, i) => {
    expect(v).toBeCloseTo(wanted[i] as number, 4);
  });
};

test.each(['sequential', 'functional', 'rmsprop'] as const)(
  '%s: gives the same, and trains on',
  async (name) => {
    const model = make[name === 'functional' ? name : 'sequential']();
    const optimizer =
      name === 'rmsprop'
        ? new RMSprop({ learningRate: 0.01, momentum: 0.5, centered: true })
        : new Adam({ learningRate: 0.05 });
    model.compile({ optimizer, loss: 'mse' });
    const status = new Checkpoint({ model })
      .read(folder + name)
      .expectPartial()
      .assertNontrivialMatch();
    close((model(x) as { array(): unknown }).array(), golden.models[name].before);
    await model.fit(x, y, { batchSize: 2, epochs: 1, verbose: 0 });
    status.assertConsumed();
    close((model(x) as { array(): unknown }).array(), golden.models[name].after);
  },
);

test('what Keras 3 has exported is refused, with what to do', () => {
  const model = make.functional();
  expect(() => new Checkpoint({ model }).restore(`${folder}exported`)).toThrow(UnimplementedError);
  expect(() => new Checkpoint({ model }).restore(`${folder}exported`)).toThrow(
    /tf.train.Checkpoint\(model=model\)/,
  );
});
