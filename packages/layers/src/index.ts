/** Layers, models and their training. */
import * as layers from './layers/index.ts';
import { Model } from './model.ts';
import { Operation } from './operations.ts';
import { Sequential } from './sequential.ts';
import { registerLayerClasses } from './serialization.ts';

export * as activations from './activations.ts';
export type { Tensors } from './batch-tensors.ts';
export type { Logs } from './callbacks/callback.ts';
export * as callbacks from './callbacks/index.ts';
export { type CloneOptions, cloneModel, modelFromJSON } from './cloning.ts';
export type { CompileOptions, StepLogs } from './compile.ts';
export * as constraints from './constraints.ts';
export type { Batch, BatchSource, FitData, Inputs } from './data-adapter.ts';
export { Input, type InputOptions } from './functional.ts';
export * as initializers from './initializers.ts';
export { KerasTensor } from './keras-tensor.ts';
export { type CallOptions, Layer, type LayerOptions, type NamedWeight, type WeightOptions } from './layer.ts';
export type { ModelOptions } from './model.ts';
export { clearSession } from './naming.ts';
export type { TestOnBatchOptions, TrainOnBatchOptions } from './on-batch.ts';
export { ops } from './operations.ts';
export * as regularizers from './regularizers.ts';
export type { LossArguments } from './steps.ts';
export type { SummaryOptions } from './summary.ts';
export { toCategorical } from './to-categorical.ts';
export type { EvaluateOptions, FitOptions, PredictOptions, ValidationData } from './training-options.ts';
export { layers, Model, Sequential };

registerLayerClasses({ ...layers, Model, Functional: Model, Sequential, Operation });
