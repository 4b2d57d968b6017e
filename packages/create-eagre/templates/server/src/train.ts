import * as tf from 'eagre';
import { createModel } from './model.ts';
import { spirals } from './spirals.ts';

tf.keras.utils.setRandomSeed(1);

const training = spirals(3000, 1);
const test = spirals(600, 2);
const model = createModel();
await model.fit(training.points, training.labels, {
  epochs: 10,
  batchSize: 64,
  validationData: [test.points, test.labels],
});

// Clients want probabilities, whatever the model was trained by.
const probabilities = new tf.Sequential([model, new tf.layers.Softmax()]);
// A number for each version: the server takes the newest.
await probabilities.export('runs/spirals/1');
console.log('saved runs/spirals/1');
