import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { Dataset } from '@eagre/data';
import { InputContext, type InputContextArguments } from './input-context.ts';

/** The dataset that a function makes for a process or a replica. @throws InvalidArgumentError where it returns something else */
export function datasetOf(fn: unknown, context: InputContextArguments, op: string): Dataset<unknown> {
  const made: unknown = (fn as (context: InputContext) => unknown)(new InputContext(context));
  if (made instanceof Dataset) return made as Dataset<unknown>;
  throw new InvalidArgumentError(`the function must return a tf.data.Dataset, got ${shown(made)}`, op);
}
