// What `Dataset.apply` takes: functions of datasets that functions of `tf.data.experimental` make.
import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';
import { isDataset } from '../elements/structure.ts';
import type { Dataset } from '../pipeline/dataset.ts';

/** A function of elements, whose arguments the caller gives types. */
// biome-ignore lint/suspicious/noExplicitAny: a function of whatever elements
export type AnyElementFunction = (...args: any[]) => any;

/** A step of a pipeline that leaves the kind of elements as it is: `dataset.apply(step)`. */
export type Step = <T>(dataset: Dataset<T>) => Dataset<T>;
/** A step of a pipeline after which the elements are of another kind: `dataset.apply(step)`. */
// biome-ignore lint/suspicious/noExplicitAny: the caller says what they are
export type StepTo<R = any> = (dataset: Dataset<any>) => Dataset<R>;

/** @throws InvalidArgumentError for what is no dataset. */
export function checkDataset(dataset: unknown, op: string): Dataset<unknown> {
  if (isDataset(dataset)) return dataset;
  throw new InvalidArgumentError(`expected a dataset, got ${shown(dataset)}`, op);
}

/** A step that checks what it is given. */
export function step(op: string, of: (dataset: Dataset<never>) => unknown): never {
  return ((dataset: unknown): unknown => of(checkDataset(dataset, op) as Dataset<never>)) as never;
}
