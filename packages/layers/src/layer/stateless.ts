// Calls that leave the variables as they are: their values are given, and those that they would have come back.
import { InvalidArgumentError, type Tensor, type TensorLike, type Variable } from '@eagre/core';
import { shown, whileHolding } from '@eagre/core/internal';
import type { CallOptions, Layer } from './layer.ts';

/** Values of variables, in their order. */
export type Values = readonly TensorLike[];

export interface StatelessCallOptions extends CallOptions {
  /** Gives the losses of the call, too: what `addLoss` added, and penalties of the weights that were given. */
  readonly returnLosses?: boolean;
}

export type StatelessResult<T> = [outputs: T, nonTrainableVariables: Tensor[], losses?: Tensor[]];

/** @throws InvalidArgumentError for what is no list of values, one for each variable */
export function checkValues(
  values: unknown,
  variables: readonly Variable[],
  name: string,
  what: string,
): void {
  if (Array.isArray(values) && values.length === variables.length) return;
  const got = Array.isArray(values) ? `${values.length} values` : shown(values);
  throw new InvalidArgumentError(`${name} must be a list of ${variables.length} values, got ${got}`, what);
}

export function statelessCall(
  layer: Layer,
  trainable: Values,
  nonTrainable: Values,
  inputs: unknown,
  { returnLosses = false, ...options }: StatelessCallOptions,
): StatelessResult<unknown> {
  const what = `${layer.name}.statelessCall`;
  const { trainableVariables, nonTrainableVariables } = layer;
  checkValues(trainable, trainableVariables, 'trainableVariables', what);
  checkValues(nonTrainable, nonTrainableVariables, 'nonTrainableVariables', what);
  const all = [...trainableVariables, ...nonTrainableVariables];
  return whileHolding(all, [...trainable, ...nonTrainable], what, () => {
    const outputs = layer.present(layer.invoke(inputs, options), [inputs, options]);
    const losses = returnLosses ? layer.losses : undefined;
    const now = nonTrainableVariables.map((v) => v.read());
    return losses === undefined ? [outputs, now] : [outputs, now, losses];
  });
}
