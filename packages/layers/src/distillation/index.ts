/** `tf.keras.distillation`: students that learn from teachers. */
export { Distiller, type DistillerArguments, type DistillerOptions } from './distiller.ts';
export {
  type DistillationFunction,
  DistillationLoss,
  type DistillationLosses,
  type DistillationLossLike,
  FeatureDistillation,
  type FeatureDistillationOptions,
  LogitsDistillation,
  type LogitsDistillationOptions,
} from './losses.ts';
