/** `tf.nn`: what networks are made of. */
export * from '@eagre/core/nn';
export {
  RNNCellDeviceWrapper,
  RNNCellDropoutWrapper,
  type RNNCellDropoutWrapperOptions,
  RNNCellResidualWrapper,
  type RNNCellResidualWrapperOptions,
} from '@eagre/layers';
