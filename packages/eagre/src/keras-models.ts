/** `tf.keras.models`. */
export {
  CausalLM,
  type CloneOptions,
  cloneModel,
  type GenerateOptions,
  type GenerateTextOptions,
  Model,
  modelFromJSON,
  type Prompts,
  Sequential,
} from '@eagre/layers';
