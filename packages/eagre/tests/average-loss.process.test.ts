// Losses of a loop of one's own in replicas: a replica's share of the mean over the whole batch.
import '@eagre/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const { MirroredStrategy, OneDeviceStrategy } = tf.distribute;
beforeAll(() => {
  const [cpu] = tf.config.listPhysicalDevices('CPU');
  const two = [new tf.config.LogicalDeviceConfiguration(), new tf.config.LogicalDeviceConfiguration()];
  tf.config.setLogicalDeviceConfiguration(cpu, two);
});
const average = (losses: tf.Tensor): tf.Tensor => tf.nn.computeAverageLoss(losses);

describe('in replicas', () => {
  test.each(['eager', 'traced'])('shares add up to the mean over the whole batch: %s', (mode) => {
    const two = new MirroredStrategy(['/cpu:0', '/cpu:1']);
    const total = (step: (x: tf.Tensor) => tf.Tensor, rows: number): number => {
      const batch = tf.range(1, rows + 1).cast('float32');
      const [x] = two.experimentalDistributeDataset(tf.data.Dataset.fromTensors(batch));
      const sum = (own: tf.Tensor): tf.Tensor => two.reduce('SUM', two.run(step, { args: [own] }));
      return (mode === 'eager' ? sum : tf.function(sum))(x as unknown as tf.Tensor).item();
    };
    expect(total(average, 8)).toBe(4.5);
    expect(total((x) => tf.nn.computeAverageLoss(x, { sampleWeight: x }), 4)).toBe(7.5);
    expect(total((x) => tf.nn.computeAverageLoss(x, { globalBatchSize: 8 }), 4)).toBe(1.25);
    expect(total(() => tf.nn.scaleRegularizationLoss(tf.constant([2, 4])), 4)).toBe(6);
    // The second replica gets no row, and so no number that is none.
    expect(total(average, 1)).toBe(0.5);
  });

  test('gradients are those of one device', () => {
    const step = (strategy: tf.distribute.Strategy): readonly number[] => {
      const { w, optimizer } = strategy.scope(() => ({
        w: new tf.Variable([1, 2]),
        optimizer: new tf.optimizers.SGD(0.1),
      }));
      const x = tf.data.Dataset.fromTensors(
        tf.constant([
          [1, 2],
          [3, 4],
          [5, 6],
          [7, 8],
        ]),
      );
      for (const own of strategy.experimentalDistributeDataset(x))
        strategy.run(
          (rows: tf.Tensor) => {
            const tape = new tf.GradientTape();
            const loss = tape.record(() =>
              average(rows.mul(w).sum(1).square()).add(tf.nn.scaleRegularizationLoss(w.square().sum())),
            );
            optimizer.applyGradients(tape.gradient(loss, [w]), [w]);
          },
          { args: [own as unknown as tf.Tensor] },
        );
      return w.array() as number[];
    };
    const expected = step(new OneDeviceStrategy('/cpu:0'));
    step(new MirroredStrategy(['/cpu:0', '/cpu:1'])).forEach((v, i) => expect(v).toBeCloseTo(expected[i], 4));
  });

  test('outside of replicas there is no share', () => {
    const two = new MirroredStrategy(['/cpu:0', '/cpu:1']);
    const losses = tf.constant([1, 3]);
    two.scope(() => {
      expect(() => average(losses)).toThrow(tf.errors.FailedPreconditionError);
      expect(() => tf.nn.scaleRegularizationLoss(losses)).toThrow(/strategy\.run/);
      expect(tf.nn.computeAverageLoss(losses, { globalBatchSize: 4 }).item()).toBe(1);
      for (const globalBatchSize of [-1, 1.5])
        expect(() => tf.nn.computeAverageLoss(losses, { globalBatchSize })).toThrow(
          tf.errors.InvalidArgumentError,
        );
    });
    expect(average(losses).item()).toBe(2);
    expect(average(tf.zeros([0])).item()).toBe(0);
  });
});
