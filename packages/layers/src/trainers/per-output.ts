// What users give for each output of a model: losses, weights, metrics, targets.
import { InvalidArgumentError } from '@eagre/core';
import { tree } from '@eagre/core/internal';
import { along, isDeep } from '../layer/forms.ts';

/** The outputs of a model, and their names where it has any. */
export interface Outputs {
  readonly count: number;
  readonly names: readonly string[] | null;
  /** The structure in which the model gives them: one, a list, by name, or such in each other. */
  readonly form: unknown;
}

/** Whether the model gives its outputs by name, so that losses and targets may be given for some of them. */
export const areByKeys = ({ form }: Outputs): boolean => isByName(form) && !isDeep(form);

/**
 * What is given for each output of a model that gives structures in structures.
 * @param partial whether outputs may be left out
 * @param asGiven what was given in the place of a loss or metric, for messages
 * @throws InvalidArgumentError for another structure
 */
export function inForm(
  given: unknown,
  { form, names }: Outputs,
  what: string,
  partial: boolean,
  asGiven: (leaf: unknown) => unknown = (leaf) => leaf,
): unknown[] {
  // As in Keras, the names of layers are known of lists alone.
  const known = Array.isArray(form) ? names : null;
  return along(form, given, { what, of: 'output', partial, names: known, asGiven });
}

/**
 * The names of the outputs' losses: the ways there, with the name of an output in the place of its number in a list, as in Keras.
 * @param own the name of an output that has none
 */
export function namesOfLosses({ form, names }: Outputs, own: (output: number) => string): string[] {
  const found: string[] = [];
  tree.forEachLeaf(
    form,
    'compile',
    (_, path) => {
      const output = found.length;
      const last = path.at(-1);
      const isKey = typeof last === 'string';
      const name = isKey ? last : (names?.[output] ?? own(output));
      found.push([...path.slice(0, -1), name].join('/'));
    },
    tree.wholeComposites,
  );
  return found;
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
