/** Layers, models and their training. */
export * as activations from './activations.ts';
export type { Logs } from './callbacks/callback.ts';
export * as callbacks from './callbacks/index.ts';
export type { CompileOptions } from './compile.ts';
export * as constraints from './constraints.ts';
export type { Batch, BatchSource, FitData, Inputs } from './data-adapter.ts';
export { Input, type InputOptions } from './functional.ts';
export * as initializers from './initializers.ts';
export { KerasTensor } from './keras-tensor.ts';
export { type CallOptions, Layer, type LayerOptions, type NamedWeight, type WeightOptions } from './layer.ts';
export * as layers from './layers/index.ts';
export { Model, type ModelOptions } from './model.ts';
export { clearSession } from './naming.ts';
export type { TestOnBatchOptions, TrainOnBatchOptions } from './on-batch.ts';
export * as regularizers from './regularizers.ts';
export { Sequential } from './sequential.ts';
export type { SummaryOptions } from './summary.ts';
export type { EvaluateOptions, FitOptions, PredictOptions, ValidationData } from './training-options.ts';
