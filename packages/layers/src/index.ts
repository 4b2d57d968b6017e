/** Layers, models and their training. */
export * as activations from './activations.ts';
export * as quantizers from './all-quantizers.ts';
export * as applications from './applications/index.ts';
export type { Logs } from './callbacks/callback.ts';
export * as callbacks from './callbacks/index.ts';
export * as constraints from './constraints.ts';
export * as distillation from './distillation/index.ts';
export {
  CausalLM,
  type GenerateOptions,
  type GenerateTextOptions,
  type Prompts,
} from './generation/causal-lm.ts';
export * as samplers from './generation/samplers.ts';
export * as initializers from './initializers/initializers.ts';
export type { Tensors } from './layer/batch-tensors.ts';
export {
  AWQDTypePolicy,
  type AWQDTypePolicyOptions,
  DTypePolicy,
  DTypePolicyMap,
  type DTypePolicyMapOptions,
  type DTypePolicyOptions,
  dtypePolicy,
  type FloatDType,
  type FloatPolicyName,
  GPTQDTypePolicy,
  type GPTQDTypePolicyOptions,
  Int4DTypePolicy,
  type Int4DTypePolicyOptions,
  type IntegerDType,
  type LayerDType,
  type PolicyLike,
  type PolicyName,
  type QuantizationMode,
  QuantizedDTypePolicy,
  type QuantizedDTypePolicyOptions,
  QuantizedFloat8DTypePolicy,
  type QuantizedFloat8DTypePolicyOptions,
  type QuantizedPolicyName,
  quantizedPolicyOf,
  setDtypePolicy,
} from './layer/dtype-policy.ts';
export {
  type CallOptions,
  Layer,
  type LayerOptions,
  type NamedWeight,
  type WeightOptions,
} from './layer/layer.ts';
export { clearSession, getUid } from './layer/naming.ts';
export * as layers from './layers/index.ts';
export {
  Cross,
  Feature,
  type FeatureMode,
  type FeatureName,
  FeatureSpace,
  type FeatureSpaceArguments,
  type FeatureSpaceOptions,
} from './layers/preprocessing/feature-space.ts';
export { ops } from './models/all-operations.ts';
export { type CloneOptions, cloneModel, modelFromJSON } from './models/cloning.ts';
export { Input, type InputOptions } from './models/functional.ts';
export { KerasTensor } from './models/keras-tensor.ts';
export { Model, type ModelOptions } from './models/model.ts';
export type { DrawOptions } from './models/plot/options.ts';
export { modelToDot, type PlotOptions, plotModel } from './models/plot/plot.ts';
export {
  loadModel,
  loadWeights,
  saveModel,
  saveModelToBytes,
  saveWeights,
} from './models/saving.ts';
export { Sequential } from './models/sequential.ts';
export type { StateTree, ValueTree } from './models/state-tree.ts';
export type { SummaryOptions } from './models/summary.ts';
export * as numpy from './numpy/numpy.ts';
export { ready } from './ready.ts';
export * as regularizers from './regularizers.ts';
export {
  type EndpointOptions,
  ExportArchive,
  type ExportOptions,
  type WriteOutOptions,
} from './saving/export.ts';
export { type Comparison, KerasFileEditor, type WeightsDict } from './saving/keras-file-editor.ts';
export type {
  LoadOptions,
  LoadWeightsOptions,
  SaveOptions,
  SaveWeightsOptions,
} from './saving/keras-files.ts';
export {
  type LoadedSafetensors,
  type LoadSafetensorsOptions,
  loadSafetensors,
  type SaveSafetensorsOptions,
  saveSafetensors,
  type WeightNames,
  type WeightSource,
} from './saving/safetensors.ts';
export { toCategorical } from './to-categorical.ts';
export type { CompileOptions, StepLogs } from './trainers/compile.ts';
export type { Batch, BatchSource, FitData, Inputs } from './trainers/data-adapter.ts';
export { type DatasetContext, DatasetCreator, type DatasetFunction } from './trainers/dataset-creator.ts';
export type { TestOnBatchOptions, TrainOnBatchOptions } from './trainers/on-batch.ts';
export { PyDataset, PyDataset as Sequence, type PyDatasetOptions } from './trainers/py-dataset.ts';
export type { LossArguments } from './trainers/steps.ts';
export type {
  EvaluateOptions,
  FitOptions,
  PredictOptions,
  ValidationData,
} from './trainers/training-options.ts';
export * as boundingBoxes from './utils/bounding-boxes.ts';
export { Config } from './utils/config.ts';
export {
  disableInteractiveLogging,
  enableInteractiveLogging,
  isInteractiveLoggingEnabled,
} from './utils/messages.ts';
export { normalize } from './utils/normalize.ts';
export { Progbar, type ProgbarArguments, type ProgbarOptions, type ProgbarValues } from './utils/progbar.ts';
export { packXYSampleWeight, unpackXYSampleWeight } from './utils/sample-weight.ts';
export { SeedGenerator, type SeedGeneratorOptions } from './utils/seed-generator.ts';
export { standardizeDtype } from './utils/standardize-dtype.ts';
export { getSourceInputs, isKerasTensor } from './utils/symbolic.ts';
export {
  type DrawBoundingBoxesOptions,
  type DrawnBoxes,
  type DrawSegmentationMasksOptions,
  drawBoundingBoxes,
  drawSegmentationMasks,
  type Rgb,
} from './utils/visualization.ts';
