/** `tf.keras.applications.inceptionV3`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { InceptionV3 } from '../inception-v3.ts';
