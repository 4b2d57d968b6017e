import { type DType, FailedPreconditionError } from '@eagre/backend';
import type { Shape } from '@eagre/core';
import {
  checkDTypeName,
  checkList,
  checkPartialShape,
  checkText,
  defineFunction,
  kind,
  type NamedFunction,
} from '@eagre/core/internal';
import { currentGraph, entered, enterGraph } from './entering.ts';
import { Graph } from './graph.ts';

let base: Graph | null = null;

/** The graph that is default now: the innermost of `asDefault`, or one that is there from the start. */
export const getDefaultGraph: NamedFunction<[], [], unknown, Graph> = defineFunction(
  'compat.v1.getDefaultGraph',
  {},
  {},
  () => {
    base ??= new Graph();
    return entered().graph ?? base;
  },
);

/**
 * Forgets the graph that is default where no other is: the next `getDefaultGraph` makes another.
 * @throws FailedPreconditionError inside of `asDefault`.
 */
export const resetDefaultGraph: NamedFunction<[], [], unknown, void> = defineFunction(
  'compat.v1.resetDefaultGraph',
  {},
  {},
  () => {
    const eager = leaveDefault === null;
    if (entered().depth > (eager ? 0 : 1))
      throw new FailedPreconditionError('the default graph cannot be reset inside Graph.asDefault');
    leaveDefault?.();
    base = new Graph();
    leaveDefault = eager ? null : enterGraph(base);
  },
);

let leaveDefault: (() => void) | null = null;

/** From here on all ops go into the default graph, as in TensorFlow 1. @throws FailedPreconditionError inside of `asDefault`. */
export const disableEagerExecution: NamedFunction<[], [], unknown, void> = defineFunction(
  'compat.v1.disableEagerExecution',
  {},
  {},
  () => {
    if (leaveDefault !== null) return;
    if (entered().depth > 0)
      throw new FailedPreconditionError('eager execution cannot be disabled inside Graph.asDefault');
    leaveDefault = enterGraph(getDefaultGraph());
  },
);
/** Ends `disableEagerExecution`. */
export const enableEagerExecution: NamedFunction<[], [], unknown, void> = defineFunction(
  'compat.v1.enableEagerExecution',
  {},
  {},
  () => {
    leaveDefault?.();
    leaveDefault = null;
  },
);

/** The sizes of a placeholder: null for any. Unknown sizes along one axis are the same size, unless they have names. */
export type PlaceholderShape = readonly (number | null | string)[];

/**
 * A tensor that every run is given: `session.run(y, { feedDict: new Map([[x, value]]) })`.
 * @param shape its sizes, null where they may be any. Unknown sizes along one axis of several placeholders are the same size (that of
 * a batch); names instead of null tell them apart: `['rows', 3]`. Without a
 * shape it may be any, but only element-wise ops can take what depends on it.
 * @throws FailedPreconditionError in eager mode.
 */
export const placeholder: NamedFunction<
  [dtype: DType, shape?: PlaceholderShape | null],
  ['dtype', 'shape'],
  {
    /** Of the placeholder in its graph; `Placeholder` by default. */
    readonly name?: string;
  }
> = defineFunction(
  'compat.v1.placeholder',
  { dtype: kind.asIs, shape: kind.asIs },
  { name: kind.asIs },
  (dtype, shape = null, { name = 'Placeholder' }) => {
    const { body, tracer } = currentGraph('tf.placeholder()');
    checkDTypeName(dtype, 'placeholder');
    checkText(name, 'name', 'placeholder');
    const full = body.nameScope + name;
    if (shape === null) return tracer.ranklessArgument(dtype, full);
    checkPartialShape(
      checkList(shape, 'the shape', 'placeholder').map((size) => (typeof size === 'string' ? null : size)),
      'placeholder',
    );
    const traced: Shape = body.traced(shape);
    return tracer.argument(dtype, traced, full);
  },
);
