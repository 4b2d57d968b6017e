import '@eagre/backend-js';
import { InvalidArgumentError, ones } from '@eagre/core';
import { expect, test } from 'vitest';
import { Dense } from './layers/index.ts';
import { Sequential } from './sequential.ts';

const make = (): Sequential => new Sequential([new Dense(1, { inputShape: [2] })]);
const [x, y] = [ones([4, 2]), ones([4, 1])];

test('compile takes options by the names that it knows', () => {
  // @ts-expect-error
  expect(() => make().compile('adam', 'mse')).toThrow(
    'compile: expected options, such as { optimizer, loss }, got adam',
  );
  // @ts-expect-error
  expect(() => make().compile({ loss: 'mse', metric: ['mae'] })).toThrow(
    "compile: 'metric' is no option; known are optimizer, loss, lossWeights, metrics, weightedMetrics, runEagerly",
  );
});

test('fit, evaluate and predict as well', async () => {
  const model = make();
  model.compile({ loss: 'mse' });
  // @ts-expect-error
  await expect(model.fit(x, y, { verbose: 0, epoch: 3 })).rejects.toThrow("fit: 'epoch' is no option");
  // @ts-expect-error
  await expect(model.fit(x, y, { batch_size: 2 })).rejects.toThrow(InvalidArgumentError);
  // @ts-expect-error
  await expect(model.evaluate(x, y, { returnDict: true })).rejects.toThrow(
    "evaluate: 'returnDict' is no option",
  );
  // @ts-expect-error
  await expect(model.predict(x, { epochs: 1 })).rejects.toThrow("predict: 'epochs' is no option");
  expect(await model.evaluate(x, y, { verbose: 0, sampleWeight: ones([4]) })).toHaveProperty('loss');
});

test('a class in the place of a layer', () => {
  // @ts-expect-error
  expect(() => new Sequential([Dense])).toThrow(
    'a Sequential model holds layers, got the class Dense: write new',
  );
});
