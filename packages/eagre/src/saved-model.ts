/** `tf.savedModel`: models and functions in TensorFlow's format. The code comes with the first call, as few programs need it. */
export { Asset } from '@eagre/core/internal';
export type {
  GraphDefFile,
  LoadedObject,
  LoadOptions,
  SaveModelOptions,
  SignatureFunction,
} from '@eagre/saved-model';
export { load, loadGraphDef, save } from '@eagre/saved-model/internal';
