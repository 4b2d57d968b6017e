// Gradients that a file has for nodes: what `tf.custom_gradient` of TensorFlow becomes, an IdentityN of results and arguments.
import { customGradient } from '@eagre/autodiff';
import { hostFunction, Tensor, UnimplementedError, zerosLike } from '@eagre/core';
import { hasGradient } from '@eagre/core/internal';
import type { InnerTensor } from '../imported.ts';
import type { Value } from './values.ts';

/** A function of the library that is the gradient of nodes. It takes the gradients of all outputs, and what it captures. */
export interface OwnGradient {
  readonly name: string;
  /** Values, or tensors of the function that the node is in. */
  readonly captures: () => readonly (Value | InnerTensor)[];
  /** Of each input of the node, which result is its gradient; null where there is none. */
  readonly places: readonly (number | null)[];
}

const isDifferentiable = (value: Value): value is Tensor =>
  value instanceof Tensor && hasGradient(value.dtype);

/**
 * Outputs of a node with a gradient of their own.
 * @param used whether an output is used.
 * @param run the results of the gradient, for gradients of all outputs
 */
export function withOwnGradient(
  inputs: readonly Value[],
  outputs: readonly Value[],
  used: (output: number) => boolean,
  places: readonly (number | null)[],
  run: (gradients: readonly Tensor[]) => readonly Value[],
): Value[] {
  const at = outputs.flatMap((output, i) => (used(i) && isDifferentiable(output) ? [i] : []));
  if (at.length === 0) return [...outputs];
  const gradient = (...dys: Tensor[]): (Tensor | null)[] => {
    const found = run(outputs.map((other, k) => dys[at.indexOf(k)] ?? zerosLike(other as Tensor)));
    return inputs.flatMap((input, k) => {
      if (!isDifferentiable(input)) return [];
      const place = places[k] ?? null;
      return [place === null ? null : (found[place] as Tensor)];
    });
  };
  const values = customGradient((..._: Tensor[]) => [at.map((i) => outputs[i] as Tensor), gradient])(
    ...inputs.filter(isDifferentiable),
  );
  return outputs.map((output, i) => values[at.indexOf(i)] ?? output);
}

/** The gradient of a node whose own is not in the file: whoever asks for it gets the error. */
export function missingGradient(inputs: readonly Value[], node: string, type: string): Value[] {
  // A call of the host, as a trace makes gradients before anybody has asked for them.
  const refusal = hostFunction(
    () => {
      throw new UnimplementedError(
        `node '${node}' has a gradient of its own, '${type}', which is not in the file: it was saved without those of tf.customGradient`,
      );
    },
    [],
    { dtype: 'float32', shape: [] },
  ) as Tensor;
  return inputs.map((input) =>
    isDifferentiable(input) ? zerosLike(input).add(refusal.cast(input.dtype)) : input,
  );
}
