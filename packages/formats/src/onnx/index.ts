// ONNX's messages and tensors, as one namespace.
export * from './messages.ts';
export {
  decodeOnnxTensor,
  encodeOnnxTensor,
  type OnnxValue,
  onnxTensorBytes,
  onnxType,
  onnxTypeName,
} from './tensors.ts';
