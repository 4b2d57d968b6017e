/** ONNX files. */
export {};
