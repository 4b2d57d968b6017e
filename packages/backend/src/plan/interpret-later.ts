import type { Allocator } from '../buffer/storage.ts';
import type { Backend } from '../device/backend.ts';
import { InternalError } from '../errors.ts';
import type { Executable, Plan } from './plan.ts';

type Interpret = (backend: Backend, plan: Plan, allocator?: Allocator) => Executable;
let interpret: Interpret | undefined;

/** Says what `interpretLater` calls. */
export function setInterpreter(known: Interpret): void {
  interpret = known;
}

/**
 * `interpretPlan` for backends that are also in programs which trace nothing: bundlers leave the interpreter out of these. Who has a plan prepared calls
 * `useInterpreter` before.
 */
export function interpretLater(backend: Backend, plan: Plan, allocator?: Allocator): Executable {
  if (interpret === undefined)
    throw new InternalError('call useInterpreter() before a plan is prepared', 'prepare');
  return interpret(backend, plan, allocator);
}
