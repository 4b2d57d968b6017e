// What goes into the call of a layer, and what comes out.
import { InvalidArgumentError, keep, Tensor, type TensorLike, Variable } from '@eagre/core';
import { isFloating, toTensor } from '@eagre/core/internal';
import { KerasTensor } from './keras-tensor.ts';
import type { Layer } from './layer.ts';
import type { LayerInput, LayerOutput } from './layer-types.ts';

/** Marks tensors as held by code of the user. */
export function keepAll<T extends LayerInput>(tensors: T): T {
  if (tensors instanceof Tensor) keep(tensors);
  else if (Array.isArray(tensors)) for (const t of tensors as readonly Tensor[]) keep(t);
  return tensors;
}

/** Arguments as tensors. A user's layer gets floats in its own precision, as in Keras; layers of ours see to it themselves. */
export function prepare(layer: Layer, inputs: unknown, ours: boolean): LayerInput {
  if (inputs === undefined || inputs === null)
    throw new InvalidArgumentError(`was called without an input (${inputs})`, layer.name);
  const { dtype } = layer;
  const convert = (value: TensorLike): Tensor => {
    // Not the variable's own memory, which later updates write into.
    const x = value instanceof Variable ? value.read() : toTensor(value, dtype);
    return ours || layer.passesOn || x.dtype === dtype || !isFloating(x.dtype) ? x : x.cast(dtype);
  };
  const isTensor = (x: unknown): boolean => x instanceof Tensor || x instanceof Variable;
  const several = Array.isArray(inputs) && inputs.some(isTensor);
  if (several && !inputs.every(isTensor)) {
    const at = inputs.findIndex((x) => !isTensor(x));
    throw new InvalidArgumentError(
      `takes a list of tensors, but number ${at} of ${inputs.length} is ${typeof inputs[at]}`,
      layer.name,
    );
  }
  return several ? (inputs as readonly TensorLike[]).map(convert) : convert(inputs as TensorLike);
}

/** What `call` returned, with the values of variables in their place. @throws InvalidArgumentError for nothing or a promise. */
export function outputsOf(layer: Layer, result: unknown): LayerOutput {
  if (result === undefined || result === null || result instanceof Promise) {
    const got = result instanceof Promise ? 'a promise; it must not be async' : String(result);
    throw new InvalidArgumentError(
      `call() must return a tensor or a list of tensors, got ${got}`,
      layer.name,
    );
  }
  if (result instanceof Variable) return result.read();
  if (Array.isArray(result))
    return result.map((y: unknown) => (y instanceof Variable ? y.read() : y)) as Tensor[];
  return result as LayerOutput;
}

/** @throws InvalidArgumentError when symbolic tensors stand beside others. */
export function isSymbolic(inputs: unknown): inputs is KerasTensor | readonly KerasTensor[] {
  if (inputs instanceof KerasTensor) return true;
  if (!Array.isArray(inputs)) return false;
  const n = inputs.filter((x) => x instanceof KerasTensor).length;
  if (n > 0 && n < inputs.length) {
    throw new InvalidArgumentError(
      'a list of inputs mixes symbolic tensors (tf.Input) and others; put constants into a Lambda layer',
    );
  }
  return n > 0;
}
