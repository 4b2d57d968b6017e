// Several devices: logical ones of the CPU, and one for tests whose bytes are none of the host's and whose kernels run later.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getBackend, hostView, limitMemory, listBackends } from '@eagre/backend';
import { type RemoteBackend, remotes } from '@eagre/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const [remote] = remotes as readonly [RemoteBackend, RemoteBackend];
const [cpu] = tf.config.listPhysicalDevices('CPU') as [tf.config.PhysicalDevice];
const one = new tf.config.LogicalDeviceConfiguration();

afterEach(() => {
  tf.config.setLogicalDeviceConfiguration(cpu, [one]);
  tf.config.setSoftDevicePlacement(true);
  tf.config.experimental.setSynchronousExecution(false);
});

const names = (devices: readonly { readonly name: string }[]): string[] => devices.map((d) => d.name);
const remoteWaits = (fn: () => void): number => {
  const before = remote.waits;
  fn();
  return remote.waits - before;
};

describe('which devices there are', () => {
  test('are listed, of all types and of one', () => {
    expect(names(tf.config.listPhysicalDevices())).toEqual([
      '/physical_device:CPU:0',
      '/physical_device:REMOTE:0',
      '/physical_device:REMOTE:1',
    ]);
    expect(names(tf.config.listLogicalDevices('REMOTE'))).toEqual(['/device:REMOTE:0', '/device:REMOTE:1']);
    expect(tf.config.listPhysicalDevices('GPU')).toEqual([]);
  });

  test('the CPU can be split into several', () => {
    expect(() => tf.device('/cpu:1', () => tf.ones([1]))).toThrow(
      "there is no device '/cpu:1'; found: /cpu:0",
    );
    tf.config.setLogicalDeviceConfiguration(cpu, [one, one]);
    expect(names(tf.config.listLogicalDevices('CPU'))).toEqual(['/device:CPU:0', '/device:CPU:1']);
    const x = tf.device('/cpu:1', () => tf.ones([2]));
    expect(x.device).toBe('/device:CPU:1');
    expect(tf.ones([2]).add(x).device).toBe('/device:CPU:0');
    expect(tf.device('/cpu:1', () => tf.device('/cpu:0', () => x.add(1))).device).toBe('/device:CPU:0');
    const step = tf.function((v: tf.Tensor) => v.mul(2).sum());
    expect(tf.device('CPU:1', () => step(x)).device).toBe('/device:CPU:1');
    expect(step(x).item()).toBe(4);
  });

  test('what a traced function makes for good lies on the device that is current there', () => {
    tf.config.setLogicalDeviceConfiguration(cpu, [one, one]);
    let made: tf.Tensor | undefined;
    const step = tf.function((x: tf.Tensor) => {
      made = tf.device('/cpu:1', () => tf.initScope(() => tf.ones([2])));
      return x.add(1);
    });
    expect(step(tf.constant([1])).array()).toEqual([2]);
    expect(made?.device).toBe('/device:CPU:1');
  });

  test('a device that is none is refused', () => {
    for (const bad of ['remote', '/remote:', '/remote:-1', '', 'x y:0'])
      expect(() => tf.device(bad, () => 1), bad).toThrow(tf.errors.InvalidArgumentError);
    expect(() => tf.device('/remote:2', () => 1)).toThrow(tf.errors.NotFoundError);
    expect(() => tf.config.setLogicalDeviceConfiguration(cpu, [])).toThrow('LogicalDeviceConfiguration');
    expect(() => tf.config.setLogicalDeviceConfiguration('/cpu:0' as never, [one])).toThrow("got '/cpu:0'");
    const device = tf.config.listPhysicalDevices('REMOTE')[0] as tf.config.PhysicalDevice;
    const limited = new tf.config.LogicalDeviceConfiguration(8);
    expect(() => tf.config.setLogicalDeviceConfiguration(device, [limited, one])).toThrow(
      tf.errors.UnimplementedError,
    );
    expect(tf.config.getLogicalDeviceConfiguration(device)).toBeNull();
  });
});

describe.skipIf(listBackends()[0]?.name !== 'native')('a device of limited memory', () => {
  const limited = (...limits: (number | undefined)[]): void =>
    tf.config.setLogicalDeviceConfiguration(
      cpu,
      limits.map(
        (memoryLimit) => new tf.config.LogicalDeviceConfiguration({ memoryLimit: memoryLimit ?? null }),
      ),
    );
  const MEGABYTE = 2 ** 18;

  test('refuses what would be more, and nothing else', () => {
    limited(undefined, 8);
    expect(tf.config.getLogicalDeviceConfiguration(cpu)?.map((c) => c.memoryLimit)).toEqual([null, 8]);
    tf.device('/cpu:1', () => {
      const kept = tf.ones([5 * MEGABYTE]);
      expect(() => tf.ones([5 * MEGABYTE])).toThrow(tf.errors.ResourceExhaustedError);
      expect(() => kept.add(1)).toThrow(/limited to 8388608 bytes/);
      expect(() => new tf.Variable(kept).assignAdd(kept)).toThrow(tf.errors.ResourceExhaustedError);
      // What was refused took nothing, and the device goes on.
      expect(kept.slice([0], [MEGABYTE]).add(1).sum().item()).toBe(2 * MEGABYTE);
      expect(kept.device).toBe('/device:CPU:1');
    });
    expect(
      tf
        .ones([9 * MEGABYTE])
        .sum()
        .item(),
    ).toBe(9 * MEGABYTE);
  });

  test('finds what was dropped before it refuses', () => {
    limited(undefined, 8);
    const last = tf.device('/cpu:1', () => {
      let x = tf.ones([2 * MEGABYTE]);
      for (let i = 0; i < 50; i++) x = x.add(1);
      return x.max().item();
    });
    expect(last).toBe(51);
  });

  test('counts the memory of a graph, and tensors that come from other devices', () => {
    limited(undefined, 8);
    const big = tf.ones([9 * MEGABYTE]);
    const sort = tf.function((n: tf.Tensor) =>
      tf
        .sort(tf.range(0, n, { dtype: 'float32' }))
        .reverse(0)
        .sum(),
    );
    const small = tf.constant(1000, 'int32');
    tf.device('/cpu:1', () => {
      expect(() => big.sum()).toThrow(tf.errors.ResourceExhaustedError);
      expect(sort(small).item()).toBe(499500);
      const wide = tf.function(() => tf.sort(tf.ones([9 * MEGABYTE])).sum());
      expect(() => wide()).toThrow(tf.errors.ResourceExhaustedError);
    });
    expect(big.sum().item()).toBe(9 * MEGABYTE);
  });

  test('may be the first; the limit ends with the configuration', () => {
    const inUse = listBackends()[0]?.allocator as { limit: number };
    limited(100);
    expect(inUse.limit).toBe(100 * 2 ** 20);
    expect(() => tf.ones([101 * MEGABYTE])).toThrow(tf.errors.ResourceExhaustedError);
    limited(undefined);
    expect(
      tf
        .ones([101 * MEGABYTE])
        .sum()
        .item(),
    ).toBe(101 * MEGABYTE);
  });

  test('a limit that is none is refused, and one without the addon', () => {
    for (const bad of [0, -1, 1.5, Number.NaN, '8'])
      expect(() => limited(bad as number), String(bad)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => limitMemory(getBackend('js'), [undefined, 8])).toThrow(tf.errors.UnimplementedError);
  });
});

describe('a tensor on a device', () => {
  test('says where it lies, and its bytes are none of the host', () => {
    const x = tf.device('/remote:1', () => tf.constant([1, 2, 3]));
    expect(x.device).toBe('/device:REMOTE:1');
    expect(() => hostView(x.storage, 'float32', 3)).toThrow(tf.errors.InternalError);
    expect(x.array()).toEqual([1, 2, 3]);
  });

  test('is copied to where an op runs', () => {
    const a = tf.device('/remote:0', () => tf.constant([1, 2]));
    const b = tf.device('/remote:1', () => tf.constant([10, 20]));
    expect(tf.add(a, b).device).toBe('/device:CPU:0');
    const c = tf.device('/remote:1', () => tf.add(a, b));
    expect(c.device).toBe('/device:REMOTE:1');
    expect(c.array()).toEqual([11, 22]);
    expect(tf.device('/remote:0', () => tf.identity(c)).device).toBe('/device:REMOTE:0');
  });

  test('is read without waiting where the host has a copy, and in time where it has none', async () => {
    using _ = tf.device('/remote:0');
    const n = tf.constant(3, 'int32');
    expect(remoteWaits(() => expect(n.add(4).less(10).item<boolean>()).toBe(true))).toBe(0);
    const x = tf.ones([100]).sum();
    expect(remoteWaits(() => expect(x.item()).toBe(100))).toBe(1);
    const y = tf.ones([3]).mul(2);
    const later = y.read();
    y.dispose();
    expect(await later).toEqual(new Float32Array([2, 2, 2]));
  });

  test('errors of its values come with the next read, once', () => {
    const wrong = (): tf.Tensor => tf.gather(tf.constant([1, 2]), tf.constant([0, 5, 1], 'int32'));
    tf.device('/remote:0', () => {
      const y = wrong();
      expect(() => y.data()).toThrow(tf.errors.OutOfRangeError);
      expect(tf.ones([2]).sum().item()).toBe(2);
      wrong();
      expect(() => tf.test.experimental.syncDevices()).toThrow(tf.errors.OutOfRangeError);
      tf.test.experimental.syncDevices();
      tf.config.experimental.setSynchronousExecution(true);
      expect(wrong).toThrow(tf.errors.OutOfRangeError);
    });
  });

  test('an op without a kernel runs on the host, which is said once, or not at all', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    tf.device('/remote:1', () => {
      const before = tf.experimental.memory().remote1?.hostFallbacks ?? 0;
      const s = (): tf.Tensor =>
        tf.linalg.svd(
          tf.constant([
            [3, 0],
            [0, 2],
          ]),
          { computeUV: false },
        ) as tf.Tensor;
      expect(s().array()).toEqual([3, 2]);
      expect(s().device).toBe('/device:REMOTE:1');
      expect(tf.experimental.memory().remote1?.hostFallbacks).toBe(before + 2);
      expect(warn.mock.calls.filter(([text]) => String(text).includes('Svd'))).toHaveLength(1);
      tf.config.setSoftDevicePlacement(false);
      const matrix = tf.constant(
        [
          [3, 0],
          [0, 2],
        ],
        'float64',
      );
      expect(() => tf.linalg.svd(matrix)).toThrow(tf.errors.UnimplementedError);
    });
    warn.mockRestore();
  });

  test('its memory is small: what was dropped comes back, what is too much is refused', () => {
    tf.device('/remote:0', () => {
      for (let i = 0; i < 100; i++) tf.ones([1 << 20]);
      const held: tf.Tensor[] = [];
      expect(() => {
        for (let i = 0; i < 100; i++) held.push(tf.ones([1 << 20]));
      }).toThrow(tf.errors.ResourceExhaustedError);
      expect(held.length).toBeGreaterThan(10);
      for (const t of held.splice(0)) t.dispose();
      expect(
        tf
          .ones([1 << 20])
          .sum()
          .item(),
      ).toBe(1 << 20);
    });
  });
});

describe('training on a device', () => {
  const model = (): tf.Sequential => {
    tf.random.setSeed(7);
    return new tf.Sequential([
      new tf.layers.Conv2D(4, 3, { activation: 'relu', inputShape: [8, 8, 1] }),
      new tf.layers.BatchNormalization(),
      new tf.layers.MaxPooling2D(2),
      new tf.layers.Flatten(),
      new tf.layers.Dropout(0.25),
      new tf.layers.Dense(3),
    ]);
  };
  const compiled = (): tf.Sequential => {
    const m = model();
    m.compile({
      optimizer: new tf.optimizers.Adam(new tf.optimizers.schedules.CosineDecay(0.01, 20)),
      loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
      metrics: ['accuracy'],
    });
    return m;
  };
  const data = (): [tf.Tensor, tf.Tensor] => {
    tf.random.setSeed(3);
    return [tf.random.normal([48, 8, 8, 1]), tf.cast(tf.range(48), 'int32').mod(3)];
  };
  const roughly = (got: unknown, expected: unknown): void => {
    const [a, b] = [got, expected].map((v) => tf.nest.flatten(v as never) as number[]);
    expect(a?.length).toBe(b?.length);
    a?.forEach((v, i) => {
      expect(v).toBeCloseTo(b?.[i] as number, 4);
    });
  };
  const fitted = async (): Promise<unknown> => {
    const [x, y] = data();
    const m = compiled();
    const { history } = await m.fit(x, y, { batchSize: 16, epochs: 3, verbose: 0 });
    const scores = await m.evaluate(x, y, { verbose: 0 });
    return { history, scores, predicted: (await m.predict(x, { verbose: 0 })).array() };
  };

  test('fit, evaluate and predict give the numbers of the CPU', async () => {
    const expected = await fitted();
    using _ = tf.device('/remote:0');
    const waits = remote.waits;
    const got = await fitted();
    roughly(got, expected);
    expect(remote.waits - waits).toBeLessThan(200);
  });

  test.skipIf(process.env.EAGRE_DATASETS === undefined)(
    'the model of the MNIST examples learns',
    async () => {
      const [images, labels] = await tf.keras.datasets.mnist.loadTest();
      using _ = tf.device('/remote:0');
      tf.random.setSeed(1);
      const m = new tf.Sequential([
        new tf.layers.Conv2D(16, 3, { activation: 'relu', inputShape: [28, 28, 1] }),
        new tf.layers.MaxPooling2D(2),
        new tf.layers.Flatten(),
        new tf.layers.Dense(10),
      ]);
      m.compile({
        optimizer: new tf.optimizers.Adam(0.003),
        loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
        metrics: ['accuracy'],
      });
      const dataset = tf.data.Dataset.fromTensorSlices([images, labels])
        .take(3000)
        .shuffle(3000, { seed: 1 })
        .map((x, y) => [x.cast('float32').div(255).expandDims(-1), y])
        .batch(50)
        .prefetch(2);
      const { history } = await m.fit(dataset, { epochs: 2, verbose: 0 });
      expect((history['accuracy'] as number[])[1]).toBeGreaterThan(0.85);
      expect(m.variables.every((v) => v.device === '/device:REMOTE:0')).toBe(true);
    },
  );

  test('a step of an optimizer waits for nothing', () => {
    using _ = tf.device('/remote:0');
    const [x, y] = data();
    const m = model();
    const loss = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
    const optimizer = new tf.optimizers.Adam(0.01);
    const eager = (): tf.Tensor => {
      using tape = new tf.GradientTape();
      const value = loss(y, m(x, { training: true }) as tf.Tensor);
      const gradients = tape.gradient(value, m.trainableVariables);
      optimizer.applyGradients(gradients.map((g, i) => [g, m.trainableVariables[i] as tf.Variable]));
      return value;
    };
    const step = tf.function(eager);
    for (const run of [eager, step]) {
      run();
      tf.test.experimental.syncDevices();
      let value: tf.Tensor | undefined;
      expect(
        remoteWaits(() => {
          for (let i = 0; i < 3; i++) value = run();
        }),
      ).toBe(0);
      expect(Number.isFinite(value?.item())).toBe(true);
    }
  });

  test('a function reads variables of other devices, and changes them where they are', () => {
    const v = new tf.Variable([1, 2]);
    const read = tf.function((x: tf.Tensor) => x.mul(v));
    const write = tf.function((x: tf.Tensor) => v.assignAdd(x).sum());
    using _ = tf.device('/remote:0');
    const x = tf.constant([3, 4]);
    expect(read(x).array()).toEqual([3, 8]);
    v.assign([5, 6]);
    expect(v.device).toBe('/device:CPU:0');
    expect(read(x).array()).toEqual([15, 24]);
    expect(write(x).item()).toBe(18);
    expect(v.array()).toEqual([8, 10]);
    expect(v.device).toBe('/device:CPU:0');
    expect(tf.device(v.device, () => write(x)).item()).toBe(25);
  });

  test('a loop that counts runs without waiting', () => {
    using _ = tf.device('/remote:0');
    const f = tf.function((n: tf.Tensor) => {
      let i: tf.Tensor = tf.constant(0, 'int32');
      let x: tf.Tensor = tf.ones([2]);
      [i, x] = tf.whileLoop(
        (i) => i.less(n),
        (i, x) => [i.add(1), x.mul(2)],
        [i, x],
      ) as [tf.Tensor, tf.Tensor];
      return x;
    });
    f(tf.constant(2, 'int32'));
    let x: tf.Tensor | undefined;
    expect(remoteWaits(() => void (x = f(tf.constant(5, 'int32'))))).toBe(0);
    expect(x?.array()).toEqual([32, 32]);
  });

  test('a checkpoint of one device is restored on another', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-devices-'));
    try {
      const [x] = data();
      const path = tf.device('/remote:0', () => {
        const m = compiled();
        return new tf.train.Checkpoint({ model: m }).save(join(folder, 'c'));
      });
      const expected = tf.device('/remote:0', () => model()(x) as tf.Tensor).array();
      for (const device of ['/cpu:0', '/remote:1'])
        tf.device(device, () => {
          const m = compiled();
          for (const v of m.variables) v.assign(tf.zerosLike(v));
          new tf.train.Checkpoint({ model: m }).restore(path).assertConsumed();
          roughly((m(x) as tf.Tensor).array(), expected);
        });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a variable is made where ops run, and not where its value lies', () => {
    const x = tf.ones([3]);
    const v = tf.device('/remote:0', () => new tf.Variable(x));
    expect([v.device, v.array(), x.device]).toEqual(['/device:REMOTE:0', [1, 1, 1], '/device:CPU:0']);
    expect(new tf.Variable(v).device).toBe('/device:CPU:0');
    tf.device('/remote:0', () => v.assign(x.mul(2)));
    expect([v.array(), x.array(), new tf.Variable('a').device]).toEqual([
      [2, 2, 2],
      [1, 1, 1],
      '/device:CPU:0',
    ]);
    const make = tf.function(() => {
      made ??= new tf.Variable(x);
      return made.mul(2);
    });
    let made: tf.Variable | undefined;
    expect(tf.device('/remote:1', () => make()).array()).toEqual([2, 2, 2]);
    expect(made?.device).toBe('/device:REMOTE:1');
  });

  test('numbers that the host computes are changed in place, eagerly and in graphs', () => {
    for (const isTraced of [false, true])
      tf.device('/remote:0', () => {
        const schedule = new tf.optimizers.schedules.ExponentialDecay(0.3, 10, 0.5);
        const optimizer = new tf.optimizers.SGD({ learningRate: schedule, momentum: 0.5 });
        const w = new tf.Variable(tf.constant(0, 'float64'));
        optimizer.build([w]);
        const step = (): unknown => optimizer.applyGradients([tf.constant(-1, 'float64')], [w]);
        const run = isTraced ? tf.function(step) : step;
        let [expected, velocity] = [0, 0];
        for (let i = 0; i < 4; i++) {
          run();
          velocity = 0.5 * velocity + schedule(i);
          expected += velocity;
          expect(w.item(), `${isTraced} ${i}`).toBeCloseTo(expected, 12);
        }
      });
  });

  test('datasets make their elements on the CPU', () => {
    using _ = tf.device('/remote:0');
    const dataset = tf.data.Dataset.fromTensorSlices(tf.range(6))
      .map((v) => v.mul(2))
      .batch(2);
    const devices: string[] = [];
    const values: unknown[] = [];
    for (const v of dataset) {
      devices.push(v.device);
      values.push(v.array());
    }
    expect(new Set(devices)).toEqual(new Set(['/device:CPU:0']));
    expect(values).toEqual([
      [0, 2],
      [4, 6],
      [8, 10],
    ]);
  });
});

test('each backend has a device of its own, or shares one', () => {
  expect(listBackends().map((b) => `${b.name} ${b.deviceType}:${b.deviceIndex}`)).toEqual([
    'native CPU:0',
    'js CPU:0',
    'remote REMOTE:0',
    'remote1 REMOTE:1',
  ]);
});
