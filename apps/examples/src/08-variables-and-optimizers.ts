// A linear model on 3x + 2 with noise: variables, a loss, and an optimizer.
import * as tf from 'eagre';

class Linear extends tf.Model {
  W = new tf.Variable(5, { name: 'weight' });
  B = new tf.Variable(10, { name: 'bias' });

  override call(inputs: tf.Tensor): tf.Tensor {
    return inputs.mul(this.W).add(this.B);
  }
}

tf.random.setSeed(3);
const NUM_EXAMPLES = 2000;
const trainingInputs = tf.random.normal([NUM_EXAMPLES]);
const noise = tf.random.normal([NUM_EXAMPLES]);
const trainingOutputs = trainingInputs.mul(3).add(2).add(noise);

const model = new Linear();
function loss(): tf.Tensor {
  return model(trainingInputs).sub(trainingOutputs).square().mean();
}
function grad(): (tf.Tensor | null)[] {
  const tape = new tf.GradientTape();
  return tape.gradient(tape.record(loss), [model.W, model.B]);
}

const optimizer = new tf.optimizers.SGD({ learningRate: 0.01 });
export const initial = loss().item();
console.log(`Initial loss: ${initial.toFixed(3)}`);
for (let i = 0; i < 300; i++) {
  optimizer.applyGradients(grad(), [model.W, model.B]);
  if (i % 20 === 0) console.log(`Loss at step ${String(i).padStart(3, '0')}: ${loss().item().toFixed(3)}`);
}
export const final = loss().item();
export const W = model.W.item();
export const B = model.B.item();
console.log(`Final loss: ${final.toFixed(3)}`);
console.log(`W = ${W}, B = ${B}`);
