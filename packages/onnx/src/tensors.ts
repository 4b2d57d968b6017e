// Tensors in files, and tensors here.
import { DataLossError, type DType, UnimplementedError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { FormatError, onnx, UnsupportedFormatError } from '@eagre/formats';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Text in bytes. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/**
 * The tensor in a message.
 *
 * @param external its bytes, where they are in another file.
 */
export function tensorOf(proto: onnx.TensorProto, external?: Uint8Array): Tensor {
  const value = reading(() => onnx.decodeOnnxTensor(proto, { external }));
  if (value.dtype !== 'string') {
    const tensor = constant(value);
    if (PACKED[onnx.onnxTypeName(proto.data_type ?? 0) ?? ''] !== undefined) packed.add(tensor);
    return tensor;
  }
  return constant(value.data.map(textOf), 'string').reshape(value.shape);
}

const packed = new WeakSet<Tensor>();
/** Whether a tensor of integers of a byte stands for one of less. */
export const isPacked = (x: Tensor): boolean => packed.has(x);

/** Runs what reads bytes; errors of formats become those of Eagre. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof UnsupportedFormatError) throw new UnimplementedError(cause.message, OP, { cause });
    if (cause instanceof FormatError) throw new DataLossError(cause.message, OP, { cause });
    throw cause;
  }
}

const OP = 'tf.onnx';

/** The dtype of ONNX's number. @throws UnimplementedError for one that Eagre does not have. */
export function dtypeOf(number: number): DType {
  const name = onnx.onnxTypeName(number);
  if (name === undefined) throw new DataLossError(`there is no ONNX data type of number ${number}`, OP);
  if (PACKED[name] !== undefined || name.startsWith('float8') || name.startsWith('float4'))
    throw new UnimplementedError(`there are no tensors of the ONNX data type ${name}`, OP);
  return name as DType;
}
// Constants of integers of less than a byte are those of a byte here.
const PACKED: Readonly<Record<string, DType>> = {
  int4: 'int8',
  uint4: 'uint8',
  int2: 'int8',
  uint2: 'uint8',
};

/** ONNX's number of a dtype. */
export function typeNumber(dtype: DType): number {
  return onnx.onnxType(dtype) as number;
}
