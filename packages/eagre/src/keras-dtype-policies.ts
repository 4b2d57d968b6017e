/** `tf.keras.dtypePolicies`. */
export { DTypePolicy, DTypePolicy as FloatDTypePolicy } from '@eagre/layers';
