/** `tf.keras`: what it holds in TensorFlow. */
export * as datasets from '@eagre/datasets';
export {
  activations,
  applications,
  callbacks,
  clearSession,
  constraints,
  DTypePolicy,
  DTypePolicy as FloatDTypePolicy,
  distillation,
  Input,
  initializers,
  KerasTensor,
  Layer,
  layers,
  Model,
  ops,
  quantizers,
  regularizers,
  Sequential,
  samplers,
} from '@eagre/layers';

import { initializers, layers, quantizers, regularizers } from '@eagre/layers';
import { losses, metrics } from '@eagre/metrics';
import * as optimizers from '@eagre/optimizers';

export { recomputeGrad as remat } from '@eagre/autodiff';
export { device, nameScope, Variable } from '@eagre/core';
export { losses, metrics } from '@eagre/metrics';
export * as optimizers from '@eagre/optimizers';
export * as backend from './keras-backend.ts';
export * as config from './keras-config.ts';
export * as distribution from './keras-distribution.ts';
export * as dtypePolicies from './keras-dtype-policies.ts';
export * as export from './keras-export.ts';
export * as mixedPrecision from './keras-mixed-precision.ts';
export * as models from './keras-models.ts';
export * as preprocessing from './keras-preprocessing.ts';
export * as random from './keras-random.ts';
export * as saving from './keras-saving.ts';
export * as tree from './keras-tree.ts';
export * as utils from './keras-utils.ts';
export * as visualization from './keras-visualization.ts';

// The classes that others extend, which Keras has at the top, too. Bundlers leave out calls that are marked, and so what these lie in.
/** What makes the first values of weights; those of one's own extend it. See `keras.initializers`. */
export const Initializer: typeof initializers.Initializer = /* @__PURE__ */ (() =>
  initializers.Initializer)();
/** What a layer takes: dtype, shape and rank. See `keras.layers.InputSpec`. */
export const InputSpec: typeof layers.InputSpec = /* @__PURE__ */ (() => layers.InputSpec)();
/** What is made small by training; losses of one's own extend it. See `keras.losses`. */
export const Loss: typeof losses.Loss = /* @__PURE__ */ (() => losses.Loss)();
/** What is counted over batches; metrics of one's own extend it. See `keras.metrics`. */
export const Metric: typeof metrics.Metric = /* @__PURE__ */ (() => metrics.Metric)();
/** What changes variables by their gradients; optimizers of one's own extend it. See `keras.optimizers`. */
export const Optimizer: typeof optimizers.Optimizer = /* @__PURE__ */ (() => optimizers.Optimizer)();
/** What makes few bits of weights. See `keras.quantizers`. */
export const Quantizer: typeof quantizers.Quantizer = /* @__PURE__ */ (() => quantizers.Quantizer)();
/** A penalty on weights or outputs; those of one's own extend it. See `keras.regularizers`. */
export const Regularizer: typeof regularizers.Regularizer = /* @__PURE__ */ (() =>
  regularizers.Regularizer)();
export type Initializer = initializers.Initializer;
export type Loss = losses.Loss;
export type Metric = metrics.Metric;
export type Optimizer = optimizers.Optimizer;
export type Quantizer = quantizers.Quantizer;
export type Regularizer = regularizers.Regularizer;
export type InputSpec = layers.InputSpec;
