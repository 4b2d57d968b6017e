/** `tf.keras.applications.densenet`. */

export { DenseNet121, DenseNet169, DenseNet201 } from '../densenet.ts';
export { decodePredictions, preprocessTorch as preprocessInput } from '../imagenet-utils.ts';
