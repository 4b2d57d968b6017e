import { meanSquare, values } from '../inputs.ts';
import type { Target, TimedWorkload } from '../workload.ts';

function gemm(name: string, [m, k, n]: readonly [number, number, number], target: Target): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `matmul [${m}, ${k}] × [${k}, ${n}]`,
    flops: 2 * m * k * n,
    limit: 'fma',
    target,
    eagre(tf) {
      const a = tf.constant(values(m * k)).reshape([m, k]);
      const b = tf.constant(values(k * n, 1)).reshape([k, n]);
      const run = () => a.matmul(b);
      return { run, check: () => meanSquare(run().data() as Float32Array) };
    },
  };
}

const nearPeak: Target = { kind: 'limit', fractions: { 1: 0.85, 2: 0.8 } };

export const gemm512: TimedWorkload = gemm('gemm512', [512, 512, 512], nearPeak);
export const gemm1024: TimedWorkload = gemm('gemm1024', [1024, 1024, 1024], nearPeak);
export const gemmMlp: TimedWorkload = gemm('gemm_mlp', [32, 784, 128], {
  kind: 'ratio',
  peer: 'torch',
  atLeast: 1,
});
