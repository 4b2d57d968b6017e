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
  grad,
  gradientsFunction,
  gradPassThrough,
  implicitGradients,
  implicitValueAndGradients,
  recomputeGrad,
  valueAndGrad,
  valueAndGradientsFunction,
} from '@eagre/autodiff';
export * from '@eagre/core';
export { shapeOf as shape } from '@eagre/core';
export { OptionalSpec } from '@eagre/data/specs';
export {
  ConcreteFunction,
  caseOf as case,
  compat,
  cond,
  controlDependencies,
  type FunctionOptions,
  foldl,
  foldr,
  type GraphCallable,
  gradients,
  graphCallable,
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
  activations,
  applications,
  type CallOptions,
  type CompileOptions,
  callbacks,
  constraints,
  type EvaluateOptions,
  type FitOptions,
  Input,
  initializers,
  KerasTensor,
  Layer,
  layers,
  Model,
  type ModelOptions,
  numpy,
  type PredictOptions,
  regularizers,
  Sequential,
} from '@eagre/layers';
export { losses, metrics } from '@eagre/metrics';
export * as optimizers from '@eagre/optimizers';
export * as summary from '@eagre/summary';
export * as config from './config.ts';
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
  data,
  datasets,
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
