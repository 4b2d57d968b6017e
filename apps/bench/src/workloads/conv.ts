import { meanSquare, values } from '../inputs.ts';
import type { TimedWorkload } from '../workload.ts';

export const convFwdBwd: TimedWorkload = {
  kind: 'timed',
  name: 'conv_fwd_bwd',
  title: 'conv2d and both gradients, x [32, 26, 26, 32], filter 3×3×32×64',
  flops: 3 * 2 * 32 * 24 * 24 * 64 * 3 * 3 * 32,
  limit: 'fma',
  target: { kind: 'ratio', peer: 'torch', atLeast: 0.7 },
  eagre(tf) {
    const x = tf.constant(values(32 * 26 * 26 * 32)).reshape([32, 26, 26, 32]);
    const w = tf.constant(values(3 * 3 * 32 * 64, 1)).reshape([3, 3, 32, 64]);
    const dy = tf.constant(values(32 * 24 * 24 * 64, 2)).reshape([32, 24, 24, 64]);
    const run = () => {
      const tape = new tf.GradientTape();
      tape.watch([x, w]);
      const y = tf.nn.conv2d(x, w, { strides: 1, padding: 'VALID' });
      return tape.gradient(y, [x, w], { outputGradients: dy });
    };
    const check = () => run().reduce((sum, g) => sum + meanSquare(g!.data() as Float32Array), 0);
    return { run, check };
  },
};
