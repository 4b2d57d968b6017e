// Models and training steps on a GPU through WebGPU give what they give on the CPU.
import '../../backend-webgpu/src/testing/swiftshader.ts';
import { describe, expect, it, vi } from 'vitest';
import * as tf from '../src/index.ts';
import { mixedSteps } from './testing/mixed-steps.ts';

const { webgpuBackend, webgpuUnavailable } = await import('@eagre/backend-webgpu');
// What nobody places is computed by the processor here, to compare with.
tf.device('/cpu:0');
if (webgpuBackend === undefined) console.log(`WebGPU is not tested: ${webgpuUnavailable}`);

const sines = (...shape: number[]): tf.Tensor => {
  const size = shape.reduce((a, b) => a * b, 1);
  return tf.constant(
    Float32Array.from({ length: size }, (_, i) => Math.sin(i * 1.7)),
    { shape },
  );
};

describe.skipIf(webgpuBackend === undefined)('on WebGPU', () => {
  it('steps of fit read no metric, rate or count', async () => {
    const allocator = webgpuBackend?.allocator as unknown as {
      readBytes(): Uint8Array;
      readBytesAsync(): Promise<Uint8Array>;
    };
    const spies = [vi.spyOn(allocator, 'readBytes'), vi.spyOn(allocator, 'readBytesAsync')];
    const before = tf.experimental.memory().webgpu.hostFallbacks;
    const scope = tf.device('/gpu:0');
    const model = new tf.Sequential([new tf.layers.Dense(4, { inputShape: [8] })]);
    const loss = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
    model.compile({ optimizer: new tf.optimizers.SGD(0.1), loss, metrics: ['accuracy'] });
    const reads: number[] = [];
    for (const steps of [3, 4, 16]) {
      for (const spy of spies) spy.mockClear();
      await model.fit(sines(4 * steps, 8), tf.zeros([4 * steps], 'int32'), {
        batchSize: 4,
        verbose: 0,
        shuffle: false,
      });
      reads.push(spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0));
    }
    scope[Symbol.dispose]();
    for (const spy of spies) spy.mockRestore();
    expect(reads[1]).toBeGreaterThan(0);
    expect(reads[2]).toBe(reads[1]);
    expect(tf.experimental.memory().webgpu.hostFallbacks).toBe(before);
  });

  it.each([
    ['SGD', () => new tf.optimizers.SGD({ learningRate: 0.1, momentum: 0.9 })],
    ['RMSprop', () => new tf.optimizers.RMSprop({ learningRate: 0.01, centered: true })],
    ['AdamW', () => new tf.optimizers.AdamW({ learningRate: 0.1 })],
  ])('a step trains as on the CPU, eagerly and traced: %s', (_, make) => {
    const train = (traced: boolean): number[] => {
      const x = sines(16, 2);
      const y = x.matmul([[2], [-1]]).add(0.5);
      const [w, b] = [new tf.Variable(tf.zeros([2, 1])), new tf.Variable(tf.zeros([1]))];
      const optimizer = make();
      const step = (): tf.Tensor => {
        const tape = new tf.GradientTape();
        const loss = tape.record(() => x.matmul(w).add(b).sub(y).square().mean());
        optimizer.applyGradients(tape.gradient(loss, [w, b]), [w, b]);
        return loss;
      };
      const run = traced ? tf.function(step) : step;
      const losses: number[] = [];
      for (let i = 0; i < 8; i++) losses.push(run().item());
      return [...losses, ...w.data(), ...b.data()].map(Number);
    };
    const expected = train(false);
    for (const traced of [false, true])
      tf.device('/gpu:0', () => train(traced)).forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i] as number, 4);
      });
  });

  it('a convolutional network learns as on the CPU', async () => {
    const train = async (): Promise<number[]> => {
      tf.random.setSeed(3);
      const model = new tf.Sequential([
        new tf.layers.Conv2D(4, 3, { activation: 'relu', inputShape: [8, 8, 2] }),
        new tf.layers.BatchNormalization(),
        new tf.layers.MaxPooling2D(2),
        new tf.layers.Flatten(),
        new tf.layers.Dense(5),
      ]);
      model.compile({
        optimizer: new tf.optimizers.Adam(0.01),
        loss: new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true }),
        metrics: ['accuracy'],
      });
      const labels = tf.constant(Int32Array.from({ length: 20 }, (_, i) => i % 5));
      const history = await model.fit(sines(20, 8, 8, 2), labels, {
        epochs: 3,
        batchSize: 10,
        shuffle: false,
        verbose: 0,
      });
      return history.history.loss as number[];
    };
    const expected = await train();
    using _ = tf.device('/gpu:0');
    const losses = await train();
    expect(losses).toHaveLength(3);
    losses.forEach((loss, i) => {
      expect(loss).toBeCloseTo(expected[i] as number, 2);
    });
    expect(losses[2]).toBeLessThan(losses[0] as number);
  });
});

mixedSteps('webgpu', webgpuBackend !== undefined);
