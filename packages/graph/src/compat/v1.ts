/** `tf.compat.v1`: graphs and sessions. */
export type { GraphDefOptions } from '../graph-def.ts';
export {
  disableEagerExecution,
  enableEagerExecution,
  Graph,
  type GraphElement,
  getDefaultGraph,
  Operation,
  type PlaceholderShape,
  placeholder,
  resetDefaultGraph,
} from './graph.ts';
export {
  assign,
  assignAdd,
  assignSub,
  controlDependencies,
  effectsOf,
  globalVariables,
  globalVariablesInitializer,
  gradients,
  group,
  noOp,
  trainableVariables,
  variablesInitializer,
} from './ops.ts';
export {
  evaluate,
  type Feed,
  type Fetch,
  type Fetched,
  type Fetches,
  getDefaultSession,
  InteractiveSession,
  Session,
} from './session.ts';
export * as train from './train.ts';
