/** `tf.function` and what it is made of; graphs and sessions. */

export { Graph as SessionGraph, Operation } from './compat/graph.ts';
export { type GraphCallable, graphCallable, type MakeGraphCallable } from './compat/graph-callable.ts';
export { importGraphDef } from './compat/import-graph-def.ts';
export * as compat from './compat/index.ts';
export { gradients, hessians } from './compat/ops.ts';
export { type Branch, caseOf, cond, switchCase } from './control/cond.ts';
export { type ControlDependencies, controlDependencies, group, noOp, tuple } from './control/effects.ts';
export {
  foldl,
  foldr,
  type MapOptions,
  mapFn,
  type OutputSignature,
  scan,
  vectorizedMap,
} from './control/elements.ts';
export { inSizesOf } from './control/gradient-body.ts';
export type { Tensors, TensorsOf, Values } from './control/nest.ts';
export { TensorArray, type TensorArrayOptions } from './control/tensor-array.ts';
export { type LoopResult, type WhileLoopOptions, whileLoop } from './control/while-loop.ts';
export { AtomicFunction } from './function/atomic-function.ts';
export { ConcreteFunction } from './function/concrete-function.ts';
export {
  type EachArgumentNeedsATypeOrADefaultValue,
  type FunctionOptions,
  functionsRunEagerly,
  runFunctionsEagerly,
  type TracedFunction,
  tfFunction,
} from './function/function.ts';
export {
  declareSavedFunction,
  isTracedFunction,
  type SavedFunction,
  savedFunction,
} from './function/polymorphic-function.ts';
export {
  type Exchange,
  type ExchangeSpec,
  type Give,
  runTogether,
} from './function/together.ts';
export { type GraphSink, type GraphTrace, setGraphSink } from './inspect/graph-sink.ts';
export type { GraphStatistics } from './inspect/graph-statistics.ts';
export {
  type TraceExportOptions,
  type TraceOptions,
  traceExport,
  traceOff,
  traceOn,
} from './inspect/graph-trace.ts';
export { Profile, type ProfileOptions, type ProfileRow } from './inspect/profile.ts';
export type { GraphDefOptions } from './interchange/graph-def.ts';
export {
  CompositeSpec,
  IndexedSlicesSpec,
  RaggedTensorSpec,
  SparseTensorSpec,
  specOfComposite,
  specOfParts,
  TypeSpec,
} from './ir/composite-specs.ts';
export {
  asDict,
  BatchableExtensionType,
  batchEncoderOf,
  ExtensionType,
  ExtensionTypeBatchEncoder,
  ExtensionTypeSpec,
  type Field,
  type FieldOptions,
  type Fields,
  type FieldsOf,
  type FieldType,
  type FieldValue,
  field,
} from './ir/extension-type.ts';
export { type Assignment, Graph, GraphNode, type GraphValue, type NodeKind } from './ir/graph.ts';
export { GRAPH_DEF_VERSION } from './ir/graph-def-version.ts';
/** @internal */
export * as specRelations from './ir/spec-relations.ts';
export { type Signature, TensorSpec } from './ir/tensor-spec.ts';
export {
  autographIterate,
  conversion,
  enterConversion,
  leaveConversion,
  withConversion,
  withConversionAllowed,
} from './tracing/conversion.ts';
