// A layer of one's own makes its weights when it sees the first input.
import * as tf from 'eagre';

class Linear extends tf.layers.Layer {
  readonly units: number;
  w!: tf.Variable;
  b!: tf.Variable;

  constructor(units = 32) {
    super();
    this.units = units;
  }

  override build(inputShape: tf.PartialShape): void {
    this.w = this.addWeight({
      name: 'w',
      shape: [inputShape.at(-1), this.units],
      initializer: 'randomNormal',
      regularizer: tf.keras.regularizers.l2(0.01),
    });
    this.b = this.addWeight({ name: 'b', shape: [this.units], initializer: 'zeros', constraint: 'nonNeg' });
  }

  override call(inputs: tf.Tensor): tf.Tensor {
    return tf.matmul(inputs, this.w).add(this.b);
  }
}

const layer = new Linear(32);
export const before = layer.weights.length;
console.log('weights before the first call:', layer.weights);

export const y = layer(tf.ones([8, 16]));
export const after = layer.weights.map((w) => w.shape);
console.log('shape of the result:', y.shape, 'and of the weights:', after);

export const losses = layer.losses.map((l) => l.item());
export const penalty = layer.w.square().sum().mul(0.01).item();
console.log('losses of the regularizer:', losses, 'by hand:', penalty);
