// Binary cross-entropy: probabilities are clipped to [1e-7, 1 - 1e-7], as in Keras 3. TensorFlow 2.0 also added 1e-7 inside the logarithms,
// and gave 11.522857.
import * as tf from 'eagre';

const bce = new tf.losses.BinaryCrossentropy();
export const loss = bce([0, 0, 1, 1], [1, 1, 1, 0]);
console.log(`Loss: ${loss}`);

// Weights of examples, and no reduction.
const none = new tf.losses.BinaryCrossentropy({ reduction: 'none', fromLogits: true });
export const each = none([[0], [1]], [[-2], [3]]);
console.log('for each:', each);
