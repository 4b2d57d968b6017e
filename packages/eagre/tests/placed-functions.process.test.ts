// Functions whose ops run on several devices.
import '@eagre/testing';
import { afterEach, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

afterEach(() => tf.config.setSoftDevicePlacement(true));

const on = <T>(device: string, fn: () => T): T => tf.device(device, fn);
const x = (): tf.Tensor => tf.constant([1, 2, 3]);

describe('a traced function', () => {
  test('runs each op where tf.device put it', () => {
    const f = tf.function((a: tf.Tensor) => {
      const b = on('/remote:0', () => a.mul(2));
      const c = on('/remote:1', () => b.add(1));
      return [b, c, c.sub(a)] as const;
    });
    for (const where of ['/cpu:0', '/remote:0', '/remote:1']) {
      const [b, c, d] = on(where, () => f(x()));
      expect(b.array()).toEqual([2, 4, 6]);
      expect(c.array()).toEqual([3, 5, 7]);
      expect(d.array()).toEqual([2, 3, 4]);
      expect(b.device).toBe('/device:REMOTE:0');
      expect(c.device).toBe('/device:REMOTE:1');
      expect(d.device).toBe(on(where, () => tf.ones([])).device);
    }
    expect(f.getConcreteFunction(x()).planText()).toContain('part 2, on /device:REMOTE:1');
  });

  test('runs where it is called, whatever was current at its trace', () => {
    const f = tf.function((a: tf.Tensor) => a.mul(2));
    expect(on('/remote:0', () => f(x())).device).toBe('/device:REMOTE:0');
    expect(f(x()).device).toBe('/device:CPU:0');
    expect(on('/remote:1', () => f(x())).device).toBe('/device:REMOTE:1');
    const outer = tf.function((a: tf.Tensor) => [on('/remote:0', () => f(a)), f(a)] as const);
    const [placed, free] = outer(x());
    expect([placed.device, free.device]).toEqual(['/device:REMOTE:0', '/device:CPU:0']);
  });

  test('changes variables where they are, and reads them as they were', () => {
    const v = on('/remote:0', () => new tf.Variable([1, 2]));
    const w = on('/remote:1', () => new tf.Variable([10, 20]));
    const swap = tf.function(() => {
      const before = v.read();
      v.assign(w);
      w.assign(before);
      return before.add(1);
    });
    expect(swap().array()).toEqual([2, 3]);
    expect([v.array(), w.array()]).toEqual([
      [10, 20],
      [1, 2],
    ]);
    const step = tf.function((a: tf.Tensor) => {
      v.assignAdd(a);
      const sum = on('/remote:1', () => v.add(w));
      w.assign(sum);
      v.assignSub(1);
      return [v.read(), sum, w.read()] as const;
    });
    const [vAfter, sum, wAfter] = step(tf.constant([1, 1]));
    expect([vAfter, sum, wAfter].map((t) => t.array())).toEqual([
      [10, 20],
      [12, 23],
      [12, 23],
    ]);
    expect(v.array()).toEqual([10, 20]);
    expect(w.array()).toEqual([12, 23]);
    expect([v.device, w.device]).toEqual(['/device:REMOTE:0', '/device:REMOTE:1']);
  });

  test('gives constants, arguments and variables back', () => {
    const v = on('/remote:0', () => new tf.Variable([1, 2]));
    const f = tf.function((a: tf.Tensor) => {
      const before = v.read();
      v.assignAdd(1);
      return [a, before, tf.constant([5]), on('/remote:1', () => a.add(1)), a] as const;
    });
    const results = f(x());
    expect(results.map((t) => t.array())).toEqual([[1, 2, 3], [1, 2], [5], [2, 3, 4], [1, 2, 3]]);
    expect(v.array()).toEqual([2, 3]);
  });

  test('has gradients, inside of it and around it', () => {
    const v = on('/remote:0', () => new tf.Variable([2, 3]));
    const loss = (a: tf.Tensor): tf.Tensor => {
      const h = on('/remote:0', () => v.mul(a));
      return on('/remote:1', () => h.square()).sum();
    };
    const inside = tf.function((a: tf.Tensor) => {
      const tape = new tf.GradientTape();
      const y = loss(a);
      const g = tape.gradient(y, v) as tf.Tensor;
      v.assignSub(g.mul(0.5));
      return g;
    });
    const traced = tf.function(loss);
    const a = tf.constant([1, 2]);
    const tape = new tf.GradientTape();
    const y = traced(a);
    expect((tape.gradient(y, v) as tf.Tensor).array()).toEqual([4, 24]);
    expect(y.item()).toBe(40);
    {
      using many = new tf.GradientTape({ persistent: true });
      expect((many.gradient(traced(a), v) as tf.Tensor).array()).toEqual([4, 24]);
    }
    const g = inside(a);
    expect(g.array()).toEqual([4, 24]);
    expect(v.array()).toEqual([0, -9]);
    const text = inside.getConcreteFunction(a).planText();
    // The gradient of an op runs where the op does.
    expect(text).toContain('on /device:REMOTE:1');
  });

  test('takes sizes that a trace does not know, and sizes that depend on values', () => {
    const f = tf.function((a: tf.Tensor) => on('/remote:0', () => a.mul(2)).sum(), {
      inputSignature: [new tf.TensorSpec([null])],
    });
    expect(f(x()).item()).toBe(12);
    expect(f(tf.ones([5])).item()).toBe(10);
    const g = tf.function((a: tf.Tensor) => {
      const some = tf.booleanMask(a, a.greater(1));
      return on('/remote:0', () => some.mul(2)).sum();
    });
    expect(g(x()).item()).toBe(10);
  });

  test('calls the host and draws in the order of the code', () => {
    const seen: number[] = [];
    const f = tf.function((a: tf.Tensor) => {
      const tell = (t: tf.Tensor): tf.Tensor =>
        tf.pyFunction(
          (u: tf.Tensor) => {
            seen.push(u.item() as number);
            return u;
          },
          [t],
          'float32',
          { shape: [] },
        ) as tf.Tensor;
      const one = on('/remote:0', () => tell(a));
      const two = on('/remote:1', () => tell(tf.constant(2)));
      const three = on('/remote:0', () => tell(tf.constant(3)));
      return one.add(two).add(three);
    });
    expect(f(tf.constant(1)).item()).toBe(6);
    expect(seen).toEqual([1, 2, 3]);
    const draw = (): readonly tf.Tensor[] => [
      on('/remote:0', () => tf.random.uniform([2])),
      on('/remote:1', () => tf.random.uniform([2])),
      on('/remote:0', () => tf.random.uniform([2])),
    ];
    const drawn = tf.function(draw);
    tf.random.setSeed(3);
    const eager = draw().map((t) => t.array());
    tf.random.setSeed(3);
    const first = drawn().map((t) => t.array());
    expect(new Set(first.map(String)).size).toBe(3);
    expect(first.length).toBe(eager.length);
  });

  test('runs a loop as a whole on one device', () => {
    const loop = (a: tf.Tensor): tf.Tensor =>
      on('/remote:0', () => {
        const [, sum] = tf.whileLoop(
          (i) => i.less(3),
          (i, s) => [i.add(1), on('/remote:1', () => s.mul(2))],
          [tf.constant(0), a],
        ) as [tf.Tensor, tf.Tensor];
        return sum;
      });
    expect(tf.function(loop)(x()).array()).toEqual([8, 16, 24]);
    tf.config.setSoftDevicePlacement(false);
    expect(() => tf.function(loop)(x())).toThrow(/is placed on \/device:REMOTE:1, but the branch or loop/);
  });

  test('has gradients of loops that lie on one device with what becomes of them', () => {
    const w = on('/remote:0', () => new tf.Variable([1, 2]));
    const gradientOn = (device: string) =>
      tf.function(() => {
        const tape = new tf.GradientTape();
        const [, y] = on('/remote:0', () =>
          tf.whileLoop(
            (i) => i.less(3),
            (i, s) => [i.add(1), s.mul(w)],
            [tf.constant(0, 'int32'), tf.ones([2])],
          ),
        ) as [tf.Tensor, tf.Tensor];
        return tape.gradient(
          on(device, () => y.square().sum()),
          w,
        ) as tf.Tensor;
      });
    expect(gradientOn('/remote:0')().array()).toEqual([6, 192]);
    expect(() => gradientOn('/remote:1')()).toThrow(/a gradient that needs values of another device/);
  });

  test('changes a variable once for each of several asynchronous calls', async () => {
    const v = on('/remote:0', () => new tf.Variable(0));
    const f = tf.function((a: tf.Tensor) => {
      v.assignAdd(1);
      return on('/remote:1', () => a.add(v));
    });
    const results = await Promise.all([1, 2, 3].map((i) => f.runAsync(tf.constant(i))));
    expect(results.map((t) => t.item())).toEqual([2, 4, 6]);
    expect(v.item()).toBe(3);
    // The sum is made where the variable is.
    expect(f.getConcreteFunction(tf.constant(1)).planText()).not.toContain('CPU');
  });

  test('tells what it cannot do', async () => {
    const f = tf.function((a: tf.Tensor) => on('/remote:0', () => a.mul(2)));
    const a = x();
    f(a);
    expect(() => f.getConcreteFunction(a).profile(a)).toThrow(tf.errors.UnimplementedError);
    expect((await f.runAsync(a)).array()).toEqual([2, 4, 6]);
    a.dispose();
    expect(() => f(a)).toThrow(tf.errors.FailedPreconditionError);
  });
});

describe('a MirroredStrategy of several devices that share no memory', () => {
  const devices = ['/remote:0', '/remote:1'];
  const rows = 24;
  const inputs = tf
    .constant(Float32Array.from({ length: rows * 6 }, (_, i) => Math.sin(i * 1.7)))
    .reshape([rows, 6]);
  const labels = tf.constant(Int32Array.from({ length: rows }, (_, i) => (i * 5) % 3));
  const make = (optimizer: () => tf.optimizers.Optimizer): tf.Sequential => {
    tf.random.setSeed(7);
    tf.keras.utils.setRandomSeed(7);
    const model = new tf.Sequential([
      new tf.layers.Dense(8, { activation: 'relu', inputShape: [6] }),
      new tf.layers.BatchNormalization({ synchronized: true }),
      new tf.layers.Dense(3),
    ]);
    model.compile({
      optimizer: optimizer(),
      loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
      metrics: ['accuracy'],
    });
    return model;
  };
  const close = (a: readonly number[], b: readonly number[]): void => {
    expect(a.length).toBe(b.length);
    a.forEach((v, i) => {
      expect(v).toBeCloseTo(b[i] as number, 4);
    });
  };

  test.each([
    ['SGD', () => new tf.optimizers.SGD({ learningRate: 0.1, momentum: 0.9 })],
    ['Adam', () => new tf.optimizers.Adam({ learningRate: 0.01, globalClipnorm: 1 })],
  ])('fit with %s gives the numbers of one device', async (_, optimizer) => {
    const alone = make(optimizer);
    const strategy = new tf.distribute.MirroredStrategy(devices);
    const model = strategy.scope(() => make(optimizer));
    model.setWeights(alone.getWeights());
    const options = { epochs: 3, batchSize: 8, shuffle: false, verbose: 0 as const };
    const a = await alone.fit(inputs, labels, options);
    const b = await model.fit(inputs, labels, options);
    close(b.history['loss'] as number[], a.history['loss'] as number[]);
    close(b.history['accuracy'] as number[], a.history['accuracy'] as number[]);
    const flat = (m: tf.Sequential): number[] => m.getWeights().flatMap((w) => [...w.data()].map(Number));
    close(flat(model), flat(alone));
    const evaluated = await model.evaluate(inputs, labels, { batchSize: 8, verbose: 0, returnDict: true });
    close(
      [evaluated['loss'] as number],
      [
        (await alone.evaluate(inputs, labels, { batchSize: 8, verbose: 0, returnDict: true }))[
          'loss'
        ] as number,
      ],
    );
    const predicted = (await model.predict(inputs, { verbose: 0 })) as tf.Tensor;
    close(
      [...predicted.data()].map(Number),
      [...((await alone.predict(inputs, { verbose: 0 })) as tf.Tensor).data()].map(Number),
    );
  });

  test('a step runs on both', () => {
    const strategy = new tf.distribute.MirroredStrategy(devices);
    const w = strategy.scope(() => new tf.Variable([1, 2]));
    const step = tf.function(() =>
      strategy.run(() => {
        const context = tf.distribute.getReplicaContext()!;
        const own = w.mul(context.replicaIdInSyncGroup);
        return context.allReduce('sum', own) as tf.Tensor;
      }),
    );
    const results = strategy.experimentalLocalResults(step()) as readonly tf.Tensor[];
    expect(results.map((t) => t.array())).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const text = step.getConcreteFunction().planText();
    for (const device of devices) expect(text).toContain(`/device:${device.slice(1).toUpperCase()}`);
  });
});
