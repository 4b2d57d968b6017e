// What users give for each output of a model: losses, weights, metrics, targets.
import { InvalidArgumentError } from '@eagre/core';

/** The outputs of a model, and their names where it has any. */
export interface Outputs {
  readonly count: number;
  readonly names: readonly string[] | null;
}

/** Whether a value is an object of a value for each name, rather than a value such as a serialised loss or an array's data. */
export function isByName(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype &&
    !('class_name' in value) &&
    !('data' in value && 'shape' in value)
  );
}

/**
 * Values by their names in the order of the names; undefined where there is none. Outputs that share a name share a value, as in Keras.
 * @param of what has the names, for messages: an output, an input
 * @throws InvalidArgumentError for other names
 */
export function inOrder<T>(
  given: Readonly<Record<string, T>>,
  names: readonly string[] | null,
  what: string,
  of = 'output',
): (T | undefined)[] {
  if (names === null) {
    throw new InvalidArgumentError(`${what}: the model's ${of}s have no names; give a list of one for each`);
  }
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw new InvalidArgumentError(
        `${what}: there is no ${of} '${name}'; the model has ${names.map((n) => `'${n}'`).join(', ')}`,
      );
    }
  }
  return names.map((name) => given[name]);
}

/** @throws InvalidArgumentError unless the list has one item for each output. */
export function checkOneForEach(given: readonly unknown[], { count, names }: Outputs, what: string): void {
  if (given.length === count) return;
  const which = names === null ? '' : ` (${names.join(', ')})`;
  throw new InvalidArgumentError(
    `${what} has ${given.length} items for a model with ${count} outputs${which}: give one for each`,
  );
}
