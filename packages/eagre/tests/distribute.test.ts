import * as tf from 'eagre';
import { describe, expect, test } from 'vitest';

const cpus = (count: number): string[] => {
  const [cpu] = tf.config.listPhysicalDevices('CPU');
  tf.config.setLogicalDeviceConfiguration(
    cpu,
    Array.from({ length: count }, () => new tf.config.LogicalDeviceConfiguration()),
  );
  return Array.from({ length: count }, (_, i) => `/cpu:${i}`);
};
const mirrored = (count: number): tf.distribute.MirroredStrategy => new tf.distribute.MirroredStrategy(cpus(count));

test.each([false, true])('fit, eagerly %s', async (runEagerly) => {
  const x = tf.linspace(-1, 1, 32).reshape([8, 4]);
  const y = x.sum(1, { keepdims: true });
  const train = async (make: (fn: () => tf.Model) => tf.Model): Promise<number[]> => {
    const model = make(() => {
      const model = new tf.Sequential([
        new tf.layers.Dense(3, { kernelInitializer: 'ones', inputShape: [4] }),
        new tf.layers.Dense(1, { kernelInitializer: 'ones' }),
      ]);
      model.compile({ optimizer: new tf.optimizers.Adam(0.1), loss: 'mse', metrics: ['mae'], runEagerly });
      return model;
    });
    const history = await model.fit(x, y, { batchSize: 4, epochs: 3, shuffle: false, verbose: 0 });
    const evaluated = await model.evaluate(x, y, { verbose: 0 });
    return [...(history.history['loss'] as number[]), ...(history.history['mae'] as number[]), ...Object.values(evaluated) as number[]];
  };
  const one = await train((fn) => fn());
  const two = await train((fn) => mirrored(2).scope(fn));
  two.forEach((v, i) => expect(v).toBeCloseTo(one[i], 5));
});
