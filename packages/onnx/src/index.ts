/** ONNX files: `load` reads and runs them, `save` writes them. */
export { load, save } from './functions.ts';
export type { LoadOptions } from './load/load.ts';
export { type OnnxMap, OnnxModel, type OnnxResult, type OnnxValueInfo } from './load/model.ts';
export type { SaveOptions } from './save/save.ts';
export type { SaveTarget } from './save/target.ts';
