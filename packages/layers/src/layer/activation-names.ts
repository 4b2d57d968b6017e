// Which functions are activations of Keras's.
import { lazily } from '@eagre/core/internal';
import * as activations from '../activations.ts';

const names = lazily(() => {
  const { get: _, serialize: __, deserialize: ___, ...functions } = activations;
  return new Map<unknown, string>(Object.values(functions).map((fn) => [fn, fn.name]));
});

/** The name of an activation of Keras's, or undefined. */
export function activationName(fn: unknown): string | undefined {
  return names().get(fn);
}
