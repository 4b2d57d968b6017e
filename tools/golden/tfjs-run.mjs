// What TensorFlow.js itself computes with models: `EAGRE_TFJS=folder node tools/golden/tfjs-run.mjs < models.json > results.json`. The programs in
// Python beside it call this. EAGRE_TFJS is a folder in which `npm install @tensorflow/tfjs@4.22.0` has run.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.EAGRE_TFJS, 'package.json'));
console.info = console.log = console.warn = () => {};
const tf = require('@tensorflow/tfjs');
await tf.setBackend('cpu');

/** @returns what reads a model whose files are in base64 */
function handlerOf(files) {
  const json = JSON.parse(Buffer.from(files['model.json'], 'base64').toString());
  const paths = json.weightsManifest.flatMap((group) => group.paths);
  const data = new Uint8Array(Buffer.concat(paths.map((path) => Buffer.from(files[path], 'base64')))).buffer;
  return {
    load: async () => ({
      ...json,
      weightSpecs: json.weightsManifest.flatMap((group) => group.weights),
      weightData: data,
    }),
  };
}
const tensorOf = ({ data, shape, dtype }) =>
  tf.tensor(data, shape, dtype.startsWith('float') ? 'float32' : /int/.test(dtype) ? 'int32' : dtype);
async function stored(tensor) {
  const data = Array.from(await tensor.data());
  const isFloat = tensor.dtype === 'float32';
  return {
    dtype: tensor.dtype,
    shape: tensor.shape,
    data: isFloat ? data.map((value) => Number(value.toPrecision(8))) : data.map((v) => (tensor.dtype === 'bool' ? v === 1 : v)),
  };
}

const results = [];
for (const { name, files, inputs = {}, x, target } of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    if (x !== undefined) {
      const model = await tf.loadLayersModel(handlerOf(files));
      const y = model.predict(Array.isArray(x) ? x.map(tensorOf) : tensorOf(x));
      const found = await Promise.all((Array.isArray(y) ? y : [y]).map(stored));
      if (target !== undefined) {
        const losses = [];
        for (let i = 0; i < 3; i++) losses.push([await model.trainOnBatch(tensorOf(x), tensorOf(target))].flat()[0]);
        found.push({ dtype: 'float32', shape: [3], data: losses });
      }
      results.push(found);
      continue;
    }
    const model = await tf.loadGraphModel(handlerOf(files));
    const given = Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, tensorOf(value)]));
    const found = await model.executeAsync(given);
    const list = Array.isArray(found) ? found : [found];
    const keys = model.modelStructuredOutputKeys ?? Object.keys(model.modelSignature?.outputs ?? {});
    const names = keys.length > 0 ? keys : model.outputs.map((output) => output.name);
    results.push(Object.fromEntries(await Promise.all(list.map(async (t, i) => [names[i], await stored(t)]))));
  } catch (error) {
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
}
process.stdout.write(JSON.stringify({ version: tf.version_core ?? tf.version['tfjs-core'], results }));
