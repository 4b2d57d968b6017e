/**
 * `tf.onnx`: models and functions as ONNX files, and ONNX files as functions. The code is loaded by the first call.
 */
export type {
  LoadOptions,
  OnnxMap,
  OnnxModel,
  OnnxResult,
  OnnxValueInfo,
  SaveOptions,
  SaveTarget,
} from '@eagre/onnx';
export { load, save } from '@eagre/onnx/internal';
