/** `tf.experimental`: types of one's own that are made of tensors, what functions do with them, and values that may be missing. */
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
} from '@eagre/graph';
export * as extensionType from './extension-type.ts';
