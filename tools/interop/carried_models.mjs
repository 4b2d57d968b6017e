// Loads models, by the JSON on stdin of names and files, and saves them with open sizes: as a SavedModel and as an ONNX file, and models of
// Keras as `.keras` too; run by carried_models.py. The last line says what has failed, by name.
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

// On sources: EAGRE_ENTRY=$PWD/packages/eagre/src/index.ts, under tsx.
const tf = await import(process.env.EAGRE_ENTRY ?? '../../packages/eagre/dist/index.js');

// Only texts and tables have no form in ONNX.
const NOT_IN_ONNX = new Set(['checked']);

const carry = {
  async '.onnx'(file) {
    const model = await tf.onnx.load(file);
    const inputSignature = model.inputs.map(
      ({ shape, dtype, name }) => new tf.TensorSpec(shape, dtype, name),
    );
    return { run: (...xs) => model(...xs), inputSignature, owner: model };
  },
  async '.keras'(file) {
    const model = await tf.keras.models.loadModel(file);
    const inputSignature = model.inputs.map(
      ({ shape, dtype, name }) => new tf.TensorSpec(shape, dtype, name),
    );
    await model.save(join(dirname(file), 'again.keras'));
    return { run: (...xs) => model(...xs), inputSignature, owner: model };
  },
  async ''(file) {
    const model = await tf.savedModel.load(file);
    const inputSignature = [new tf.TensorSpec([null, null], 'int32', 'ids')];
    return { run: (...xs) => model.__call__(...xs), inputSignature, owner: model };
  },
};

const failed = {};
for (const [name, file] of Object.entries(JSON.parse(await text(process.stdin)))) {
  const kind = /\.(onnx|keras)$/.exec(file)?.[0] ?? '';
  const folder = dirname(file);
  try {
    const { run, inputSignature, owner } = await carry[kind](file);
    const traced = tf.function(run, { inputSignature });
    if (!NOT_IN_ONNX.has(name)) await tf.onnx.save(traced, join(folder, 'again.onnx'));
    await tf.savedModel.save({ run: traced, owner }, join(folder, 'again'), { signatures: traced });
  } catch (error) {
    failed[name] = String(error.stack ?? error);
  }
}
console.log(JSON.stringify(failed));
