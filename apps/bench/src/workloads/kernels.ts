// Kernels of layers and optimizers, each alone.
import type * as Eagre from 'eagre';
import { values } from '../inputs.ts';
import type { TimedWorkload } from '../workload.ts';
import { type KernelOptions, kernel as kernelOf, kernelTargets, tensorOf } from './kernel.ts';

type Tensor = Eagre.Tensor;
type Inputs = (shape: readonly number[], salt?: number) => Tensor;

function kernel(
  name: string,
  title: string,
  make: (tf: typeof Eagre, input: Inputs) => () => Tensor | readonly Tensor[],
  options?: KernelOptions,
): TimedWorkload {
  return kernelOf(name, title, (tf) => make(tf, (shape, salt) => tensorOf(tf, values, shape, salt)), options);
}

export const biasAdd: TimedWorkload = kernel(
  'bias_add',
  '[2000, 1000] + [1000]',
  (_, input) => {
    const [x, b] = [input([2000, 1000]), input([1000], 1)];
    return () => x.add(b);
  },
  { bytes: 16e6, limit: 'copy' },
);

function concat(name: string, shape: readonly number[], axis: number): TimedWorkload {
  return kernel(
    name,
    `concat of four [${shape.join(', ')}] along axis ${axis}`,
    (tf, input) => {
      const parts = [0, 1, 2, 3].map((salt) => input(shape, salt));
      return () => tf.concat(parts, axis);
    },
    { bytes: 16e6, limit: 'copy' },
  );
}
export const concatRows: TimedWorkload = concat('concat_rows', [500, 1000], 0);
export const concatColumns: TimedWorkload = concat('concat_columns', [1000, 500], 1);
export const concatNarrow: TimedWorkload = concat('concat_narrow', [25_000, 20], 1);

function moments(name: string, shape: readonly number[], axis: number): TimedWorkload {
  return kernel(name, `moments of [${shape.join(', ')}] over axis ${axis}`, (tf, input) => {
    const x = input(shape);
    return () => Object.values(tf.nn.moments(x, axis));
  });
}
export const momentsBatch: TimedWorkload = moments('moments_batch', [8000, 250], 0);
export const momentsRows: TimedWorkload = moments('moments_rows', [2000, 1000], 1);

export const exp2m: TimedWorkload = kernel(
  'exp2m',
  'exp of 2 million elements',
  (_, input) => {
    const x = input([2_000_000]);
    return () => x.exp();
  },
  { bytes: 16e6, limit: 'copy' },
);

function cumsum(name: string, shape: readonly number[], axis: number): TimedWorkload {
  return kernel(name, `cumulative sum of [${shape.join(', ')}] along axis ${axis}`, (tf, input) => {
    const x = input(shape);
    return () => tf.cumsum(x, axis);
  });
}
export const cumsumRows: TimedWorkload = cumsum('cumsum_rows', [1000, 1000], 1);
export const cumsumColumns: TimedWorkload = cumsum('cumsum_columns', [1000, 1000], 0);

export const matmulBatched: TimedWorkload = kernel(
  'matmul_batched',
  '64 products [128, 64] × [64, 128]',
  (_, input) => {
    const [a, b] = [input([64, 128, 64]), input([64, 64, 128], 1)];
    return () => a.matmul(b);
  },
  { flops: 2 * 64 * 128 * 64 * 128, limit: 'fma' },
);

function transposed(name: string, shape: readonly number[], perm: readonly number[]): TimedWorkload {
  return kernel(
    name,
    `transpose of [${shape.join(', ')}] to axes [${perm.join(', ')}]`,
    (_, input) => {
      const x = input(shape);
      return () => x.transpose(perm);
    },
    { bytes: 8 * shape.reduce((a, b) => a * b), limit: 'copy' },
  );
}
export const transposeHeads: TimedWorkload = transposed('transpose_heads', [32, 128, 8, 64], [0, 2, 1, 3]);
export const transposeChannels: TimedWorkload = transposed(
  'transpose_channels',
  [16, 56, 56, 64],
  [0, 3, 1, 2],
);

export const conv2d: TimedWorkload = kernel(
  'conv2d',
  'conv2d of [16, 56, 56, 64] with 64 filters 3×3, padding SAME',
  (tf, input) => {
    const [x, w] = [input([16, 56, 56, 64]), input([3, 3, 64, 64], 1)];
    return () => tf.nn.conv2d(x, w, { strides: 1, padding: 'SAME' });
  },
  { flops: 2 * 16 * 56 * 56 * 64 * 3 * 3 * 64, limit: 'fma' },
);

export const depthwise: TimedWorkload = kernel(
  'depthwise',
  'depthwise conv2d of [16, 56, 56, 144] with 3×3, padding SAME',
  (tf, input) => {
    const [x, w] = [input([16, 56, 56, 144]), input([3, 3, 144, 1], 1)];
    return () => tf.nn.depthwiseConv2d(x, w, { strides: 1, padding: 'SAME' });
  },
  { flops: 2 * 16 * 56 * 56 * 144 * 3 * 3, bytes: 4 * 2 * 16 * 56 * 56 * 144, limit: 'copy' },
);

export const adam10m: TimedWorkload = {
  kind: 'timed',
  name: 'adam10m',
  title: 'a step of the optimizer Adam on 10 million parameters',
  bytes: 280e6,
  limit: 'add',
  targets: kernelTargets(),
  eagre(tf) {
    const gradient = tf.constant(values(10_000_000, 1));
    const step = (): (() => void) => {
      const weights = new tf.Variable(values(10_000_000));
      const optimizer = new tf.optimizers.Adam({ learningRate: 1e-3 });
      return () => void optimizer.applyGradients([gradient], [weights]);
    };
    return [
      { run: step(), variant: 'eager' },
      { run: tf.function(step()), variant: 'tf.function' },
    ];
  },
};
