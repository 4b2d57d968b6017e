// Transforms and factors, for which there are NumPy and SciPy too.
import type * as Eagre from 'eagre';
import { noise } from '../inputs.ts';
import type { TimedWorkload } from '../workload.ts';
import { type KernelOptions, kernel, kernelTargets, meanSquareOfFirst, tensorOf } from './kernel.ts';

const targets = kernelTargets('numpy');
const options: KernelOptions = { targets, check: (results, tf) => meanSquareOfFirst(tf, results) };

function fft(
  name: string,
  title: string,
  shape: readonly number[],
  transform: (tf: typeof Eagre, z: Eagre.Tensor) => Eagre.Tensor,
): TimedWorkload {
  return kernel(
    name,
    title,
    (tf) => {
      const z = tf.complex(tensorOf(tf, noise, shape), tensorOf(tf, noise, shape, 1));
      return () => transform(tf, z);
    },
    options,
  );
}
export const fft1m: TimedWorkload = fft('fft_1m', 'fft of 2²⁰ complex numbers', [2 ** 20], (tf, z) =>
  tf.signal.fft(z),
);
export const fft2d1000: TimedWorkload = fft('fft2d_1000', 'fft2d of 1000 × 1000', [1000, 1000], (tf, z) =>
  tf.signal.fft2d(z),
);

const N = 512;
const matrix = (tf: typeof Eagre, salt = 0): Eagre.Tensor => tensorOf(tf, noise, [N, N], salt);
/** A matrix that is far from singular. */
const shifted = (tf: typeof Eagre, a: Eagre.Tensor): Eagre.Tensor => a.add(tf.eye(N).mul(10));

export const cholesky512: TimedWorkload = kernel(
  'cholesky512',
  `cholesky of [${N}, ${N}]`,
  (tf) => {
    const a = matrix(tf);
    const definite = shifted(tf, a.matmul(a, { transposeB: true }));
    return () => tf.linalg.cholesky(definite);
  },
  // The sum of squares of each whole row is in the matrix already.
  { targets, check: ([lower], tf) => meanSquareOfFirst(tf, [lower!.slice([N - 1, 200], [1, N - 200])]) },
);

export const qr512: TimedWorkload = kernel(
  'qr512',
  `qr of [${N}, ${N}]`,
  (tf) => {
    const a = matrix(tf);
    return () => tf.linalg.qr(a);
  },
  options,
);

export const svd512: TimedWorkload = kernel(
  'svd512',
  `svd of [${N}, ${N}], with vectors`,
  (tf) => {
    const a = matrix(tf);
    return () => tf.linalg.svd(a);
  },
  // Signs of vectors are not unique.
  { targets, check: ([s, u], tf) => meanSquareOfFirst(tf, [u!.mul(s!)]) },
);

export const solve512: TimedWorkload = kernel(
  'solve512',
  `solve of [${N}, ${N}] and ${N} right sides`,
  (tf) => {
    const [a, b] = [shifted(tf, matrix(tf)), matrix(tf, 1)];
    return () => tf.linalg.solve(a, b);
  },
  options,
);
