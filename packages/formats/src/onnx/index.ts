// ONNX's messages and tensors, as one namespace.
export * from './messages.ts';
export { decodeOnnxTensor, encodeOnnxTensor, type OnnxValue, onnxType, onnxTypeName } from './tensors.ts';
