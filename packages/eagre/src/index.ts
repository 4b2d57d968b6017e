/** TensorFlow 2's eager world for TypeScript: `import * as tf from 'eagre'`. */
import './native-files.ts';

export {
  autodiff,
  type CustomGradientOptions,
  type CustomResult,
  type CustomResultWithVariables,
  customGradient,
  GradientTape,
  type GradientTapeOptions,
  gradPassThrough,
  recomputeGrad,
} from '@eagre/autodiff';
export { OptionalSpec } from '@eagre/data/specs';
export {
  caseOf as case,
  compat,
  cond,
  controlDependencies,
  type FunctionOptions,
  foldl,
  foldr,
  gradients,
  group,
  hessians,
  IndexedSlicesSpec,
  importGraphDef,
  mapFn,
  noOp,
  Operation,
  RaggedTensorSpec,
  SessionGraph as Graph,
  SparseTensorSpec,
  scan,
  switchCase,
  TensorArray,
  type TensorArrayOptions,
  TensorSpec,
  type TracedFunction,
  TypeSpec,
  tfFunction as function,
  tuple,
  vectorizedMap,
  whileLoop,
} from '@eagre/graph';
export {
  type CallOptions,
  type CompileOptions,
  type EvaluateOptions,
  type FitOptions,
  Input,
  initializers,
  layers,
  Model,
  type ModelOptions,
  type PredictOptions,
  ready,
  Sequential,
} from '@eagre/layers';
export { losses, metrics } from '@eagre/metrics';
export * as optimizers from '@eagre/optimizers';
export * as summary from '@eagre/summary';
export * as config from './config.ts';
// By a star: declarations of a program may add to `CustomNames`.
export * from './core.ts';
export * as errors from './errors.ts';
export {
  constantInitializer,
  onesInitializer,
  randomNormalInitializer,
  randomUniformInitializer,
  zerosInitializer,
} from './initializers.ts';
export {
  audio,
  autograph,
  browser,
  data,
  distribute,
  experimental,
  graphUtil,
  image,
  io,
  keras,
  onnx,
  profiler,
  savedModel,
  serving,
  test,
  train,
  types,
} from './late.ts';
export { makeNdarray, makeTensorProto } from './tensor-protos.ts';
export { typeSpecFromValue } from './type-spec.ts';
export * as version from './version.ts';
