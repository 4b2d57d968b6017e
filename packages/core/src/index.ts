/** Tensors, variables, modules and the op catalogue. */
export {
  AbortedError,
  AlreadyExistsError,
  CancelledError,
  DataLossError,
  DeadlineExceededError,
  EagreError,
  type ErrorCode,
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  type MemoryInfo,
  NotFoundError,
  OperatorNotAllowedInGraphError,
  OutOfRangeError,
  PermissionDeniedError,
  ResourceExhaustedError,
  type TypedArray,
  UnauthenticatedError,
  UnavailableError,
  UnimplementedError,
  UnknownError,
} from '@eagre/backend';
export type { AxisLike, IntegerLike, IntegersLike, ShapeLike } from './arguments/argument-kinds.ts';
export type { Arguments, NamedFunction } from './arguments/arguments.ts';
export type { ClassNameOf, CustomName, CustomNames, Named, NameOf } from './arguments/custom-names.ts';
export * from './arguments/names.ts';
export * as bitwise from './bitwise.ts';
export { CompositeTensor } from './composite/composite.ts';
export { IndexedSlices, RaggedTensor, ragged, SparseTensor, sparse } from './composites.ts';
export * as debugging from './debugging.ts';
export { assertEqual, assertGreater, assertLess, assertRank } from './debugging.ts';
export {
  type DeviceType,
  device,
  executingEagerly,
  getLogicalDeviceConfiguration,
  getSoftDevicePlacement,
  getSynchronousExecution,
  LogicalDevice,
  LogicalDeviceConfiguration,
  listLogicalDevices,
  listPhysicalDevices,
  memory,
  PhysicalDevice,
  setLogicalDeviceConfiguration,
  setSoftDevicePlacement,
  setSynchronousExecution,
  syncDevices,
  withBackend,
} from './dispatch/device.ts';
export { type DeviceParts, DeviceSpec } from './dispatch/device-spec.ts';
export { VariableAggregation, VariableSynchronization } from './dispatch/distribution.ts';
export { type HostFunction, type HostOutput, hostFunction } from './dispatch/host.ts';
export * as dtypes from './dtypes.ts';
export { UnconnectedGradients } from './enums.ts';
export * as image from './image.ts';
export * as linalg from './linalg.ts';
export * as lookup from './lookup.ts';
export * as math from './math.ts';
export { Module, type ModuleOptions } from './module/module.ts';
export * from './ops/array/array.ts';
export {
  Assert,
  ensureShape,
  getStaticValue,
  type HostFunctionOptions,
  initScope,
  insideFunction,
  isSymbolicTensor,
  numpyFunction,
  pyFunction,
  timestamp,
} from './ops/array/checked.ts';
export * from './ops/array/creation.ts';
export * from './ops/array/join.ts';
export {
  dynamicPartition,
  dynamicStitch,
  identityN,
  parallelStack,
  reverseSequence,
  searchsorted,
  shapeN,
  unravelIndex,
} from './ops/array/partition.ts';
export {
  batchToSpace,
  extractVolumePatches,
  requiredSpaceToBatchPaddings,
  spaceToBatch,
  spaceToBatchNd,
} from './ops/array/space.ts';
export * from './ops/elementwise/activation.ts';
export * from './ops/elementwise/clip.ts';
export * from './ops/elementwise/math.ts';
export { truncatediv, truncatemod } from './ops/elementwise/more-math.ts';
export { eig, eigvals } from './ops/linalg/eig.ts';
export * from './ops/linalg/einsum.ts';
export * from './ops/linalg/linalg.ts';
export { sqrtm as matrixSquareRoot } from './ops/linalg/matrix-functions.ts';
export { type ConvAnyOptions, conv } from './ops/nn/conv-any.ts';
export * as nn from './ops/nn/nn.ts';
export { histogramFixedWidth, histogramFixedWidthBins } from './ops/reduce/counting.ts';
export * from './ops/reduce/reduce.ts';
export { asString } from './ops/strings/convert.ts';
export { fingerprint } from './ops/strings/fingerprint.ts';
export * as quantization from './quantization.ts';
export * as queue from './queue.ts';
export { randomIndexShuffle } from './random/index-shuffle.ts';
export * as random from './random.ts';
export { getCurrentNameScope, keep, nameScope, scope } from './scopes/scope.ts';
export * as sets from './sets.ts';
export type { Axis, PartialShape, Shape } from './shapes/shape.ts';
export {
  broadcastDynamicShape,
  broadcastStaticShape,
  TensorShape,
  type TensorShapeLike,
} from './shapes/tensor-shape.ts';
export * as signal from './signal.ts';
export { editDistance } from './sparse/edit-distance.ts';
export * as strings from './strings.ts';
export type { Complex } from './tensor/complex-numbers.ts';
export { constant } from './tensor/constant.ts';
export { type ConversionFunction, registerTensorConversionFunction } from './tensor/conversion-functions.ts';
export type { NDArrayLike, TensorLike } from './tensor/convert.ts';
export * from './tensor/dtype-names.ts';
export { asDtype, DType } from './tensor/dtype-object.ts';
export { type PrintOptions, print, type TextStream } from './tensor/print.ts';
export { promote } from './tensor/promote.ts';
export {
  type AnyTensor,
  type HostArray,
  type NestedArray,
  type Scalar,
  Tensor,
} from './tensor/tensor.ts';
export { convertToTensor, isTensor, newaxis, rank, size } from './tensor/tensors.ts';
export { Variable, type VariableOptions } from './tensor/variable.ts';
export * as nest from './tree/nest.ts';

import './dispatch/install.ts';

export type {
  Trackable,
  TrackableAttribute,
  TrackableSlot,
  TrackableView,
} from './module/trackable.ts';
