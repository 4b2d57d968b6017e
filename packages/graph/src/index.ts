/** `tf.function` and what it is made of; graphs and sessions. */
export { type GraphCallable, graphCallable, type MakeGraphCallable } from './compat/graph-callable.ts';
export * as compat from './compat/index.ts';
export { ConcreteFunction } from './concrete.ts';
export { ConcreteCall } from './concrete-call.ts';
export { type Branch, caseOf, cond, switchCase } from './control/cond.ts';
export {
  foldl,
  foldr,
  type MapOptions,
  mapFn,
  type OutputSignature,
  scan,
  vectorizedMap,
} from './control/elements.ts';
export type { Tensors, TensorsOf, Values } from './control/nest.ts';
export { TensorArray, type TensorArrayOptions } from './control/tensor-array.ts';
export { type LoopResult, type WhileLoopOptions, whileLoop } from './control/while-loop.ts';
export {
  autographIterate,
  conversion,
  enterConversion,
  leaveConversion,
  withConversion,
  withConversionAllowed,
} from './conversion.ts';
export {
  type EachArgumentNeedsATypeOrADefaultValue,
  type FunctionOptions,
  functionsRunEagerly,
  runFunctionsEagerly,
  type TracedFunction,
  tfFunction,
} from './function.ts';
export { type Assignment, Graph, GraphNode, type GraphValue, type NodeKind } from './graph.ts';
export type { GraphDefOptions } from './graph-def.ts';
export type { GraphStatistics } from './graph-statistics.ts';
export {
  type GraphSink,
  type GraphTrace,
  setGraphSink,
  type TraceExportOptions,
  type TraceOptions,
  traceExport,
  traceOff,
  traceOn,
} from './graph-trace.ts';
export { Profile, type ProfileOptions, type ProfileRow } from './profile.ts';
export { type Signature, TensorSpec } from './tensor-spec.ts';
