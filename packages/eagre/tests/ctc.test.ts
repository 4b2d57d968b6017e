import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// Numbers of TensorFlow: tf.nn.ctc_loss(labels, logits, label_length, logit_length, blank_index=-1).
const shape = [4, 2, 3];
const logits = tf.range(24).sin().reshape(shape);
const labels = [
  [0, 1],
  [1, 0],
];
const losses = [2.091658592224121, 1.9990310668945312];
const gradient = [
  [-0.5375, 0.3998, 0.1377, 0.57462, -0.43254, -0.14209],
  [-0.18289, 0.04847, 0.13442, 0.61425, -0.50528, -0.10897],
  [0.03888, -0.21178, 0.1729, 0, 0, 0],
  [0.11439, -0.18792, 0.07352, 0, 0, 0],
].flat();

const both = (x: tf.Tensor): [loss: tf.Tensor, gradient: tf.Tensor] => {
  const tape = new tf.GradientTape();
  tape.watch(x);
  const loss = tf.nn.ctcLoss(labels, x, [2, 1], [4, 2], { blankIndex: -1 });
  return [loss, tape.gradient(loss, x) as tf.Tensor];
};
const near = (got: tf.Tensor, expected: readonly number[]): void => {
  const values = Array.from(got.data() as Float32Array);
  expected.forEach((v, i) => {
    expect(values[i]).toBeCloseTo(v, 4);
  });
};

test('nn.ctcLoss and its gradient are as in TensorFlow', () => {
  const traced = tf.function({ inputSignature: [new tf.TensorSpec([null, null, null])] })(both);
  for (const fn of [both, traced]) {
    const [loss, d] = fn(logits);
    near(loss, losses);
    near(d, gradient);
  }
  const batchMajor = tf.nn.ctcLoss(labels, logits.swapAxes(0, 1), [2, 1], [4, 2], {
    blankIndex: 2,
    logitsTimeMajor: false,
  });
  near(batchMajor, losses);
});

test('labels that do not fit have a large loss, and no gradient is NaN', () => {
  const x = tf.random.normal([2, 3, 4]);
  const tape = new tf.GradientTape();
  tape.watch(x);
  const loss = new tf.losses.CTC({ reduction: 'none' })(
    [
      [1, 1, 2, 3],
      [3, 0, 0, 0],
    ],
    x,
  );
  expect(loss.at(0).item()).toBeGreaterThan(700);
  expect(loss.at(1).item()).toBeLessThan(20);
  const d = tape.gradient(loss, x) as tf.Tensor;
  expect(d.isFinite().all().item()).toBe(true);
});

test('wrong arguments', () => {
  const call =
    (...args: readonly unknown[]) =>
    () =>
      tf.nn.ctcLoss(...(args as [never, never, never, never]));
  const x = tf.zeros([3, 2, 4]);
  expect(call([1, 2], x, [1, 1], [3, 3])).toThrow('labels must be [batch, labels] for a batch of 2, got [2]');
  expect(call([[1], [2]], x.at(0), [1, 1], [3, 3])).toThrow('logits must be [time, batch, classes]');
  expect(call([[1], [2]], x, [1], [3, 3])).toThrow('labelLength must be [2], got [1]');
  expect(call([[1], [2]], x, [1, 1], [3])).toThrow('logitLength must be [2], got [1]');
  expect(call([[1], [2]], x, [1, 1], [3, 3], { blankIndex: 4 })).toThrow(
    'blankIndex 4 is not one of 4 classes',
  );
  expect(call([[1], [4]], x, [1, 1], [3, 3])).toThrow(tf.errors.OutOfRangeError);
  expect(() => tf.losses.ctc([1, 2], x)).toThrow('takes labels [batch, labels] and logits');
});
