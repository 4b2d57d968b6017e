/** `tf.compat.v1`: graphs and sessions. */
export type { GraphDefOptions } from '../interchange/graph-def.ts';
export {
  disableEagerExecution,
  enableEagerExecution,
  getDefaultGraph,
  type PlaceholderShape,
  placeholder,
  resetDefaultGraph,
} from './default-graph.ts';
export {
  type Fetch,
  type Fetched,
  type Fetches,
  reportUninitializedVariables,
  UninitializedVariables,
} from './fetches.ts';
export { Graph, type GraphElement, GraphKeys, Operation } from './graph.ts';
export { type ImportableGraph, type ImportOptions, importGraphDef } from './import-graph-def.ts';
export {
  addToCollection,
  assign,
  assignAdd,
  assignSub,
  type ControlDependencies,
  controlDependencies,
  effectsOf,
  type Group,
  getCollection,
  globalVariables,
  globalVariablesInitializer,
  gradients,
  group,
  noOp,
  type OperationOptions,
  type Source,
  trainableVariables,
  variablesInitializer,
} from './ops.ts';
export {
  type CallableOptions,
  type Evaluate,
  type EvaluateOptions,
  evaluate,
  type Feed,
  type FeedKey,
  getDefaultSession,
  InteractiveSession,
  type RunOptions,
  Session,
  type SessionOptions,
} from './session.ts';
export * as train from './train.ts';
export {
  AUTO_REUSE,
  type GetVariableOptions,
  getVariable,
  getVariableScope,
  type NameOrScope,
  type Reuse,
  type VariableDefaults,
  type VariableInitializer,
  type VariableRegularizer,
  VariableScope,
  type VariableScopeFunction,
  type VariableScopeOptions,
  variableScope,
} from './variable-scope.ts';
