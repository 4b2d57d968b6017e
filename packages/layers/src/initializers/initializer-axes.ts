// Initializers that ask how many inputs and outputs a unit has, told which axes those are.
import { optionsFrom } from '@eagre/core/internal';
import { Initializer, type InitializerFunction } from './initializers.ts';

/** The initializer for a weight whose axes are told, unless it knows them or does not ask. */
export function withAxes(
  initializer: InitializerFunction,
  inputAxes: readonly number[],
  outputAxes: readonly number[],
): InitializerFunction {
  if (!(initializer instanceof Initializer) || !('inputAxes' in initializer && 'outputAxes' in initializer))
    return initializer;
  if (initializer.inputAxes !== null || initializer.outputAxes !== null) return initializer;
  const Class = initializer.constructor as new (options: object) => InitializerFunction;
  return new Class({ ...optionsFrom(initializer.getConfig(), Class), inputAxes, outputAxes });
}
