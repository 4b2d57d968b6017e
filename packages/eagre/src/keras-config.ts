/** `tf.keras.config`: what holds for all layers. */
export {
  disableInteractiveLogging,
  dtypePolicy,
  enableInteractiveLogging,
  isInteractiveLoggingEnabled,
  setDtypePolicy,
} from '@eagre/layers';
export { epsilon, floatx, imageDataFormat } from './keras-backend.ts';
