/**
 * `tf.experimental`: types of one's own that are made of tensors, what functions do with them, and values that may be missing; NumPy's
 * functions. Eagre's own: code of the host in traced functions, backends by name, memory.
 */
export {
  type HostFunction,
  type HostOutput,
  hostFunction,
  keep,
  type MemoryInfo,
  memory,
  promote,
  scope,
  withBackend,
} from '@eagre/core';
export {
  DynamicRaggedShape,
  dispatchForApi,
  dispatchForBinaryElementwiseApis,
  dispatchForBinaryElementwiseAssertApis,
  dispatchForUnaryElementwiseApis,
  RowPartition,
  unregisterDispatchFor,
} from '@eagre/core/internal';
export { Optional } from '@eagre/data/internal';
export {
  BatchableExtensionType,
  ExtensionType,
  ExtensionTypeBatchEncoder,
  ExtensionTypeSpec,
  type GraphCallable,
  graphCallable,
} from '@eagre/graph';
export { numpy } from '@eagre/layers';
export * as extensionType from './extension-type.ts';
