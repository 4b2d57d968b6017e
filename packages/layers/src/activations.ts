import { InvalidArgumentError, nn, type Tensor } from '@eagre/core';

export type Activation = (x: Tensor) => Tensor;

const named = {
  linear: (x: Tensor) => x,
  relu: (x: Tensor) => nn.relu(x),
  relu6: (x: Tensor) => nn.relu6(x),
  leakyRelu: (x: Tensor) => nn.leakyRelu(x),
  elu: (x: Tensor) => nn.elu(x),
  selu: (x: Tensor) => nn.selu(x),
  gelu: (x: Tensor) => nn.gelu(x),
  silu: (x: Tensor) => nn.silu(x),
  swish: (x: Tensor) => nn.silu(x),
  sigmoid: (x: Tensor) => nn.sigmoid(x),
  hardSigmoid: (x: Tensor) => nn.hardSigmoid(x),
  tanh: (x: Tensor) => x.tanh(),
  softplus: (x: Tensor) => x.softplus(),
  softsign: (x: Tensor) => nn.softsign(x),
  softmax: (x: Tensor) => nn.softmax(x),
  logSoftmax: (x: Tensor) => nn.logSoftmax(x),
  exponential: (x: Tensor) => x.exp(),
  mish: (x: Tensor) => nn.mish(x),
} as const;

export type ActivationName = keyof typeof named;
/** A name (Keras's snake_case is understood too), or a function of a tensor. */
export type ActivationLike = ActivationName | Activation | (string & {}) | null;

/** The activation of a name, or the function itself; `linear` for null. @throws InvalidArgumentError for an unknown name. */
export function get(activation: ActivationLike | undefined): Activation {
  if (activation === null || activation === undefined) return named.linear;
  if (typeof activation === 'function') return activation;
  const name = activation.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
  const found = (named as Record<string, Activation | undefined>)[name];
  if (found === undefined) {
    throw new InvalidArgumentError(`unknown activation '${activation}'; known: ${Object.keys(named).join(', ')}`);
  }
  return found;
}
