/** `tf.savedModel`: models and functions in TensorFlow's format. The code comes with the first call, as few programs need it. */
export { Asset } from '@eagre/core/internal';
export type {
  GraphDefFile,
  LoadedObject,
  LoadModelOptions,
  SaveModelOptions,
  SignatureFunction,
} from '@eagre/saved-model';
export * from '@eagre/saved-model/internal';
