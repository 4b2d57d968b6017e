/** `tf.function` and what it is made of. */
export { ConcreteFunction } from './concrete.ts';
export {
  type FunctionOptions,
  functionsRunEagerly,
  runFunctionsEagerly,
  type TracedFunction,
  tfFunction,
} from './function.ts';
export { type Assignment, Graph, GraphNode, type GraphValue, type NodeKind } from './graph.ts';
export type { GraphStatistics } from './graph-statistics.ts';
export { Profile, type ProfileOptions, type ProfileRow } from './profile.ts';
export { type Signature, TensorSpec } from './tensor-spec.ts';
