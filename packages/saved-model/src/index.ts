/** SavedModels and TensorFlow's graphs. */
export { translatedOps } from './import/ops/index.ts';
