/** `tf.keras.models`. */
export {
  type CloneOptions,
  cloneModel,
  type LoadOptions,
  loadModel,
  Model,
  modelFromJSON,
  type SaveOptions,
  Sequential,
  saveModel,
} from '@eagre/layers';
