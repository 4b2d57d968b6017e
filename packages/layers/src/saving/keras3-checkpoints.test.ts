// Checkpoints that tf.train.Checkpoint made of Keras 3's models: tools/golden/keras3_checkpoints.py.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Checkpoint } from '@eagre/checkpoint';
import { constant, UnimplementedError } from '@eagre/core';
import {
  Adadelta,
  Adafactor,
  Adagrad,
  Adam,
  Adamax,
  Ftrl,
  Lion,
  Muon,
  Nadam,
  type Optimizer,
  RMSprop,
  SGD,
} from '@eagre/optimizers';
import { describe, expect, test } from 'vitest';
import { Input, layers, Model, Sequential } from '../index.ts';
import type { KerasTensor } from '../models/keras-tensor.ts';

const folder = fileURLToPath(new URL('../../golden/keras3/', import.meta.url));
const golden = JSON.parse(readFileSync(`${folder}models.json`, 'utf8')) as {
  readonly x: number[];
  readonly models: Readonly<Record<string, { before: number[]; after: number[]; kernel?: number[] }>>;
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
  tiny: (): Model => new Sequential([new layers.Flatten({ inputShape: [4, 3] }), new layers.Dense(1)]),
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

test.each<[name: string, model: keyof typeof make, optimizer: Optimizer]>([
  ['sequential', 'sequential', new Adam(0.05)],
  ['functional', 'functional', new Adam(0.05)],
  ['rmsprop', 'sequential', new RMSprop(0.01, { momentum: 0.5, centered: true })],
  ['sgd', 'tiny', new SGD(0.05, { momentum: 0.9, gradientAccumulationSteps: 2 })],
  ['adagrad', 'tiny', new Adagrad(0.05)],
  ['adadelta', 'tiny', new Adadelta(0.5)],
  ['adamax', 'tiny', new Adamax(0.05)],
  ['ftrl', 'tiny', new Ftrl(0.05)],
  ['lion', 'tiny', new Lion(0.02)],
  ['adafactor', 'sequential', new Adafactor(0.05)],
  ['muon', 'sequential', new Muon(0.02)],
  ['nadam', 'tiny', new Nadam(0.05, { useEma: true })],
])('%s: gives the same, and trains on', async (name, kind, optimizer) => {
  const model = make[kind]();
  model.compile({ optimizer, loss: 'mse' });
  const status = new Checkpoint({ model })
    .read(folder + name)
    .expectPartial()
    .assertNontrivialMatch();
  close((model(x) as { array(): unknown }).array(), golden.models[name].before);
  await model.trainOnBatch(x, y);
  status.assertConsumed();
  close((model(x) as { array(): unknown }).array(), golden.models[name].after);
});

test('what Keras 3 has exported is refused, with what to do', () => {
  const model = make.functional();
  expect(() => new Checkpoint({ model }).restore(`${folder}exported`)).toThrow(UnimplementedError);
  expect(() => new Checkpoint({ model }).restore(`${folder}exported`)).toThrow(
    /tf.train.Checkpoint\(model=model\)/,
  );
});

describe('a vocabulary, and stacked cells, whose weights only the optimizer has in the file', () => {
  const vectorize = (): layers.TextVectorization =>
    new layers.TextVectorization({ outputSequenceLength: 3, vocabulary: ['c', 'b', 'a'] });
  const make = (): Model => {
    const input = Input({ shape: [], dtype: 'string' });
    let h = new layers.Embedding(5, 3)(vectorize()(input));
    h = new layers.Dropout(0.1, { seed: 1 })(h);
    h = new layers.RNN([new layers.LSTMCell(2), new layers.GRUCell(2)], { returnSequences: true })(h);
    h = new layers.RNN([new layers.GRUCell(2), new layers.GRUCell(2)])(h);
    return new Model({ inputs: input, outputs: new layers.Dense(1)(h) });
  };
  const texts = constant(['a b', 'c']);

  test('all is restored', () => {
    const model = make();
    model.compile({ optimizer: new Adam(0.05), loss: 'mse' });
    model.optimizer.build(model.trainableVariables);
    new Checkpoint({ model }).read(`${folder}text`).expectPartial().assertExistingObjectsMatched();
    close((model(texts) as { array(): unknown }).array(), golden.models['text'].before);
  });
  test('without an optimizer the others are, and the status tells of those that are not', () => {
    const model = make();
    const status = new Checkpoint({ model }).read(`${folder}text-without-optimizer`);
    const { kernel } = model.layers.at(-1) as layers.Dense;
    close(kernel.array(), golden.models['text-without-optimizer'].kernel as number[]);
    expect(() => status.assertExistingObjectsMatched()).toThrow('cell');
  });
});
