/** `tf.keras`: what it holds in TensorFlow. */
export * as datasets from '@eagre/datasets';
export {
  activations,
  applications,
  callbacks,
  clearSession,
  constraints,
  DTypePolicy,
  Input,
  initializers,
  KerasTensor,
  layers,
  Model,
  ops,
  regularizers,
  Sequential,
} from '@eagre/layers';
export { losses, metrics } from '@eagre/metrics';
export * as optimizers from '@eagre/optimizers';
export * as backend from './keras-backend.ts';
export * as config from './keras-config.ts';
export * as mixedPrecision from './keras-mixed-precision.ts';
export * as models from './keras-models.ts';
export * as saving from './keras-saving.ts';
export * as utils from './keras-utils.ts';
