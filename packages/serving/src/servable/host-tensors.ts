import {
  type DType,
  dtypeTraits,
  InternalError,
  InvalidArgumentError,
  isComplex,
  isHalf,
  type TypedArray,
} from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { isPlain, shown, textOf } from '@eagre/core/internal';
import type { HostTensor, HostTensors, TensorInfo } from './servable.ts';

/** The values of a tensor. */
export async function hostTensor(tensor: Tensor): Promise<HostTensor> {
  const { dtype, shape } = tensor;
  return { dtype, shape, values: dtype === 'string' ? tensor.strings() : await tensor.read() };
}

/** A tensor of these values. */
export function tensorOf({ dtype, shape, values }: HostTensor): Tensor {
  if (dtype === 'string')
    return constant(
      (values as readonly (string | Uint8Array)[]).map((value) =>
        typeof value === 'string' ? value : textOf(value),
      ),
      dtype,
      { shape },
    );
  return constant(values as TypedArray, dtype, { shape });
}

/** An array for `size` values of a dtype. */
export function arrayFor(dtype: DType, size: number): TypedArray {
  return isHalf(dtype) ? new Float32Array(size) : new dtypeTraits[dtype].array(size);
}

/** Tensors one behind the other along their first axis; their other sizes are equal. */
export function concatRows(tensors: readonly HostTensor[]): HostTensor {
  const [first] = tensors;
  if (tensors.length === 1) return first;
  const { dtype } = first;
  const shape = [tensors.reduce((rows, t) => rows + t.shape[0], 0), ...first.shape.slice(1)];
  if (dtype === 'string')
    return { dtype, shape, values: tensors.flatMap((t) => t.values as readonly (string | Uint8Array)[]) };
  const values = arrayFor(
    dtype,
    tensors.reduce((size, t) => size + t.values.length, 0),
  );
  let at = 0;
  for (const tensor of tensors) {
    values.set(tensor.values as never, at);
    at += tensor.values.length;
  }
  return { dtype, shape, values };
}

/** Some rows of a tensor, in its memory. */
export function rowsOf({ dtype, shape, values }: HostTensor, start: number, count: number): HostTensor {
  const size = shape[0] === 0 ? 0 : values.length / shape[0];
  const from = start * size;
  const to = from + count * size;
  const part = Array.isArray(values) ? values.slice(from, to) : (values as TypedArray).subarray(from, to);
  return { dtype, shape: [count, ...shape.slice(1)], values: part };
}

/** @returns the outputs of a signature. @throws InternalError for what are none, as signatures may be anybody's code */
export function checkedOutputs(outputs: HostTensors): HostTensors {
  if (!isPlain(outputs))
    throw new InternalError(`a signature must return tensors by name, got ${shown(outputs)}`);
  for (const [name, tensor] of Object.entries(outputs)) {
    const { dtype, shape, values } = (tensor ?? {}) as Partial<HostTensor>;
    const sizes = Array.isArray(shape) && shape.every((d) => Number.isSafeInteger(d) && d >= 0);
    const known = typeof dtype === 'string' && Object.hasOwn(dtypeTraits, dtype);
    if (!known || !sizes || typeof values?.length !== 'number')
      throw new InternalError(`the output "${name}" must be { dtype, shape, values }`);
    const size = shape.reduce((product, d) => product * d, isComplex(dtype) ? 2 : 1);
    const right =
      dtype === 'string' ? Array.isArray(values) : values instanceof arrayFor(dtype, 0).constructor;
    if (!right || values.length !== size)
      throw new InternalError(
        `the output "${name}" of dtype ${dtype} and shape [${shape}] has ${values.length} values of ${shown(values)}`,
      );
  }
  return outputs;
}

/** `[?,3]` */
export function showSizes(shape: TensorInfo['shape']): string {
  return shape === null ? '[?]' : `[${shape.map((d) => d ?? '?').join(',')}]`;
}

/** @throws InvalidArgumentError for a shape that an input does not have */
export function checkShapeOf(name: string, shape: readonly number[], info: TensorInfo): void {
  const wanted = info.shape;
  if (wanted === null) return;
  if (wanted.length !== shape.length || wanted.some((d, i) => d !== null && d !== shape[i]))
    throw new InvalidArgumentError(
      `input "${name}" has the shape ${showSizes(shape)}, but the signature takes ${showSizes(wanted)}`,
    );
}
