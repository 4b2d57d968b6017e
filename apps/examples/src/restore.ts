// Restores what start.ts has saved: `restore.ts weights.safetensors`.
import { compile, mnistData, mnistModel } from './mnist-model.ts';

const file = process.argv[2];
if (file === undefined) throw new Error('usage: restore.ts <weights.safetensors>');
const { held } = await mnistData();
const model = mnistModel();
compile(model);
await model.loadWeights(file);
const { accuracy } = await model.evaluate(...held, { batchSize: 500, verbose: 0 });
console.log(`restored accuracy ${accuracy?.toFixed(4)}`);
