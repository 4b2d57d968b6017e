// Training steps as a user writes them: a tape, a gradient, an optimizer, nothing disposed.
import type * as Eagre from 'eagre';
import { classLabels, values } from '../inputs.ts';
import type { Case } from '../protocol.ts';
import { inFunction, stepTargets, type Target, type TimedWorkload, usualTargets } from '../workload.ts';

function step(
  tf: typeof Eagre,
  model: Eagre.Sequential,
  optimizer: Eagre.optimizers.Optimizer,
  x: Eagre.Tensor,
  traced: boolean,
): Case {
  const labels = tf.constant(classLabels(x.shape[0]!));
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const variables = model.trainableVariables;
  const run = () => {
    const tape = new tf.GradientTape();
    const loss = lossObject(labels, model(x, { training: true }));
    optimizer.applyGradients(tape.gradient(loss, variables), variables);
    return loss;
  };
  return { run: traced ? tf.function(run) : run };
}

function mnistCnn(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `training step${inFunction(traced)}, Conv32-pool-Conv64-pool-Dense64-Dense10, batch 32, Adam`,
    targets,
    eagre(tf) {
      const model = new tf.Sequential([
        new tf.layers.Conv2D(32, 3, { activation: 'relu', inputShape: [28, 28, 1] }),
        new tf.layers.MaxPooling2D(2),
        new tf.layers.Conv2D(64, 3, { activation: 'relu' }),
        new tf.layers.MaxPooling2D(2),
        new tf.layers.Flatten(),
        new tf.layers.Dense(64, { activation: 'relu' }),
        new tf.layers.Dense(10),
      ]);
      const x = tf.constant(values(32 * 28 * 28)).reshape([32, 28, 28, 1]);
      return step(tf, model, new tf.optimizers.Adam({ learningRate: 1e-3 }), x, traced);
    },
  };
}

export const mnistCnnStep: TimedWorkload = mnistCnn('mnist_cnn_step', false, stepTargets(1.4));
export const mnistCnnFunction: TimedWorkload = mnistCnn('mnist_cnn_step_function', true, usualTargets(1.7));

function mlp(name: string, batch: number, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `training step${inFunction(traced)}, 784-128-64-10, batch ${batch}, SGD`,
    targets,
    eagre(tf) {
      const model = new tf.Sequential([
        new tf.layers.Dense(128, { activation: 'relu', inputShape: [784] }),
        new tf.layers.Dense(64, { activation: 'relu' }),
        new tf.layers.Dense(10),
      ]);
      const x = tf.constant(values(batch * 784)).reshape([batch, 784]);
      return step(tf, model, new tf.optimizers.SGD({ learningRate: 0.01 }), x, traced);
    },
  };
}

export const mlpStep: TimedWorkload = mlp('mlp_step', 32, false, stepTargets(1.5));
export const mlpStep256: TimedWorkload = mlp('mlp_step_256', 256, false, stepTargets(1.5));
export const mlpFunction: TimedWorkload = mlp('mlp_step_function', 32, true, usualTargets(2.5));
