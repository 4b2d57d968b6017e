// For tests: the ways to save a model, whose weights all have one value, and to find that value again.
import * as tf from '../../src/index.ts';

export const model = new tf.Sequential([
  new tf.layers.Dense(30, { inputShape: [40] }),
  new tf.layers.Dense(20, { name: 'last' }),
]);
export const setAll = (value: number): void => {
  for (const weight of model.weights) weight.assign(tf.fill([...weight.shape] as number[], value));
};
const valuesOf = (weights: readonly tf.Variable[]): number[] => [
  ...new Set(weights.flatMap((weight) => [...(weight.value().data() as Float32Array)])),
];
const into = async (read: () => Promise<unknown>): Promise<number[]> => {
  setAll(0);
  await read();
  return valuesOf(model.weights);
};
/** How models are saved, and the values of the weights of what is there. */
export const kinds: Readonly<
  Record<string, { save: (path: string) => Promise<unknown>; read: (path: string) => Promise<number[]> }>
> = {
  model: {
    save: (path) => tf.savedModel.save(model, path),
    read: async (path) => valuesOf((await tf.savedModel.load(path)).variables),
  },
  'model.keras': {
    save: (path) => model.save(path),
    read: async (path) => valuesOf((await tf.keras.models.loadModel(path)).weights),
  },
  'model.h5': {
    save: (path) => model.save(path),
    read: async (path) => valuesOf((await tf.keras.models.loadModel(path)).weights),
  },
  folder: {
    save: (path) => model.save(path, { zipped: false }),
    read: async (path) => valuesOf((await tf.keras.models.loadModel(path)).weights),
  },
  'model.weights.h5': {
    save: (path) => model.saveWeights(path),
    read: (path) => into(() => model.loadWeights(path)),
  },
  'model.weights.json': {
    save: (path) => model.saveWeights(path, { maxShardSize: 5000 / 2 ** 30 }),
    read: (path) => into(() => model.loadWeights(path)),
  },
  'model.safetensors': {
    save: (path) => model.saveWeights(path),
    read: (path) => into(() => model.loadWeights(path)),
  },
  'model.npz': {
    save: (path) => model.saveWeights(path),
    read: (path) => into(() => model.loadWeights(path)),
  },
  checkpoint: {
    save: (path) => model.saveWeights(path),
    read: (path) => into(() => model.loadWeights(path)),
  },
  'model.onnx': {
    save: (path) => tf.onnx.save(model, path),
    read: async (path) => valuesOf((await tf.onnx.load(path)).variables),
  },
  'external.onnx': {
    save: (path) => tf.onnx.save(model, path, { externalData: true }),
    read: async (path) => valuesOf((await tf.onnx.load(path)).variables),
  },
};
