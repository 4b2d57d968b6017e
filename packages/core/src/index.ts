/** Tensors, variables, modules and the op catalogue. */
export {
  CancelledError,
  DataLossError,
  type DType,
  EagreError,
  type ErrorCode,
  FailedPreconditionError,
  InternalError,
  InvalidArgumentError,
  type MemoryInfo,
  NotFoundError,
  OutOfRangeError,
  PermissionDeniedError,
  ResourceExhaustedError,
  type TypedArray,
  UnavailableError,
  UnimplementedError,
} from '@eagre/backend';
export type { AxisLike, IntegerLike, IntegersLike, ShapeLike } from './argument-kinds.ts';
export type { Arguments, NamedFunction } from './arguments.ts';
export * as bitwise from './bitwise.ts';
export { constant } from './constant.ts';
export type { NDArrayLike, TensorLike } from './convert.ts';
export type { ClassNameOf, CustomName, CustomNames, Named, NameOf } from './custom-names.ts';
export * as debugging from './debugging.ts';
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
} from './device.ts';
export * from './dtype-names.ts';
export { type HostFunction, type HostOutput, hostFunction } from './host.ts';
export * as linalg from './linalg.ts';
export * as math from './math.ts';
export { Module, type ModuleOptions } from './module.ts';
export * from './names.ts';
export * from './ops/activation.ts';
export * from './ops/array.ts';
export * from './ops/clip.ts';
export * from './ops/creation.ts';
export * from './ops/einsum.ts';
export * from './ops/join.ts';
export * from './ops/linalg.ts';
export * from './ops/math.ts';
export * as nn from './ops/nn.ts';
export * from './ops/reduce.ts';
export { type PrintOptions, print, type TextStream } from './print.ts';
export { promote } from './promote.ts';
export * as random from './random.ts';
export { keep, nameScope, scope } from './scope.ts';
export type { Axis, PartialShape, Shape } from './shape.ts';
export { type HostArray, type NestedArray, type Scalar, Tensor } from './tensor.ts';
export { convertToTensor, isTensor, newaxis, rank, size } from './tensors.ts';
export * as nest from './tree/nest.ts';
export { Variable, type VariableOptions } from './variable.ts';

import './install.ts';

export type {
  Trackable,
  TrackableAttribute,
  TrackableSlot,
  TrackableView,
} from './trackable.ts';
