/** `tf.keras.mixedPrecision`: layers that compute in 16 bits. */
export {
  DTypePolicy,
  DTypePolicy as Policy,
  dtypePolicy,
  dtypePolicy as globalPolicy,
  setDtypePolicy,
  setDtypePolicy as setGlobalPolicy,
} from '@eagre/layers';
export { LossScaleOptimizer } from '@eagre/optimizers';
