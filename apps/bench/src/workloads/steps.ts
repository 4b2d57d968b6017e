// Training steps as a user writes them: a tape, a gradient, an optimizer, nothing disposed.
import type * as Eagre from 'eagre';
import { classLabels, values } from '../inputs.ts';
import {
  against,
  inFunction,
  ratio,
  stepTargets,
  type Target,
  type TimedWorkload,
  usualTargets,
} from '../workload.ts';

/** A step on any batch. */
function trainStepOf(
  tf: typeof Eagre,
  model: Eagre.Sequential,
  optimizer: Eagre.optimizers.Optimizer,
): (x: Eagre.Tensor, labels: Eagre.Tensor) => Eagre.Tensor {
  const lossObject = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
  const variables = model.trainableVariables;
  return (x, labels) => {
    const tape = new tf.GradientTape();
    const loss = lossObject(labels, model(x, { training: true }));
    optimizer.applyGradients(tape.gradient(loss, variables), variables);
    return loss;
  };
}

function stepOf(
  tf: typeof Eagre,
  model: Eagre.Sequential,
  optimizer: Eagre.optimizers.Optimizer,
  x: Eagre.Tensor,
): () => Eagre.Tensor {
  const labels = tf.constant(classLabels(x.shape[0]!));
  const step = trainStepOf(tf, model, optimizer);
  return () => step(x, labels);
}

/** A step of the convolutional network on any batch of images [n, 28, 28, 1]. */
export function cnnTrainStep(tf: typeof Eagre): (x: Eagre.Tensor, labels: Eagre.Tensor) => Eagre.Tensor {
  const model = new tf.Sequential([
    new tf.layers.Conv2D(32, 3, { activation: 'relu', inputShape: [28, 28, 1] }),
    new tf.layers.MaxPooling2D(2),
    new tf.layers.Conv2D(64, 3, { activation: 'relu' }),
    new tf.layers.MaxPooling2D(2),
    new tf.layers.Flatten(),
    new tf.layers.Dense(64, { activation: 'relu' }),
    new tf.layers.Dense(10),
  ]);
  return trainStepOf(tf, model, new tf.optimizers.Adam({ learningRate: 1e-3 }));
}

function cnnStep(tf: typeof Eagre): () => Eagre.Tensor {
  const x = tf.constant(values(32 * 28 * 28)).reshape([32, 28, 28, 1]);
  const labels = tf.constant(classLabels(32));
  const step = cnnTrainStep(tf);
  return () => step(x, labels);
}

function mnistCnn(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `training step${inFunction(traced)}, Conv32-pool-Conv64-pool-Dense64-Dense10, batch 32, Adam`,
    targets,
    eagre(tf) {
      const run = cnnStep(tf);
      return { run: traced ? tf.function(run) : run };
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
      const run = stepOf(tf, model, new tf.optimizers.SGD({ learningRate: 0.01 }), x);
      return { run: traced ? tf.function(run) : run };
    },
  };
}

export const mlpStep: TimedWorkload = mlp('mlp_step', 32, false, stepTargets(1.5));
export const mlpStep256: TimedWorkload = mlp('mlp_step_256', 256, false, stepTargets(1.5));
export const mlpFunction: TimedWorkload = mlp('mlp_step_function', 32, true, usualTargets(2.5));

/** A function that nobody has called before, each time: what it takes to trace it, to make its plan, and to run that once. */
export const traceCnn: TimedWorkload = {
  kind: 'timed',
  name: 'trace_cnn',
  title: 'tracing that step, making its plan, and its first run, of a new tf.function each time',
  targets: [{ kind: 'atMost', value: 0.15 }, ratio('tensorflow', 2)],
  eagre(tf) {
    const step = cnnStep(tf);
    // Layers and the optimizer make their variables first.
    step();
    return { run: () => tf.function(() => step())() };
  },
};

const PARAMETERS = 1_000_000;

function adamByHandOf(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `a step of Adam written by hand${inFunction(traced)}, one million parameters`,
    targets,
    eagre(tf) {
      const gradient = tf.constant(values(PARAMETERS));
      const weights = new tf.Variable(values(PARAMETERS, 1));
      const [mean, square] = [0, 1].map(() => new tf.Variable(tf.zeros([PARAMETERS])));
      const steps = new tf.Variable(0);
      const run = () => {
        steps.assignAdd(1);
        mean!.assign(mean!.mul(0.9).add(gradient.mul(0.1)));
        square!.assign(square!.mul(0.999).add(gradient.square().mul(0.001)));
        const unbiased = mean!.div(tf.subtract(1, tf.pow(0.9, steps)));
        const scale = square!
          .div(tf.subtract(1, tf.pow(0.999, steps)))
          .sqrt()
          .add(1e-7);
        weights.assignSub(unbiased.div(scale).mul(1e-3));
      };
      return { run: traced ? tf.function(run) : run };
    },
  };
}

export const adamByHand: TimedWorkload = adamByHandOf('adam_by_hand', false, []);
export const adamByHandFunction: TimedWorkload = adamByHandOf('adam_by_hand_function', true, [
  against('adam_by_hand', 4),
  ratio('torch', 1),
]);
