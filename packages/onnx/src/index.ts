/** ONNX files: `load` reads and runs them, `save` writes them. */
export { type LoadOptions, load } from './load/load.ts';
export { OnnxModel, type OnnxResult, type OnnxValueInfo } from './load/model.ts';
export { type SaveOptions, save } from './save/save.ts';
export type { SaveTarget } from './save/target.ts';
