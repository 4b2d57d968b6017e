/** TensorFlow 2's eager world for TypeScript: `import * as tf from 'eagre'`. */
import './native-files.ts';

export {
  autodiff,
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
export * as data from '@eagre/data';
export { audio, OptionalSpec } from '@eagre/data/internal';
export * as datasets from '@eagre/datasets';
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
export * as autograph from './autograph.ts';
export * as config from './config.ts';
export * as distribute from './distribute.ts';
export * as errors from './errors.ts';
export * as experimental from './experimental.ts';
export * as graphUtil from './graph-util.ts';
export * as image from './images.ts';
export {
  constantInitializer,
  onesInitializer,
  randomNormalInitializer,
  randomUniformInitializer,
  zerosInitializer,
} from './initializers.ts';
export * as io from './io.ts';
export * as keras from './keras.ts';
export * as onnx from './onnx.ts';
export * as profiler from './profiler.ts';
export * as savedModel from './saved-model.ts';
export * as serving from './serving.ts';
export { makeNdarray, makeTensorProto } from './tensor-protos.ts';
export * as test from './test.ts';
export * as train from './train.ts';
export { typeSpecFromValue } from './type-spec.ts';
export * as types from './types.ts';
export * as version from './version.ts';
