import { meanSquare, values } from '../inputs.ts';
import { type Target, type TimedWorkload, usualTargets } from '../workload.ts';

function gemm(
  name: string,
  [m, k, n]: readonly [number, number, number],
  targets: readonly Target[],
): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `matmul [${m}, ${k}] × [${k}, ${n}]`,
    // Of one row nothing is used twice.
    ...(m === 1
      ? { bytes: 4 * k * n, limit: 'read' as const }
      : { flops: 2 * m * k * n, limit: 'fma' as const }),
    targets,
    eagre(tf) {
      const a = tf.constant(values(m * k)).reshape([m, k]);
      const b = tf.constant(values(k * n, 1)).reshape([k, n]);
      const run = () => a.matmul(b);
      return { run, check: () => meanSquare(run().data() as Float32Array) };
    },
  };
}

const nearPeak: Target = { kind: 'limit', fractions: { 1: 0.85, 2: 0.8 } };

export const gemm256: TimedWorkload = gemm('gemm256', [256, 256, 256], usualTargets(1));
export const gemm512: TimedWorkload = gemm('gemm512', [512, 512, 512], [nearPeak, ...usualTargets(1)]);
export const gemm1000: TimedWorkload = gemm('gemm1000', [1000, 1000, 1000], usualTargets(1));
export const gemm1024: TimedWorkload = gemm('gemm1024', [1024, 1024, 1024], [nearPeak, ...usualTargets(1)]);
export const gemm2048: TimedWorkload = gemm('gemm2048', [2048, 2048, 2048], usualTargets(1));
export const gemmMlp: TimedWorkload = gemm('gemm_mlp', [32, 784, 128], usualTargets(1.1));
/** What predicting one example does: 34 MB of weights are read once. */
export const gemmRow: TimedWorkload = gemm('gemm_row', [1, 2896, 2896], usualTargets(1));
