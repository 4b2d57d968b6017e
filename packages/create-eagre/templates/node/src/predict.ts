import * as tf from 'eagre';
import { decide, probabilities } from './model.ts';

const [x, y] = process.argv.slice(2).map(Number);
if (x === undefined || y === undefined || Number.isNaN(x + y)) {
  console.error('Give a point: npm run predict -- 0.3 0.4');
  process.exit(1);
}
const model = (await tf.keras.models.loadModel('runs/spirals.keras')) as tf.Sequential;
console.log('probabilities', probabilities(model, tf.constant([[x, y]])).array());
const choice = decide(model, tf.constant([x, y])).item();
console.log(choice === -1 ? 'the model is not sure' : `arm ${choice}`);
