// Models of TensorFlow and Keras that Eagre loads and saves again, for loaded_models.py.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

// On sources: EAGRE_ENTRY=$PWD/packages/eagre/src/index.ts, under tsx.
const tf = await import(process.env.EAGRE_ENTRY ?? '../../packages/eagre/dist/index.js');

const [folder] = process.argv.slice(2);
const golden = (name) =>
  fileURLToPath(new URL(`../../packages/saved-model/golden/${name}.json.gz`, import.meta.url));
const modelsOf = (name) => JSON.parse(gunzipSync(readFileSync(golden(name))).toString()).models;
const models = [
  ...modelsOf('models'),
  ...modelsOf('concrete-functions'),
  ...modelsOf('more-models'),
  ...modelsOf('version1'),
  ...modelsOf('composites').map((model) => ({ ...model, name: `composites-${model.name}` })),
];
for (const { name, files } of models) {
  const source = join(folder, 'of-tensorflow', name);
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(source, file)), { recursive: true });
    writeFileSync(join(source, file), Buffer.from(content, 'base64'));
  }
  const model = await tf.savedModel.load(source);
  const again = join(folder, 'again', name);
  await tf.savedModel.save(model, again, { signatures: model.signatures });
  // What was saved again is saved once more.
  const second = await tf.savedModel.load(again);
  await tf.savedModel.save(second, join(folder, 'twice', name), { signatures: second.signatures });
}
