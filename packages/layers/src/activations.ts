import { InvalidArgumentError, nn, type Tensor } from '@eagre/core';
import { show } from './show.ts';

export type Activation = (x: Tensor) => Tensor;

/** Names of activations. */
export type ActivationName =
  | 'linear'
  | 'relu'
  | 'relu6'
  | 'leakyRelu'
  | 'elu'
  | 'selu'
  | 'gelu'
  | 'silu'
  | 'swish'
  | 'sigmoid'
  | 'hardSigmoid'
  | 'tanh'
  | 'softplus'
  | 'softsign'
  | 'softmax'
  | 'logSoftmax'
  | 'exponential'
  | 'mish';

const named: Readonly<Record<ActivationName, Activation>> = {
  linear: (x) => x,
  relu: (x) => nn.relu(x),
  relu6: (x) => nn.relu6(x),
  leakyRelu: (x) => nn.leakyRelu(x),
  elu: (x) => nn.elu(x),
  selu: (x) => nn.selu(x),
  gelu: (x) => nn.gelu(x),
  silu: (x) => nn.silu(x),
  swish: (x) => nn.silu(x),
  sigmoid: (x) => nn.sigmoid(x),
  hardSigmoid: (x) => nn.hardSigmoid(x),
  tanh: (x) => x.tanh(),
  softplus: (x) => x.softplus(),
  softsign: (x) => nn.softsign(x),
  softmax: (x) => nn.softmax(x),
  logSoftmax: (x) => nn.logSoftmax(x),
  exponential: (x) => x.exp(),
  mish: (x) => nn.mish(x),
};

/** A name (Keras's snake_case is understood too), or a function of a tensor. */
export type ActivationLike = ActivationName | Activation | (string & {}) | null;

/** The activation of a name, or the function itself; `linear` for null. @throws InvalidArgumentError for an unknown name. */
export function get(activation: ActivationLike | undefined): Activation {
  if (activation === null || activation === undefined) return named.linear;
  if (typeof activation === 'function') return activation;
  if (typeof activation !== 'string')
    throw new InvalidArgumentError(
      `expected the name of an activation, or a function, got ${show(activation)}`,
    );
  const name = activation.replace(/_(\w)/g, (_, c: string) => c.toUpperCase());
  const found = Object.hasOwn(named, name) ? named[name as ActivationName] : undefined;
  if (found === undefined) {
    throw new InvalidArgumentError(
      `unknown activation '${activation}'; known: ${Object.keys(named).join(', ')}`,
    );
  }
  return found;
}
