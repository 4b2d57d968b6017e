/** `tf.keras.models`. */
export {
  CausalLM,
  type CloneOptions,
  cloneModel,
  type GenerateOptions,
  type GenerateTextOptions,
  type LoadOptions,
  loadModel,
  Model,
  modelFromJSON,
  type Prompts,
  type SaveOptions,
  Sequential,
  saveModel,
} from '@eagre/layers';
