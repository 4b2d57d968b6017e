/** SavedModels and TensorFlow's graphs. */
export { translatedOps } from './import/ops/index.ts';
export { type SaveModelOptions, save } from './save/save.ts';
export type { Signatures } from './save/signatures.ts';
