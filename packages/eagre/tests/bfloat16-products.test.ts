// Products of bfloat16 are those of float32, rounded: after the product, after the bias. With small whole numbers each sum is exact, so all
// bits are the same, whether kernels take bfloat16 or tensors are widened for them.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

let seed = 1;
function whole(shape: readonly number[]): tf.Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: size }, () => ((seed = (seed * 48271) % 2147483647) % 9) - 4);
  return tf
    .constant(values)
    .reshape([...shape])
    .cast('bfloat16');
}

type Op = (...inputs: tf.Tensor[]) => tf.Tensor;
const conv =
  (options: Parameters<typeof tf.nn.conv2d>[2]): Op =>
  (x, filter) =>
    tf.nn.conv2d(x!, filter!, options);
const cases: [string, Op, tf.Tensor[]][] = [
  ['matmul', (a, b) => tf.matmul(a!, b!), [whole([37, 70]), whole([70, 45])]],
  [
    'transposed',
    (a, b) => tf.matmul(a!, b!, { transposeA: true, transposeB: true }),
    [whole([33, 20]), whole([50, 33])],
  ],
  ['batches', (a, b) => tf.matmul(a!, b!), [whole([3, 1, 17, 40]), whole([2, 40, 18])]],
  [
    'dense',
    (a, b, c) => tf.nn.relu(tf.matmul(a!, b!).add(c!)),
    [whole([20, 300]), whole([300, 31]), whole([31])],
  ],
  ['conv2d', conv({ strides: 1, padding: 'SAME' }), [whole([2, 9, 11, 5]), whole([3, 3, 5, 20])]],
  ['strides', conv({ strides: 2, padding: 'VALID' }), [whole([2, 10, 12, 32]), whole([3, 2, 32, 40])]],
  [
    'dilations',
    conv({ strides: 1, padding: 'SAME', dilations: 2 }),
    [whole([1, 9, 9, 3]), whole([3, 3, 3, 4])],
  ],
  ['groups', conv({ strides: 1, padding: 'SAME' }), [whole([2, 6, 6, 8]), whole([3, 3, 4, 6])]],
  ['pixels', conv({ strides: 1, padding: 'SAME' }), [whole([2, 6, 7, 40]), whole([1, 1, 40, 12])]],
];

const bits = (x: tf.Tensor): Uint16Array => tf.bitcast(x, 'uint16').data() as Uint16Array;

function withGradients(op: Op, inputs: readonly tf.Tensor[]): tf.Tensor[] {
  const tape = new tf.GradientTape();
  tape.watch([...inputs]);
  const y = tape.record(() => op(...inputs));
  return [y, ...(tape.gradient(y, [...inputs]) as tf.Tensor[])];
}

test.each(cases)('%s', (_, op, inputs) => {
  const wide = inputs.map((x) => x.cast('float32'));
  const [y, ...gradients] = withGradients(op, inputs);
  if (inputs.length === 2) expect(bits(y!)).toEqual(bits(op(...wide).cast('bfloat16')));
  expect(y!.dtype).toBe('bfloat16');
  // Sums of gradients over axes that were broadcast are in another order.
  if (inputs.every((x) => x.rank === inputs[0]!.rank))
    withGradients(op, wide)
      .slice(1)
      .forEach((g, i) => expect(bits(gradients[i]!)).toEqual(bits(g.cast('bfloat16'))));
  const known = tf.function((...now: tf.Tensor[]) => withGradients(op, now));
  const signature = inputs.map(
    (x, i) => new tf.TensorSpec(i === 0 ? [null, ...x.shape.slice(1)] : [...x.shape], 'bfloat16'),
  );
  const unknown = tf.function((...now: tf.Tensor[]) => withGradients(op, now), { inputSignature: signature });
  for (const traced of [known, unknown])
    (traced(...inputs) as tf.Tensor[]).forEach((g, i) =>
      expect(bits(g)).toEqual(bits([y!, ...gradients][i]!)),
    );
});
