// A model that is trained by one process, or by several together.
import { expect } from 'vitest';
import type { CommunicationImplementation } from '../strategy/communication-options.ts';

/** A program that prints the losses of three epochs. @param umbrella what its text begins with, by `heads.tf()` */
export const trainingProgram = (umbrella: string, strategy: string): string => `${umbrella}
  tf.random.setSeed(3);
  const strategy = ${strategy};
  await strategy.connect?.();
  const x = tf.random.normal([32, 4], { seed: 1 });
  const y = x.sum(1, { keepdims: true }).mul(0.5);
  const model = strategy.scope(() => {
    const made = new tf.Sequential([tf.Input({ shape: [4] }), new tf.layers.Dense(8, { activation: 'tanh', kernelInitializer: new tf.keras.initializers.GlorotUniform({ seed: 2 }) }),
      new tf.layers.Dense(1, { kernelInitializer: new tf.keras.initializers.GlorotUniform({ seed: 3 }) })]);
    made.compile({ optimizer: 'adam', loss: 'mse' });
    return made;
  });
  const history = await model.fit(x, y, { batchSize: 10, epochs: 3, shuffle: false, verbose: 0 });
  console.log(JSON.stringify(history.history.loss));`;

export const alone = 'new tf.distribute.OneDeviceStrategy("/cpu:0")';
export const together = (implementation: CommunicationImplementation): string =>
  `new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions: new tf.distribute.experimental.CommunicationOptions({ implementation: '${implementation}' }) })`;

/** All processes have the same losses, and they are those of one. */
export function expectSameLosses(all: readonly (readonly number[])[], ofOne: readonly number[]): void {
  const [one, two] = all;
  expect(one).toEqual(two);
  ofOne.forEach((loss, i) => {
    expect(one?.[i]).toBeCloseTo(loss, 6);
  });
}
