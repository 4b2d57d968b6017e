/** `tf.keras.config`: what holds for all layers. */
export { dtypePolicy, setDtypePolicy } from '@eagre/layers';
export { epsilon, floatx, imageDataFormat } from './keras-backend.ts';
