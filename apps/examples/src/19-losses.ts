// Binary cross-entropy, with TensorFlow 2.0's rule for its epsilon.
import * as tf from 'eagre';

const bce = new tf.losses.BinaryCrossentropy();
export const loss = bce([0, 0, 1, 1], [1, 1, 1, 0]);
console.log(`Loss: ${loss}`);

// Weights of examples, and no reduction.
const none = new tf.losses.BinaryCrossentropy({ reduction: 'none', fromLogits: true });
export const each = none([[0], [1]], [[-2], [3]]);
console.log('for each:', each);
