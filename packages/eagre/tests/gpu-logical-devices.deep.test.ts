// Several logical devices of a GPU, with limits of memory, on a fake driver with two GPUs of 16 MiB.
import { afterEach, describe, expect, test } from 'vitest';
import { hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';
import * as tf from '../src/index.ts';

process.env['FAKE_CUDA_DEVICES'] = '2';
const { cudaUnavailable } = await import('@eagre/backend-cuda');
const isTested = hasFakeCuda && cudaUnavailable === undefined;
if (!isTested) console.log(`CUDA is not tested: ${cudaUnavailable}`);

const { config } = tf;
const gpus = config.listPhysicalDevices('GPU') as [tf.config.PhysicalDevice, tf.config.PhysicalDevice];
const MEGABYTE = 2 ** 18;
const split = (gpu: tf.config.PhysicalDevice, ...limits: (number | null)[]): void =>
  config.setLogicalDeviceConfiguration(
    gpu,
    limits.map((memoryLimit) => new config.LogicalDeviceConfiguration({ memoryLimit })),
  );
const names = (): string[] => config.listLogicalDevices('GPU').map(({ name }) => name);
const megabytes = (count: number): tf.Tensor => tf.ones([count * MEGABYTE]);

describe.skipIf(!isTested)('logical devices of GPUs', () => {
  afterEach(() => {
    config.setVisibleDevices(config.listPhysicalDevices());
    for (const gpu of gpus) split(gpu, null);
  });

  test('are numbered through all GPUs that may be used', () => {
    expect(names()).toEqual(['/device:GPU:0', '/device:GPU:1']);
    split(gpus[0], 4, 2);
    expect(config.getLogicalDeviceConfiguration(gpus[0])?.map((c) => c.memoryLimit)).toEqual([4, 2]);
    expect(config.getLogicalDeviceConfiguration(gpus[1])).toBeNull();
    expect(names()).toEqual(['/device:GPU:0', '/device:GPU:1', '/device:GPU:2']);
    // The second GPU has no limit.
    expect(tf.device('/gpu:2', () => megabytes(9)).device).toBe('/device:GPU:2');
    expect(() => tf.device('/gpu:3', () => 1)).toThrow(/there is no device '\/gpu:3'; found: .*\/gpu:2$/);
    config.setVisibleDevices(gpus[1], 'GPU');
    expect(names()).toEqual(['/device:GPU:0']);
    expect(tf.device('/gpu:0', () => megabytes(9)).device).toBe('/device:GPU:0');
    // Ops that nobody places run there.
    expect(tf.ones([1]).backend).toBe(tf.device('/gpu:0', () => tf.ones([1])).backend);
    config.setVisibleDevices([], 'GPU');
    expect(tf.ones([1]).device).toBe('/device:CPU:0');
    expect(() => tf.device('/gpu:0', () => 1)).toThrow(tf.errors.NotFoundError);
  });

  test('have the memory that they may have, each its own, and go on behind what was refused', () => {
    for (const gpu of gpus) config.experimental.setMemoryGrowth(gpu, true);
    split(gpus[0], 4, 3);
    const [x, y] = [tf.device('/gpu:0', () => megabytes(3)), tf.device('/gpu:1', () => megabytes(1))];
    expect([x.device, y.device]).toEqual(['/device:GPU:0', '/device:GPU:1']);
    expect(() => tf.device('/gpu:0', () => x.add(1))).toThrow(tf.errors.ResourceExhaustedError);
    expect(() => tf.device('/gpu:1', () => megabytes(3))).toThrow(/limited to 3145728 bytes/);
    // So is what comes from elsewhere, and what a graph and its kernels need on the way.
    expect(() => tf.device('/gpu:1', () => tf.identity(x))).toThrow(/limited to 3145728 bytes/);
    const step = tf.function((v: tf.Tensor) => v.mul(2).reshape([2, -1]).cumsum(1).sum());
    expect(() => tf.device('/gpu:1', () => step(y))).toThrow(/limited to 3145728 bytes/);
    expect(tf.device('/gpu:1', () => y.add(1).sum().item())).toBe(2 * MEGABYTE);
    expect(tf.device('/gpu:2', () => step(y).item())).toBeCloseTo(MEGABYTE ** 2 / 2, -8);
    const { current, peak } = config.experimental.getMemoryInfo('GPU:1');
    expect(current).toBeGreaterThanOrEqual(4 * MEGABYTE);
    expect(peak).toBeGreaterThanOrEqual(8 * MEGABYTE);
    expect(peak).toBeLessThanOrEqual(3 * 2 ** 20);
    config.experimental.resetMemoryStats('GPU:1');
    expect(config.experimental.getMemoryInfo('GPU:1').peak).toBeLessThan(peak);
    expect(config.experimental.getMemoryInfo('GPU:0').current).toBeGreaterThanOrEqual(12 * MEGABYTE);
    // What one of them has given back is there for the other.
    split(gpus[0], 12, 12);
    tf.device('/gpu:0', () => megabytes(7)).dispose();
    expect(tf.device('/gpu:1', () => megabytes(7)).device).toBe('/device:GPU:1');
    x.dispose();
  });

  test('give values to each other, and know what the GPU has written', () => {
    split(gpus[0], 4, 4);
    const count = tf.device('/gpu:1', () => new tf.Variable(3, { dtype: 'int32' }));
    expect(count.device).toBe('/device:GPU:1');
    // The host knows the first value, and not those that kernels write over it.
    tf.device('/gpu:1', () => count.assign(tf.constant([1, 2, 5], 'int32').max()));
    expect(count.item()).toBe(5);
    tf.device('/gpu:0', () => expect(count.add(1).item()).toBe(6));
    const x = tf.device('/gpu:0', () => tf.constant([1, 2]));
    expect(tf.device('/gpu:1', () => x.mul(2)).array()).toEqual([2, 4]);
    expect(tf.device('/gpu:2', () => x.mul(3)).array()).toEqual([3, 6]);
    // A value that is wrong tells so where it was copied to.
    const wrong = tf.device('/gpu:0', () =>
      tf.constant([1, 2], 'int32').floorDiv(tf.constant([0, 1], 'int32')),
    );
    expect(() => tf.device('/gpu:1', () => tf.identity(wrong)).array()).toThrow('integer division by zero');
    expect(x.array()).toEqual([1, 2]);
  });

  test('train as one device does', async () => {
    split(gpus[0], 6, 6);
    config.setVisibleDevices(gpus[0], 'GPU');
    const x = tf.random.statelessNormal([8, 3], [1, 2]);
    const y = x.sum(1, { keepdims: true });
    const train = async (strategy: tf.distribute.Strategy): Promise<number[]> => {
      tf.keras.utils.setRandomSeed(3);
      const model = strategy.scope(() => {
        const made = new tf.Sequential([
          tf.Input({ shape: [3] }),
          new tf.layers.Dense(4),
          new tf.layers.Dense(1),
        ]);
        made.compile({ optimizer: new tf.optimizers.Adam(0.1), loss: 'mse' });
        return made;
      });
      await model.fit(x, y, { batchSize: 4, epochs: 2, shuffle: false, verbose: 0 });
      return model.getWeights().flatMap((w) => [...(w.data() as Float32Array)]);
    };
    const expected = await train(new tf.distribute.OneDeviceStrategy('/cpu:0'));
    const mirrored = new tf.distribute.MirroredStrategy(config.listLogicalDevices('GPU'));
    expect(mirrored.numReplicasInSync).toBe(2);
    const got = await train(mirrored);
    got.forEach((value, i) => expect(value).toBeCloseTo(expected[i] as number, 4));
    const crossDeviceOps = new tf.distribute.NcclAllReduce();
    await expect(
      (async () => train(new tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'], { crossDeviceOps })))(),
    ).rejects.toThrow(
      /GPU:0 and \/device:GPU:1 are parts of one: use new tf.distribute.ReductionToOneDevice/,
    );
  });
});
