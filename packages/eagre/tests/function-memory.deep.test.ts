import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { layers } = tf;

// A sanitizer keeps what is freed, and shadows the rest: there memory says nothing.
const measured = process.env.EAGRE_SANITIZED === undefined;

/** Megabytes by which a heap may grow without a leak: 64 bytes a call of the tiny function are as much. */
const ROOM = 20;

/** Megabytes of the process, once everything was collected. */
async function resident(): Promise<number> {
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.();
    // Finalizers run between turns of the event loop.
    await setImmediate();
  }
  return process.memoryUsage.rss() / 2 ** 20;
}

/** How much memory grows over `calls` calls, after some to warm up. */
async function growth(call: () => void, warm: number, calls: number): Promise<number> {
  for (let i = 0; i < warm; i++) call();
  const before = await resident();
  for (let i = 0; i < calls; i++) call();
  return (await resident()) - before;
}

describe.runIf(measured)('memory of traced functions', () => {
  test('calls of a tiny function take none', async () => {
    const x = tf.constant([1, 2, 3]);
    const f = tf.function((a: tf.Tensor) => a.mul(2).add(1));
    // Results are collected whenever they take 8 MB.
    expect(await growth(() => f(x), 300_000, 300_000)).toBeLessThan(ROOM);
  });

  test('a thousand training steps of a convolutional network take none', async () => {
    const model = new tf.Sequential([
      new layers.Conv2D(8, 3, { activation: 'relu', inputShape: [14, 14, 1] }),
      new layers.MaxPooling2D(2),
      new layers.Conv2D(8, 3, { activation: 'relu' }),
      new layers.Flatten(),
      new layers.Dense(10),
    ]);
    const x = tf.random.normal([8, 14, 14, 1]);
    const labels = tf.constant([0, 1, 2, 3, 4, 5, 6, 7], 'int32');
    const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
    const optimizer = new tf.optimizers.Adam(1e-3);
    const step = tf.function((images: tf.Tensor) => {
      const tape = new tf.GradientTape();
      const loss = lossObject(labels, model(images, { training: true }));
      optimizer.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
      return loss;
    });
    expect(await growth(() => step(x), 100, 1000)).toBeLessThan(ROOM);
  });

  test('functions that nobody holds any more give theirs back', async () => {
    // Each has an arena and a constant of 1 MB.
    const drop = (): void => {
      const table = tf.random.normal([2 ** 18]);
      const f = tf.function((x: tf.Tensor) => {
        const y = x.add(table);
        return y.mul(y.sum()).sum();
      });
      f(tf.ones([2 ** 18]));
    };
    // If nothing came back, it would be 400 MB.
    expect(await growth(drop, 100, 200)).toBeLessThan(100);
  });

  test('new functions in a loop without a pause use the memory of those before', () => {
    const w = new tf.Variable(tf.ones([512, 512]));
    const once = (): void => {
      tf.function(() => tf.matmul(w, tf.nn.relu(w)))();
    };
    const taken = (): number =>
      Object.values(tf.experimental.memory()).reduce((sum, { bytesTaken }) => sum + bytesTaken, 0);
    for (let i = 0; i < 20; i++) once();
    const before = taken();
    for (let i = 0; i < 200; i++) once();
    // Each has 3 MB. What became old before it was dropped would come back with a full collection only.
    expect((taken() - before) / 2 ** 20).toBeLessThan(16);
  });

  test('objects with traced methods that nobody holds any more give theirs back', async () => {
    class Model extends tf.Module {
      w: tf.Variable | undefined;
      // biome-ignore format: esbuild takes no keyword in a decorator without parentheses.
      @(tf.function)
      call(x: tf.Tensor): tf.Tensor {
        this.w ??= new tf.Variable(tf.ones([2 ** 18]));
        return this.w.assignAdd(x).sum();
      }
    }
    const x = tf.ones([2 ** 18]);
    // Here too.
    expect(await growth(() => void new Model().call(x), 200, 200)).toBeLessThan(100);
  });
});
