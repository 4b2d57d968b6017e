// Constants of graphs, each decoded once.
import { constant, InvalidArgumentError, type Tensor, type TypedArray } from '@eagre/core';
import { inInitScope, textOf } from '@eagre/core/internal';
import { decodeTensorProto, type TensorValue, type tensorflow } from '@eagre/formats';
import { translatedError } from '../load/files.ts';
import { dtypeOf } from './op-call.ts';

// More than a graph holds, where one value stands for all of them, is a damaged file.
const MOST_BYTES = 2 ** 30;

const decoded = new WeakMap<tensorflow.NodeDef, Tensor>();

/** The value of a Const node. */
export function constantOf(node: tensorflow.NodeDef): Tensor {
  let tensor = decoded.get(node);
  if (tensor === undefined) {
    const proto = node.attr?.get('value')?.tensor;
    if (proto === undefined) throw new InvalidArgumentError(`the constant '${node.name}' has no value`);
    tensor = tensorOf(proto, node.name ?? '');
    decoded.set(node, tensor);
  }
  return tensor;
}

/** A tensor of a message. */
export function tensorOf(proto: tensorflow.TensorProto, where: string): Tensor {
  dtypeOf(proto.dtype ?? 0, where);
  try {
    return tensorOfValue(decodeTensorProto(proto, { file: where, maxBytes: MOST_BYTES }));
  } catch (cause) {
    // It may be read when a function is first called.
    throw translatedError(cause, where);
  }
}

/** A tensor of what a file held. */
export function tensorOfValue(value: TensorValue): Tensor {
  return inInitScope(() => {
    if (value.dtype !== 'string')
      return constant({ data: value.data as TypedArray, shape: value.shape, dtype: value.dtype });
    return constant(value.data.map(textOf), 'string', { shape: value.shape });
  });
}
