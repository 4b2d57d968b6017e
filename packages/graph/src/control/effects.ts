// `tf.group` and its like. Eagerly, and in traced functions, effects happen in the order of the code, so there is little to do; in graphs of
// sessions they are those of `tf.compat.v1`.
import { InvalidArgumentError } from '@eagre/backend';
import { Tensor, type TensorLike } from '@eagre/core';
import {
  checkFunction,
  checkList,
  context,
  defineFunction,
  defineVariadic,
  kind,
  type NamedFunction,
  scoped,
  toTensor,
  tree,
} from '@eagre/core/internal';
import { inGraphOfSession } from '../compat/entering.ts';
import type { GraphElement, Operation } from '../compat/graph.ts';
import * as v1 from '../compat/ops.ts';

type Control = (() => unknown) | GraphElement | TensorLike | null | undefined;

/** `controlDependencies` around a function, or until the end of a block. */
export interface ControlDependencies {
  <T>(controlInputs: readonly Control[], fn: () => T): T;
  <T>(
    controlInputs: readonly Control[],
    options: {
      /** What runs afterwards. */
      readonly fn: () => T;
    },
  ): T;
  <T>(options: {
    /** What is computed before. */
    readonly controlInputs: readonly Control[];
    /** What runs afterwards. */
    readonly fn: () => T;
  }): T;
  (
    controlInputs:
      | readonly Control[]
      | {
          /** What is computed before. */
          readonly controlInputs: readonly Control[];
        },
  ): Disposable;
}

/**
 * Lets what follows run after others: for `fn`, or with `using` until the block ends. Eagerly, and in traced functions, the order is that of
 * the code anyway; functions among the inputs are called first, as in TensorFlow.
 */
export const controlDependencies: ControlDependencies = /* @__PURE__ */ defineFunction<
  NamedFunction<
    [controlInputs: readonly Control[], fn?: () => unknown],
    ['controlInputs', 'fn'],
    unknown,
    unknown
  >
>(
  'controlDependencies',
  { controlInputs: kind.asIs, fn: kind.optional(kind.asIs) },
  {},
  (controlInputs, fn = undefined) => {
    const list = checkList(controlInputs, 'controlInputs', 'controlDependencies');
    const calls = list.map((input) => (typeof input === 'function' ? (input as () => unknown)() : input));
    const inputs = calls.filter((input) => input !== null && input !== undefined);
    if (inGraphOfSession()) return v1.controlDependencies(inputs as GraphElement[], fn as () => unknown);
    if (fn !== undefined) checkFunction(fn, 'fn', 'controlDependencies');
    return scoped(() => () => false, 'controlDependencies', fn);
  },
) as never;

/** Does what its inputs do: nothing is left to be done, but in graphs of sessions, where one operation runs them all. */
export const group: (...inputs: readonly unknown[]) => Operation | null = /* @__PURE__ */ defineVariadic<
  (...inputs: readonly unknown[]) => Operation | null
>('group', {}, { inputs: kind.structure }, {}, (inputs: readonly unknown[]): Operation | null =>
  inGraphOfSession() ? v1.group(tree.leavesOf(inputs, 'group') as GraphElement[]) : null,
);

/** Does nothing. In graphs of sessions an operation that does nothing. */
export const noOp: NamedFunction<[], [], unknown, Operation | null> = /* @__PURE__ */ defineFunction(
  'noOp',
  {},
  {},
  () => (inGraphOfSession() ? v1.noOp() : null),
);

/** Tensors that are there once all of them are, and what `controlInputs` says: the tensors themselves, since they are computed in the order of the code. */
const tupleOf: NamedFunction<
  [tensors: readonly (TensorLike | null)[]],
  ['tensors'],
  {
    /** What is computed before, too; nothing by default. */
    readonly controlInputs?: readonly Control[] | null;
  },
  (Tensor | null)[]
> = /* @__PURE__ */ defineFunction(
  'tuple',
  { tensors: kind.asIs },
  { controlInputs: kind.asIs },
  (tensors, options) => {
    const list = checkList(tensors as readonly (TensorLike | null)[], 'tensors', 'tuple');
    if (!list.some((x) => x !== null))
      throw new InvalidArgumentError('tensors must hold at least one tensor', 'tuple');
    const together = (): (Tensor | null)[] => list.map((x) => (x === null ? null : toTensor(x).identity()));
    const given = options.controlInputs ?? [];
    checkList(given, 'controlInputs', 'tuple');
    const controls = [...given, ...list.filter((x) => x instanceof Tensor)];
    return controlDependencies(context.tracer === null ? given : controls, together);
  },
);

export { tupleOf as tuple };
