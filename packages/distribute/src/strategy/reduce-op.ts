import { InvalidArgumentError } from '@eagre/backend';
import { shown } from '@eagre/core/internal';

/** How the values of replicas become one: their sum, or their mean. */
export const ReduceOp = { SUM: 'SUM', MEAN: 'MEAN' } as const;
export type ReduceOp = keyof typeof ReduceOp;

/** A member of `ReduceOp`, or its name in any case. @throws InvalidArgumentError for anything else */
export function reduceOpOf(value: unknown, op: string): ReduceOp {
  const name = typeof value === 'string' ? value.toUpperCase() : value;
  if (name === 'SUM' || name === 'MEAN') return name;
  throw new InvalidArgumentError(`reduceOp must be 'SUM' or 'MEAN', got ${shown(value)}`, op);
}
