/** ONNX files: `load` reads and runs them, `save` writes them. */
export { type LoadOptions, load } from './load/load.ts';
export { OnnxModel, type OnnxResult, type OnnxValueInfo } from './load/model.ts';
