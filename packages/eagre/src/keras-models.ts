/** `tf.keras.models`. */
export { type CloneOptions, cloneModel, Model, modelFromJSON, Sequential } from '@eagre/layers';
