import * as tf from 'eagre';
import { createModel } from './model.ts';
import { spirals } from './spirals.ts';

tf.keras.utils.setRandomSeed(1);

const training = spirals(3000, 1);
const test = spirals(600, 2);
const dataset = tf.data.Dataset.fromTensorSlices([training.points, training.labels])
  .shuffle(3000, { seed: 1 })
  .batch(64)
  .prefetch(2);

const model = createModel();
model.summary();
await model.fit(dataset, { epochs: 10, validationData: [test.points, test.labels] });

const { loss, accuracy } = await model.evaluate(test.points, test.labels, { verbose: 0 });
console.log(`loss ${loss?.toFixed(3)}, accuracy ${accuracy?.toFixed(3)}`);

await model.save('runs/spirals.keras');
console.log('saved runs/spirals.keras; try: npm run predict -- 0.3 0.4');
