/** `tf.keras.models`. */
export { Model, Sequential } from '@eagre/layers';
