import '@eagre/backend-js';
import '@eagre/backend-native';
import { FailedPreconditionError, random, type Tensor } from '@eagre/core';
import { SGD } from '@eagre/optimizers';
import { expect, test } from 'vitest';
import { LambdaCallback } from '../callbacks/index.ts';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';

const quiet = { verbose: 0 } as const;
const data = (seed: number): [Tensor, Tensor] => {
  random.setSeed(seed);
  return [random.normal([12, 3]), random.normal([12, 1])];
};
/** Batches that come one after another, with other work between. */
async function* slowly([x, y]: [Tensor, Tensor]): AsyncGenerator<[Tensor, Tensor]> {
  for (let i = 0; i < 12; i += 4) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    yield [x.at(`${i}:${i + 4}`), y.at(`${i}:${i + 4}`)];
  }
}
function compiled(): Sequential {
  const model = new Sequential([new Dense(1, { kernelInitializer: 'ones', inputShape: [3] })]);
  model.compile({ optimizer: new SGD(0.1), loss: 'mse', metrics: ['mae'] });
  return model;
}

test('evaluations of one model at once give what each gives alone', async () => {
  const model = compiled();
  const [a, b] = [data(1), data(2)];
  const alone = [await model.evaluate(slowly(a), quiet), await model.evaluate(slowly(b), quiet)];
  expect(await Promise.all([model.evaluate(slowly(a), quiet), model.evaluate(slowly(b), quiet)])).toEqual(
    alone,
  );
  const predicted = await Promise.all([model.predict(a[0], quiet), model.predict(b[0], quiet)]);
  expect(predicted.map((y) => y.array())).toEqual([a, b].map(([x]) => model(x).array()));
});

test('evaluations and single batches do not disturb training that goes on', async () => {
  const [train, other] = [data(1), data(2)];
  const options = { ...quiet, epochs: 2, batchSize: 4, shuffle: false, validationData: other } as const;
  const alone = await compiled().fit(...train, options);
  const model = compiled();
  const look = new LambdaCallback({
    onTrainBatchEnd: async () => {
      await model.evaluate(...other, quiet);
      model.testOnBatch(...other);
    },
  });
  const { history } = await model.fit(...train, { ...options, callbacks: [look] });
  expect(history).toEqual(alone.history);
});

test('two trainings of one model at once are refused', async () => {
  const model = compiled();
  const first = model.fit(...data(1), quiet);
  await expect(model.fit(...data(1), quiet)).rejects.toThrow(FailedPreconditionError);
  await first;
  await model.fit(...data(1), quiet);
  const failing = new LambdaCallback({
    onEpochBegin: () => {
      throw new Error('stop');
    },
  });
  await expect(model.fit(...data(1), { ...quiet, callbacks: [failing] })).rejects.toThrow('stop');
  await model.fit(...data(1), quiet);
});
