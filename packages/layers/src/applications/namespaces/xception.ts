/** `tf.keras.applications.xception`. */
export { decodePredictions, preprocessTf as preprocessInput } from '../imagenet-utils.ts';
export { Xception } from '../xception.ts';
