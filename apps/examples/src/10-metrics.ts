// Metrics are objects: they take in values and tell the result so far.
import * as tf from 'eagre';

const m = new tf.metrics.Mean('loss');
m(0);
m(5);
export const mean = m.result().item();
m([8, 9]);
export const meanOfAll = m.result().item();
console.log('mean of 0 and 5:', mean, 'and of 8 and 9 too:', meanOfAll);

const accuracy = new tf.metrics.Accuracy();
export const accuracies: number[] = [];
accuracy.updateState([1, 2, 3, 4], [0, 2, 3, 4]);
accuracies.push(accuracy.result().item());
accuracy.updateState([0, 2, 3], [1, 2, 3]);
accuracies.push(accuracy.result().item());
accuracy.resetState();
accuracy.updateState([0, 2, 3], [1, 2, 3]);
accuracies.push(accuracy.result().item());
console.log('accuracies, the last one after a reset:', accuracies);

/** Counts the examples whose largest output is the right one. */
class CategoricalTruePositives extends tf.metrics.Metric {
  truePositives: tf.Variable;

  constructor(name = 'categorical_true_positives') {
    super({ name });
    this.truePositives = this.addWeight({ name: 'tp', initializer: 'zeros' });
  }

  override updateState(
    yTrue: tf.TensorLike,
    yPred: tf.TensorLike,
    options: { sampleWeight?: tf.TensorLike } = {},
  ): void {
    const labels = tf.cast(tf.constant(yTrue), 'int32');
    const hits = tf.cast(tf.equal(labels, tf.argmax(yPred, -1).cast('int32')), 'float32');
    const { sampleWeight } = options;
    this.truePositives.assignAdd((sampleWeight === undefined ? hits : hits.mul(sampleWeight)).sum());
  }

  override result(): tf.Tensor {
    return this.truePositives.read();
  }
}

const counted = new CategoricalTruePositives();
const outputs = [
  [0.1, 0.9],
  [0.8, 0.2],
  [0.3, 0.7],
];
counted.updateState([1, 0, 0], outputs);
export const positives = counted.result().item();
counted.resetState();
counted.updateState([1, 0, 0], outputs, { sampleWeight: [0.5, 2, 1] });
export const weighted = counted.result().item();
console.log('true positives:', positives, 'weighted:', weighted);
