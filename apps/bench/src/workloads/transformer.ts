import { meanSquare, values } from '../inputs.ts';
import { inFunction, stepTargets, type Target, type TimedWorkload, usualTargets } from '../workload.ts';

export const layerNorm: TimedWorkload = {
  kind: 'timed',
  name: 'layer_norm',
  title: 'layer normalisation of [1024, 1024] along the last axis',
  targets: usualTargets(1),
  eagre(tf) {
    const x = tf.constant(values(1024 * 1024)).reshape([1024, 1024]);
    const scale = tf.constant(values(1024, 1));
    const offset = tf.constant(values(1024, 2));
    const run = () => tf.nn.layerNormalization(x, { scale, offset, epsilon: 1e-5 });
    return { run, check: () => meanSquare(run().data() as Float32Array) };
  },
};

function transformer(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `training step${inFunction(traced)}, a transformer block (256 wide, 4 heads, 1024 feed-forward GELU), 8 × 128 tokens, SGD`,
    targets,
    eagre(tf) {
      class Block extends tf.Model {
        readonly attentionNorm = new tf.layers.LayerNormalization({ epsilon: 1e-5 });
        readonly attention = new tf.layers.MultiHeadAttention(4, 64);
        readonly norm = new tf.layers.LayerNormalization({ epsilon: 1e-5 });
        readonly wide = new tf.layers.Dense(1024, { activation: 'gelu' });
        readonly narrow = new tf.layers.Dense(256);

        override call(x: InstanceType<typeof tf.Tensor>) {
          const y = x.add(this.attention(this.attentionNorm(x)));
          return y.add(this.narrow(this.wide(this.norm(y))));
        }
      }
      const block = new Block();
      const x = tf.constant(values(8 * 128 * 256)).reshape([8, 128, 256]);
      block(x);
      const variables = block.trainableVariables;
      const optimizer = new tf.optimizers.SGD({ learningRate: 0.01 });
      const run = () => {
        const tape = new tf.GradientTape();
        const loss = block(x, { training: true }).square().mean();
        optimizer.applyGradients(tape.gradient(loss, variables), variables);
        return loss;
      };
      return { run: traced ? tf.function(run) : run };
    },
  };
}

export const transformerStep: TimedWorkload = transformer('transformer_step', false, stepTargets(1.1));
export const transformerFunction: TimedWorkload = transformer(
  'transformer_step_function',
  true,
  usualTargets(1.25),
);
