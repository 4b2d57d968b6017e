// A Keras model: compile, fit, evaluate, predict.
import * as tf from 'eagre';
import { plot } from 'playground';

// It learns the sum of squares.
const x = tf.random.uniform([512, 2], { minval: -1 });
const y = x.square().sum(1, { keepdims: true });

const model = new tf.Sequential([
  new tf.layers.Dense(32, { activation: 'relu', inputShape: [2] }),
  new tf.layers.Dense(1),
]);
model.summary();
model.compile({ optimizer: new tf.optimizers.Adam(0.01), loss: 'mse' });

const { history } = await model.fit(x, y, { epochs: 20, validationSplit: 0.2, verbose: 2 });
plot({ loss: history.loss ?? [], validation: history.val_loss ?? [] });

console.log(await model.predict(tf.constant([[0.5, 0.5]])));
