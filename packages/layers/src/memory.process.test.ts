import '@eagre/backend-native';
import { customGradient, GradientTape } from '@eagre/autodiff';
import { memory, random, scope, type Tensor } from '@eagre/core';
import { losses } from '@eagre/metrics';
import { Adam } from '@eagre/optimizers';
import { expect, test } from 'vitest';
import { Callback } from './callbacks/index.ts';
import { Layer } from './layer/layer.ts';
import { BatchNormalization, Conv2D, Dense, Dropout, Flatten, MaxPooling2D } from './layers/index.ts';
import type { Model } from './models/model.ts';
import { Sequential } from './models/sequential.ts';

/** Bytes that are held once everything that can be collected is. */
async function held(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    (globalThis as { gc?: () => void }).gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return (memory()['native'] as { bytesAllocated: number }).bytesAllocated;
}

const make = (): Model => {
  const model = new Sequential([
    new Conv2D(4, 3, { activation: 'relu', inputShape: [12, 12, 1] }),
    new BatchNormalization(),
    new MaxPooling2D(2),
    new Flatten(),
    new Dropout(0.25),
    new Dense(16, { activation: 'tanh', kernelRegularizer: 'l2' }),
    new Dense(10),
  ]);
  model.compile({
    optimizer: 'adam',
    loss: new losses.SparseCategoricalCrossentropy({ fromLogits: true }),
    metrics: ['accuracy'],
  });
  return model;
};
const x = random.normal([160, 12, 12, 1]);
const y = random.uniform([160], { maxval: 10, dtype: 'int32' });
// Well below what one step allocates, times the steps.
const SLACK = 3 * 2 ** 20;

test('200 steps of fit leave memory flat', async () => {
  const model = make();
  const options = { verbose: 0, batchSize: 16, validationSplit: 0.2 } as const;
  await model.fit(x, y, options);
  const before = await held();
  await model.fit(x, y, { ...options, epochs: 25 });
  await model.evaluate(x, y, { verbose: 0 });
  (await model.predict(x)).dispose();
  expect((await held()) - before).toBeLessThan(SLACK);
});

test('200 steps of a loop by hand leave memory flat, with scopes and without', async () => {
  const model = make();
  const loss = new losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const optimizer = new Adam();
  const images = x.slice([0, 0, 0, 0], [16, 12, 12, 1]);
  const labels = y.slice([0], [16]);
  const step = (): number => {
    using tape = new GradientTape();
    const value = loss(labels, model(images, { training: true }));
    optimizer.applyGradients(tape.gradient(value, model.trainableVariables), model.trainableVariables);
    return value.item();
  };
  step();
  const before = await held();
  const first = step();
  for (let i = 0; i < 100; i++) scope(step);
  for (let i = 0; i < 100; i++) step();
  expect(step()).toBeLessThan(first);
  expect((await held()) - before).toBeLessThan(SLACK);
});

test('what layers, callbacks and gradients of the user hold stays valid through training', async () => {
  const kept: { tensor: Tensor; values: number[] }[] = [];
  const hold = (tensor: Tensor): void => {
    kept.push({ tensor, values: Array.from(tensor.data() as Float32Array) });
  };
  const doubled = customGradient((t: Tensor) => {
    const z = t.mul(2);
    hold(t);
    hold(z);
    return [
      z,
      (dy: Tensor) => {
        const dx = dy.mul(2);
        hold(dy);
        hold(dx);
        return dx;
      },
    ];
  });
  class Holds extends Layer {
    override call(t: Tensor): Tensor {
      const z = doubled(t);
      hold(t);
      hold(z);
      return z;
    }
  }
  class Weights extends Callback {
    override onTrainBatchEnd(): void {
      for (const w of this.model.getWeights()) hold(w);
      for (const l of this.model.losses) hold(l);
    }
  }
  const model = new Sequential([new Dense(4, { kernelRegularizer: 'l2' }), new Holds(), new Dense(1)]);
  model.compile({ optimizer: 'adam', loss: 'mse', runEagerly: true });
  const inputs = random.normal([32, 3]);
  await model.fit(inputs, inputs.sum(-1), {
    verbose: 0,
    epochs: 3,
    batchSize: 8,
    callbacks: [new Weights()],
    validationSplit: 0.25,
  });
  expect(kept.length).toBeGreaterThan(100);
  for (const { tensor, values } of kept) expect(Array.from(tensor.data() as Float32Array)).toEqual(values);
});
