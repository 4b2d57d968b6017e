import { meanSquare, values } from '../inputs.ts';
import { type TimedWorkload, usualTargets } from '../workload.ts';

/** A convolution with stride 1 and no padding, and both its gradients. */
function conv(
  name: string,
  [batch, size, channels]: readonly [batch: number, size: number, channels: number],
  filters: number,
  torch: number,
): TimedWorkload {
  const out = size - 2;
  return {
    kind: 'timed',
    name,
    title: `conv2d and both gradients, x [${batch}, ${size}, ${size}, ${channels}], filter 3×3×${channels}×${filters}`,
    flops: 3 * 2 * batch * out * out * filters * 3 * 3 * channels,
    limit: 'fma',
    targets: usualTargets(torch),
    eagre(tf) {
      const tensor = (salt: number, ...shape: number[]) =>
        tf
          .constant(
            values(
              shape.reduce((a, b) => a * b),
              salt,
            ),
          )
          .reshape(shape);
      const x = tensor(0, batch, size, size, channels);
      const w = tensor(1, 3, 3, channels, filters);
      const dy = tensor(2, batch, out, out, filters);
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
}

export const convFwdBwd: TimedWorkload = conv('conv_fwd_bwd', [32, 26, 32], 64, 1);
export const convLarge: TimedWorkload = conv('conv_large', [8, 56, 64], 64, 1);
export const convOneChannel: TimedWorkload = conv('conv_one_channel', [32, 28, 1], 32, 2);
