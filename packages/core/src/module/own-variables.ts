// How layers and optimizers give and take their variables' values one by one: in an object, `'0'`, `'1'`, …
import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '../arguments/checks.ts';
import { isPlain } from '../arguments/plain.ts';
import type { TensorLike } from '../tensor/convert.ts';
import type { Variable } from '../tensor/variable.ts';

/** @throws InvalidArgumentError for what is no object of values */
function storeOf(given: unknown, of: string): Record<string, TensorLike> {
  if (isPlain(given)) return given as Record<string, TensorLike>;
  throw new InvalidArgumentError(`store must be an object of values, got ${shown(given)}`, of);
}

/** @internal Puts copies of the values into an object. @throws InvalidArgumentError for what is none */
export function saveVariables(variables: readonly Variable[], given: unknown, of: string): void {
  const store = storeOf(given, of);
  variables.forEach((variable, i) => {
    store[`${i}`] = variable.read();
  });
}

/**
 * @internal Sets variables from such an object.
 * @param misfit called with the number of values, and nothing is set, where it does not have one for each variable
 * @throws InvalidArgumentError for what is no object
 */
export function loadVariables(
  variables: readonly Variable[],
  given: unknown,
  of: string,
  misfit: (count: number) => void,
): void {
  const store = storeOf(given, of);
  const count = Object.keys(store).length;
  if (count !== variables.length || !variables.every((_, i) => Object.hasOwn(store, `${i}`))) {
    misfit(count);
    return;
  }
  variables.forEach((variable, i) => {
    variable.assign(store[`${i}`]);
  });
}
