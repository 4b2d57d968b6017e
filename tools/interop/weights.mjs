// Saves the weights of a model with Eagre and prints what they are; run by weights.py.
import '../../packages/backend-js/dist/index.js';
import { layers, Sequential } from '../../packages/layers/dist/index.js';

const { BatchNormalization, Conv2D, Dense, Flatten } = layers;
const model = new Sequential([
  new Conv2D(2, 3, { inputShape: [5, 5, 1] }),
  new BatchNormalization(),
  new Flatten(),
  new Sequential([new Dense(3), new Dense(2, { dtype: 'float64' })]),
]);
await model.saveWeights(process.argv[2]);
const weights = model.namedWeights.map(({ path, variable }) => [
  path,
  { dtype: variable.dtype, shape: variable.shape, values: [...variable.data()] },
]);
console.log(JSON.stringify(Object.fromEntries(weights)));
